"""Expectation maximisation: its steps, its ends, and degenerate items."""

import importlib
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

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
)

pytestmark = pytest.mark.slow

STARTS = ("kmeans++", "random")

step = jax.jit(gaussians.em_step)
# The package has a function of the name of the module.
module = importlib.import_module("spdjax.gaussians.em")


@pytest.fixture
def x(rng):
  return items(rng, random_mixture(rng))


def fit(key, x, **args):
  return gaussians.em(key, x, **{"num_components": K, "tol": 1e-5} | args)


def mean_log_likelihood(mix, x, weights=None):
  total = len(x) if weights is None else weights.sum()
  return float(gaussians.log_likelihood(mix, x, weights).sum()) / total


def assert_sound(mix):
  """Finite, of positive variance, weights of sum 1."""
  assert all(np.isfinite(a).all() for a in mix)
  assert (mix.var > 0).all() and (mix.weight >= 0).all()
  eps = np.finfo(mix.weight.dtype).eps
  np.testing.assert_allclose(mix.weight.sum(), 1, rtol=20 * eps)


def test_a_step_is_sklearns(rng, x):
  mix = random_mixture(rng)
  peer = GaussianMixture(
    K,
    covariance_type="diag",
    weights_init=mix.weight,
    means_init=mix.mean,
    precisions_init=1 / mix.var,
    max_iter=1,
    reg_covar=0,
  )
  with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that one step does not converge
    peer.fit(x)
  right = peer.weights_, peer.means_, peer.covariances_
  own = gaussians.statistics(mix, x)
  for run in (step, gaussians.em_step):
    for a, b in zip(run(mix, own, floor=0.0), right, strict=True):
      np.testing.assert_allclose(a, b, rtol=1e-10)


def test_well_separated_groups_are_found(key, rng):
  truth = random_mixture(rng)._replace(mean=10 * rng.normal(size=(K, D)))
  x = items(rng, truth)
  mix, info = fit(key, x)
  assert info.converged
  peer = GaussianMixture(K, covariance_type="diag", tol=1e-9, reg_covar=0)
  right = peer.fit(x).score(x)
  np.testing.assert_allclose(info.log_likelihood, right, rtol=1e-5)
  order, own = np.argsort(truth.mean[:, 0]), np.argsort(mix.mean[:, 0])
  np.testing.assert_allclose(mix.mean[own], truth.mean[order], atol=0.4)


@pytest.mark.parametrize("start", STARTS)
def test_likelihood_never_falls_and_is_that_of_the_result(start, key, x):
  for own in jax.random.split(key, 3):
    mix, info = fit(own, x, start=start)
    assert_sound(mix)
    steps = int(info.steps)
    trace = np.asarray(info.trace)
    assert info.converged and 1 < steps <= 100 and trace.shape == (101,)
    assert np.isnan(trace[steps + 1 :]).all()
    rises = np.diff(trace[: steps + 1])
    assert rises.min() > -1e-13 and rises[:-1].min() > 1e-5 >= rises[-1]
    right = mean_log_likelihood(mix, x)
    np.testing.assert_allclose(info.log_likelihood, right, rtol=1e-12)
    assert info.log_likelihood == trace[steps]


def test_likelihood_never_falls_at_the_floor(rng, x):
  x[:, 1] = np.round(x[:, 1])  # variances of 0 want to be reached
  mix, last = random_mixture(rng)._replace(var=np.full((K, D), 5.0)), -np.inf
  least = 0.05 * x.var(0)
  for _ in range(30):
    mix = step(mix, gaussians.statistics(mix, x), floor=0.05)
    now = mean_log_likelihood(mix, x)
    assert now > last - 1e-13
    assert (np.asarray(mix.var) >= least * (1 - 1e-9)).all()
    last = now


def test_shift_and_scale_of_a_dimension_change_nothing_else(key, x):
  scale, shift = np.array([1e-3, 1, 1e4]), np.array([5.0, -20, 1e5])
  plain, _ = fit(key, x)
  moved, _ = fit(key, x * scale + shift)
  right = gaussians.Mixture(
    plain.weight,
    np.asarray(plain.mean) * scale + shift,
    np.asarray(plain.var) * scale**2,
  )
  assert_close(moved, right, rtol=1e-6)


def test_weights_are_repetitions_and_0_removes_anything(key, x, rng):
  x, times = x[:150], np.full(150, 2)
  weights = np.concatenate([times, np.zeros(150)])
  padded = np.concatenate([x, np.full_like(x, np.nan)])
  got, info = fit(key, padded, weights=weights)
  right, other = fit(key, np.repeat(x, 2, axis=0))
  assert_close(got, right, rtol=1e-8)
  np.testing.assert_allclose(
    info.log_likelihood, other.log_likelihood, rtol=1e-10
  )


