"""Adaptation to an image against the paper's equations, term by term."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax import gaussians
from tests.gaussians.cases import (
  D,
  K,
  T,
  assert_close,
  cast,
  items,
  pick,
  random_mixture,
  sums,
)

adapt = jax.jit(
  gaussians.adapt, static_argnames=("means", "variances", "weights")
)


lag = jax.jit(gaussians.lag)


@pytest.fixture
def mix(rng):
  return random_mixture(rng)


def paper(mix, x, relevance):
  """Eqs. 2-9 as printed, with moments about 0."""
  n, first, second = sums(mix, x)
  n, first = n[:, None], first + n[:, None] * mix.mean
  second = second + 2 * mix.mean * first - n * mix.mean**2
  alpha = n / (n + relevance)
  weight = (alpha * n / len(x))[:, 0] + (1 - alpha[:, 0]) * mix.weight
  mean = alpha * first / n + (1 - alpha) * mix.mean
  square = alpha * second / n + (1 - alpha) * (mix.var + mix.mean**2)
  return gaussians.Mixture(weight / weight.sum(), mean, square - mean**2)


@pytest.mark.parametrize("relevance", [0.5, 16.0, 1e3])
def test_eqs2_4_and_9(relevance, mix, rng):
  x = items(rng, random_mixture(rng))
  own = gaussians.statistics(mix, x)
  right = paper(mix, x, relevance)
  for run in (adapt, gaussians.adapt):
    assert_close(run(mix, own, relevance=relevance), right, rtol=1e-10)


def one_component(n, total, square, mean=3.0, var=4.0):
  """(model, statistics) from moments about 0, in one dimension."""
  first, second = total - n * mean, square - 2 * mean * total + n * mean**2
  parts = [np.array([n])], [np.array([[first]])], [np.array([[second]])]
  model = gaussians.Mixture(np.ones(1), np.array([[mean]]), np.array([[var]]))
  return model, gaussians.Statistics(*(part[0] for part in parts))


@pytest.mark.parametrize(
  ("moments", "relevance", "mean", "var"),
  [
    ((2.0, 10.0, 52.0), 4.0, 11 / 3, 35 / 9),
    ((2.0, 10.0, 52.0), 0.0, 5.0, 1.0),
    ((2.0, 6.0, 18.0), 2.0, 3.0, 2.0),  # both items at the model's mean
    ((0.0, 0.0, 0.0), 4.0, 3.0, 4.0),
    ((0.0, 0.0, 0.0), 0.0, 3.0, 4.0),
    ((1e-30, 5e-30, 25e-30), 16.0, 3.0, 4.0),
  ],
)
def test_known_values(moments, relevance, mean, var):
  model, own = one_component(*moments)
  got = adapt(model, own, relevance=relevance)
  np.testing.assert_allclose(got.mean, [[mean]], rtol=1e-12)
  np.testing.assert_allclose(got.var, [[var]], rtol=1e-12)
  np.testing.assert_array_equal(got.weight, [1])


@pytest.mark.parametrize(("relevance", "mean"), [(0.0, 3.0), (16.0, 11 / 9)])
def test_counts_0_and_2(relevance, mean):
  """Sums [0, 6] for the model's means [5, 1]."""
  model = gaussians.Mixture(
    np.full(2, 0.5), np.array([[5.0], [1]]), np.ones((2, 1))
  )
  own = gaussians.Statistics(
    np.array([0.0, 2]), np.array([[0.0], [4]]), np.array([[0.0], [8]])
  )
  got = adapt(model, own, relevance=relevance)
  np.testing.assert_allclose(got.mean, [[5], [mean]], rtol=1e-12)
  alpha = 2 / (2 + relevance)
  right = np.array([0.5, alpha + (1 - alpha) / 2])
  np.testing.assert_allclose(got.weight, right / right.sum(), rtol=1e-12)


def test_no_items_leave_the_model(mix):
  own = gaussians.statistics(mix, np.full((T, D), np.nan), np.zeros(T))
  for relevance in (0.0, 16.0):
    got = adapt(mix, own, relevance=relevance)
    assert_close(got, mix, rtol=1e-15)


def test_a_single_item_keeps_variances_positive(mix):
  own = gaussians.statistics(mix, mix.mean[:1])
  for relevance in (0.0, 1e-3, 16.0):
    got = adapt(mix, own, relevance=relevance)
    n = np.asarray(own.n)
    alpha = (n / (n + relevance))[:, None] if relevance else 1.0
    least = np.maximum(1 - alpha, np.finfo(float).eps) * mix.var
    assert (np.asarray(got.var) >= least * (1 - 1e-12)).all()
    vector = lag(got, mix)
    assert np.isfinite(vector).all()


