"""Products with features of N items, kept in as few bytes as they come in.

Features are a float array [N, K]; responses of +-1 as int8 [N, K]; booleans
[N, K], True for +1 and False for -1; or the same booleans as `Packed` bits.
All but floats are widened block by block, never as a whole.
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np

from spdjax.classify import values

_ROWS = 512  # of a block: two million entries at K = 4096 stay in cache


@functools.partial(
  jax.tree_util.register_dataclass, data_fields=["bits"], meta_fields=["num"]
)
@dataclasses.dataclass(frozen=True)
class Packed:
  """Booleans of N items and `num` columns, eight to a byte."""

  bits: jax.Array  # [N, ceil(num / 8)] uint8, the first column lowest
  num: int


def pack(bits):
  """`Packed` of booleans [N, K], or of integers: those above 0 are True."""
  bits = values.array(bits, "bits")
  if bits.ndim != 2:
    raise ValueError(f"bits must be [N, K], got shape {bits.shape}")
  if jnp.issubdtype(bits.dtype, jnp.integer):
    bits = bits > 0
  if bits.dtype != bool:
    raise ValueError(f"bits must be booleans or integers, got {bits.dtype}")
  packed = jnp.packbits(jnp.asarray(bits), axis=1, bitorder="little")
  return Packed(packed, bits.shape[1])


def unpack(packed):
  """Booleans [N, num] of `Packed`."""
  _check_packed(packed)
  bits = jnp.unpackbits(packed.bits, axis=1, bitorder="little")
  return bits[:, : packed.num].astype(bool)


def checked(features):
  """Features of a kind that the products take, floats of 32 bits or more.

  Raises:
    ValueError: another shape than [N, K], complex numbers, or floats that are
      not finite.
  """
  if isinstance(features, Packed):
    _check_packed(features)
    return features
  features = values.array(features, "features")
  if features.ndim != 2 or 0 in features.shape:
    raise ValueError(
      f"features must be [N, K], not empty, got shape {features.shape}"
    )
  small = features.dtype.itemsize <= 2 and jnp.issubdtype(
    features.dtype, jnp.integer
  )
  if features.dtype == bool or small:
    return jnp.asarray(features)
  features = values.finite(features, "features")
  halves = jnp.finfo(features.dtype).bits < 32
  return features.astype(jnp.float32) if halves else features


def _check_packed(packed):
  bits, num = getattr(packed, "bits", None), getattr(packed, "num", None)
  if np.ndim(bits) != 2 or bits.dtype != np.uint8:
    raise ValueError("a Packed must have bits [N, ceil(num / 8)] of uint8")
  if not isinstance(num, int) or -(-num // 8) != bits.shape[1] or num < 1:
    raise ValueError(
      f"a Packed of {bits.shape[1]} bytes a row has no {num} bits"
    )


def shape(features):
  """(N, K) of features of any kind."""
  if isinstance(features, Packed):
    return features.bits.shape[0], features.num
  return features.shape


def dtype(features):
  """The float dtype in which products are taken."""
  kind = jnp.result_type(float)
  if isinstance(features, Packed):
    return kind
  return features.dtype if is_floats(features) else kind


def forward(features, w):
  """f = T w for C columns at once, [N, K], [C, K] -> [N, C]."""
  if is_floats(features):
    return jnp.matmul(features, w.T, precision="highest")
  out = jnp.zeros((shape(features)[0], len(w)), w.dtype)

  def body(block, first, own, out):
    del own
    values = jnp.matmul(block, w.T, precision="highest")
    return jax.lax.dynamic_update_slice(out, values, (first, 0))

  return _over_blocks(features, w.dtype, body, out)


def backward(features, r):
  """T' r for C columns at once, [N, K], [N, C] -> [C, K]."""
  # As r' T: for row-major T it is several times faster than T' r on a CPU.
  if is_floats(features):
    return jnp.matmul(r.T, features, precision="highest")

  def body(block, first, own, out):
    part = jax.lax.dynamic_slice_in_dim(r, first, len(block))
    part = jnp.where(own[:, None], part, 0)
    return out + _rows_times(part.T, block)

  out = jnp.zeros((r.shape[1], shape(features)[1]), r.dtype)
  return _over_blocks(features, r.dtype, body, out)


