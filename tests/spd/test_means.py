"""Fréchet means: closed forms, optimality, and what Info says of the rest."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from spdjax import spd

METRICS = {name: jax.jit(fun) for name, fun in spd.METRICS.items()}


every_metric = pytest.mark.parametrize("metric", spd.METRICS)


# Each item's derivative of its squared distance to the mean.
PULLS = {
  name: jax.jit(jax.vmap(jax.grad(fun, 1), (0, None)))
  for name, fun in spd.METRICS.items()
}


ITERATED = ("airm", "stein")


def spd_matrices(rng, *lead, n=3, spread=1.0):
  q = np.linalg.qr(rng.normal(size=(*lead, n, n)))[0]
  values = np.exp(spread * rng.normal(size=(*lead, 1, n)))
  return spd.sym(jnp.asarray((q * values) @ np.swapaxes(q, -1, -2)))


def diagonals(*rows):
  return jnp.stack([jnp.diag(jnp.asarray(row, float)) for row in rows])


@pytest.mark.parametrize(
  ("metric", "wanted"),
  [
    ("airm", np.e),
    ("stein", np.e),
    ("jeffrey", np.e),
    ("log_euclidean", np.e),
    ("euclidean", (np.e**2 + 1) / 2),
  ],
)
def test_mean_of_a_diagonal_and_identity(metric, wanted):
  out, info = spd.mean(diagonals([np.e**2, 1], [1, 1]), metric=metric)
  np.testing.assert_allclose(out, np.diag([wanted, 1]), atol=1e-10)
  assert info.converged


@pytest.mark.parametrize("metric", [m for m in spd.METRICS if m != "euclidean"])
def test_mean_of_numbers_2_and_8_is_4(metric):
  out, info = spd.mean(jnp.asarray([[[2.0]], [[8.0]]]), metric=metric)
  np.testing.assert_allclose(out, [[4.0]], rtol=1e-10)
  assert info.converged


def rotated_pair(k, dtype):
  """A = diag(10^-k, 10^k) and A turned by 45 degrees; A # B in closed form."""
  low, high = 10.0**-k, 10.0**k
  middle, half = (low + high) / 2, (high - low) / 2
  # R45 diag(low, high) R45' is [[m, -h], [-h, m]].
  a = np.diag([low, high])
  b = np.array([[middle, -half], [-half, middle]])
  # Of unit determinants: (A + B) / sqrt(det(A + B)), det without cancelling.
  s = a + b
  det = (low * high) * 2 + middle * (low + high)
  return jnp.asarray(np.stack([a, b]), dtype), s / np.sqrt(det)


@pytest.mark.parametrize("k", [1, 2])
def test_mean_of_two_is_the_closed_form(k):
  x, wanted = rotated_pair(k, "float64")
  out, info = spd.mean(x, metric="airm")
  np.testing.assert_allclose(out, wanted, rtol=1e-8)
  np.testing.assert_allclose(spd.geodesic(*x, 0.5), wanted, rtol=1e-8)
  assert info.converged
  np.testing.assert_allclose(info.condition, 10.0 ** (2 * k), rtol=1e-8)


def test_condition_says_that_float32_cannot_be_trusted():
  x, wanted = rotated_pair(4, "float32")
  out, info = spd.mean(x, metric="airm")
  n, eps = 2, float(jnp.finfo(jnp.float32).eps)
  off = np.abs(np.asarray(out, float) - wanted).max() / np.abs(wanted).max()
  assert not off < 1e-2  # the trap: far off, or NaN
  assert info.condition > 1 / (n * eps)
  low = spd.mean(rotated_pair(1, "float32")[0], metric="airm")[1]
  assert low.condition < 1 / (n * eps)


@every_metric
def test_means_of_small_entries_are_symmetric_bit_for_bit(metric, rng):
  for dtype in (jnp.float32, jnp.float64):
    x = (1e-4 * spd_matrices(rng, 6)).astype(dtype)
    out, info = spd.mean(x, metric=metric)
    np.testing.assert_array_equal(out, out.T)
    assert out.dtype == dtype
    assert info.converged


@pytest.mark.parametrize("metric", ["airm", "stein", "jeffrey"])
def test_mean_of_two_is_the_midpoint_of_the_geodesic(metric, rng):
  x = spd_matrices(rng, 2, n=2)
  out, info = spd.mean(x, metric=metric)
  np.testing.assert_allclose(out, spd.geodesic(*x, 0.5), rtol=1e-7, atol=1e-8)
  assert info.converged


