"""Angles, distance and logarithm between subspaces, small and large."""

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
@pytest.mark.parametrize("length", [1e-9, 1e-3, 1.0, 1.5])
def test_log_inverts_the_geodesic(n, m, length):
  w, _, h = pair(6, n, m)
  end = grassmann.point(grassmann.geodesic(w, length * h), 1.0)
  back = grassmann.log(end, at=w)
  np.testing.assert_allclose(back, length * h, atol=1e-14)


@pytest.mark.parametrize("n, m", SHAPES)
def test_geodesic_inverts_the_log(n, m):
  w, v, _ = pair(7, n, m)
  h = grassmann.log(v, at=w)
  end = grassmann.point(grassmann.geodesic(w, h), 1.0)
  np.testing.assert_allclose(end @ end.T, v @ v.T, atol=1e-12)
  np.testing.assert_allclose(
    jnp.linalg.norm(h), grassmann.distance(w, v), rtol=1e-12
  )


@pytest.mark.parametrize("n, m", SHAPES)
def test_angles_equal_scipy(n, m):
  w, v, _ = pair(9, n, m)
  theirs = scipy.linalg.subspace_angles(np.asarray(w), np.asarray(v))[::-1]
  # atan2(0, 1) of the common directions when 2 m > n.
  np.testing.assert_allclose(grassmann.angles(w, v), theirs, atol=1e-14)


@pytest.mark.parametrize(
  "dtype, angle, rtol",
  [
    (jnp.float64, 1e-9, 1e-6),
    (jnp.float64, 1e-4, 1e-11),
    (jnp.float32, 1e-4, 3e-3),
    (jnp.float32, 1e-3, 3e-4),
  ],
)
def test_close_subspaces(dtype, angle, rtol):
  """Where arccos of the cosines sees 0 or noise; Gr(5, 20)."""
  w, _, h = pair(10, 20, 5)
  v = grassmann.point(grassmann.geodesic(w, h), angle)
  w, v = w.astype(dtype), v.astype(dtype)
  np.testing.assert_allclose(grassmann.distance(w, v), angle, rtol=rtol)
  np.testing.assert_allclose(
    jnp.linalg.norm(grassmann.log(v, at=w)), angle, rtol=rtol
  )


@pytest.mark.parametrize("gap", [1e-3, 1e-9, 1e-12])
def test_angles_near_a_right_angle(gap):
  w = axes(4, 0, 1)
  v = jnp.zeros((4, 2)).at[0, 0].set(jnp.sin(gap)).at[2, 0].set(jnp.cos(gap))
  v = v.at[1, 1].set(1)
  right = np.array([0, np.pi / 2 - gap])
  np.testing.assert_allclose(grassmann.angles(w, v), right, atol=5e-16)


@pytest.mark.parametrize("eps", [0.0, 1e-12, 1e-6, 0.5])
def test_lines_have_no_sign(eps):
  e1, e2 = axes(3, 0), axes(3, 1)
  q = -jnp.cos(eps) * e1 + jnp.sin(eps) * e2
  np.testing.assert_allclose(grassmann.distance(e1, q), eps, atol=1e-16)
  np.testing.assert_allclose(grassmann.log(q, at=e1), -eps * e2, atol=1e-16)


def test_cut_locus():
  """span(e1) and span(e2): two shortest geodesics, one of them returned."""
  e1, e2 = axes(3, 0), axes(3, 1)
  np.testing.assert_allclose(grassmann.distance(e1, e2), np.pi / 2)
  h = grassmann.log(e2, at=e1)
  np.testing.assert_allclose(jnp.abs(h), e2 * np.pi / 2, atol=1e-15)


@pytest.mark.parametrize("n, m", SHAPES)
def test_distance_derivative(n, m):
  """Along a tangent h: finite differences, and -<log, h> / distance."""
  w, v, h = pair(11, n, m)
  along = lambda t: grassmann.distance(
    grassmann.point(grassmann.geodesic(w, h), t), v
  )
  step = 1e-5
  numeric = (along(step) - along(-step)) / (2 * step)
  gradient = jax.grad(grassmann.distance)(w, v)
  np.testing.assert_allclose(jnp.sum(gradient * h), numeric, rtol=1e-7)
  other = jax.grad(grassmann.distance, argnums=1)(v, w)
  np.testing.assert_allclose(gradient, other, atol=1e-13)


@pytest.mark.parametrize("dtype", DTYPES)
def test_distance_derivative_at_equality(dtype):
  w = jnp.asarray(np.eye(5)[:, :2], dtype)
  gradient = jax.grad(grassmann.distance)(w, w)
  np.testing.assert_array_equal(gradient, np.zeros((5, 2)))


@pytest.mark.parametrize("n, m", SHAPES)
def test_distance_is_blind_to_the_basis(n, m):
  w, v, _ = pair(12, n, m)
  rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((m, m)))[0]
  np.testing.assert_allclose(
    grassmann.distance(w @ rotation, v), grassmann.distance(w, v), rtol=1e-13
  )
  np.testing.assert_allclose(
    grassmann.distance(v, w), grassmann.distance(w, v), rtol=1e-13
  )
