"""The matrices of a run, with what all splits and folds share of them."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from experiments.spd.candidates import Geometry
from experiments.spd.items import regularised
from spdjax import reduction, spd
from spdjax.reduction import objectives
from spdjax.reduction import starts as start_points
from spdjax.reduction.graph import pad as padded

# A final cost within this part of the pull between classes is hardly below 0.
NEAR_ZERO = 0.05


class Fit(NamedTuple):
  """A learned subspace, as the records tell it."""

  w: jax.Array  # [n, m]
  cost: float
  start_cost: float
  steps: int
  warning: str | None


class Pool(NamedTuple):
  """x with each ridge, all its distances and logs: each computed once."""

  labels: np.ndarray  # [N] int
  x: Callable  # ridge -> SPD [N, n, n]
  distances: Callable  # (ridge, metric) -> squared [N, N], numpy
  logs: Callable  # ridge -> log-vectors [N, n(n+1)/2], numpy


def pool(x: np.ndarray, labels: np.ndarray) -> Pool:
  """The pool of symmetric x [N, n, n] and labels [N]."""
  matrices = functools.cache(lambda ridge: _device(regularised(x, ridge)))

  @functools.cache
  def distances(ridge, metric):
    return np.asarray(spd.pairwise(matrices(ridge), metric=metric))

  @functools.cache
  def logs(ridge):
    return np.asarray(spd.log_vectors(matrices(ridge)))

  return Pool(labels, matrices, distances, logs)


def fit(matrices: Pool, geometry: Geometry, train, config) -> Fit:
  """Learns the subspace of the geometry on the items `train`."""
  edges = graph(matrices, geometry, train)
  x, y = matrices.x(geometry.ridge)[train], matrices.labels[train]
  found = reduction.fit(
    None,
    x,
    y,
    edges=edges,
    dim=geometry.dim,
    metric=geometry.metric,
    starts=(geometry.start,),
    whiten=geometry.start == "between",
    solver=config.solver,
    max_steps=config.max_steps,
  )
  cost = float(found.cost)
  return Fit(
    found.w,
    cost,
    _start_cost(x, y, edges, geometry),
    int(found.info.steps[0]),
    _warning(cost, _pull(found.w, x, edges, geometry.metric)),
  )


def graph(matrices: Pool, geometry: Geometry, train) -> reduction.Edges:
  """The affinity graph among the items `train`."""
  distances = matrices.distances(geometry.ridge, geometry.metric)
  return reduction.neighbours(
    distances[np.ix_(train, train)],
    matrices.labels[train],
    within=geometry.within,
    between=geometry.between,
  )


def _start_cost(x, y, edges, geometry) -> float:
  """The cost where the solver began, in the coordinates that it saw."""
  if geometry.start == "between":
    root = spd.inv_sqrtm(x.mean(0))
    white = jnp.einsum("ij,njk,kl->nil", root, x, root, precision="highest")
    x = spd.sym(white)
  w = start_points.make(None, geometry.start, x, y, geometry.dim)[0]
  return cost_at(w, x, edges, geometry.metric)


def cost_at(w, x, edges, metric: str) -> float:
  """The supervised cost of w [n, m], eq. 15."""
  x, edges = padded(x, edges)
  return float(_evaluate(objectives.cost(metric), w, x, edges))


def _pull(w, x, edges, metric) -> float:
  """What the pairs of different classes take off the cost, at least 0."""
  apart = edges._replace(weight=jnp.maximum(-edges.weight, 0))
  return cost_at(w, x, apart, metric)


def _warning(cost: float, pull: float) -> str | None:
  if cost <= -NEAR_ZERO * pull:
    return None
  return (
    f"the final cost {cost:.3g} is near or above zero, beside {-pull:.3g} for "
    "the pairs of different classes: the graph is within-heavy and distances "
    "shrink; take fewer neighbours within, or more between."
  )


@functools.partial(jax.jit, static_argnums=0)
def _evaluate(fun, w, x, edges):
  return fun(w, x, edges)


def _device(x):
  return jnp.asarray(x.astype(jnp.result_type(float)))
