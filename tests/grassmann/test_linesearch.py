"""The line search on functions of one variable with known minima."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax.grassmann import backtrack


def search(phi, step, **options):
  value, slope = jax.value_and_grad(phi)(jnp.zeros_like(step))
  return backtrack(phi, value, slope, step, **options)


@pytest.mark.parametrize("step", [0.01, 0.3, 1.9, 7.0, 500.0])
def test_parabola_is_solved(step):
  """Minimum 2 of (t - 2)^2: one refinement lands on it."""
  found = search(lambda t: (t - 2) ** 2, jnp.asarray(step), near=0.01)
  np.testing.assert_allclose(found.step, 2, rtol=1e-6)
  assert found.accepted
  assert found.evaluations <= 6


def test_a_trial_near_the_minimum_is_taken_at_once():
  found = search(lambda t: (t - 2) ** 2, jnp.asarray(1.8))
  assert found.step == 1.8
  assert found.evaluations == 1


def test_a_short_acceptable_trial_is_extended():
  """Plain Armijo would stop at .1 with 10 % of the decrease from 4 to 0.

  A step within `near` of the minimum leaves at most near^2 of it.
  """
  found = search(lambda t: (t - 2) ** 2, jnp.asarray(0.1))
  assert found.value <= 4 * 0.5**2
  assert found.evaluations <= 4


@pytest.mark.parametrize("bad", [jnp.nan, jnp.inf, -jnp.inf])
@pytest.mark.parametrize("edge", [1.0, 1e-3])
def test_trials_beyond_the_edge_shrink(bad, edge):
  phi = lambda t: jnp.where(t > edge, bad, -t)
  found = backtrack(
    phi, jnp.zeros(()), -jnp.ones(()), jnp.asarray(10.0), max_trials=12
  )
  assert 0 < found.step <= edge
  assert found.value == -found.step
  assert found.evaluations <= 12
  assert not found.finite


@pytest.mark.parametrize("phi", [lambda t: t * jnp.nan, lambda t: t + 1])
def test_hopeless_search_is_bounded(phi):
  found = backtrack(
    phi, jnp.zeros(()), -jnp.ones(()), jnp.ones(()), max_trials=7
  )
  assert (found.step, found.value, found.evaluations) == (0, 0, 7)
  assert not found.accepted


@pytest.mark.parametrize("slope", [0.0, 1.0, np.nan])
def test_no_trial_without_descent(slope):
  found = backtrack(
    lambda t: -t, jnp.zeros(()), jnp.asarray(slope), jnp.ones(())
  )
  assert found.evaluations == 0
  assert found.step == 0


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
@pytest.mark.parametrize("value", [-3e4, 1.0, 7e5])
def test_few_trials_below_rounding(dtype, value):
  """At convergence phi wobbles by rounding about a constant."""
  value = jnp.asarray(value, dtype)
  eps = jnp.finfo(dtype).eps
  wobble = lambda t: value * (1 + eps * jnp.sign(jnp.sin(1e6 * t)))
  slope = -(eps**1.1) * jnp.abs(value)
  found = backtrack(wobble, value, slope, jnp.ones((), dtype))
  assert found.accepted
  assert found.evaluations <= 4
  assert found.value <= value


def test_max_step_binds():
  phi = lambda t: -t
  found = search(phi, jnp.asarray(0.5), max_step=3.0, near=0.01)
  assert found.step == 3
  found = search(phi, jnp.asarray(50.0), max_step=3.0)
  assert (found.step, found.evaluations) == (3, 1)


def test_aux_belongs_to_the_best_trial():
  phi = lambda t: ((t - 2) ** 2, {"at": t})
  found = backtrack(
    phi, jnp.asarray(4.0), jnp.asarray(-4.0), jnp.ones(()), aux={"at": 0.0}
  )
  assert found.aux["at"] == found.step
  stuck = backtrack(
    lambda t: (t + 9, {"at": t}),
    jnp.asarray(4.0),
    jnp.asarray(-4.0),
    jnp.ones(()),
    aux={"at": -1.0},
  )
  assert stuck.aux["at"] == -1


def test_scale_free():
  """Scaling t by a and phi by b scales the answer."""
  phi = lambda t: jnp.cosh(t - 1)
  plain = search(phi, jnp.asarray(3.0))
  scaled = search(lambda t: 1e6 * phi(t / 1e-4), jnp.asarray(3e-4))
  np.testing.assert_allclose(scaled.step, 1e-4 * plain.step, rtol=1e-9)
  assert scaled.evaluations == plain.evaluations


def test_lanes_equal_single_searches():
  steps = jnp.asarray([0.01, 1.0, 40.0])
  one = lambda step: search(lambda t: jnp.cosh(t - 2), step)
  many = jax.vmap(one)(steps)
  for i, step in enumerate(steps):
    single = one(step)
    np.testing.assert_allclose(many.step[i], single.step, rtol=1e-14)
    assert many.evaluations[i] == single.evaluations
