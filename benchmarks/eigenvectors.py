"""Algorithm 2's eigenvectors beside conjugate gradient, log-Euclidean cost.

Cost and test accuracy against seconds (compilation excluded): the seed paper's
figure 4, with the exact gradient in Laplacian form on the side of CG.
"""

import time
from pathlib import Path

import jax
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmarks import problems
from spdjax import classify, grassmann, reduction, spd
from spdjax.reduction import eigen, graph, objectives

METRIC = "log_euclidean"


def accuracy(problem, w) -> float:
  train, test = (reduction.project(x, w) for x in (problem.x, problem.test))
  distances = spd.pairwise(test, train, metric=METRIC)
  labels = classify.nearest_neighbour(distances, problem.y)
  return float((np.asarray(labels) == problem.test_y).mean())


def conjugate_gradient(problem, edges, num_steps):
  """Rows of (seconds, cost, accuracy) after every update."""
  fun, solver = objectives.cost(METRIC), grassmann.conjugate_gradient
  init = jax.jit(solver.init, static_argnums=0)
  update = jax.jit(solver.update, static_argnums=0)
  x, edges = graph.pad(problem.x, edges)
  w = problems.start(problem)
  jax.block_until_ready(update(fun, init(fun, w, x, edges), x, edges))
  begin, spent, rows = time.perf_counter(), 0.0, []
  state = jax.block_until_ready(init(fun, w, x, edges))
  for _ in range(num_steps):
    state, info = jax.block_until_ready(update(fun, state, x, edges))
    spent += time.perf_counter() - begin
    rows.append((spent, float(info.value), accuracy(problem, state.w)))
    begin = time.perf_counter()
  return rows


def eigenvectors(problem, edges, num_steps):
  """Rows of (seconds, cost, accuracy) of solves of 1, 2, 3, ... steps."""
  x, edges = graph.pad(problem.x, edges)
  w, rows = problems.start(problem), []
  for steps in range(num_steps + 1):
    solve = lambda: jax.block_until_ready(
      eigen.solve(w, x, edges, metric=METRIC, max_steps=steps)  # noqa: B023
    )
    solve()
    begin = time.perf_counter()
    found, cost, info = solve()
    spent = time.perf_counter() - begin
    rows.append((spent, float(cost), accuracy(problem, found)))
    if int(info.steps) < steps:
      break
  return rows


def figure(found) -> Figure:
  fig = Figure(figsize=(9, 3.2 * len(found)), layout="constrained")
  FigureCanvasAgg(fig)
  axes = fig.subplots(len(found), 2, squeeze=False)
  for (name, solvers), row in zip(found.items(), axes, strict=True):
    for solver, rows in solvers.items():
      seconds, cost, right = np.array(rows).T
      style = {"marker": ".", "label": solver}
      row[0].plot(seconds, cost, **style)
      row[1].plot(seconds, 100 * right, **style)
    row[0].set(title=name, xlabel="seconds", ylabel="cost, eq. 31")
    row[1].set(title=name, xlabel="seconds", ylabel="1-NN accuracy, %")
    for axis in row:
      axis.set_xscale("symlog", linthresh=0.01)
      axis.grid(alpha=0.3)
    row[0].legend()
  return fig


def main(cg_steps=60, eigen_steps=25, folder="runs/benchmarks") -> dict:
  found = {}
  for problem in problems.available():
    edges = problems.graph(problem, METRIC)
    found[problem.name] = {
      "conjugate gradient": conjugate_gradient(problem, edges, cg_steps),
      "eigenvectors": eigenvectors(problem, edges, eigen_steps),
    }
    for solver, rows in found[problem.name].items():
      seconds, cost, right = rows[-1]
      print(
        f"{problem.name:16} {solver:18} {seconds:6.2f} s  cost {cost:10.2f}  "
        f"accuracy {100 * right:.1f} %",
        flush=True,
      )
  Path(folder).mkdir(parents=True, exist_ok=True)
  figure(found).savefig(Path(folder) / "eigenvectors.png", dpi=120)
  return found