@pytest.mark.parametrize("spread", [0.3, 1.0, 3.0])
@every_metric
def test_means_are_stationary_even_of_wide_spreads(metric, spread, rng):
  x = spd_matrices(rng, 6, spread=spread)
  w = jnp.asarray(rng.uniform(0.1, 2, size=6))
  out, info = spd.mean(x, w, metric=metric)
  assert info.converged
  pulls = np.asarray(PULLS[metric](x, out))
  slope = np.einsum("i,ijk->jk", w, pulls)
  scale = np.linalg.norm(pulls, axis=(1, 2)).max()
  assert np.linalg.norm(slope + slope.T) < 1e-6 * scale


@pytest.mark.parametrize("metric", ITERATED)
def test_few_steps_do(metric, rng):
  for spread in (0.1, 1.0, 3.0):
    _, info = spd.mean(spd_matrices(rng, 6, spread=spread), metric=metric)
    assert info.converged
    assert info.gradient <= np.finfo(float).eps ** 0.5
    # Newton's method of airm needs few.
    assert 0 < info.steps <= {"airm": 8, "stein": 50}[metric]


@pytest.mark.parametrize(
  ("ours", "theirs"),
  [
    ("airm", "riemann"),
    ("stein", "logdet"),
    ("jeffrey", "kullback_sym"),
    ("log_euclidean", "logeuclid"),
    ("euclidean", "euclid"),
  ],
)
def test_weighted_means_are_pyriemanns(ours, theirs, rng):
  means = pytest.importorskip("pyriemann.utils.mean")
  x = spd_matrices(rng, 6, spread=0.7)
  w = rng.uniform(0.2, 2, size=6)
  solve = getattr(means, f"mean_{theirs}")
  wanted = solve(np.asarray(x), sample_weight=w / w.sum())
  out, _ = spd.mean(x, jnp.asarray(w), metric=ours)
  # Theirs stops at a step of 1e-9 or 1e-4 by metric.
  np.testing.assert_allclose(out, wanted, rtol=2e-4, atol=2e-4)


def test_jeffrey_mean_eqs23_25(rng):
  x = spd_matrices(rng, 6)
  w = jnp.asarray(rng.uniform(0.1, 1, size=6))
  out, info = spd.mean(x, w, metric="jeffrey")
  total = lambda z: np.einsum("i,ijk->jk", w, z)
  p, q = total(np.linalg.inv(x)), total(x)
  np.testing.assert_allclose(out @ p @ out, q, rtol=1e-9, atol=1e-10)
  root = scipy.linalg.sqrtm(p)
  back = np.linalg.inv(root)
  wanted = back @ scipy.linalg.sqrtm(root @ q @ root) @ back
  np.testing.assert_allclose(out, wanted, rtol=1e-9, atol=1e-10)
  assert info.steps == 0


def test_mean_eq22_is_below_its_neighbours(rng):
  x = spd_matrices(rng, 6)
  for metric, fun in METRICS.items():
    out, _ = spd.mean(x, metric=metric)
    cost = lambda m, fun=fun: fun(x, m[None]).sum()
    for e in 1e-3 * rng.normal(size=(4, 3, 3)):
      assert cost(out) < cost(spd.exp(spd.sym(jnp.asarray(e)), at=out))


@every_metric
def test_groups_under_vmap_are_a_loop(metric, rng):
  x = jnp.stack([spd_matrices(rng, 6), spd_matrices(rng, 6, spread=2.0)])
  w = jnp.asarray(rng.uniform(0.1, 1, size=(2, 6))).at[0, 2].set(0.0)
  loop = [spd.mean(*z, metric=metric) for z in zip(x, w, strict=True)]
  mapped = jax.vmap(lambda x, w: spd.mean(x, w, metric=metric))
  for solve in (lambda x, w: spd.mean(x, w, metric=metric), mapped):
    out, info = solve(x, w)
    for k, (wanted, each) in enumerate(loop):
      np.testing.assert_allclose(out[k], wanted, rtol=1e-10, atol=1e-11)
      assert info.steps[k] == each.steps
    assert info.converged.all()


@every_metric
def test_float32_agrees_with_float64(metric, rng):
  x = spd_matrices(rng, 6)
  wanted, _ = spd.mean(x, metric=metric)
  out, info = spd.mean(x.astype(jnp.float32), metric=metric)
  assert info.converged
  assert np.abs(np.asarray(out, float) - np.asarray(wanted)).max() < 3e-5
