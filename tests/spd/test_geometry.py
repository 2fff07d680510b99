"""Exponential, logarithm, transport, geodesics against two other libraries."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax import spd

# Compiled once a shape for the whole file.
exp = jax.jit(lambda v, at: spd.exp(v, at=at))
log = jax.jit(lambda y, at: spd.log(y, at=at))
inner = jax.jit(lambda u, v, at: spd.inner(u, v, at=at))
transport = jax.jit(lambda v, at, to: spd.transport(v, at=at, to=to))
geodesic = jax.jit(spd.geodesic, static_argnums=2)
airm, log_euclidean = jax.jit(spd.airm), jax.jit(spd.log_euclidean)
log_vectors = jax.jit(spd.log_vectors)


def spd_matrices(rng, *lead, n=3, spread=1.0):
  q = np.linalg.qr(rng.normal(size=(*lead, n, n)))[0]
  values = np.exp(spread * rng.normal(size=(*lead, 1, n)))
  return spd.sym(jnp.asarray((q * values) @ np.swapaxes(q, -1, -2)))


def symmetric(rng, *lead, n=3):
  return spd.sym(jnp.asarray(rng.normal(size=(*lead, n, n))))


@pytest.fixture
def manifold():
  module = pytest.importorskip("pymanopt.manifolds")
  return module.SymmetricPositiveDefinite(3)


def test_exp_log_inner_are_pymanopts(manifold, rng):
  p, q, u, v = (
    *spd_matrices(rng, 2),
    *symmetric(rng, 2),
  )
  a, b, c, d = map(np.asarray, (p, q, u, v))
  close = lambda ours, theirs: np.testing.assert_allclose(
    ours, theirs, rtol=1e-8, atol=1e-9
  )
  close(exp(u, at=p), manifold.exp(a, c))
  close(log(q, at=p), manifold.log(a, b))
  close(inner(u, v, at=p), manifold.inner_product(a, c, d))
  close(airm(p, q) ** 0.5, manifold.dist(a, b))


def test_transport_and_geodesic_are_pyriemanns(rng):
  maps = pytest.importorskip("pyriemann.utils.tangentspace")
  paths = pytest.importorskip("pyriemann.utils.geodesic")
  p, q = spd_matrices(rng, 2)
  v = symmetric(rng)
  a, b, c = map(np.asarray, (p, q, v))
  np.testing.assert_allclose(
    transport(v, at=p, to=q), maps.transport(c[None], a, b)[0], atol=1e-10
  )
  for t in (0.0, 0.3, 1.0):
    np.testing.assert_allclose(
      geodesic(p, q, t), paths.geodesic_riemann(a, b, t), atol=1e-10
    )


def test_transport_keeps_inner_products_and_the_velocity(rng):
  p, q = spd_matrices(rng, 2)
  u, v = symmetric(rng, 2)
  moved = [transport(z, at=p, to=q) for z in (u, v)]
  np.testing.assert_allclose(inner(*moved, at=q), inner(u, v, at=p), rtol=1e-10)
  # The geodesic's velocity is carried into itself, and back again.
  np.testing.assert_allclose(
    transport(log(q, at=p), at=p, to=q), -log(p, at=q), atol=1e-10
  )
  np.testing.assert_allclose(transport(moved[0], at=q, to=p), u, atol=1e-10)


def test_exp_and_log_are_inverse_and_measure_the_distance(rng):
  p, q = spd_matrices(rng, 2, 4)
  v = log(q, at=p)
  np.testing.assert_allclose(exp(v, at=p), q, rtol=1e-9, atol=1e-9)
  np.testing.assert_allclose(inner(v, v, at=p), airm(p, q), rtol=1e-10)
  np.testing.assert_array_equal(v, jnp.swapaxes(v, -1, -2))
  np.testing.assert_allclose(log(p, at=p), 0 * p, atol=1e-14)


def test_geodesic_has_constant_speed_and_extrapolates(rng):
  p, q = spd_matrices(rng, 2)
  whole = airm(p, q) ** 0.5
  for t in (-0.5, 0.25, 1.5):
    part = airm(p, geodesic(p, q, t)) ** 0.5
    np.testing.assert_allclose(part, abs(t) * whole, rtol=1e-9)
  np.testing.assert_allclose(geodesic(p, q, 1), q, atol=1e-11)
  np.testing.assert_allclose(geodesic(p, q, 0), p, atol=1e-11)
  traced = jax.jit(spd.geodesic)(p, q, 0.25)
  np.testing.assert_allclose(traced, geodesic(p, q, 0.25), atol=1e-11)


def test_geodesic_starts_with_the_logarithm(rng):
  p, q = spd_matrices(rng, 2)
  velocity = jax.jacfwd(lambda t: spd.geodesic(p, q, t))(0.0)
  np.testing.assert_allclose(velocity, log(q, at=p), atol=1e-10)


def test_maps_commute_with_congruence(rng):
  p, q = spd_matrices(rng, 2)
  a = jnp.asarray(rng.normal(size=(3, 3)) + 2 * np.eye(3))
  turn = lambda z: spd.sym(a @ z @ a.T)
  np.testing.assert_allclose(
    log(turn(q), at=turn(p)), turn(log(q, at=p)), rtol=1e-8, atol=1e-8
  )
  np.testing.assert_allclose(
    geodesic(turn(p), turn(q), 0.3),
    turn(geodesic(p, q, 0.3)),
    rtol=1e-8,
    atol=1e-8,
  )


CALLS = {
  "exp": lambda p, q, v: exp(v, at=p),
  "log": lambda p, q, v: log(q, at=p),
  "transport": lambda p, q, v: transport(v, at=p, to=q),
  "geodesic": lambda p, q, v: geodesic(p, q, 0.3),
  "inner": lambda p, q, v: inner(v, p, at=q),
}


@pytest.mark.parametrize("name", CALLS)
def test_loop_is_vmap_is_broadcasting(name, rng):
  fun = CALLS[name]
  p, q, v = spd_matrices(rng, 3), spd_matrices(rng, 3), symmetric(rng, 3)
  single = jax.jit(fun)
  loop = jnp.stack([single(*z) for z in zip(p, q, v, strict=True)])
  np.testing.assert_allclose(jax.vmap(fun)(p, q, v), loop, atol=1e-10)
  np.testing.assert_allclose(fun(p, q, v), loop, atol=1e-10)
  one = fun(p[:1], q, v)  # a single base point for many
  np.testing.assert_allclose(one[0], loop[0], atol=1e-10)


@pytest.mark.parametrize("name", CALLS)
def test_float32_agrees_with_float64(name, rng):
  args = (*spd_matrices(rng, 2), symmetric(rng))
  got = CALLS[name](*(z.astype(jnp.float32) for z in args))
  assert got.dtype == jnp.float32
  wanted = np.asarray(CALLS[name](*args))
  gap = np.abs(np.asarray(got, float) - wanted).max()
  assert gap < 2e-5 * np.abs(wanted).max()


@pytest.mark.parametrize("name", CALLS)
def test_derivatives_at_equal_points_are_finite_differences(name, rng):
  # P = Q: every eigenvalue of the whitened matrix is 1.
  p, v = spd_matrices(rng), symmetric(rng)
  e, c = symmetric(rng, 2)
  fun = lambda q: (CALLS[name](p, q, v) * (c if name != "inner" else 1.0)).sum()
  slope = jax.jit(jax.grad(fun))
  h = 1e-5
  wanted = (fun(p + h * e) - fun(p - h * e)) / (2 * h)
  np.testing.assert_allclose((slope(p) * e).sum(), wanted, rtol=1e-6, atol=1e-7)
  bend = jax.jit(lambda q: jax.jvp(slope, (q,), (e,))[1])(p)
  wanted = (slope(p + h * e) - slope(p - h * e)) / (2 * h)
  np.testing.assert_allclose(spd.sym(bend), spd.sym(wanted), atol=1e-5)


def test_gradient_of_the_log_euclidean_exponential():
  # exp(log B + Dlog_B[A]) at B = I: 1 is an eigenvector of A, of eigenvalue 3.
  # D^2 log_I[A, E] = -(AE + EA)/2, so the gradient is e^3 (1 - 3) everywhere.
  a = jnp.asarray([[2.0, 1.0], [1.0, 2.0]])

  def total(b):
    value, moved = jax.jvp(spd.logm, (b,), (a,))
    return spd.expm(value + moved).sum()

  wanted = np.full((2, 2), -2 * np.exp(3.0))
  got = jax.jit(jax.grad(total))(jnp.eye(2))
  np.testing.assert_allclose(got, wanted, rtol=1e-10)
  np.testing.assert_allclose(wanted[0, 0], -40.171074, rtol=1e-7)


def test_log_vectors_keep_log_euclidean_distances(rng):
  x = spd_matrices(rng, 4)
  vectors = log_vectors(x)
  assert vectors.shape == (4, 6)
  gaps = ((vectors[:, None] - vectors[None]) ** 2).sum(-1)
  np.testing.assert_allclose(
    gaps, log_euclidean(x[:, None], x[None]), atol=1e-11
  )
  # Row by row: (1, 1), (1, 2), (1, 3), (2, 2), ...
  matrix = spd.logm(x[0])
  np.testing.assert_allclose(vectors[0, 1], 2**0.5 * matrix[0, 1], rtol=1e-12)
  np.testing.assert_allclose(vectors[0, 3], matrix[1, 1], rtol=1e-12)


def test_log_vectors_at_a_reference_are_pyriemanns_tangent_space(rng):
  maps = pytest.importorskip("pyriemann.utils.tangentspace")
  x, p = spd_matrices(rng, 2, 2), spd_matrices(rng)
  wanted = maps.tangent_space(np.asarray(x[0]), np.asarray(p))
  np.testing.assert_allclose(log_vectors(x[0], at=p), wanted, atol=1e-10)
  norms = (log_vectors(x, at=p) ** 2).sum(-1)
  np.testing.assert_allclose(norms, airm(p[None, None], x), rtol=1e-9)


@pytest.mark.parametrize("name", [n for n in CALLS if n != "exp"])
def test_an_indefinite_point_gives_nan(name):
  bad = jnp.asarray([[1.0, 2.0], [2.0, 1.0]])
  assert np.isnan(CALLS[name](jnp.eye(2), bad, jnp.eye(2))).all()
