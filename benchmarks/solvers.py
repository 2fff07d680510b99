"""Conjugate gradient beside pymanopt's Hestenes-Stiefel, equal evaluations.

Both minimise the same compiled cost and gradient from the same start. An
evaluation is one value: ours always brings its gradient along, pymanopt's
gradients are not counted, which favours it.
"""

import contextlib
import time

import jax
import jax.numpy as jnp
import numpy as np
import pymanopt
from pymanopt.optimizers import ConjugateGradient
from pymanopt.optimizers.line_search import AdaptiveLineSearcher

from benchmarks import problems
from spdjax import grassmann
from spdjax.reduction import objectives

METRICS = ("stein", "jeffrey", "log_euclidean", "airm")


class _Spent(Exception):
  pass


def peer(cost, gradient, w, budget):
  """pymanopt's lowest cost after `budget` values, and seconds."""
  n, m = w.shape
  manifold = pymanopt.manifolds.Grassmann(n, m)
  seen = []

  @pymanopt.function.numpy(manifold)
  def value(point):
    if len(seen) >= budget:
      raise _Spent
    seen.append(float(cost(point)))
    return seen[-1]

  @pymanopt.function.numpy(manifold)
  def slope(point):
    return np.asarray(gradient(point))

  problem = pymanopt.Problem(manifold, value, euclidean_gradient=slope)
  solver = ConjugateGradient(
    beta_rule="HestenesStiefel",
    line_searcher=AdaptiveLineSearcher(),
    max_iterations=budget,
    min_gradient_norm=1e-9,
    min_step_size=1e-14,
    verbosity=0,
  )
  begin = time.perf_counter()
  with contextlib.suppress(_Spent):
    solver.run(problem, initial_point=np.asarray(w))
  return min(seen), time.perf_counter() - begin


def ours(fun, w, args, budget):
  """Our cost after at most `budget` evaluations, and seconds to get there."""
  trace = jax.jit(
    lambda w, *args: grassmann.conjugate_gradient.trace(
      fun, w, *args, num_steps=budget
    )[1]
  )
  info = jax.block_until_ready(trace(w, *args))
  begin = time.perf_counter()
  jax.block_until_ready(trace(w, *args))
  seconds = time.perf_counter() - begin
  within = np.asarray(info.evaluations) <= budget
  steps = int(within.sum())
  return float(info.value[steps - 1]), seconds * steps / budget


def main(budgets=(60, 150)) -> list[dict]:
  rows = []
  for problem in problems.available():
    w = problems.start(problem)
    for metric in METRICS:
      fun, edges = objectives.cost(metric), problems.graph(problem, metric)
      cost = jax.jit(fun)
      gradient = jax.jit(jax.grad(fun))
      args = (problem.x, edges)
      jax.block_until_ready((cost(w, *args), gradient(w, *args)))
      for budget in budgets:
        theirs, slow = peer(
          lambda p: cost(jnp.asarray(p), *args),  # noqa: B023
          lambda p: gradient(jnp.asarray(p), *args),  # noqa: B023
          w,
          budget,
        )
        mine, fast = ours(fun, w, args, budget)
        rows.append(
          {
            "problem": problem.name,
            "metric": metric,
            "evaluations": budget,
            "start": float(cost(w, *args)),
            "pymanopt": theirs,
            "spdjax": mine,
            "pymanopt_seconds": slow,
            "spdjax_seconds": fast,
          }
        )
        print(
          f"{problem.name:16} {metric:14} {budget:4} evaluations: "
          f"start {rows[-1]['start']:12.2f}  pymanopt {theirs:12.2f} "
          f"({slow:.1f} s)  spdjax {mine:12.2f} ({fast:.1f} s)",
          flush=True,
        )
  return rows
