"""Nuisance attribute projection: directions in which a class varies, removed.

With items in rows about their mean, X, and P the projection [N, N] that puts
the mean of its class in place of an item,

  S_w - b S_b = X' K X,  K = I - (1 + b) P,

where the scatters are sums, S_w = sum_i (x_i - m_yi)(x_i - m_yi)' and
S_b = sum_c n_c (m_c - m)(m_c - m)'. K is symmetric but indefinite, and the
small matrix K X X' is not symmetric at all. But B = X' Q diag(l)^-1/2, of the
Gram matrix X X' = Q diag(l) Q', is orthonormal, and the symmetric
B' X' K X B = diag(l)^1/2 Q' K Q diag(l)^1/2 has the same eigenvalues: a cost
of N^2 D and not of D^2.

Source: Vogt, Kajarekar & Sridharan, "Discriminant NAP for SVM Speaker
Recognition" (2008); Solomonoff, Campbell & Boardman (ICASSP 2005) for b = 0.
"""

import functools

import jax
import jax.numpy as jnp

from spdjax.classify.nuisance_gram import (
  check_rank,
  check_values,
  directions,
  most,
  product,
)
from spdjax.classify.values import labels, nonnegative, single


def nuisance(x, y, *, rank, between=0.0):
  """Top eigenvectors of S_w - between S_b, [D, rank], orthonormal.

  The largest eigenvalue comes first, so that u[:, :r] is the answer for each
  smaller rank r. Only directions of positive eigenvalue, above rounding, are
  nuisances: there are at most N - C of them for C classes.

  Args:
    x: [N, D], any real dtype; integers and halves are widened.
    y: [N] integer labels, of any values; may be traced.
    rank: number of directions; 0 gives [D, 0].
    between: how much the scatter between classes is spared, >= 0.

  Raises:
    ValueError: on wrong shapes, values that are not finite, and a rank above
      what exists. Where values are traced, a direction that does not exist is
      a column of zeros, which removes nothing.
  """
  x = single(x)
  if x.ndim != 2 or 0 in x.shape:
    raise ValueError(f"x must be [N, D], not empty, got shape {x.shape}")
  y = labels(y, len(x))
  check_rank(rank, min(x.shape[1], most(y)))
  between = jnp.asarray(nonnegative(between, "between"), x.dtype)
  u, values = _nuisance(x, y, between, rank=rank)
  check_values(values, rank)
  return u


def remove(x, u):
  """Rows without their part in span(u): x - (x u) u', [..., D].

  Args:
    x: [..., D], any real dtype; integers are widened.
    u: [D, r] orthonormal, as `nuisance` gives it, of the dtype of x.

  Raises:
    ValueError: on shapes that do not fit.
  """
  x, u = jnp.asarray(x), jnp.asarray(u)
  if not jnp.issubdtype(x.dtype, jnp.floating):
    x = x.astype(u.dtype)
  if u.ndim != 2 or x.shape[-1:] != u.shape[:1]:
    raise ValueError(
      f"x and u must be [..., D] and [D, r], got shapes {x.shape} and {u.shape}"
    )
  return x - product(product(x, u), u.T)


@functools.partial(jax.jit, static_argnames="rank")
def _nuisance(x, y, between, *, rank):
  mean = x.mean(0, keepdims=True)
  x = x - mean
  # Again: the first mean carries the rounding of a large offset.
  x = x - x.mean(0, keepdims=True)
  # What that rounding leaves of items that are all the same is no direction.
  noise = len(x) * jnp.square(4 * jnp.finfo(x.dtype).eps * mean).sum()
  weights, values = directions(product(x, x.T), y, between, rank, noise)
  # Rows are directions: XLA's products on CPUs are slow with a long x turned.
  return _orthonormal(product(weights.T, x)).T, values


def _orthonormal(u):
  """Rows [r, D], nearly orthonormal or 0, made so in order, by Cholesky.

  Division by small eigenvalues leaves parts along the rows before.
  """
  gram = product(u, u.T)
  none = jnp.diag(gram) <= 0.5
  factor = jnp.linalg.cholesky(gram + jnp.diag(none.astype(u.dtype)))
  eye = jnp.eye(len(u), dtype=u.dtype)
  turn = jax.scipy.linalg.solve_triangular(factor, eye, lower=True)
  return product(turn, u)
