"""Checks of values, for eager use before anything is compiled.

Each returns its argument untouched or raises a ValueError that names the first
bad item and why; nothing is symmetrised, clipped or repaired.
"""

import warnings

import jax.numpy as jnp
import numpy as np


def check_spd(x, *, name="x"):
  """x [..., n, n], if every matrix of it is symmetric positive definite.

  Symmetric: |X - X'| <= eps^(2/3) max |X|, eps of x's dtype. Positive definite:
  positive variances and a correlation matrix of full numerical rank, a test
  that a change of the units of single variables does not alter.

  Raises:
    ValueError: naming the first bad index and whether its matrix is not
      square, not finite, not symmetric or not positive definite, with the
      smallest eigenvalue and the rank.

  Warns (UserWarning) of numpy float64 that JAX will hold as float32.
  """
  a = _array(x, name)
  if a.ndim < 2 or a.shape[-1] != a.shape[-2] or a.shape[-1] == 0:
    raise ValueError(f"{name} must be [..., n, n], got shape {a.shape}")
  eps = np.finfo(a.dtype).eps
  a = a.astype(np.float64)
  _refuse(~np.isfinite(a).all((-2, -1)), name, lambda i: "is not finite")
  _check_symmetric(a, eps ** (2 / 3), name)
  rank = _ranks(a, eps)

  def why(i):
    low = np.linalg.eigvalsh(a[i])[0]
    return (
      f"is not positive definite: smallest eigenvalue {low:.3g}, "
      f"rank {rank[i]} of {a.shape[-1]}"
    )

  _refuse(rank < a.shape[-1], name, why)
  return x


def check_samples(features, *, name="features"):
  """features [..., r, n], if every covariance of r samples has full rank n.

  Raises:
    ValueError: naming the first bad index, its number of samples and the rank
      of its covariance, which is at most r - 1.

  Warns (UserWarning) of numpy float64 that JAX will hold as float32.
  """
  a = _array(features, name)
  if a.ndim < 2 or 0 in a.shape[-2:]:
    raise ValueError(f"{name} must be [..., r, n], got shape {a.shape}")
  eps = np.finfo(a.dtype).eps
  a = a.astype(np.float64)
  _refuse(~np.isfinite(a).all((-2, -1)), name, lambda i: "is not finite")
  # What rounding leaves of a constant column is no variance.
  floor = eps * np.abs(a).max(-2, keepdims=True)
  a = a - a.mean(-2, keepdims=True)
  a = np.where(np.abs(a) <= floor, 0, a)
  scale = np.sqrt(np.square(a).sum(-2, keepdims=True))
  rank = np.linalg.matrix_rank(a / np.where(scale > 0, scale, 1))
  r, n = a.shape[-2:]
  _refuse(
    rank < n,
    name,
    lambda i: (
      f"has {r} samples of {n} features, a covariance of rank {rank[i]}: "
      "add samples, drop features or shrink it"
    ),
  )
  return features


def _array(x, name):
  a = np.asarray(x)
  if a.dtype == np.float64 and jnp.result_type(float) == np.float32:
    warnings.warn(
      f"{name} is float64 and becomes float32: jax_enable_x64 is off",
      stacklevel=3,
    )
    a = a.astype(np.float32)
  return a if np.issubdtype(a.dtype, np.floating) else a.astype(np.float64)


def _check_symmetric(a, tolerance, name):
  gap = np.abs(a - np.swapaxes(a, -1, -2)).max((-2, -1))
  scale = np.abs(a).max((-2, -1))
  _refuse(
    gap > tolerance * scale,
    name,
    lambda i: f"is not symmetric: |X - X'| reaches {gap[i]:.3g}",
  )


def _ranks(a, eps):
  """Numerical ranks of symmetric a [..., n, n] given in precision eps.

  Of the correlation matrix, whose entries are known to about eps: the rank is
  the same and the scales of the variables do not blur it.
  """
  n = a.shape[-1]
  variance = np.diagonal(a, axis1=-2, axis2=-1)
  scale = np.sqrt(np.where(variance > 0, variance, 1))
  correlation = a / scale[..., :, None] / scale[..., None, :]
  w = np.linalg.eigvalsh(correlation)
  return (w > max(n * np.finfo(np.float64).eps, 4 * eps)).sum(-1)


def _refuse(bad, name, why):
  if np.any(bad):
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    where = f"{name}[{', '.join(map(str, index))}]" if index else name
    raise ValueError(f"{where} {why(index)}")
