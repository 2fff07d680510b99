"""All pairs of two sets of SPD matrices, in blocks."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from spdjax.spd import eigenvalues, geometry, spectral
from spdjax.spd.divergences import (
  logdet,
  metric_name,
  solve_lower,
  whiten,
)
from spdjax.spd.spectral import dot, logm

# Entries of one block of pairs: about what a core's cache holds.
_BLOCK_ENTRIES = 2**20

_LOG_SQUARED = eigenvalues.Sum(
  lambda w: jnp.log(w) ** 2,
  spectral.Function(
    lambda w: 2 * jnp.log(w) / w,
    lambda a, b: 2 * (spectral.log_slope(a, b) / a - jnp.log(b) / (a * b)),
    lambda w: (2 * jnp.log(w) - 3) / w**3,
  ),
)


def pairwise(x, y=None, *, metric="airm", block=None):
  """Squared distances of every pair.

  No per-item factor is copied per pair. Jeffrey, log-Euclidean and Euclidean
  are matrix products; Stein factors each midpoint; AIRM takes eigenvalues
  alone. Without y only the pairs i < j are computed, and the diagonal is 0.
  Divergences below n eps of their terms are lost to rounding here; the
  functions of single pairs keep them.

  Args:
    x: SPD [N, n, n].
    y: SPD [M, n, n], or None for x itself.
    metric: a name in `METRICS`, or pyRiemann's spelling of it.
    block: pairs handled at once by Stein and AIRM; None: by cache size.

  Returns:
    [N, M], at least 0, in the units of the metric squared.

  Raises:
    ValueError: a wrong shape, or an unknown metric.
  """
  name = metric_name(metric)
  _check_shapes(x, y)
  if block is None:
    block = max(1, _BLOCK_ENTRIES // x.shape[-1] ** 2)
  return _pairwise(x, y, name, block)


def _check_shapes(x, y):
  for name, z in (("x", x), ("y", y)):
    if z is not None and (z.ndim != 3 or z.shape[1] != z.shape[2]):
      raise ValueError(
        f"{name} must be square matrices [N, n, n], not {z.shape}"
      )
  if y is not None and x.shape[1:] != y.shape[1:]:
    raise ValueError(
      f"x and y must be of one size, not {x.shape[1:]} and {y.shape[1:]}"
    )


@functools.partial(jax.jit, static_argnames=("name", "block"))
def _pairwise(x, y, name, block):
  same = y is None
  y = x if same else y
  out = jnp.maximum(_ALL_PAIRS[name](x, y, same, block), 0.0)
  if not same:
    return out
  # A matrix product U U' need not be symmetric to the last bit.
  return spectral.sym(out).at[jnp.diag_indices(len(x))].set(0.0)


def _vector_pairs(u, v):
  """||u_i - v_j||^2 [N, M] of u [N, D], v [M, D] as one matrix product."""
  centre = v.mean(0, keepdims=True)  # the products cancel less
  u, v = u - centre, v - centre
  square_u, square_v = (u**2).sum(-1), (v**2).sum(-1)
  return square_u[:, None] + square_v[None, :] - 2 * dot(u, v.T)


def _log_euclidean(x, y, same, block):
  del block
  u = geometry.sym_vectors(logm(x))
  return _vector_pairs(u, u if same else geometry.sym_vectors(logm(y)))


def _euclidean(x, y, same, block):
  del same, block
  return _vector_pairs(geometry.sym_vectors(x), geometry.sym_vectors(y))


def _jeffrey(x, y, same, block):
  del block
  # In the coordinates where the mean is I the traces cancel least.
  factor = jnp.linalg.cholesky(y.mean(0))
  whitened = jax.vmap(lambda z: whiten(z, factor))
  x = whitened(x)
  y = x if same else whitened(y)
  cross = dot(_flat(_inverse(x)), _flat(y).T)
  back = cross.T if same else dot(_flat(x), _flat(_inverse(y)).T)
  return (cross + back) / 2 - x.shape[-1]


def _flat(x):
  return x.reshape(len(x), -1)


@jax.vmap
def _inverse_factor(x):
  eye = jnp.eye(x.shape[0], dtype=x.dtype)
  return solve_lower(jnp.linalg.cholesky(x), eye)


def _inverse(x):
  half = _inverse_factor(x)
  return dot(jnp.swapaxes(half, -1, -2), half)


def _stein(x, y, same, block):
  dets_x = jax.vmap(logdet)(x)
  dets_y = dets_x if same else jax.vmap(logdet)(y)
  middle = lambda i, j: logdet((x[i] + y[j]) / 2)
  sums = _over_pairs(middle, len(x), len(y), same, block)
  return sums - (dets_x[:, None] + dets_y[None, :]) / 2


def _airm(x, y, same, block):
  half = _inverse_factor(x)

  def squared(i, j):
    seen = spectral.sym(dot(half[i], dot(y[j], half[i].T)))
    return eigenvalues.total(_LOG_SQUARED, seen)

  return _over_pairs(squared, len(x), len(y), same, block)


def _over_pairs(fun, rows, columns, same, block):
  """[rows, columns] of fun(i, j), block by block; half of them when same."""
  if same:
    i, j = np.triu_indices(rows, 1)
  else:
    i, j = (a.ravel() for a in np.indices((rows, columns)))
  block = max(1, min(block, len(i)))
  pad = -len(i) % block
  split = lambda a: jnp.asarray(
    np.pad(a, (0, pad)).reshape(-1, block), jnp.int32
  )
  values = jax.lax.map(lambda ij: jax.vmap(fun)(*ij), (split(i), split(j)))
  values = values.ravel()[: len(i)]
  if not same:
    return values.reshape(rows, columns)
  half = jnp.zeros((rows, columns), values.dtype).at[i, j].set(values)
  return half + half.T


_ALL_PAIRS = {
  "airm": _airm,
  "stein": _stein,
  "jeffrey": _jeffrey,
  "log_euclidean": _log_euclidean,
  "euclidean": _euclidean,
}
