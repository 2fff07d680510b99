"""The Grassmann manifold Gr(m, n): subspaces of R^n of dimension m.

A point is an orthonormal basis w [n, m], 0 < m < n, and stands for its span; a
tangent vector at w is x [n, m] with w'x = 0, and the metric is <x, y> = tr x'y.
Everything is written for one point: batch it with `jax.vmap`.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Geodesic(NamedTuple):
  """The curve through span(w) along h = u diag(s) v' (compact SVD)."""

  w: jax.Array  # [n, m] orthonormal, the point at time 0
  u: jax.Array  # [n, m] orthonormal; w'u = 0 where s > 0
  s: jax.Array  # [m] angular speeds, radians per unit of time, descending
  v: jax.Array  # [m, m] orthogonal


def _dot(x, y):
  return jnp.matmul(x, y, precision="highest")


def _check(name, w, like=None):
  if w.ndim != 2 or not 0 < w.shape[1] < w.shape[0]:
    raise ValueError(f"{name} must be [n, m] with 0 < m < n, got {w.shape}")
  if like is not None and w.shape != like.shape:
    raise ValueError(f"{name} must have shape {like.shape}, got {w.shape}")


def random(key, n, m, *, dtype=None):
  """Basis w [n, m] of a subspace drawn uniformly: Q of a Gaussian matrix.

  Raises ValueError unless 0 < m < n.
  """
  if not 0 < m < n:
    raise ValueError(f"m must satisfy 0 < m < n, got m = {m} and n = {n}")
  gaussian = jax.random.normal(key, (n, m), dtype or jnp.result_type(float))
  return _orthonormal(gaussian)


def tangent(w, d):
  """Projection (I - w w') d of an ambient d [n, m] at w; seed paper, eq. 28.

  With d the ambient derivative of a cost that depends on span(w) only, this is
  its Riemannian gradient. Raises ValueError unless both are [n, m], 0 < m < n.
  """
  _check("w", w)
  _check("d", d, w)
  return d - _dot(w, _dot(w.T, d))


def retract(w, h):
  """Q of the QR factorisation of w + h, diag(R) > 0: a second-order retraction.

  retract(w, 0) is w itself, not another basis of its span, because the signs
  are fixed. w, h [n, m] -> [n, m]. Raises ValueError for other shapes.
  """
  _check("w", w)
  _check("h", h, w)
  return _orthonormal(w + h)


def _orthonormal(a):
  q, r = jnp.linalg.qr(a)
  # LAPACK leaves the signs of diag(R) open; a column of zeros keeps its sign.
  sign = jnp.where(jnp.diagonal(r) < 0, -1, 1).astype(a.dtype)
  return q * sign[None, :]


def geodesic(w, h):
  """The geodesic that leaves w along the tangent h; seed paper, eq. 29.

  One compact SVD, shared by every later `point` and `transport`. h [n, m] must
  be tangent at w. Raises ValueError unless both are [n, m] with 0 < m < n.
  """
  _check("w", w)
  _check("h", h, w)
  u, s, vt = jnp.linalg.svd(h, full_matrices=False)
  return Geodesic(w, u, s, vt.T)


def point(geo, t):
  """w v cos(s t) v' + u sin(s t) v' [n, m], at time t []; seed paper, eq. 29.

  Orthonormal up to rounding, which adds up over repeated steps: follow an
  accepted step with one QR, `retract(point(geo, t), 0)`.
  """
  angle = geo.s * t
  along = _dot(geo.w, geo.v) * jnp.cos(angle)[None, :]
  across = geo.u * jnp.sin(angle)[None, :]
  return _dot(along + across, geo.v.T)


def transport(geo, t, x):
  """Parallel transport of the tangent x [n, m] at w to time t along geo.

  (-w v sin(s t) + u cos(s t)) u'x + (I - u u') x, which keeps inner products;
  projecting x at the far end does not. Edelman, Arias and Smith (1998), eq.
  2.68. Raises ValueError unless x has the shape of geo.w.
  """
  _check("x", x, geo.w)
  angle = geo.s * t
  back = _dot(geo.w, geo.v) * jnp.sin(angle)[None, :]
  # cos - 1 joins the two terms in u: a direction with s = 0 passes unchanged.
  ahead = geo.u * (-2 * jnp.sin(angle / 2) ** 2)[None, :]
  return x + _dot(ahead - back, _dot(geo.u.T, x))


def log(v, *, at):
  """Tangent h at `at` with point(geodesic(at, h), 1) spanning v, the shortest.

  With at'v = p cos(a) q', h = (I - at at') v q (a / sin a) p': one m x m SVD,
  accurate for small and for large angles a, and no inverse of at'v is needed.

  v, at [n, m] orthonormal -> [n, m]. At the cut locus (an angle of pi/2)
  several shortest geodesics exist: one of them is returned, of the right
  length; which one follows the SVD's choice of signs. A value cannot raise
  under jit: look at `angles` to tell. Raises ValueError unless both are
  [n, m] with 0 < m < n.
  """
  _check("at", at)
  _check("v", v, at)
  p, cosine, qt = jnp.linalg.svd(_dot(at.T, v))
  # Through t = tan(a/2): a / sin a = (1 + t^2) atan(t) / t is smooth at 0.
  t = jnp.sqrt(jnp.maximum(1 - cosine, 0) / (1 + cosine))
  near = t < jnp.finfo(t.dtype).eps
  safe = jnp.where(near, 1, t)
  ratio = jnp.where(near, 1, (1 + safe**2) * jnp.arctan(safe) / safe)
  turn = _dot(qt.T * ratio[None, :], p.T)
  return tangent(at, _dot(tangent(at, v), turn))


def angles(w, v):
  """Principal angles [m] between span(w) and span(v), ascending, in [0, pi/2].

  atan2 of both sets: sines, the singular values of (I - w w') v, are accurate
  near 0, and cosines, those of w'v, near pi/2 (Björck and Golub, 1973).

  w, v [n, m] orthonormal. Raises ValueError unless both are [n, m], 0 < m < n.
  """
  _check("w", w)
  _check("v", v, w)
  # Projected twice: w is orthonormal only to rounding.
  across = tangent(w, tangent(w, v))
  sine = jnp.linalg.svd(across, compute_uv=False)[::-1]
  cosine = jnp.linalg.svd(_dot(w.T, v), compute_uv=False)
  return jnp.arctan2(sine, cosine)


@jax.custom_jvp
def distance(w, v):
  """Length norm(angles(w, v)) [] of the shortest geodesic, radians.

  From 0 to sqrt(min(m, n - m)) pi/2; the same for every basis of the two
  subspaces. The derivative with respect to w is -log(v, at=w) / distance, and
  0 (not NaN) where the subspaces are equal. Raises ValueError for bad shapes.
  """
  return jnp.linalg.norm(angles(w, v))


@distance.defjvp
def _distance_jvp(primals, tangents):
  (w, v), (dw, dv) = primals, tangents
  value = distance(w, v)
  rise = -jnp.sum(log(v, at=w) * dw) - jnp.sum(log(w, at=v) * dv)
  positive = value > 0
  return value, jnp.where(positive, rise / jnp.where(positive, value, 1), 0)
