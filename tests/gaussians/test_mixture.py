"""Densities and statistics against scipy, item by item."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special
from sklearn.mixture import GaussianMixture

from spdjax import gaussians
from tests.gaussians.cases import (
  T,
  assert_close,
  cast,
  items,
  joint,
  pick,
  random_mixture,
  sums,
)

MANY = 5000  # several blocks of rows

total = jax.jit(lambda mix, x: gaussians.log_likelihood(mix, x).sum())
slopes = jax.jit(jax.grad(total, (0, 1)))


@pytest.fixture
def mix(rng):
  return random_mixture(rng)


@pytest.fixture
def x(rng, mix):
  return items(rng, mix)


def test_log_joint_is_scipys(mix, x):
  right = joint(mix, x)
  np.testing.assert_allclose(gaussians.log_joint(mix, x), right, rtol=1e-12)
  jitted = jax.jit(gaussians.log_joint)(mix, x)
  np.testing.assert_allclose(jitted, right, rtol=1e-12)
  whole = special.logsumexp(right, 1)
  got = gaussians.log_likelihood(mix, x)
  np.testing.assert_allclose(got, whole, rtol=1e-12)


def test_as_many_components_as_dimensions(rng):
  mix = random_mixture(rng, k=3)
  x = items(rng, mix)
  log = gaussians.log_joint(mix, x)
  np.testing.assert_allclose(log, joint(mix, x), rtol=1e-12)
  got = gaussians.statistics(mix, x)
  assert_close(got, sums(mix, x), rtol=1e-10, atol=1e-11)


def test_log_likelihood_is_sklearns(mix, x):
  peer = GaussianMixture(len(mix.weight), covariance_type="diag")
  peer.weights_, peer.means_, peer.covariances_ = mix
  peer.precisions_cholesky_ = 1 / np.sqrt(mix.var)
  got = gaussians.log_likelihood(mix, x)
  np.testing.assert_allclose(got, peer.score_samples(x), rtol=1e-12)
  log = gaussians.log_joint(mix, x)
  p = jnp.exp(log - got[:, None])
  np.testing.assert_allclose(p, peer.predict_proba(x), atol=1e-12)


@pytest.mark.parametrize("num", [1, T, MANY])
def test_statistics_eqs5_8(num, mix, rng):
  x, weight = items(rng, mix, num), 2 * rng.random(num)
  right = sums(mix, x, weight)
  got = gaussians.statistics(mix, x, weight)
  assert_close(got, right, rtol=1e-10, atol=1e-11)
  jitted = jax.jit(gaussians.statistics)(mix, x, weight)
  assert_close(jitted, right, rtol=1e-10, atol=1e-11)


def test_statistics_of_parts_add_up(mix, rng):
  x, weight = items(rng, mix, MANY), rng.random(MANY)
  whole = gaussians.statistics(mix, x, weight)
  rest = np.where(np.arange(MANY) < 2 * T, 0, weight)
  parts = [
    gaussians.statistics(mix, x[:T], weight[:T]),
    gaussians.statistics(mix, x[T : 2 * T], weight[T : 2 * T]),
    gaussians.statistics(mix, x, rest),
  ]
  added = jax.tree.map(lambda *a: sum(a), *parts)
  assert_close(added, whole, rtol=1e-10, atol=1e-10)


def test_a_weight_is_a_repetition_and_0_removes_anything(mix, x, rng):
  times = rng.integers(0, 3, T)
  rows = np.repeat(np.arange(T), times)
  dirty = np.where(times[:, None] > 0, x, np.nan)
  got = gaussians.statistics(mix, dirty, times)
  assert_close(got, sums(mix, x[rows]), rtol=1e-10, atol=1e-11)
  log = gaussians.log_likelihood(mix, dirty, times)
  right = np.asarray(gaussians.log_likelihood(mix, x)) * times
  np.testing.assert_allclose(log, right, rtol=1e-12)


def test_no_items_have_zero_statistics(mix):
  for x, mask in ((np.zeros((0, 3)), None), (np.ones((T, 3)), np.zeros(T))):
    got = gaussians.statistics(mix, x, mask)
    assert all(not np.asarray(a).any() for a in got)


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("away", [1e4, -1e4, 1e6])
def test_an_item_far_away_belongs_to_the_nearest(kind, away):
  fields = [0.5, 0.5], [[0], [1]], [[1], [1]]
  mix = gaussians.Mixture(*(np.array(a, kind) for a in fields))
  x = np.array([[away]], kind)
  got = gaussians.statistics(mix, x)
  np.testing.assert_array_equal(got.n, [0, 1] if away > 0 else [1, 0])
  log = gaussians.log_likelihood(mix, x)
  near = abs(away) - (away > 0)
  np.testing.assert_allclose(log, -(near**2) / 2, rtol=1e-6)


@pytest.mark.parametrize("garbage", [0.0, 1e30, np.nan, np.inf])
def test_a_component_of_weight_0_is_absent(garbage, mix, x):
  fewer = mix._replace(weight=mix.weight[:3] / mix.weight[:3].sum())
  fewer = gaussians.Mixture(*(a[:3] for a in fewer))
  weight = np.append(fewer.weight, 0)
  mean, var = (np.append(a[:3], [[garbage] * 3], 0) for a in mix[1:])
  mix = gaussians.Mixture(weight, mean, var)
  log = np.asarray(gaussians.log_joint(mix, x))
  np.testing.assert_allclose(log[:, :3], joint(fewer, x), rtol=1e-12)
  assert np.isneginf(log[:, 3]).all()
  whole = special.logsumexp(log, 1)
  got = gaussians.log_likelihood(mix, x)
  np.testing.assert_allclose(got, whole, rtol=1e-12)
  own = gaussians.statistics(mix, x)
  assert all(not np.asarray(a)[3].any() for a in own)
  kept = gaussians.Statistics(*(a[:3] for a in own))
  assert_close(kept, sums(fewer, x), rtol=1e-10, atol=1e-11)
  assert all(np.isfinite(a).all() for a in jax.tree.leaves(slopes(mix, x)))


def test_float32_is_float64_to_rounding_at_any_offset(mix, x):
  right = sums(mix, x)
  for offset in (0.0, 1e4):
    # Items and means as float32 has them, so that both see the same.
    near = cast(mix._replace(mean=mix.mean + offset), np.float32)
    rows = (x + offset).astype(np.float32)
    same = cast(near, np.float64)
    right = sums(same, rows.astype(np.float64))
    got = gaussians.statistics(near, rows)
    assert all(a.dtype == np.float32 for a in got)
    assert_close(got, right, rtol=2e-5, atol=2e-4)
    log = gaussians.log_joint(near, rows)
    limit = joint(same, rows.astype(np.float64))
    np.testing.assert_allclose(log, limit, atol=2e-4)


@pytest.mark.parametrize("copies", [1, 100])
def test_what_float32_cannot_resolve_is_0(copies):
  """Components at 9999 and 0 with all items exactly there."""
  mean = np.array([[9999.0], [0], [3]], np.float32)
  mix = gaussians.Mixture(
    np.full(3, 1 / 3, np.float32), mean, np.full((3, 1), 0.1, np.float32)
  )
  got = gaussians.statistics(mix, np.repeat(mean, copies, axis=0))
  np.testing.assert_allclose(got.n, copies, rtol=1e-5)
  np.testing.assert_array_equal(got.second, 0)


def test_derivatives(mix, x, rng):
  got = slopes(mix, x)
  step = jax.tree.map(lambda a: rng.normal(size=a.shape), (mix, x))
  h = 1e-6
  ends = [
    total(*jax.tree.map(lambda a, b, s=sign: a + s * h * b, (mix, x), step))
    for sign in (1, -1)
  ]
  along = jax.tree.map(lambda a, b: (np.asarray(a) * b).sum(), got, step)
  right = (ends[0] - ends[1]) / (2 * h)
  np.testing.assert_allclose(sum(jax.tree.leaves(along)), right, rtol=1e-6)


def test_vmap_is_a_loop(mix, x):
  batch = x.reshape(3, -1, x.shape[1])
  mask = np.arange(batch.shape[1]) < np.array([[100], [40], [0]])
  got = jax.vmap(gaussians.statistics, (None, 0, 0))(mix, batch, mask)
  for index in range(3):
    own = pick(got, index)
    right = gaussians.statistics(mix, batch[index], mask[index])
    assert_close(own, right, rtol=1e-10, atol=1e-11)


def test_dtypes_go_to_the_wider(mix, x):
  for a, b in ((np.float32, np.float64), (np.float64, np.float32)):
    got = gaussians.statistics(cast(mix, a), x.astype(b))
    assert got.n.dtype == np.float64
  assert gaussians.log_joint(mix, np.arange(6).reshape(2, 3)).shape == (2, 4)


@pytest.mark.parametrize(
  ("change", "message"),
  [
    ({"x": np.ones(3)}, r"x must be \[T, 3\]"),
    ({"x": np.ones((5, 2))}, r"x must be \[T, 3\]"),
    ({"mask": np.ones(4)}, r"mask must be \[5\]"),
    ({"mask": np.ones((5, 1))}, r"mask must be \[5\]"),
    ({"weight": np.ones(3)}, "mix must have fields"),
    ({"mean": np.ones(3)}, "mix must have fields"),
    ({"var": np.ones((4, 1))}, "mix must have fields"),
  ],
)
@pytest.mark.parametrize("name", ["statistics", "log_likelihood"])
def test_refuses(name, change, message, mix):
  mix = mix._replace(**{k: v for k, v in change.items() if k in mix._fields})
  x, mask = change.get("x", np.ones((5, 3))), change.get("mask")
  with pytest.raises(ValueError, match=message):
    getattr(gaussians, name)(mix, x, mask)
  if mask is None:
    with pytest.raises(ValueError, match=message):
      gaussians.log_joint(mix, x)
