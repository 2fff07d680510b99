"""The affinity graph of labelled SPD matrices, as a list of edges."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from spdjax import spd


class Edges(NamedTuple):
  """Weighted pairs i < j, each once; a_ij = a_ji = weight.

  A positive weight draws the pair together, a negative one drives it apart.
  Any edges will do: must-links and cannot-links of a few items make the
  semi-supervised case.
  """

  i: jax.Array  # [E] int32
  j: jax.Array  # [E] int32
  weight: jax.Array  # [E]


def neighbours(distances, y, *, within=5, between=5):
  """Edges a = g_w - g_b of nearest neighbours, eqs. 12-14.

  g_w(i, j) = 1 where i is among the `within` nearest of j's own class, or j
  among i's; g_b likewise with the `between` nearest of the other classes. No
  point neighbours itself, and ties go to the lower index. Runs eagerly, since
  the number of edges depends on the values.

  Args:
    distances: [N, N], symmetric; any increasing function of distance will do.
    y: labels [N].
    within, between: neighbours of each item; larger than a class: all of it.

  Returns:
    Edges of weight +1 within classes and -1 between them.

  Raises:
    ValueError: shapes that do not match, a distance that is NaN, or a negative
      number of neighbours.
  """
  distances, y = np.asarray(distances), np.asarray(y)
  if y.ndim != 1 or distances.shape != (len(y), len(y)):
    raise ValueError(
      f"distances {distances.shape} must be [N, N] for labels y {y.shape}"
    )
  if np.isnan(distances).any():
    row = tuple(int(k) for k in np.argwhere(np.isnan(distances))[0])
    raise ValueError(f"distances are NaN at index {row}")
  if within < 0 or between < 0:
    raise ValueError(
      f"within and between must be at least 0, not {within} and {between}"
    )
  same = y[:, None] == y[None, :]
  near = _nearest(distances, same, within)
  far = _nearest(distances, ~same, between)
  i, j = np.nonzero(np.triu(near | far, 1))
  weight = np.where(same[i, j], 1, -1).astype(distances.dtype)
  return Edges(
    jnp.asarray(i, jnp.int32), jnp.asarray(j, jnp.int32), jnp.asarray(weight)
  )


def _nearest(distances, allowed, count):
  """[N, N] bool, symmetric: one of the two is among the other's nearest."""
  allowed = allowed & ~np.eye(len(allowed), dtype=bool)
  masked = np.where(allowed, distances, np.inf)
  order = np.argsort(masked, axis=1, kind="stable")[:, :count]
  chosen = np.zeros_like(allowed)
  np.put_along_axis(chosen, order, True, axis=1)
  chosen &= allowed
  return chosen | chosen.T


def affinity(x, y, *, within=5, between=5, metric="airm"):
  """Edges of `neighbours` by the distances of x under the metric.

  Args:
    x: SPD [N, n, n].
    y: labels [N].
    within, between: neighbours of each item in its class and outside it.
    metric: a name in `spd.METRICS`, or pyRiemann's spelling.

  Returns:
    Edges; raises what `neighbours` and `spd.pairwise` raise.
  """
  distances = spd.pairwise(x, metric=metric)
  return neighbours(distances, y, within=within, between=between)


def bucket(count):
  """The next of 64, 96, 128, 192, 256, ...: few lengths ever occur."""
  length = 64
  while length < count:
    length = length * 3 // 2 if length & (length - 1) == 0 else length * 4 // 3
  return length


def pad(x, edges):
  """Copies of x[0] and edges of weight 0 added, up to a `bucket` of each.

  Compiled functions then serve sets and graphs of many sizes.
  """
  items = bucket(len(x)) - len(x)
  extra = bucket(len(edges.i)) - len(edges.i)
  x = jnp.concatenate([x, jnp.broadcast_to(x[:1], (items, *x.shape[1:]))])
  return x, Edges(
    jnp.pad(edges.i, (0, extra)),
    jnp.pad(edges.j, (0, extra), constant_values=1),
    jnp.pad(edges.weight, (0, extra)),
  )


def star(x, mean):
  """x with its mean as one more item, and the edges that make the spread.

  The supervised cost of these is minus the spread of eq. 21.
  """
  count = len(x)
  edges = Edges(
    jnp.arange(count, dtype=jnp.int32),
    jnp.full(count, count, jnp.int32),
    jnp.full(count, -0.5, x.dtype),
  )
  return jnp.concatenate([x, mean[None]]), edges
