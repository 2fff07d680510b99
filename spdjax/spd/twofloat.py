"""Arithmetic on pairs of floats, head + tail, with twice the precision.

Sums are error free (Knuth, 1969; Dekker, 1971). Products split their factors
into halves whose products are exact, instead of recovering the rounding of a
full product: a compiler that contracts a multiplication and an addition into
one rounding would spoil the latter and cannot spoil the former. A pair is
(head, tail), arrays of one shape and dtype, with |tail| <= eps |head|.
"""

import jax
import jax.numpy as jnp


def of(x):
  """The pair of a plain array."""
  return x, jnp.zeros_like(x)


def value(a):
  """The plain array nearest to a pair."""
  return a[0] + a[1]


def add(a, b):
  """a + b of two pairs."""
  head, error = _two_sum(a[0], b[0])
  return _renormalise(head, error + (a[1] + b[1]))


def subtract(a, b):
  """a - b of two pairs."""
  return add(a, (-b[0], -b[1]))


def product(x, y):
  """x * y of two plain arrays, as a pair."""
  (x, dx), (y, dy) = _halves(x), _halves(y)
  cross = x * dy + dx * y
  head, error = _two_sum(x * y, cross)
  return _renormalise(head, error + dx * dy)


def multiply(a, b):
  """a * b of two pairs."""
  head, tail = product(a[0], b[0])
  return _renormalise(head, tail + (a[0] * b[1] + a[1] * b[0]))


def divide(a, count):
  """a / count of a pair by a plain array."""
  head = a[0] / count
  rest = value(subtract(a, product(head, count)))
  return _renormalise(head, rest / count)


def cumsum(a):
  """Running sums of a pair along the first axis."""

  def step(total, row):
    total = add(total, row)
    return total, total

  zero = tuple(jnp.zeros_like(x[0]) for x in a)
  return jax.lax.scan(step, zero, tuple(a))[1]


def _two_sum(x, y):
  """x + y rounded, and what the rounding dropped."""
  head = x + y
  other = head - x
  return head, (x - (head - other)) + (y - other)


def _renormalise(head, tail):
  top = head + tail
  return top, tail - (top - head)


def _halves(x):
  """x as a sum of two numbers of at most half the bits."""
  info = jnp.finfo(x.dtype)
  keep = (info.nmant + 1) // 2 - 1  # stored bits, the leading one is implicit
  high = jax.lax.reduce_precision(x, info.nexp, keep)
  return high, x - high