def test_few_steps_on_more_items_than_a_block_or_the_start_sees(key, rng):
  truth = random_mixture(rng)
  x = items(rng, truth, 20_000)
  mix, info = fit(key, x, max_steps=2)
  assert_sound(mix)
  assert info.steps == 2 and not info.converged
  assert info.trace.shape == (3,) and (np.diff(info.trace) > 0).all()
  right = mean_log_likelihood(mix, x)
  np.testing.assert_allclose(info.log_likelihood, right, rtol=1e-12)
  assert right > mean_log_likelihood(truth, x) - 0.1


@pytest.mark.parametrize("start", STARTS)
def test_more_components_than_distinct_items(start, key, rng):
  """Copies of one item and two others."""
  x = np.concatenate([np.ones((T - 2, D)), rng.normal(size=(2, D))])
  mix, _ = fit(key, x, start=start)
  assert_sound(mix)
  assert (np.asarray(mix.var.min(0)) >= 1e-3 * x.var(0) * (1 - 1e-9)).all()
  assert np.isfinite(gaussians.log_likelihood(mix, x)).all()


def test_a_component_for_each_distinct_item_in_float32(key, rng):
  """100 copies of one item and five others, 20 components."""
  x = np.concatenate([np.ones((100, D)), rng.normal(size=(5, D))])
  x = x.astype(np.float32)
  mix, _ = gaussians.em(key, x, num_components=20, floor=1e-3)
  assert_sound(mix)
  least = 1e-3 * x.astype(float).var(0)
  np.testing.assert_allclose(mix.var.min(0), least, rtol=1e-4)
  assert np.abs(x[:, None] - mix.mean[None]).max(-1).min(1).max() < 1e-3
  assert np.isfinite(gaussians.log_likelihood(mix, x)).all()


def test_more_components_than_items(key):
  x = np.arange(2 * D, dtype=float).reshape(2, D)
  mix, _ = fit(key, x, start="random", max_steps=3)
  assert_sound(mix)


@pytest.mark.parametrize("copies", [1, 100])
def test_two_far_points_of_variance_0_in_float32(copies, key):
  x = np.array([[9999], [0]], np.float32)
  args = {"floor": 0.1 / 4999.5**2, "weights": np.full(2, copies)}
  mix, info = gaussians.em(key, x, num_components=2, **args)
  np.testing.assert_allclose(mix.var, 0.1, rtol=1e-5)
  np.testing.assert_allclose(np.sort(mix.mean[:, 0]), [0, 9999], atol=1e-3)
  np.testing.assert_allclose(mix.weight, 0.5)
  assert info.converged and np.isfinite(info.log_likelihood)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e4])
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_items_that_are_all_the_same(kind, value, key):
  x = np.full((T, D), value, kind)
  mix, _ = fit(key, x)
  assert_sound(mix)
  eps = np.finfo(kind).eps
  np.testing.assert_allclose(mix.mean, value, rtol=4 * eps)
  np.testing.assert_allclose(mix.var, 1e-3, rtol=1e-6)


def test_a_dimension_that_never_varies(key, x):
  x = np.concatenate([x[:, :2], np.full((T, 1), 0.1)], 1)
  mix, _ = fit(key, x)
  assert_sound(mix)
  np.testing.assert_allclose(mix.mean[:, 2], 0.1)
  np.testing.assert_allclose(mix.var[:, 2], 1e-3 * x[:, :2].var(0).mean())


def test_means_a_rounding_apart_do_not_make_a_dimension_vary(rng):
  mean = np.concatenate([rng.normal(size=(K, D - 1)), np.full((K, 1), 0.1)], 1)
  mean[::2, -1] = np.nextafter(0.1, 1)
  own = gaussians.Statistics(np.ones(K), np.zeros((K, D)), np.zeros((K, D)))
  got = step(gaussians.Mixture(np.full(K, 1 / K), mean, np.ones((K, D))), own)
  right = 1e-3 * mean.var(0)
  right[-1] = right[:-1].mean()
  np.testing.assert_allclose(got.var, np.broadcast_to(right, (K, D)))


def test_variance_far_from_the_origin_in_float32(key, rng):
  """A step of EM gives the mixture the moments of the items."""
  x = (1e4 + 0.84**0.5 * rng.normal(size=(T, D))).astype(np.float32)
  mix = cast(fit(key, x, floor=0.0)[0], float)
  mean = mix.weight @ mix.mean
  var = mix.weight @ (mix.var + (mix.mean - mean) ** 2)
  np.testing.assert_allclose(var, x.astype(float).var(0), rtol=2e-3)
  assert abs(var.mean() - 0.84) < 0.1


def test_float32_is_float64_to_rounding(key, rng, x):
  start = random_mixture(rng)
  fields = []
  for kind in (np.float32, np.float64):
    mix = cast(start, kind)
    for _ in range(5):
      mix = step(mix, gaussians.statistics(mix, x.astype(kind)))
    assert mix.mean.dtype == kind
    fields.append(mix)
  assert_close(*fields, rtol=1e-4, atol=1e-5)


def test_jit_and_vmap_are_the_eager_loop(key, x):
  keys = jax.random.split(key, 2)
  right = [fit(own, x)[0] for own in keys]
  got, _ = jax.jit(jax.vmap(fit, (0, None)))(keys, jnp.asarray(x))
  for index in range(2):
    own = pick(got, index)
    assert_close(own, right[index], rtol=1e-6)


