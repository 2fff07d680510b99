"""Shapes and dtypes of what the functions of mixtures are given."""

import jax
import jax.numpy as jnp


def checked(mix, x, mask=None):
  """(mix, x, mask) as arrays of one float dtype, ones where mask is None."""
  check_mixture(mix)
  mix, x = as_one_kind(mix, x)
  if x.ndim != 2 or x.shape[1] != mix.mean.shape[1]:
    raise ValueError(
      f"x must be [T, {mix.mean.shape[1]}] for this mixture, got {x.shape}"
    )
  return mix, x, checked_mask(mask, len(x), x.dtype)


def checked_mask(mask, num, kind, name="mask"):
  """The mask [num] in a float dtype, ones where it is None."""
  if mask is None:
    return jnp.ones(num, kind)
  if jnp.shape(mask) != (num,):
    raise ValueError(f"{name} must be [{num}], got shape {jnp.shape(mask)}")
  return jnp.asarray(mask, kind)


def check_mixture(mix, name="mix"):
  """Raises ValueError unless the fields are [K], [K, D] and [K, D]."""
  shapes = [jnp.shape(field) for field in mix]
  weight, mean, var = shapes
  if len(mean) != 2 or 0 in mean or weight != mean[:1] or var != mean:
    raise ValueError(
      f"{name} must have fields [K], [K, D] and [K, D], got {shapes}"
    )


def with_statistics(mix, statistics, name="mix"):
  """(mix, statistics) in one float dtype, if they can belong together."""
  check_mixture(mix, name)
  shapes = [jnp.shape(field) for field in statistics]
  right = [jnp.shape(mix.weight), jnp.shape(mix.mean), jnp.shape(mix.mean)]
  if shapes != right:
    raise ValueError(
      f"statistics must have shapes {right} for this mixture, got {shapes}"
    )
  return as_one_kind(mix, statistics)


def as_one_kind(*trees):
  """The trees with all leaves in the widest of their float dtypes."""
  kind = float_kind(*jax.tree.leaves(trees))
  return jax.tree.map(lambda a: jnp.asarray(a, kind), trees)


def float_kind(*arrays):
  """The widest of the arrays' float dtypes, float32 or wider."""
  kinds = [jnp.asarray(a).dtype for a in arrays]
  default = jnp.result_type(float)
  kinds = [k if jnp.issubdtype(k, jnp.floating) else default for k in kinds]
  return max(jnp.dtype("float32"), *kinds, key=lambda k: jnp.finfo(k).bits)
