"""Learning a subspace beside pymanopt's conjugate gradient; float64.

The peer has the same cost and a vectorised numpy gradient, and starts from the
same subspace. Ours is timed to the cost that the peer ends at.
"""

import contextlib

import jax
import jax.numpy as jnp
import numpy as np
import pymanopt
from pymanopt.optimizers import ConjugateGradient

from benchmarks import harness, problems
from spdjax import grassmann
from spdjax.reduction import graph, objectives

BUDGET = 100  # of the peer's evaluations
STARTS, STEPS = 16, 30


class _Spent(Exception):
  pass


def stein(w, x, edges):
  """(cost, gradient) of sum_{i != j} a_ij stein(W'X_iW, W'X_jW), in numpy."""
  i, j, weight = edges
  tall = x @ w
  a = w.T @ tall
  middle = (a[i] + a[j]) / 2
  logdet = lambda z: np.linalg.slogdet(z)[1]
  value = 2 * (
    weight @ logdet(middle) - weight @ (logdet(a)[i] + logdet(a)[j]) / 2
  )
  own = weight[:, None, None] * np.linalg.inv(middle)
  pull = np.zeros_like(a)
  np.add.at(pull, i, own)
  np.add.at(pull, j, own)
  degree = np.bincount(i, weight, len(x)) + np.bincount(j, weight, len(x))
  pull -= degree[:, None, None] * np.linalg.inv(a)
  return value, 2 * np.tensordot(tall, pull, ([0, 2], [0, 1]))


def jeffrey(w, x, edges):
  """The same of the Jeffrey divergence."""
  i, j, weight = edges
  tall = x @ w
  a = w.T @ tall
  inverse = np.linalg.inv(a)
  adjacency = np.zeros((len(x),) * 2)
  np.add.at(adjacency, (i, j), weight)
  adjacency += adjacency.T
  other = np.tensordot(adjacency, a, 1)
  back = np.tensordot(adjacency, inverse, 1)
  value = np.vdot(inverse, other) - adjacency.sum() * w.shape[1]
  pull = back - inverse @ other @ inverse
  return value, 2 * np.tensordot(tall, pull, ([0, 2], [0, 1]))


NUMPY = {"stein": stein, "jeffrey": jeffrey}


def peer(fun, w, x, edges):
  """The lowest cost that pymanopt comes to in BUDGET evaluations."""
  manifold = pymanopt.manifolds.Grassmann(*w.shape)
  seen, last = [], {}

  def both(point):
    if last.get("point") is not point:
      last.update(point=point, found=fun(point, x, edges))
    return last["found"]

  @pymanopt.function.numpy(manifold)
  def value(point):
    if len(seen) >= BUDGET:
      raise _Spent
    seen.append(float(both(point)[0]))
    return seen[-1]

  @pymanopt.function.numpy(manifold)
  def slope(point):
    return both(point)[1]

  problem = pymanopt.Problem(manifold, value, euclidean_gradient=slope)
  solver = ConjugateGradient(
    beta_rule="HestenesStiefel", max_iterations=BUDGET, min_step_size=1e-14,
    min_gradient_norm=1e-9, verbosity=0,
  )  # fmt: skip
  with contextlib.suppress(_Spent):
    solver.run(problem, initial_point=w)
  return min(seen)


def against(problem, metric):
  edges = problems.graph(problem, metric)
  w, fun = problems.start(problem), objectives.cost(metric)
  x, padded = graph.pad(problem.x, edges)
  own = np.asarray(w), np.asarray(problem.x), tuple(map(np.asarray, edges))
  work = f"supervised, {problem.name}, {metric}, to the peer's cost"
  target = peer(NUMPY[metric], *own)
  _, info = grassmann.conjugate_gradient.trace(
    fun, w, x, padded, num_steps=2 * BUDGET
  )
  there = np.asarray(info.value) <= target + 1e-9 * abs(target)
  name, goal = "pymanopt, numpy gradient", 10
  if not there.any():
    return harness.told(
      {"work": work, "peer": name, "goal": goal,
       "refused": f"ours ends at {float(info.value[-1]):.6g}, not {target:.6g}"}
    )  # fmt: skip
  steps = int(there.argmax()) + 1

  def ours():
    return grassmann.conjugate_gradient.run(fun, w, x, padded, max_steps=steps)

  return harness.compare(
    work,
    ours,
    lambda: peer(NUMPY[metric], *own),
    name=name,
    goal=goal,
    difference=lambda a, b: max(0.0, float(fun(a[0], x, padded)) - b) / abs(b),
    repeats=3,
    peer_repeats=2,
    dtype="float64",
    steps=steps,
  )


def starts(problem, metric="stein"):
  """16 starts in one program against one."""
  fun = objectives.cost(metric)
  x, edges = graph.pad(problem.x, problems.graph(problem, metric))
  keys = jax.random.split(jax.random.key(0), STARTS)
  draw = lambda key: grassmann.random(key, *problems.start(problem).shape)
  many = jnp.stack([draw(key) for key in keys])
  solve = lambda w: grassmann.conjugate_gradient.run(
    fun, w, x, edges, max_steps=STEPS
  )[0]
  together = jax.jit(jax.vmap(solve))
  return harness.compare(
    f"{STARTS} starts at once, {problem.name}, {metric}, {STEPS} steps",
    lambda: together(many),
    lambda: solve(many[0]),
    name="one start",
    goal=1 / 6,
    difference=lambda a, b: harness.relative(a[0] @ a[0].T, b @ b.T),
    tol=1e-2,
    repeats=3,
    dtype="float64",
  )


def rows():
  for problem in problems.available():
    for metric in NUMPY:
      yield against(problem, metric)
    yield starts(problem)
