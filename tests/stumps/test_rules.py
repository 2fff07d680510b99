"""Step 0 against brute force, and its exactness."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax import stumps


def balanced(p, n, t_p, t_n):
  return np.sign(int(p) * int(t_n) - int(n) * int(t_p))


def best_constant(p, n, t_p, t_n):
  """Sign of the minimiser of a^2 / 2 + C sum of hinges, over a fine grid."""
  a = np.linspace(-1, 1, 401)
  right = p + t_n - n  # items on the side of a > 0
  wrong = t_p - p + n
  hinges = right * np.maximum(1 - a, 0) + wrong * np.maximum(1 + a, 0)
  return np.sign(round(a[np.argmin(a**2 / 2 + 10 * hinges)], 9))


@pytest.mark.parametrize("kind", [int, np.int32, jnp.int32])
def test_balanced_rule_is_the_sign_of_the_rates(kind):
  for p, n in itertools.product(range(4), range(6)):
    got = stumps.sign_rule(kind(p), kind(n), kind(3), kind(5))
    assert got.dtype == np.int8 and int(got) == balanced(p, n, 3, 5)


@pytest.mark.parametrize(
  ("counts", "message"),
  [
    ((-1, 2, 5, 5), "p must be in 0..t_p"),
    ((2, 6, 5, 5), "n must be in 0..t_n"),
    ((2.9, 2, 5, 5), "p must be whole numbers, got float64"),
    ((1, 1, 2**64, 5), "t_p must be whole numbers"),
  ],
)
def test_counts_that_are_none(counts, message):
  with pytest.raises(ValueError, match=message):
    stumps.sign_rule(*counts)


def test_majority_rule_agrees_with_the_svm_where_it_speaks():
  spoken = 0
  for p, n, t_p, t_n in itertools.product(range(5), range(5), (4, 6), (4, 5)):
    got = int(stumps.sign_rule(p, n, t_p, t_n, rule="majority"))
    up = p > n and t_p - p < t_n - n
    down = p < n and t_p - p > t_n - n
    assert got == up - down
    if got:
      spoken += 1
      assert got == best_constant(p, n, t_p, t_n)
  assert spoken > 20


@pytest.mark.parametrize("top", [2**31 - 1, 2**40, 2**62])
def test_balanced_rule_is_exact_for_huge_counts(top):
  rng = np.random.default_rng(0)
  t_p, t_n = (rng.integers(top // 2, top, 200) for _ in range(2))
  p = rng.integers(0, t_p)
  near = [
    int(a) * int(c) // int(b) for a, b, c in zip(p, t_p, t_n, strict=True)
  ]
  n = np.array(near) + rng.integers(0, 2, 200)  # within one of a tie
  right = [balanced(*v) for v in zip(p, n, t_p, t_n, strict=True)]
  assert len(set(right)) >= 2
  np.testing.assert_array_equal(stumps.sign_rule(p, n, t_p, t_n), right)
  if top < 2**31:
    small = [jnp.asarray(v, jnp.int32) for v in (p, n, t_p, t_n)]
    np.testing.assert_array_equal(jax.jit(stumps.sign_rule)(*small), right)


@pytest.mark.parametrize("rule", ["balanced", "majority"])
@pytest.mark.parametrize("kind", ["bool", "packed", "int8"])
def test_signs_count_every_class_against_the_rest(kind, rule, rng):
  bits, y = rng.random((600, 11)) < 0.4, rng.integers(0, 3, 600)
  own = {
    "bool": jnp.asarray(bits),
    "packed": stumps.pack(bits),
    "int8": jnp.asarray(np.where(bits, 1, -1), jnp.int8),
  }[kind]
  got = stumps.signs(own, y, num_classes=4, rule=rule)
  for c in range(4):
    inside = y == c
    p, n = bits[inside].sum(0), bits[~inside].sum(0)
    right = stumps.sign_rule(p, n, inside.sum(), (~inside).sum(), rule=rule)
    np.testing.assert_array_equal(got[c], right)


def test_unknown_rule_is_named():
  with pytest.raises(ValueError, match="rule must be one of"):
    stumps.sign_rule(1, 1, 2, 2, rule="median")
