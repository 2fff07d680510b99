"""The affine-invariant Riemannian geometry of SPD matrices.

At P the inner product is tr(P^-1 U P^-1 V) (Pennec et al., 2006). Every map is
taken to the identity by the congruence with a Cholesky factor, P = L L', which
the metric does not see, and back.
"""

import functools

import jax.numpy as jnp

from spdjax.spd.divergences import whiten
from spdjax.spd.spectral import dot, expm, logm, powm, sqrtm, sym

_map = functools.partial(jnp.vectorize, signature="(n,n),(n,n)->(n,n)")


def _colour(x, factor):
  return sym(dot(factor, dot(x, factor.T)))


def exp(v, *, at):
  """Exponential map P^1/2 exp(P^-1/2 V P^-1/2) P^1/2 at P.

  Args:
    v: symmetric tangent vectors [..., n, n].
    at: SPD base points P [..., n, n]; leading axes broadcast.

  Returns:
    SPD [..., n, n].
  """
  return _exp(v, at)


@_map
def _exp(v, at):
  factor = jnp.linalg.cholesky(at)
  return _colour(expm(whiten(v, factor)), factor)


def log(y, *, at):
  """Logarithm map P^1/2 log(P^-1/2 Y P^-1/2) P^1/2 at P, inverse of `exp`.

  Args:
    y: SPD [..., n, n].
    at: SPD base points P [..., n, n]; leading axes broadcast.

  Returns:
    Symmetric tangent vectors at P, [..., n, n].
  """
  return _log(y, at)


@_map
def _log(y, at):
  factor = jnp.linalg.cholesky(at)
  return _colour(logm(whiten(y, factor)), factor)


def transport(v, *, at, to):
  """Parallel transport E V E', E = (Q P^-1)^1/2, along the geodesic P to Q.

  Args:
    v: tangent vectors at P [..., n, n].
    at, to: SPD end points P and Q [..., n, n]; leading axes broadcast.

  Returns:
    Tangent vectors at Q, [..., n, n], of the same inner products.

  Reference: Sra & Hosseini, 2015, eq. 3.4.
  """
  return _transport(v, at, to)


@functools.partial(jnp.vectorize, signature="(n,n),(n,n),(n,n)->(n,n)")
def _transport(v, at, to):
  factor = jnp.linalg.cholesky(at)
  half = sqrtm(whiten(to, factor))
  return _colour(dot(half, dot(whiten(v, factor), half)), factor)


def geodesic(x, y, t):
  """Point P^1/2 (P^-1/2 Q P^-1/2)^t P^1/2 of the geodesic from P to Q.

  Args:
    x, y: SPD end points P (t = 0) and Q (t = 1), [..., n, n].
    t: a real number or a scalar array; outside [0, 1] it extrapolates.

  Returns:
    SPD [..., n, n].
  """

  @_map
  def point(x, y):
    factor = jnp.linalg.cholesky(x)
    return _colour(powm(whiten(y, factor), t), factor)

  return point(x, y)


def inner(u, v, *, at):
  """Inner product tr(P^-1 U P^-1 V) of tangent vectors at P.

  Args:
    u, v: symmetric [..., n, n].
    at: SPD base points P [..., n, n]; leading axes broadcast.

  Returns:
    [...].
  """
  return _inner(u, v, at)


@functools.partial(jnp.vectorize, signature="(n,n),(n,n),(n,n)->()")
def _inner(u, v, at):
  factor = jnp.linalg.cholesky(at)
  return (whiten(u, factor) * whiten(v, factor)).sum()


def sym_vectors(s):
  """Upper triangles [..., n(n+1)/2], row by row, of symmetric s [..., n, n].

  Off-diagonals carry sqrt 2, so that ||vector|| = ||S||_F.
  """
  rows, columns = jnp.triu_indices(s.shape[-1])
  scale = jnp.where(rows == columns, 1.0, 2.0**0.5).astype(s.dtype)
  picked = s[..., rows, columns]
  return picked * jnp.broadcast_to(scale, picked.shape)


def log_vectors(x, *, at=None):
  """Vectors of log X, or of log(P^-1/2 X P^-1/2): the tangent space at P.

  Args:
    x: SPD [..., n, n].
    at: one SPD reference P [n, n], or None for the identity.

  Returns:
    [..., n(n+1)/2], the upper triangle row by row, off-diagonals times sqrt 2:
    their Euclidean distances are log-Euclidean ones (Tuzel et al., 2008).
  """
  if at is not None:
    root = powm(at, -0.5)
    x = sym(
      jnp.einsum("ij,...jk,kl->...il", root, x, root, precision="highest")
    )
  return sym_vectors(logm(x))
