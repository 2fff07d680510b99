"""All pairs at once are the pairs one by one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax import spd

METRICS = {name: jax.jit(fun) for name, fun in spd.METRICS.items()}
every_metric = pytest.mark.parametrize("metric", spd.METRICS)


def spd_matrices(rng, count, n=4):
  q = np.linalg.qr(rng.normal(size=(count, n, n)))[0]
  values = np.exp(rng.normal(size=(count, 1, n)))
  return spd.sym(jnp.asarray((q * values) @ np.swapaxes(q, -1, -2)))


BLOCKS = [(metric, None) for metric in spd.METRICS] + [
  (metric, block) for metric in ("airm", "stein") for block in (1, 7)
]


@pytest.mark.parametrize(("metric", "block"), BLOCKS)
def test_pairwise_is_the_single_pairs(metric, block, rng):
  x, y = spd_matrices(rng, 5), spd_matrices(rng, 3)
  wanted = METRICS[metric](x[:, None], y[None])
  got = spd.pairwise(x, y, metric=metric, block=block)
  np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-12)
  wanted = METRICS[metric](x[:, None], x[None])
  got = spd.pairwise(x, metric=metric, block=block)
  np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-12)


@every_metric
def test_both_triangles_and_a_zero_diagonal(metric, rng):
  x = spd_matrices(rng, 6)
  alone = spd.pairwise(x, metric=metric)
  np.testing.assert_array_equal(alone, alone.T)
  np.testing.assert_array_equal(np.diag(alone), np.zeros(6))
  # With y given nothing is mirrored: the same numbers the other way about.
  y = spd_matrices(rng, 4)
  one = spd.pairwise(x, y, metric=metric)
  np.testing.assert_allclose(
    one, spd.pairwise(y, x, metric=metric).T, rtol=1e-9
  )
  assert (one > 0).all()


@every_metric
def test_float32_is_close_and_never_negative(metric, rng):
  x = spd_matrices(rng, 8)
  x = jnp.concatenate([x, x[:3] * (1 + 1e-6)])
  got = spd.pairwise(x.astype(jnp.float32), metric=metric)
  assert got.dtype == jnp.float32
  assert (got >= 0).all()
  wanted = np.asarray(spd.pairwise(x, metric=metric))
  gap = np.abs(np.asarray(got, float) - wanted)
  assert (gap <= 1e-4 * (wanted + wanted.max())).all()


@every_metric
def test_one_item_and_one_pair(metric, rng):
  x = spd_matrices(rng, 1)
  np.testing.assert_array_equal(spd.pairwise(x, metric=metric), [[0.0]])
  assert spd.pairwise(x, 2 * x, metric=metric).shape == (1, 1)


@pytest.mark.parametrize("metric", ["airm", "stein"])
def test_gradient_through_all_pairs(metric, rng):
  x = spd_matrices(rng, 3, 3)
  both = lambda x: spd.pairwise(x, metric=metric, block=2).sum()
  got = jax.jit(jax.grad(both))(x)
  each = lambda x: METRICS[metric](x[:, None], x[None]).sum()
  np.testing.assert_allclose(
    got, jax.jit(jax.grad(each))(x), rtol=1e-8, atol=1e-9
  )


@pytest.mark.parametrize("metric", [m for m in spd.METRICS if m != "euclidean"])
def test_only_the_bad_item_is_nan(metric):
  bad = jnp.asarray([[1.0, 2.0], [2.0, 1.0]])
  x = jnp.stack([jnp.eye(2), bad, 2 * jnp.eye(2)])
  got = np.array(spd.pairwise(x, jnp.eye(2)[None], metric=metric)[:, 0])
  assert np.isnan(got[1])
  if metric != "jeffrey":  # whose coordinates come from y alone
    assert np.isfinite(got[[0, 2]]).all()


def test_under_jit_and_vmap(rng):
  x = spd_matrices(rng, 6).reshape(2, 3, 4, 4)
  got = jax.jit(jax.vmap(lambda x: spd.pairwise(x, metric="airm")))(x)
  wanted = jnp.stack([spd.pairwise(z, metric="airm") for z in x])
  np.testing.assert_allclose(got, wanted, atol=1e-12)


def test_pyriemanns_spelling_and_the_default(rng):
  x = spd_matrices(rng, 3)
  np.testing.assert_array_equal(
    spd.pairwise(x, metric="riemann"), spd.pairwise(x)
  )


@pytest.mark.parametrize(
  ("x", "y", "metric", "said"),
  [
    ((3, 2, 2), None, "cosine", "unknown metric 'cosine'"),
    ((2, 2), None, "airm", "x must be square"),
    ((3, 2, 4), None, "airm", "x must be square"),
    ((3, 2, 2), (3, 4), "airm", "y must be square"),
    ((3, 2, 2), (3, 4, 4), "airm", "x and y must be of one size"),
  ],
)
def test_wrong_arguments_are_named(x, y, metric, said):
  with pytest.raises(ValueError, match=said):
    spd.pairwise(jnp.ones(x), None if y is None else jnp.ones(y), metric=metric)
