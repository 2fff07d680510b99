"""Mappings against a plain loop; sampling; packed bits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax import stumps
from spdjax.stumps import sampling


def loop_bit(mapping, k, row):
  """The definition, in Python."""
  if isinstance(mapping, stumps.Stumps):
    return bool(row[int(mapping.feature[k])] > float(mapping.threshold[k]))
  if isinstance(mapping, stumps.Projections):
    terms = zip(mapping.weight[k], mapping.feature[k], strict=True)
    total = sum(float(w) * row[int(f)] for w, f in terms)
    return bool(total > float(mapping.threshold[k]))
  first, second = (loop_bit(m, k, row) for m in mapping)
  if isinstance(mapping, stumps.Xor):
    return first != second
  return first and second


@pytest.mark.parametrize("kind", sampling.KINDS)
@pytest.mark.parametrize("thresholds", sampling.THRESHOLDS)
def test_evaluate_is_the_definition(kind, thresholds, key, rng):
  x = rng.normal(size=(7, 5))
  drawn = stumps.sample(key, x, 9, kind=kind, thresholds=thresholds)
  bits = stumps.evaluate(drawn, jnp.asarray(x))
  right = [[loop_bit(drawn, k, row) for k in range(9)] for row in x]
  assert bits.dtype == bool
  np.testing.assert_array_equal(bits, right)


def test_comparison_is_strict_and_nan_is_false():
  drawn = stumps.Stumps(jnp.array([0, 1]), jnp.array([1.0, 1.0]))
  x = jnp.array([[1.0, 2.0], [1.5, jnp.nan]])
  bits = stumps.evaluate(drawn, x)
  np.testing.assert_array_equal(bits, [[False, True], [True, False]])


@pytest.mark.parametrize("rows", [1, 5, 700])
@pytest.mark.parametrize("num", [1, 8, 13])
def test_packed_responses_are_the_bits(rows, num, key, rng, monkeypatch):
  monkeypatch.setattr("spdjax.stumps.mappings._ENTRIES", 1000)
  x = jnp.asarray(rng.normal(size=(rows, 4)))
  drawn = stumps.sample(key, rng.normal(size=(9, 4)), num)
  packed = stumps.packed_responses(drawn, x)
  assert packed.bits.shape == (rows, -(-num // 8)) and packed.num == num
  bits = stumps.evaluate(drawn, x)
  np.testing.assert_array_equal(stumps.unpack(packed), bits)
  np.testing.assert_array_equal(stumps.pack(bits).bits, packed.bits)


@pytest.mark.parametrize("draw", ["uniform", "spread"])
def test_constant_features_are_never_drawn(draw, key, rng):
  x = rng.normal(size=(20, 6))
  x[:, [0, 3]] = 7.0, np.nan
  drawn = stumps.sample(key, x, 300, draw=draw)
  assert set(np.asarray(drawn.feature)) == {1, 2, 4, 5}
  assert np.isfinite(drawn.threshold).all()


def test_spread_draws_in_proportion(key, rng):
  x = rng.normal(size=(4000, 2)) * [1.0, 3.0]
  drawn = stumps.sample(key, x, 8000, draw="spread")
  assert abs(float((drawn.feature == 1).mean()) - 0.75) < 0.02


def test_local_pairs_are_near_and_different(key, rng):
  x = rng.normal(size=(9, 8 * 6))
  args = {"kind": "xor", "draw": "local", "grid": (8, 6), "radius": 2}
  drawn = stumps.sample(key, x, 500, **args)
  rows = [np.asarray(m.feature) // 6 for m in drawn]
  columns = [np.asarray(m.feature) % 6 for m in drawn]
  apart = [np.abs(a - b) for a, b in (rows, columns)]
  assert max(apart[0].max(), apart[1].max()) == 2
  assert (apart[0] + apart[1] > 0).all()


@pytest.mark.parametrize("rule", sampling.THRESHOLDS)
def test_thresholds_lie_in_the_range_and_follow_the_rule(rule, key, rng):
  x = rng.random((30, 2)) * [1, 100]
  drawn = stumps.sample(key, x, 400, thresholds=rule)
  own = x[:, np.asarray(drawn.feature)]
  assert (own.min(0) <= drawn.threshold).all()
  assert (drawn.threshold <= own.max(0)).all()
  is_value = (own == np.asarray(drawn.threshold)[None]).any(0)
  assert is_value.all() if rule == "value" else is_value.mean() < 0.1


def test_keys_decide(key, rng):
  x = rng.normal(size=(9, 4))
  a, b = (stumps.sample(key, x, 50) for _ in range(2))
  other = stumps.sample(jax.random.key(1), x, 50)
  np.testing.assert_array_equal(a.threshold, b.threshold)
  assert (np.asarray(a.threshold) != np.asarray(other.threshold)).any()


@pytest.mark.parametrize(
  ("change", "message"),
  [
    ({"kind": "tree"}, "kind must be one of"),
    ({"thresholds": "mean"}, "thresholds must be one of"),
    ({"draw": "near"}, "draw must be one of"),
    ({"draw": "local"}, "needs a grid of 4 pixels"),
    ({"draw": "local", "grid": (3, 3)}, "needs a grid of 4 pixels"),
    ({"num": 0}, "num must be at least 1"),
    ({"x": np.ones((3, 4))}, "all features of x are constant"),
    ({"x": np.ones(3)}, "x must be"),
  ],
)
def test_wrong_arguments_are_named(change, message, key, rng):
  args = {"x": rng.normal(size=(5, 4)), "num": 3} | change
  with pytest.raises(ValueError, match=message):
    stumps.sample(key, args.pop("x"), args.pop("num"), **args)


@pytest.mark.parametrize("grid", [(-2, -2), (2.0, 2.0), ("2", "2"), 4])
def test_a_grid_of_no_pixels(grid, key):
  with pytest.raises(ValueError, match="needs a grid of 4 pixels"):
    stumps.sample(key, np.eye(4), 8, draw="local", grid=grid)


def test_small_spreads_are_no_constants(key, rng):
  x = rng.normal(size=(40, 2)).astype(np.float32)
  both = x * np.array([1, 1e-20], np.float32)
  halves = (x * np.array([100, 1e-4])).astype(np.float16)
  for own in (both, halves):
    drawn = stumps.sample(key, own, 200)
    assert set(np.asarray(drawn.feature)) == {0, 1}
  x[3, 1] = np.inf
  with pytest.raises(ValueError, match=r"x\[3, 1\] is infinite"):
    stumps.sample(key, x, 200)


def test_wide_integers_do_not_wrap():
  with jax.enable_x64(False):
    drawn = stumps.Stumps(jnp.array([0]), jnp.array([100.0]))
    assert bool(stumps.evaluate(drawn, np.array([[2**40]]))[0, 0])


@pytest.mark.parametrize(
  ("drawn", "message"),
  [
    (None, "must be Stumps, Projections, Xor or And, got NoneType"),
    (stumps.Stumps(np.array([-1]), np.zeros(1)), "look at feature -1"),
    (stumps.Stumps(np.array([3]), np.zeros(1)), "x has 2 features"),
  ],
)
def test_mappings_that_are_none(drawn, message):
  with pytest.raises(ValueError, match=message):
    stumps.evaluate(drawn, np.zeros((4, 2)))
