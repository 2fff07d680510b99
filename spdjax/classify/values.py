"""Checks of what a user hands over; each raises a ValueError that names it.

Values are looked at only where they are at hand: traced ones pass.
"""

import numbers

import jax
import jax.numpy as jnp
import numpy as np


def traced(x) -> bool:
  """Whether the values of x are unknown."""
  return isinstance(x, jax.core.Tracer)


def array(x, name="x"):
  """x as a jax or numpy array, not converted."""
  if isinstance(x, jax.Array):
    return x
  try:
    return np.asarray(x)
  except ValueError as error:
    raise ValueError(f"{name} must be an array: {error}") from error


def floats(x, name="x"):
  """x as an array of floats; integers and booleans are widened."""
  x = array(x, name)
  real = (jnp.bool_, jnp.integer, jnp.floating)
  if not any(jnp.issubdtype(x.dtype, kind) for kind in real):
    raise ValueError(f"{name} must be real numbers, got {x.dtype}")
  if jnp.issubdtype(x.dtype, jnp.floating):
    return jnp.asarray(x)
  # At once: JAX would first wrap what is beyond 32 bits.
  return jnp.asarray(x.astype(jnp.result_type(float)))


def finite(x, name="x"):
  """`floats(x)`, if all of them are finite."""
  own = floats(x, name)
  if traced(x):
    return own
  # Also inside of a function that is being traced.
  with jax.ensure_compile_time_eval():
    bad = ~jnp.isfinite(jnp.asarray(x))
    if not bad.any():
      return own
    (where, *_) = np.argwhere(np.asarray(bad))
  place = f"[{', '.join(map(str, where))}]" if len(where) else ""
  kept = jnp.dtype(own.dtype).name  # where a large number has become infinite
  raise ValueError(f"{name}{place} is not finite in {kept}")


def single(x, name="x"):
  """`finite(x)`, halves widened to float32: what decompositions take."""
  own = finite(x, name)
  return own.astype(jnp.float32) if jnp.finfo(own.dtype).bits < 32 else own


def weights(weight, num: int, name="sample_weight"):
  """The weights [num] >= 0 as floats."""
  own = floats(weight, name)
  if own.shape != (num,):
    raise ValueError(f"{name} must be [{num}], got {own.shape}")
  if not traced(weight):
    weight = np.asarray(weight)
    bad = np.flatnonzero(~((weight >= 0) & (weight < np.inf)))
    if len(bad):
      raise ValueError(f"{name}[{bad[0]}] is {weight[bad[0]]}; expected >= 0")
    beyond = np.flatnonzero(weight > float(jnp.finfo(own.dtype).max))
    if len(beyond):
      raise ValueError(
        f"{name}[{beyond[0]}] is {weight[beyond[0]]}, beyond {own.dtype}"
      )
  return own


def key(key):
  """A key of `jax.random`."""
  kind = getattr(key, "dtype", None)
  typed = kind is not None and jnp.issubdtype(kind, jax.dtypes.prng_key)
  if not typed and not (kind == np.uint32 and np.ndim(key) == 1):
    raise ValueError(f"key must be made by jax.random.key, got {key!r}")
  return key


def labels(y, num: int, num_classes=None):
  """y as an array: `num` integers, in 0..num_classes-1 if that is given."""
  y = array(y, "y")
  if y.shape != (num,) or not jnp.issubdtype(y.dtype, jnp.integer):
    raise ValueError(
      f"y must be {num} integers, one an item, got {y.dtype} of shape {y.shape}"
    )
  if num_classes is not None and not traced(y):
    in_range(np.asarray(y), num_classes)
  return y


def in_range(y, num_classes: int) -> None:
  """y, of whole numbers in 0..num_classes-1."""
  bad = np.flatnonzero((y < 0) | (y >= num_classes) | (y != np.floor(y)))
  if len(bad):
    raise ValueError(
      f"y must be classes 0 to {num_classes - 1}; entry {bad[0]} is {y[bad[0]]}"
    )


def positive(value, name: str):
  """A number above 0 and finite."""
  return _number(value, name, lambda v: 0 < v < np.inf, "above 0 and finite")


def nonnegative(value, name: str):
  """A finite number that is not below 0."""
  return _number(value, name, lambda v: 0 <= v < np.inf, ">= 0 and finite")


def _number(value, name, right, range_):
  if traced(value):
    return value
  try:
    good = not isinstance(value, str) and right(float(value))
  except (TypeError, ValueError):
    good = False
  if not good:
    raise ValueError(f"{name} must be {range_}, got {value!r}")
  return value


def whole(value, name: str, least: int) -> int:
  """A whole number that is not below `least`, and fits in 32 bits."""
  good = isinstance(value, numbers.Integral | np.integer)
  if not good or isinstance(value, bool) or not least <= value < 2**31:
    # `!r` spells a string apart from a number.
    raise ValueError(
      f"{name} must be at least {least} and whole, got {value!r}"
    )
  return int(value)
