"""The cost by iteration and by time, compilation excluded."""

import functools
import time

import jax
import numpy as np

from experiments.spd import pool
from experiments.spd.learned import geometry_of
from spdjax.grassmann import conjugate_gradient
from spdjax.reduction import eigen, objectives, starts

EIGEN_METRIC = "log_euclidean"
EIGEN_STEPS = 20  # their time is quadratic in this


def rows(config, matrices, split, scores):
  """Yields the fields of "trace" lines, in raw coordinates from "pca".

  One of conjugate gradient for each metric, and one of repeated eigenvectors
  for log-Euclidean, from the same start on the same graph.
  """
  dim = config.fixed_dim or config.dims[0]
  for metric in config.metrics:
    geometry = geometry_of(config, scores, metric, dim)
    geometry = geometry._replace(start="pca")
    x = matrices.x(geometry.ridge)[split.train]
    edges = pool.graph(matrices, geometry, split.train)
    w = starts.leading(x.mean(0), dim)
    x, edges = pool.padded(x, edges)
    yield {
      "metric": metric,
      "dim": dim,
      "solver": "cg",
      **_conjugate(w, x, edges, metric, config.max_steps),
    }
    if metric == EIGEN_METRIC:
      yield {
        "metric": metric,
        "dim": dim,
        "solver": "eigen",
        **_eigen(w, x, edges, config.max_steps),
      }


def _conjugate(w, x, edges, metric, max_steps: int) -> dict:
  run = functools.partial(
    conjugate_gradient.trace,
    *(objectives.cost(metric), w, x, edges),
    num_steps=max_steps,
  )
  jax.block_until_ready(run())
  spent, (_, info) = timed(run)
  steps = int(info.steps[-1])  # after these the state stands still
  costs = np.asarray(info.value)[:steps].tolist()
  return {
    "cost": [pool.cost_at(w, x, edges, metric), *costs],
    # Steps that stand still take as long as the others.
    "seconds": (spent / max_steps * np.arange(steps + 1)).tolist(),
  }


def _eigen(w, x, edges, max_steps: int) -> dict:
  """Runs of 1, 2, 3, ... steps: the solver keeps no trace of its own."""
  args, metric = (w, x, edges), EIGEN_METRIC
  costs, seconds = [pool.cost_at(*args, metric)], [0.0]
  jax.block_until_ready(eigen.solve(*args, metric=metric, max_steps=1))
  for most in range(1, min(max_steps, EIGEN_STEPS) + 1):
    run = functools.partial(eigen.solve, *args, metric=metric, max_steps=most)
    spent, (_, cost, info) = timed(run)
    if int(info.steps) < most:
      break
    costs.append(float(cost))
    seconds.append(spent)
  return {"cost": costs, "seconds": np.maximum.accumulate(seconds).tolist()}


def timed(run):
  """(seconds, result) of run(), waited for."""
  begin = time.perf_counter()
  out = jax.block_until_ready(run())
  return time.perf_counter() - begin, out
