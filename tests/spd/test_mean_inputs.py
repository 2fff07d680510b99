"""Means of odd weights, shapes and matrices: refused, removed or flagged."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax import spd

pytestmark = pytest.mark.slow

every_metric = pytest.mark.parametrize("metric", spd.METRICS)


ITERATED = ("airm", "stein")


INDEFINITE = [[1.0, 2.0], [2.0, 1.0]]


def spd_matrices(rng, *lead, n=3, spread=1.0):
  q = np.linalg.qr(rng.normal(size=(*lead, n, n)))[0]
  values = np.exp(spread * rng.normal(size=(*lead, 1, n)))
  return spd.sym(jnp.asarray((q * values) @ np.swapaxes(q, -1, -2)))


def diagonals(*rows):
  return jnp.stack([jnp.diag(jnp.asarray(row, float)) for row in rows])


@every_metric
def test_a_zero_weight_removes_even_a_bad_matrix(metric):
  good = diagonals([2, 3], [4, 1])
  wanted, _ = spd.mean(good, metric=metric)
  for bad in (INDEFINITE, np.full((2, 2), np.nan), np.full((2, 2), np.inf)):
    x = jnp.concatenate([good, jnp.asarray(bad)[None]])
    out, info = spd.mean(x, jnp.asarray([1.0, 1.0, 0.0]), metric=metric)
    np.testing.assert_allclose(out, wanted, rtol=1e-10)
    assert info.converged
    assert np.isfinite(info.condition)
  if metric != "euclidean":
    np.testing.assert_allclose(wanted, np.diag([8**0.5, 3**0.5]), rtol=1e-9)


@pytest.mark.parametrize(
  ("weights", "said"),
  [
    ([0.0, 0.0], "weights must not all be 0"),
    ([1.0, -1.0], "weights must be .*at least 0.*index \\(1,\\)"),
    ([1.0, np.nan], "weights must be finite"),
    ([1.0, 1.0, 1.0], "weights \\(3,\\) must match"),
  ],
)
@every_metric
def test_bad_weights_are_named(metric, weights, said):
  with pytest.raises(ValueError, match=said):
    spd.mean(diagonals([2, 3], [4, 1]), jnp.asarray(weights), metric=metric)


@pytest.mark.parametrize("weights", [[0.0, 0.0], [2.0, -1.0], [1.0, np.nan]])
def test_traced_bad_weights_give_nan_and_not_converged(weights):
  solve = jax.jit(lambda x, w: spd.mean(x, w, metric="log_euclidean"))
  out, info = solve(diagonals([2, 3], [4, 1]), jnp.asarray(weights))
  assert np.isnan(out).all()
  assert not info.converged


@pytest.mark.parametrize(
  ("shape", "metric", "said"),
  [
    ((2, 2), "airm", "x must be"),
    ((3, 2, 4), "airm", "x must be"),
    ((0, 2, 2), "airm", "x must be"),
    ((3, 2, 2), "harmonic", "unknown metric"),
  ],
)
def test_wrong_arguments_are_named(shape, metric, said):
  with pytest.raises(ValueError, match=said):
    spd.mean(jnp.ones(shape), metric=metric)


@every_metric
def test_order_copies_and_the_scale_of_weights_do_not_matter(metric, rng):
  x = spd_matrices(rng, 3)
  x, w = jnp.concatenate([x, x]), jnp.asarray([1.0, 2, 1, 0, 0, 2])
  wanted, _ = spd.mean(x, w, metric=metric)
  copies = jnp.asarray([0, 1, 1, 2, 2, 2])
  close = lambda out: np.testing.assert_allclose(out[0], wanted, atol=1e-9)
  close(spd.mean(x, 100 * w, metric=metric))
  close(spd.mean(x[copies], metric=metric))
  close(spd.mean(x[::-1], w[::-1], metric=metric))


@every_metric
def test_bad_data_inside_jit_are_flagged(metric):
  solve = jax.jit(lambda x: spd.mean(x, metric=metric))
  bads = [np.full((2, 2), np.nan), np.full((2, 2), np.inf)]
  if metric != "euclidean":
    bads.append(np.asarray(INDEFINITE))
  for bad in bads:
    _, info = solve(jnp.stack([jnp.eye(2), jnp.asarray(bad)]))
    assert not info.converged


@pytest.mark.parametrize("metric", ITERATED)
def test_equal_matrices_and_a_single_one_need_no_steps(metric, rng):
  x = spd_matrices(rng)
  for count in (1, 6):
    out, info = spd.mean(jnp.stack([x] * count), metric=metric)
    np.testing.assert_allclose(out, x, rtol=1e-12, atol=1e-13)
    assert info.converged
    assert info.steps <= 2


@pytest.mark.parametrize("metric", ITERATED)
def test_too_few_steps_are_reported(metric, rng):
  x = spd_matrices(rng, 6, spread=2.0)
  _, info = spd.mean(x, metric=metric, max_steps=1)
  assert info.steps == 1
  assert not info.converged
