"""Problems side by side: under vmap, and as they leave one by one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax.classify import l2_svm, lanes, pack

pytestmark = pytest.mark.slow


def problem(rng, num=60, dim=6):
  x = rng.normal(size=(num, dim))
  y = np.where(x[:, :2].sum(1) + rng.normal(size=num) > 0, 1.0, -1.0)
  return x, y


def test_lanes_that_leave_change_nothing(rng):
  """Values of c over four decades: the passes narrow three times."""
  x, y = problem(rng)
  bits = pack(x > 0)
  many = jnp.logspace(-2, 2, 48)
  assert lanes._widths(48) == [48, 24, 12, 6]
  solve = lambda c: l2_svm(bits, y, c=c, tol=1e-9)
  w, b, info = jax.vmap(solve)(many)
  assert info.converged.all()
  # Each at its own pace: the quick ones do not wait for the slow.
  assert int(info.steps[0]) < int(info.steps.max())
  for k in (0, 23, 35, 41, 47):
    own_w, own_b, own = solve(many[k])
    np.testing.assert_allclose(w[k], own_w, atol=1e-6)
    np.testing.assert_allclose(b[k], own_b, atol=1e-6)
    assert int(info.steps[k]) == int(own.steps)
    assert int(info.products[k]) == int(own.products)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_classes_and_values_of_c_are_lanes_together(loss, rng):
  x, _ = problem(rng)
  y = rng.integers(0, 3, len(x))
  solve = lambda c: l2_svm(
    x, y, c=c, loss=loss, num_classes=3, tol=1e-7, max_steps=300
  )
  w, b, info = jax.vmap(solve)(jnp.array([0.05, 0.5]))
  assert w.shape == (2, 3, 6) and b.shape == info.gap.shape == (2, 3)
  assert info.converged.all() and info.steps.shape == (2,)
  own, _, _ = solve(0.5)
  np.testing.assert_allclose(w[1], own, atol=1e-4)


def test_vmap_over_features_weights_and_both(rng):
  xs, ys = zip(*(problem(rng) for _ in range(2)), strict=True)
  x, y = np.stack(xs), np.stack(ys)
  weight = rng.random((2, 60))
  solve = lambda x, y, s, c: l2_svm(x, y, c=c, sample_weight=s, tol=1e-9)[0]
  loop = np.stack(
    [[solve(x[k], y[k], weight[k], c) for c in (0.1, 1.0)] for k in (0, 1)]
  )
  c = jnp.array([0.1, 1.0])
  over_c = jax.vmap(solve, (None, None, None, 0))
  both = jax.vmap(over_c, (0, 0, 0, None))(x, y, weight, c)
  np.testing.assert_allclose(both, loop, atol=1e-6)
  own = jax.vmap(solve, (None, 0, 0, None))(x[0], y, weight, 0.1)
  np.testing.assert_allclose(own[0], loop[0, 0], atol=1e-6)


def test_max_steps_ends_with_an_honest_gap(rng):
  x, y = problem(rng)
  w, b, info = l2_svm(x, y, c=10.0, tol=1e-12, max_steps=2)
  assert not info.converged and int(info.steps) == 2
  *_, best = l2_svm(x, y, c=10.0, tol=1e-12)
  assert float(info.objective - best.objective) <= float(info.gap)
  slack = np.maximum(1 - y * (x @ np.asarray(w) + float(b)), 0)
  own = (np.sum(np.square(w)) + float(b) ** 2) / 2 + 10 * (slack**2).sum()
  np.testing.assert_allclose(info.objective, own, rtol=1e-12)