def through(features, v, shift, push, rows):
  """(f, T'g, the sum of g) with f = T v + shift, in one pass over T.

  g = push(f, rows) [B, C] of a block of B rows, where `rows` are what belongs
  to them of arrays [N or 1, ...]. v [C, K], shift [C] -> [N, C], [C, K], [C].
  """
  if is_floats(features):
    f = forward(features, v) + shift[None]
    g = push(f, rows)
    return f, backward(features, g), g.sum(0)

  def body(block, first, own, carry):
    f, out, total = carry
    values = jnp.matmul(block, v.T, precision="highest") + shift[None]
    size = lambda a: min(len(a), len(block))
    at = lambda a: first if len(a) > 1 else 0
    cut = lambda a: jax.lax.dynamic_slice_in_dim(a, at(a), size(a))
    part = jnp.where(own[:, None], push(values, jax.tree.map(cut, rows)), 0)
    out, total = out + _rows_times(part.T, block), total + part.sum(0)
    return jax.lax.dynamic_update_slice(f, values, (first, 0)), out, total

  f = jnp.zeros((shape(features)[0], len(v)), v.dtype)
  return _over_blocks(features, v.dtype, body, (f, v * 0, shift * 0))


def counts(features, member):
  """How many of the members of each group respond, exactly.

  Responses [N, K] of any kind but floats, member [N, C] bool -> [C, K] int32.
  """
  out = jnp.zeros((member.shape[1], shape(features)[1]), jnp.int32)

  def body(block, first, own, out):
    part = jax.lax.dynamic_slice_in_dim(member, first, len(block))
    part = (part & own[:, None]).astype(block.dtype)
    bits = (block > 0).astype(block.dtype)
    return out + jnp.matmul(part.T, bits).astype(jnp.int32)

  return _over_blocks(features, jnp.float32, body, out)


def _rows_times(rows, block):
  """rows [C, B] times a widened block [B, K]."""
  # A single row makes XLA widen the block entry by entry inside the product,
  # fifteen times slower than for two rows on a CPU.
  wide = jnp.pad(rows, ((0, max(0, 2 - len(rows))), (0, 0)))
  return jnp.matmul(wide, block, precision="highest")[: len(rows)]


def is_floats(features):
  """Whether features are floats, and not responses."""
  return not isinstance(features, Packed) and jnp.issubdtype(
    features.dtype, jnp.floating
  )


def _over_blocks(features, kind, body, carry):
  """Folds body(block [B, K], first row, rows not seen before [B], carry)."""
  total, num = shape(features)
  rows = min(_ROWS, total)
  stored = features.bits if isinstance(features, Packed) else features

  def step(index, carry):
    # The last block reaches back over rows that the one before has seen.
    first = jnp.minimum(index * rows, total - rows)
    block = jax.lax.dynamic_slice_in_dim(stored, first, rows)
    own = first + jnp.arange(rows) >= index * rows
    if isinstance(features, Packed):
      block = _signs(block, num, kind)
    return body(_widened(block, kind), first, own, carry)

  return jax.lax.fori_loop(0, -(-total // rows), step, carry)


def _signs(block, num, kind):
  """+-1 [B, num] of packed bits [B, ceil(num / 8)]."""
  bits = (block[:, :, None] >> jnp.arange(8, dtype=jnp.uint8)[None, None]) & 1
  signs = 2 * bits.astype(kind) - 1
  return signs.reshape(len(block), -1)[:, :num]


def _widened(block, kind):
  if block.dtype == bool:
    return 2 * block.astype(kind) - 1
  return block.astype(kind)
