"""Pairs of floats against exact arithmetic on fractions."""

from fractions import Fraction

import jax
import numpy as np
import pytest

from spdjax.spd import twofloat


def _exact(pair):
  head, tail = (np.asarray(x).ravel().tolist() for x in pair)
  return [Fraction(a) + Fraction(b) for a, b in zip(head, tail, strict=True)]


def _numbers(dtype, scale):
  x = np.random.default_rng(0).normal(size=(2, 50)) * np.array([[1], [scale]])
  return x.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [1.0, 1e-5, 3e4])
def test_product_and_difference_have_twice_the_precision(dtype, scale):
  x, y = _numbers(dtype, scale)

  def squares(x, y):
    return twofloat.subtract(twofloat.product(x, x), twofloat.product(y, y))

  # A compiler must not undo what looks like adding zeros.
  computed = _exact(jax.jit(squares)(x, y))
  for a, b, c in zip(x.tolist(), y.tolist(), computed, strict=True):
    a, b = Fraction(a) ** 2, Fraction(b) ** 2
    assert abs(c - (a - b)) <= np.finfo(dtype).eps ** 1.45 * (a + b)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_quotient(dtype):
  x, _ = _numbers(dtype, 1.0)
  count = np.arange(1, 51).astype(dtype)
  computed = _exact(jax.jit(twofloat.divide)(twofloat.of(x), count))
  for a, b, c in zip(x.tolist(), count.tolist(), computed, strict=True):
    right = Fraction(a) / Fraction(b)
    assert abs(c - right) <= np.finfo(dtype).eps ** 1.45 * abs(right)


def test_running_sums_keep_what_float32_drops():
  x = np.array([[1.0], [2.0**-30], [2.0**-30], [-1.0]], np.float32)
  computed = _exact(twofloat.cumsum(twofloat.of(x)))
  tiny = Fraction(2) ** -30
  assert computed == [1, 1 + tiny, 1 + 2 * tiny, 2 * tiny]
