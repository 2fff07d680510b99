"""Logarithms of upper triangular affine matrices, Gaussians of any covariance.

A Gaussian of mean mu and covariance A A', A upper triangular of positive
diagonal, is the matrix [[A, mu], [0, 1]].
"""

import jax
import jax.numpy as jnp

_ROOTS = 6  # square roots: a diagonal within e^+-20 comes within e^+-.32 of 1
_TERMS = 12  # of the series of atanh, whose next is then below 1e-19


def affine_log(m):
  """The matrix logarithm of upper triangular m of positive diagonal.

  Of M_base^-1 M_image it is the tangent vector of a component of any
  covariance; `log_map` is the diagonal case. By square roots R_s, m =
  R_s^(2^s), and log m = 2^(s + 1) atanh((R_s + I)^-1 (R_s - I)); the diagonal
  of R_s - I is taken from log m_ii, so that nothing cancels. Only additions of
  positive numbers are divided by, so it has derivatives where diagonal entries
  are equal, too. Full accuracy for entries of the diagonal within e^+-20.

  Args:
    m: [..., d + 1, d + 1]; entries below the diagonal are not read.

  Returns:
    [..., d + 1, d + 1], upper triangular; NaN where the diagonal is not
    positive.

  Raises:
    ValueError: m is not of square matrices.

  Reference: Gong, Chen & Hu, eqs. 10 and 12; Higham, "Functions of Matrices",
  2008, sections 6.2 and 11.
  """
  m = jnp.asarray(m)
  if m.ndim < 2 or m.shape[-1] != m.shape[-2]:
    raise ValueError(f"m must be [..., d + 1, d + 1], got shape {m.shape}")
  return jnp.vectorize(_log, signature="(n,n)->(n,n)")(jnp.triu(m))


def _log(m):
  l = jnp.log(jnp.diagonal(m))
  halves = 0.5 ** jnp.arange(1, _ROOTS + 1, dtype=m.dtype)
  diagonals = jnp.exp(halves[:, None] * l[None])
  root, _ = jax.lax.scan(lambda r, d: (_root(r, d), None), m, diagonals)
  minus, plus = jnp.expm1(halves[-1] * l), diagonals[-1] + 1
  z = _quotient(jnp.triu(root, 1), minus, plus)
  square = _product(z, z)
  one = jnp.eye(len(m), dtype=m.dtype)

  def add(series, term):
    return _product(series, square) + term * one, None

  terms = 1 / jnp.arange(2 * _TERMS - 1, 0, -2, dtype=m.dtype)
  series, _ = jax.lax.scan(add, 0 * one, terms)
  out = 2 ** (_ROOTS + 1) * _product(z, series)
  return jnp.triu(out, 1) + jnp.diag(l)


def _root(m, diagonal):
  """The upper triangular square root of m with the given diagonal.

  One diagonal after the other: r_ij (r_ii + r_jj) = m_ij - sum_k r_ik r_kj.
  """
  sums = diagonal[:, None] + diagonal[None]

  def body(p, r):
    new = (m - _product(r, r)) / sums
    return jnp.where(_is_diagonal(p, len(m)), new, r)

  return jax.lax.fori_loop(1, len(m), body, jnp.diag(diagonal))


def _quotient(above, minus, plus):
  """(P + U)^-1 (Q + U), U = above strictly upper, diagonals P and Q."""
  right = above + jnp.diag(minus)
  start = jnp.diag(minus / plus)

  def body(p, z):
    new = (right - _product(above, z)) / plus[:, None]
    return jnp.where(_is_diagonal(p, len(z)), new, z)

  return jax.lax.fori_loop(1, len(above), body, start)


def _is_diagonal(p, num):
  index = jnp.arange(num)
  return index[None] - index[:, None] == p


def _product(a, b):
  return jnp.matmul(a, b, precision="highest")
