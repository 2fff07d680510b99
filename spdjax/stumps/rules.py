"""Step 0: the sign of every stump for every class."""

import jax.numpy as jnp
import numpy as np

from spdjax.classify import responses, values

RULES = ("balanced", "majority")


def sign_rule(p, n, t_p, t_n, *, rule="balanced"):
  """Sign of a in (c1, c0) = (sign a, -sign a) of one stump, elementwise.

  "balanced": the sign of p / t_p - n / t_n; "majority", the optimum of the
  stump's own SVM: 1 where p > n and t_p - p < t_n - n, -1 where both are the
  other way round; else 0. Exact for all integers, as the balanced rule compares
  p t_n with n t_p in two words.

  Args:
    p, n: positives and negatives that respond.
    t_p, t_n: positives and negatives in all.

  Returns:
    int8 in {-1, 0, 1}.

  Reference: Roig, Boix & Van Gool, Table 1.
  """
  _check_rule(rule)
  xp, (p, n, t_p, t_n) = _arrays(p, n, t_p, t_n)
  if rule == "majority":
    up = (p > n) & (t_p - p < t_n - n)
    down = (p < n) & (t_p - p > t_n - n)
  else:
    left, right = _product(xp, p, t_n), _product(xp, n, t_p)
    up, down = _less(right, left), _less(left, right)
  return up.astype(xp.int8) - down.astype(xp.int8)


def signs(features, y, *, num_classes, rule="balanced"):
  """Signs of K stumps for C classes, each against the rest, int8 [C, K].

  Args:
    features: responses [N, K]: booleans, `Packed`, or int8 of +-1.
    y: [N] in 0 .. C - 1.
  """
  _check_rule(rule)
  num_classes = values.whole(num_classes, "num_classes", 1)
  features = responses.checked(features)
  if responses.is_floats(features):
    raise ValueError("features must be responses, not floats")
  y = values.labels(y, responses.shape(features)[0], num_classes)
  classes = jnp.arange(num_classes, dtype=jnp.int32)
  member = jnp.asarray(y, jnp.int32)[:, None] == classes[None]
  total = member.sum(0, dtype=jnp.int32)
  with_class = responses.counts(features, member)
  with_any = responses.counts(features, jnp.ones((len(member), 1), bool))
  return sign_rule(
    with_class,
    with_any - with_class,
    total[:, None],
    len(member) - total[:, None],
    rule=rule,
  )


def _check_rule(rule):
  if rule not in RULES:
    raise ValueError(f"rule must be one of {', '.join(RULES)}, got {rule!r}")


def _arrays(*counts):
  """(numpy or jax.numpy, the counts): numpy where int32 would overflow.

  ValueError for counts at hand that are no whole numbers >= 0, or above their
  total.
  """
  names = ("p", "n", "t_p", "t_n")
  counts = [values.array(c, n) for c, n in zip(counts, names, strict=True)]
  for count, name in zip(counts, names, strict=True):
    if not jnp.issubdtype(count.dtype, jnp.integer):
      raise ValueError(f"{name} must be whole numbers, got {count.dtype}")
  if not any(map(values.traced, counts)):
    counts = [np.asarray(c) for c in counts]
    for part, total, name in zip(counts[:2], counts[2:], names, strict=False):
      if not ((part >= 0) & (part <= total) & (total < 2**63)).all():
        raise ValueError(f"{name} must be in 0..t_{name}")
    if max(np.max(c, initial=0) for c in counts) >= 2**31:
      return np, np.broadcast_arrays(*(c.astype(np.int64) for c in counts))
  kind = jnp.result_type(int)
  return jnp, jnp.broadcast_arrays(*(jnp.asarray(c, kind) for c in counts))


def _product(xp, a, b):
  """a b >= 0 as (high, low) words."""
  half = a.dtype.itemsize * 4
  word = xp.dtype(f"uint{2 * half}")
  mask = word.type((1 << half) - 1)
  shift = word.type(half)
  a, b = a.astype(word), b.astype(word)
  (a1, a0), (b1, b0) = ((x >> shift, x & mask) for x in (a, b))
  middle = a1 * b0 + (a0 * b0 >> shift)
  carry = a0 * b1 + (middle & mask)
  high = a1 * b1 + (middle >> shift) + (carry >> shift)
  return high, (carry << shift) | (a0 * b0 & mask)


def _less(left, right):
  return (left[0] < right[0]) | ((left[0] == right[0]) & (left[1] < right[1]))