def test_an_empty_component_is_revived_from_the_heaviest(x):
  mean = x.mean(0) + np.array([[0.0], [1e3], [-0.1], [0.2]])
  var = np.broadcast_to(x.var(0), (K, D))
  mix = gaussians.Mixture(np.full(K, 1 / K), mean, var)
  own = gaussians.statistics(mix, x)
  assert own.n[1] == 0
  new = cast(step(mix, own), float)
  assert_sound(new)
  big = int(np.argmax(own.n))
  np.testing.assert_allclose(new.weight[1], own.n[big] / T / 2, rtol=1e-12)
  np.testing.assert_allclose(new.weight[big], new.weight[1], rtol=1e-12)
  np.testing.assert_array_equal(new.var[1], new.var[big])
  # The halves lie on either side, so that the mean of all stays.
  np.testing.assert_allclose(new.weight @ new.mean, x.mean(0), atol=1e-12)
  apart = np.abs(new.mean[1] - new.mean[big])
  assert (apart > 0).sum() == 1
  right = 0.4 * np.sqrt(new.var[big][apart > 0])
  np.testing.assert_allclose(apart[apart > 0], right, rtol=1e-9)
  # As one component again they are hardly likelier.
  weight, middle = new.weight.copy(), new.mean.copy()
  weight[[1, big]] = [0, 2 * new.weight[big]]
  middle[big] = (new.mean[1] + new.mean[big]) / 2
  whole = gaussians.Mixture(weight, middle, new.var)
  fall = mean_log_likelihood(whole, x) - mean_log_likelihood(new, x)
  assert fall < 1e-3


def test_a_step_that_revived_a_component_is_not_the_last(x):
  mean = x.mean(0) + np.array([[0.0], [1e3], [-0.1], [0.2]])
  var = np.broadcast_to(x.var(0), (K, D))
  start = gaussians.Mixture(np.full(K, 1 / K), mean, var)
  state = module.State(
    jax.tree.map(jnp.asarray, start),
    jnp.full(101, jnp.nan),
    steps=jnp.zeros((), jnp.int32),
    settled=jnp.array(True),
    converged=jnp.array(False),
    ended=jnp.array(False),
  )
  # Any gain is small enough, so that only the revival keeps it from ending.
  ends, judge = [], jax.jit(module.judge, static_argnums=4)
  for _ in range(3):
    state = judge(jnp.asarray(x), jnp.ones(T), jnp.inf, 1e-3, 100, state)
    ends.append((int(state.steps), bool(state.ended)))
  assert ends == [(1, False), (2, False), (2, True)]
  assert state.converged


def test_more_empty_components_than_others(x):
  mean = np.concatenate([x.mean(0)[None], np.full((K - 1, D), 1e3)])
  mix = gaussians.Mixture(np.full(K, 1 / K), mean, np.ones((K, D)))
  alive = []
  for _ in range(3):
    mix = step(mix, gaussians.statistics(mix, x))
    assert_sound(mix)
    alive.append(int((mix.weight > 0).sum()))
  assert alive == [2, 4, 4]


def test_a_step_on_no_items_changes_nothing(rng):
  mix = random_mixture(rng)
  none = gaussians.Statistics(np.zeros(K), np.zeros((K, D)), np.zeros((K, D)))
  assert_close(
    step(mix, none),
    gaussians.Mixture(*(jnp.asarray(a) for a in mix)),
    rtol=0,
  )


BAD = np.ones((T, D))
BAD[7, 1] = np.nan


@pytest.mark.parametrize(
  ("change", "message"),
  [
    ({"x": np.ones(T)}, r"x must be \[N, D\]"),
    ({"x": np.ones((0, D))}, r"x must be \[N, D\], not empty"),
    ({"x": BAD}, r"x\[7\] is not finite"),
    ({"num_components": 0}, "num_components must be at least 1"),
    ({"max_steps": -1}, "max_steps must be at least 0"),
    ({"floor": -1e-3}, "floor must be at least 0"),
    ({"start": "best"}, r"start must be one of kmeans\+\+, random"),
    ({"weights": np.ones(3)}, r"weights must be \[300\]"),
    ({"weights": np.zeros(T)}, "weights are all 0"),
    ({"weights": np.arange(T) - 4.0}, r"weights\[0\] is -4"),
    ({"weights": np.full(T, np.nan)}, r"weights\[0\] is nan"),
  ],
)
def test_refuses(change, message, key):
  args = {"x": np.ones((T, D))} | change
  with pytest.raises(ValueError, match=message):
    fit(key, args.pop("x"), **args)


def test_a_step_refuses_the_statistics_of_another_mixture(rng):
  mix = random_mixture(rng)
  own = gaussians.statistics(mix, np.ones((5, D)))
  with pytest.raises(ValueError, match="statistics must have shapes"):
    gaussians.em_step(mix, own._replace(n=np.ones(3)))
  with pytest.raises(ValueError, match="floor must be"):
    gaussians.em_step(mix, own, floor=-1)
