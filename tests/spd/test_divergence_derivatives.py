"""Derivatives of the five metrics, also where eigenvalues meet."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax import spd

# Compiled once a shape for the whole file.
METRICS = {name: jax.jit(fun) for name, fun in spd.METRICS.items()}


distance = jax.jit(spd.distance, static_argnames="metric")


every_metric = pytest.mark.parametrize("metric", spd.METRICS)


def spd_matrix(rng, n=4, spread=1.0):
  q = np.linalg.qr(rng.normal(size=(n, n)))[0]
  x = (q * np.exp(spread * rng.normal(size=n))) @ q.T
  return (x + x.T) / 2


def symmetric(rng, n=4):
  a = rng.normal(size=(n, n))
  return a + a.T


@every_metric
def test_equal_matrices_are_at_zero_and_distance_has_slope_zero(metric, rng):
  for x in (jnp.eye(3), jnp.asarray(spd_matrix(rng, 3))):
    apart = lambda x, y: distance(x, y, metric=metric)
    value, slopes = jax.jit(jax.value_and_grad(apart, (0, 1)))(x, x)
    assert value == 0
    for slope in slopes:
      np.testing.assert_array_equal(slope, np.zeros((3, 3)))


def pairs(rng, n=3):
  """Where eigenvalues of (X, Y) are apart, meet, and all are 1."""
  x = spd_matrix(rng, n)
  root = np.linalg.cholesky(x)
  q = np.linalg.qr(rng.normal(size=(n, n)))[0]
  meet = root @ q @ np.diag([2.0, 2.0, 0.3]) @ q.T @ root.T
  return {
    "apart": (x, spd_matrix(rng, n)),
    "meet": (x, (meet + meet.T) / 2),
    "equal": (x, x),
    "identity": (np.eye(n), np.eye(n)),
    "close": (x, x + 1e-3 * np.diag([1.0, 1.0, -1.0])),
  }


@every_metric
def test_gradients_and_hessian_products_are_finite_differences(metric, rng):
  fun = METRICS[metric]
  sides = [jnp.stack(z) for z in zip(*pairs(rng).values(), strict=True)]
  ex, ey = (jnp.asarray(symmetric(rng, 3)) for _ in range(2))
  slope = jax.jit(jax.vmap(jax.grad(fun, (0, 1))))
  value = jax.jit(lambda x, y: fun(x, y))

  def push(x, y):  # forward over reverse
    return jax.jvp(jax.grad(fun, (0, 1)), (x, y), (ex, ey))[1]

  def pull(x, y):  # reverse over reverse
    along = lambda x, y: sum(
      (g * e).sum()
      for g, e in zip(jax.grad(fun, (0, 1))(x, y), (ex, ey), strict=True)
    )
    return jax.grad(along, (0, 1))(x, y)

  def central(f, h=1e-4):
    """Along (ex, ey) to fourth order, whatever f(x, y) [K, ...] is."""
    at = lambda t: f(sides[0] + t * ex[None], sides[1] + t * ey[None])
    one, two = (
      jax.tree.map(jnp.subtract, at(k * h), at(-k * h)) for k in (1, 2)
    )
    return jax.tree.map(lambda a, b: (8 * a - b) / (12 * h), one, two)

  g = slope(*sides)
  got = (g[0] * ex[None] + g[1] * ey[None]).sum((1, 2))
  np.testing.assert_allclose(got, central(value), rtol=1e-7, atol=1e-8)
  bends = central(slope)
  for mode in (push, pull):
    for got, wanted in zip(jax.jit(jax.vmap(mode))(*sides), bends, strict=True):
      scale = np.abs(wanted).max((1, 2), keepdims=True)
      gap = np.abs(spd.sym(got) - spd.sym(wanted)) / scale
      assert gap.max() < 1e-5


@pytest.mark.parametrize(
  ("metric", "factor"), [("airm", 1), ("stein", 1 / 8), ("jeffrey", 1 / 2)]
)
def test_second_derivative_at_equality_is_the_metric_tensor(
  metric, factor, rng
):
  x, e = jnp.asarray(spd_matrix(rng)), jnp.asarray(symmetric(rng))
  fun = lambda y: METRICS[metric](x, y)
  bend = jax.jvp(jax.grad(fun), (x,), (e,))[1]
  inverse = np.linalg.inv(x)
  wanted = 2 * factor * inverse @ np.asarray(e) @ inverse
  np.testing.assert_allclose(bend, wanted, rtol=1e-7, atol=1e-8)


def test_derivatives_past_those_provided_raise():
  scaled = lambda metric: (
    lambda t: METRICS[metric](jnp.diag(jnp.stack([t, t])), jnp.eye(2))
  )
  third = lambda f: jax.jacfwd(jax.jacfwd(jax.grad(f)))
  with pytest.raises(NotImplementedError, match="third derivatives"):
    third(scaled("log_euclidean"))(2.0)
  # AIRM starts from the gradient, a matrix function, and has one more:
  # of 2 log(t)^2 it is (8 log t - 12) / t^3.
  got = jax.jit(third(scaled("airm")))(2.0)
  np.testing.assert_allclose(got, (8 * np.log(2) - 12) / 8, rtol=1e-9)


@every_metric
def test_float32_gradient_past_2_to_24(metric, rng):
  # Eigenvalues past 2^24: invariant metrics' slopes scale as 1 / scale.
  scale = 2.0**27
  x, y = spd_matrix(rng, 3, 0.5), spd_matrix(rng, 3, 0.5)
  slope = jax.jit(jax.grad(METRICS[metric]))
  wanted = np.asarray(slope(jnp.asarray(x * scale), jnp.asarray(y * scale)))
  low = [jnp.asarray(z * scale, jnp.float32) for z in (x, y)]
  got = np.asarray(slope(*low), float)
  assert np.isfinite(got).all()
  assert np.abs(got - wanted).max() < 2e-4 * np.abs(wanted).max()