def test_what_is_not_adapted_stays(mix, rng):
  x = items(rng, random_mixture(rng))
  own = gaussians.statistics(mix, x)
  full = adapt(mix, own)
  for name, field in (("means", 1), ("variances", 2), ("weights", 0)):
    got = adapt(mix, own, **{name: False})
    np.testing.assert_array_equal(got[field], mix[field])
    if name != "means":
      np.testing.assert_array_equal(got.mean, full.mean)
  # About a mean that stays, the variance is the plain blend.
  alpha = np.asarray(own.n / (own.n + 16))[:, None]
  right = alpha * np.asarray(own.second / own.n[:, None])
  right += (1 - alpha) * mix.var
  got = adapt(mix, own, means=False)
  np.testing.assert_allclose(got.var, right, rtol=1e-12)


def test_a_component_of_weight_0_stays_absent(mix, rng):
  mix = mix._replace(weight=np.array([0.5, 0, 0.2, 0.3]))
  got = adapt(mix, gaussians.statistics(mix, items(rng, mix)))
  assert got.weight[1] == 0
  np.testing.assert_allclose(got.weight.sum(), 1, rtol=1e-12)
  np.testing.assert_array_equal(got.mean[1], mix.mean[1])
  np.testing.assert_array_equal(got.var[1], mix.var[1])


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_float32_far_from_the_origin(offset, mix, rng):
  near = cast(mix._replace(mean=mix.mean + offset), np.float32)
  x = (items(rng, mix) + offset).astype(np.float32)
  wide = cast(near, np.float64)
  right = paper(wide, x.astype(float), 16.0)
  got = adapt(near, gaussians.statistics(near, x))
  assert got.var.dtype == np.float32
  np.testing.assert_allclose(got.var, right.var, rtol=2e-5)
  np.testing.assert_allclose(got.weight, right.weight, rtol=2e-5)
  eps = np.finfo(np.float32).eps
  np.testing.assert_allclose(got.mean, right.mean, rtol=2 * eps, atol=2e-6)


def test_images_are_a_loop_and_padding_changes_nothing(mix, rng):
  counts = [T, 120, 1, 0]
  x, mask = np.full((4, T, D), np.nan), np.zeros((4, T), bool)
  for index, num in enumerate(counts):
    x[index, :num] = items(rng, mix, num)
    mask[index, :num] = True
  got = gaussians.adapt_images(mix, x, mask, relevance=4.0)
  assert got.weight.shape == (4, K) and got.var.shape == (4, K, D)
  for index, num in enumerate(counts[:3]):
    own = gaussians.statistics(mix, x[index, :num])
    right = adapt(mix, own, relevance=4.0)
    image = pick(got, index)
    assert_close(image, right, rtol=1e-10)
  assert_close(pick(got, 3), jax.tree.map(jnp.asarray, mix), rtol=1e-15)


def test_derivatives_where_nothing_was_seen(mix):
  """n = 0 and r = 0 is 0 / 0 without care."""
  mix = jax.tree.map(jnp.asarray, mix)
  none = gaussians.Statistics(jnp.zeros(K), jnp.zeros((K, D)), mix.mean * 0)

  def total(mix, own):
    image = gaussians.adapt(mix, own, relevance=0.0)
    return gaussians.lag(image, mix).sum()

  slopes = jax.jit(jax.grad(total, (0, 1)))(mix, none)
  assert all(np.isfinite(a).all() for a in jax.tree.leaves(slopes))


@pytest.mark.parametrize(
  ("change", "message"),
  [
    ({"relevance": -1.0}, "relevance must be at least 0"),
    ({"relevance": np.nan}, "relevance must be at least 0"),
    ({"x": np.ones((T, D))}, r"x must be \[B, T, D\]"),
    ({"x": np.ones((2, T, D + 1))}, r"x must be \[T, 3\]"),
    ({"mask": np.ones(T)}, r"mask must be \[2, 300\]"),
  ],
)
def test_refuses(change, message, mix):
  args = {"x": np.ones((2, T, D)), "mask": np.ones((2, T))} | change
  with pytest.raises(ValueError, match=message):
    gaussians.adapt_images(mix, args.pop("x"), args.pop("mask"), **args)
  if "relevance" in change:
    own = gaussians.statistics(mix, np.ones((T, D)))
    with pytest.raises(ValueError, match=message):
      gaussians.adapt(mix, own, **change)


def test_refuses_the_statistics_of_another_mixture(mix):
  own = gaussians.statistics(mix, np.ones((T, D)))
  with pytest.raises(ValueError, match="statistics must have shapes"):
    gaussians.adapt(mix, own._replace(second=np.ones((K, 1))))
