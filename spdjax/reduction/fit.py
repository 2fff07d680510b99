"""Learning the subspace."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from spdjax import grassmann, spd
from spdjax.reduction import eigen, graph, objectives
from spdjax.reduction import starts as start_points

_INVARIANT = ("airm", "stein", "jeffrey")


class Reduction(NamedTuple):
  """A learned subspace."""

  w: jax.Array  # [n, m]; orthonormal, but for whitened non-invariant metrics
  cost: jax.Array  # [] the objective at w; of the best start
  info: Any  # the solver's Info, with a leading axis of starts


def fit(
  key,
  x,
  y=None,
  *,
  dim,
  metric="stein",
  within=5,
  between=5,
  edges=None,
  starts="pca",
  whiten=False,
  solver="cg",
  max_steps=200,
  tol=None,
):
  """Subspace of the least supervised cost, or of the largest spread.

  With labels, or edges, eq. 15 is minimised; without, eq. 21 is maximised with
  the Fréchet mean of the metric. Algorithm 1 on the Grassmann manifold, all
  starts at once, the best one returned.

  Args:
    key: for random starts; consumed.
    x: SPD [N, n, n].
    y: labels [N], or None.
    dim: m, 0 < m < n.
    metric: a name in `spd.METRICS`, or pyRiemann's spelling.
    within, between: neighbours of each item; see `neighbours`.
    edges: a graph of the user's own, in place of that of y.
    starts: see `starts.make`.
    whiten: take x to P^-1/2 X P^-1/2, P its arithmetic mean, before learning.
      The optima of airm, stein and jeffrey do not move, and fewer steps are
      needed; the other two metrics then mean distances in these coordinates.
    solver: "cg" or "tr", see `grassmann.minimize`.
    max_steps, tol: the solver's.

  Returns:
    `Reduction`; its cost is minus the spread when x has no labels or edges.

  Raises:
    ValueError: a wrong shape, dim, metric, start or number of neighbours.

  Reference: Harandi et al., 2017, Algorithm 1.
  """
  name = _checked(x, y, dim, metric)
  if edges is None and y is not None:
    edges = graph.affinity(x, y, within=within, between=between, metric=name)
  root = spd.inv_sqrtm(x.mean(0)) if whiten else None
  inside = x if root is None else _congruence(x, root)
  first = start_points.make(key, starts, inside, y, dim)
  if edges is None:
    items, edges = graph.star(inside, spd.mean(inside, metric=name)[0])
  else:
    items, edges = inside, _checked_edges(edges, x)
  fun = objectives.cost(name)
  w, info = _solve(first, *graph.pad(items, edges), fun, solver, max_steps, tol)
  best = jnp.nanargmin(info.value)
  out = w[best] if root is None else _unwhiten(w[best], root, name)
  return Reduction(out, info.value[best], info)


def _checked(x, y, dim, metric):
  if x.ndim != 3 or x.shape[1] != x.shape[2]:
    raise ValueError(f"x must be square matrices [N, n, n], not {x.shape}")
  if not 0 < dim < x.shape[-1]:
    raise ValueError(
      f"dim must be above 0 and below n = {x.shape[-1]}, not {dim}"
    )
  if y is not None and np.shape(y) != (len(x),):
    raise ValueError(f"y must have one label an item, not {np.shape(y)}")
  return spd.metric_name(metric)


def _checked_edges(edges, x):
  ends = np.stack([np.asarray(edges.i), np.asarray(edges.j)])
  if ends.size and (ends.min() < 0 or ends.max() >= len(x)):
    raise ValueError(
      f"edges name items from {ends.min()} to {ends.max()} of {len(x)}"
    )
  if (ends[0] == ends[1]).any():
    raise ValueError("an edge must join two different items")
  weight = jnp.asarray(edges.weight, x.dtype)
  i, j = (jnp.asarray(k, jnp.int32) for k in (edges.i, edges.j))
  return graph.Edges(i, j, weight)


def _congruence(x, root):
  return spd.sym(
    jnp.einsum("ij,njk,kl->nil", root, x, root, precision="highest")
  )


def _unwhiten(w, root, name):
  tall = jnp.matmul(root, w, precision="highest")
  return jnp.linalg.qr(tall)[0] if name in _INVARIANT else tall


@functools.partial(
  jax.jit, static_argnames=("fun", "solver", "max_steps", "tol")
)
def _solve(first, x, edges, fun, solver, max_steps, tol):
  return jax.vmap(
    lambda w: grassmann.minimize(
      fun, w, x, edges, solver=solver, max_steps=max_steps, tol=tol
    )
  )(first)


def fit_eigen(
  x,
  y=None,
  *,
  dim,
  metric="log_euclidean",
  within=5,
  between=5,
  edges=None,
  start="pca",
  max_steps=50,
):
  """Subspace by repeated eigenvectors, Algorithm 2, with a safeguard.

  Approximates log(W'XW) by W' log(X) W (eqs. 32-36); for metric "euclidean"
  the same form is exact, with X in place of log X.

  Args:
    x: SPD [N, n, n].
    y: labels [N]; or give edges.
    dim: m, 0 < m < n.
    metric: "log_euclidean" or "euclidean".
    within, between, edges: as in `fit`.
    start: one of the starts of `fit`.
    max_steps: eigendecompositions at most.

  Returns:
    `Reduction` whose cost is the true one (eq. 31), never above the start's.

  Raises:
    ValueError: as in `fit`; another metric; neither y nor edges.
  """
  name = _checked(x, y, dim, metric)
  if edges is None:
    if y is None:
      raise ValueError("labels y, or edges, are needed")
    edges = graph.affinity(x, y, within=within, between=between, metric=name)
  first = start_points.make(None, start, x, y, dim)[0]
  items, edges = graph.pad(x, _checked_edges(edges, x))
  return Reduction(
    *eigen.solve(first, items, edges, metric=name, max_steps=max_steps)
  )
