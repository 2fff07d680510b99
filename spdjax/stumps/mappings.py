"""Random binary mappings of feature vectors, and their evaluation.

A mapping is a NamedTuple of arrays with a leading axis of K. Each kind states
the bit of one mapping for one item; `evaluate` vmaps it over both.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from spdjax.classify import responses, values
from spdjax.classify.responses import Packed, pack, unpack

__all__ = [
  "And",
  "Packed",
  "Projections",
  "Stumps",
  "Xor",
  "evaluate",
  "num_mappings",
  "pack",
  "packed_responses",
  "take",
  "unpack",
]

_ENTRIES = 1 << 22  # of a block that is evaluated before it is packed


class Stumps(NamedTuple):
  """x[feature] > threshold."""

  feature: jax.Array  # [K] int32
  threshold: jax.Array  # [K]


class Projections(NamedTuple):
  """sum_j weight[j] x[feature[j]] > threshold."""

  feature: jax.Array  # [K, J] int32
  weight: jax.Array  # [K, J]
  threshold: jax.Array  # [K]


class Xor(NamedTuple):
  """Whether one of two mappings answers, and not the other."""

  first: NamedTuple
  second: NamedTuple


class And(NamedTuple):
  """Whether both of two mappings answer."""

  first: NamedTuple
  second: NamedTuple


def evaluate(stumps, x):
  """Bits of K mappings for N items, bool [N, K].

  The comparison is strict, and a NaN answers False to it.

  Args:
    stumps: `Stumps`, `Projections`, or `Xor` or `And` of them.
    x: [N, D].

  Raises:
    ValueError: x is not [N, D], or has fewer features than the mappings look
      at.
  """
  _check_kind(stumps)
  x = values.floats(x)
  if x.ndim != 2:
    raise ValueError(f"x must be [N, D], got shape {x.shape}")
  check_features(stumps, x)
  of_item = jax.vmap(_bit, in_axes=(0, None))
  return jax.vmap(of_item, in_axes=(None, 0))(stumps, x)


def _check_kind(stumps):
  if not isinstance(stumps, Stumps | Projections | Xor | And):
    raise ValueError(
      "stumps must be Stumps, Projections, Xor or And, got "
      f"{type(stumps).__name__}"
    )


def _bit(mapping, x):
  """The bit of one mapping for one item x [D]."""
  if isinstance(mapping, Stumps):
    return x[mapping.feature] > mapping.threshold
  if isinstance(mapping, Projections):
    return (mapping.weight * x[mapping.feature]).sum() > mapping.threshold
  first, second = _bit(mapping.first, x), _bit(mapping.second, x)
  return first ^ second if isinstance(mapping, Xor) else first & second


@jax.jit
def packed_responses(stumps, x):
  """`Packed` bits of `evaluate`, eight to a byte and never held wider."""
  num, rows = num_mappings(stumps), len(x)
  block = max(1, min(_ENTRIES // num, rows))
  out = jnp.zeros((rows, -(-num // 8)), jnp.uint8)

  def body(index, out):
    first = jnp.minimum(index * block, rows - block)
    own = jax.lax.dynamic_slice_in_dim(x, first, block)
    bits = responses.pack(evaluate(stumps, own)).bits
    return jax.lax.dynamic_update_slice(out, bits, (first, 0))

  return Packed(jax.lax.fori_loop(0, -(-rows // block), body, out), num)


def check_features(stumps, x):
  """ValueError where a mapping looks at a feature that x [N, D] lacks."""
  for leaf in jax.tree.leaves(stumps):
    if isinstance(leaf, jax.core.Tracer) or not leaf.size:
      continue
    if np.issubdtype(leaf.dtype, np.integer):
      own = np.asarray(leaf)
      first, last = int(own.min()), int(own.max())
      if first < 0:
        raise ValueError(f"the mappings look at feature {first}")
      if last >= x.shape[1]:
        raise ValueError(
          f"x has {x.shape[1]} features; the mappings look at feature {last}, "
          "counted from 0"
        )


def num_mappings(stumps):
  """K."""
  return len(jax.tree.leaves(stumps)[0])


def take(stumps, indices):
  """The mappings at the indices."""
  return jax.tree.map(lambda leaf: leaf[indices], stumps)
