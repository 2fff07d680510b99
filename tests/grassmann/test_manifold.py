"""Geometry of the Grassmann manifold against closed forms and peers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from spdjax import grassmann

SHAPES = [(5, 1), (6, 2), (20, 5), (5, 4)]  # (5, 4): 2 m > n
DTYPES = [jnp.float32, jnp.float64]


def pair(seed, n, m, dtype=jnp.float64):
  """Two points and a tangent at the first, shorter than pi/2 in any angle."""
  keys = jax.random.split(jax.random.key(seed), 3)
  w = grassmann.random(keys[0], n, m, dtype=dtype)
  v = grassmann.random(keys[1], n, m, dtype=dtype)
  h = grassmann.tangent(w, jax.random.normal(keys[2], (n, m), dtype))
  return w, v, h / jnp.linalg.norm(h)


def axes(n, *columns):
  return jnp.asarray(np.eye(n)[:, list(columns)])


@pytest.mark.parametrize("n, m", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_points_are_orthonormal(n, m, dtype):
  w, _, h = pair(0, n, m, dtype)
  bound = 20 * jnp.finfo(dtype).eps
  moved = grassmann.point(grassmann.geodesic(w, h), jnp.asarray(0.7, dtype))
  for x in (w, grassmann.retract(w, h), moved):
    assert x.dtype == dtype
    np.testing.assert_allclose(x.T @ x, np.eye(m), atol=bound)
  np.testing.assert_allclose(w.T @ h, np.zeros((m, m)), atol=bound)


def test_random_is_uniform():
  """The mean projector of a uniform subspace is (m / n) I."""
  keys = jax.random.split(jax.random.key(3), 4000)
  w = jax.vmap(lambda k: grassmann.random(k, 4, 2))(keys)
  mean = jnp.mean(w @ w.mT, axis=0)
  # Entries have a standard deviation below 1/2: five standard errors.
  np.testing.assert_allclose(mean, np.eye(4) / 2, atol=5 * 0.5 / 4000**0.5)


@pytest.mark.parametrize("n, m", SHAPES)
def test_retract_is_first_order_and_keeps_the_basis(n, m):
  w, _, h = pair(1, n, m)
  np.testing.assert_allclose(grassmann.retract(w, 0 * h), w, atol=1e-14)
  slope = jax.jvp(lambda t: grassmann.retract(w, t * h), (0.0,), (1.0,))[1]
  np.testing.assert_allclose(slope, h, atol=1e-13)


@pytest.mark.parametrize("n, m", SHAPES)
def test_tangent_is_the_orthogonal_projection(n, m):
  w, v, _ = pair(2, n, m)
  x = grassmann.tangent(w, v)
  np.testing.assert_allclose(grassmann.tangent(w, x), x, atol=1e-14)
  np.testing.assert_allclose(x, (np.eye(n) - w @ w.T) @ v, atol=1e-14)


@pytest.mark.parametrize("n, m", SHAPES)
def test_geodesic_is_the_matrix_exponential(n, m):
  """exp(h w' - w h') w, the one-parameter group of rotations."""
  w, _, h = pair(3, n, m)
  geo = grassmann.geodesic(w, h)
  for t in (0.0, 0.3, -2.0):
    rotation = scipy.linalg.expm(t * np.asarray(h @ w.T - w @ h.T))
    np.testing.assert_allclose(
      grassmann.point(geo, t), rotation @ w, atol=1e-13
    )
    np.testing.assert_allclose(
      grassmann.transport(geo, t, h), rotation @ h, atol=1e-13
    )


@pytest.mark.parametrize("n, m", SHAPES)
def test_transport_keeps_inner_products_and_tangency(n, m):
  w, v, h = pair(4, n, m)
  x = grassmann.tangent(w, v)
  geo = grassmann.geodesic(w, 1.3 * h)
  far_x, far_h = (grassmann.transport(geo, 1.0, y) for y in (x, h))
  np.testing.assert_allclose(jnp.sum(far_x * far_h), jnp.sum(x * h), atol=1e-13)
  np.testing.assert_allclose(jnp.sum(far_x**2), jnp.sum(x**2), atol=1e-13)
  end = grassmann.point(geo, 1.0)
  np.testing.assert_allclose(end.T @ far_x, np.zeros((m, m)), atol=1e-13)


def test_transport_is_parallel():
  """The derivative of a parallel field is normal: its tangent part is 0."""
  w, v, h = pair(5, 7, 3)
  geo, x = grassmann.geodesic(w, h), grassmann.tangent(w, v)
  for t in (0.0, 0.4, 1.9):
    rate = jax.jvp(lambda s: grassmann.transport(geo, s, x), (t,), (1.0,))[1]
    part = grassmann.tangent(grassmann.point(geo, t), rate)
    np.testing.assert_allclose(part, np.zeros((7, 3)), atol=1e-13)


def test_transport_along_a_quarter_turn():
  e1, e2 = axes(3, 0), axes(3, 1)
  geo = grassmann.geodesic(e1, e2 * jnp.pi / 2)
  np.testing.assert_allclose(grassmann.point(geo, 1.0), e2, atol=1e-15)
  np.testing.assert_allclose(grassmann.transport(geo, 1.0, e2), -e1, atol=1e-15)


@pytest.mark.parametrize("n, m", [(6, 2), (20, 5)])
def test_equals_pymanopt(n, m):
  peer = pytest.importorskip("pymanopt").manifolds.Grassmann(n, m)
  w, v, h = (np.asarray(x) for x in pair(8, n, m))
  ours = grassmann.point(
    grassmann.geodesic(jnp.asarray(w), jnp.asarray(h)), 1.0
  )
  theirs = peer.exp(w, h)
  np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-12)
  np.testing.assert_allclose(
    grassmann.log(jnp.asarray(v), at=jnp.asarray(w)), peer.log(w, v), atol=1e-11
  )
  np.testing.assert_allclose(
    grassmann.distance(jnp.asarray(w), jnp.asarray(v)), peer.dist(w, v)
  )


def test_vmap_equals_a_loop():
  batch = [pair(s, 6, 2) for s in range(3)]
  w, v, h = (jnp.stack(x) for x in zip(*batch, strict=True))

  def everything(w, v, h):
    geo = grassmann.geodesic(w, h)
    there = grassmann.transport(geo, 0.4, grassmann.tangent(w, v))
    return (
      there,
      grassmann.point(geo, 0.4),
      grassmann.retract(w, h),
      grassmann.log(v, at=w),
      grassmann.angles(w, v),
      jax.grad(grassmann.distance)(w, v),
    )

  many = jax.vmap(everything)(w, v, h)
  for i, one in enumerate(batch):
    for a, b in zip(many, everything(*one), strict=True):
      np.testing.assert_allclose(a[i], b, atol=1e-14)


@pytest.mark.parametrize("shape", [(3, 3), (2, 3), (3, 0), (3,)])
def test_shapes_are_checked(shape):
  w = jnp.zeros(shape)
  for call in (
    lambda: grassmann.tangent(w, w),
    lambda: grassmann.geodesic(w, w),
    lambda: grassmann.retract(w, w),
    lambda: grassmann.angles(w, w),
    lambda: grassmann.distance(w, w),
    lambda: grassmann.log(w, at=w),
  ):
    with pytest.raises(ValueError, match="0 < m < n"):
      call()


def test_mismatched_shapes_are_named():
  w = axes(4, 0)
  with pytest.raises(ValueError, match="v must have shape"):
    grassmann.angles(w, axes(4, 0, 1))
  with pytest.raises(ValueError, match="m must satisfy"):
    grassmann.random(jax.random.key(0), 3, 3)
