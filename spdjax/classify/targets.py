"""Labels, costs and names, checked and brought to the solvers' form."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from spdjax.classify import hinge, values

LOSSES = tuple(hinge.STARTS)


class Targets(NamedTuple):
  """The signs of C problems."""

  y: jax.Array  # [N, C] +-1
  single: bool  # whether the user gave one problem, so C = 1


def signs(y, shape, num_classes, kind) -> Targets:
  """Targets of y for features of the shape (N, K)."""
  y = values.array(y, "y")
  if y.ndim not in (1, 2) or 0 in y.shape or y.shape[0] != shape[0]:
    raise ValueError(
      f"y must have a label for each of the {shape[0]} rows of features, got "
      f"shape {y.shape}"
    )
  numbers = (jnp.integer, jnp.floating)
  if not any(jnp.issubdtype(y.dtype, kind) for kind in numbers):
    raise ValueError(f"y must be numbers, got {y.dtype}")
  plain = not values.traced(y)
  y = np.asarray(y) if plain else y
  single = y.ndim == 1 and _is_binary(y, num_classes)
  if single or y.ndim == 2:
    if plain and len(bad := np.argwhere(np.abs(y) != 1)):
      raise ValueError(f"y must be -1 or 1; entry {bad[0][0]} is not")
    return Targets(jnp.asarray(y, kind).reshape(shape[0], -1), single)
  num_classes = _count(y, num_classes)
  if plain:
    values.in_range(y, num_classes)
  classes = jnp.arange(num_classes, dtype=jnp.int32)
  member = jnp.asarray(y, jnp.int32)[:, None] == classes[None]
  return Targets(jnp.where(member, 1, -1).astype(kind), False)


def _count(y, num_classes):
  """The number of classes, from the largest label where it is not given."""
  if num_classes is not None:
    return values.whole(num_classes, "num_classes", 1)
  if values.traced(y):
    raise ValueError("num_classes is needed where y is traced")
  odd = np.flatnonzero(~(np.abs(y) < np.inf) | (y != np.floor(y)))
  bad = odd if len(odd) else np.flatnonzero(y < 0)
  if len(bad):
    raise ValueError(
      f"y must be -1 and 1, or classes from 0 on; entry {bad[0]} is {y[bad[0]]}"
    )
  if (y == y[0]).all():
    raise ValueError(f"y has the one class {y[0]}; expected two or more")
  return int(np.max(y)) + 1


def _is_binary(y, num_classes):
  if num_classes is not None:
    return False
  if values.traced(y):
    return jnp.issubdtype(y.dtype, jnp.floating)
  return set(np.unique(y).tolist()) <= {-1, 1}


def costs(c, sample_weight, num: int, kind):
  """c * sample_weight, [N, 1]; [1, 1] without weights."""
  values.positive(c, "c")
  if np.ndim(c):
    raise ValueError("c must be one number; jax.vmap takes several")
  if not values.traced(c) and float(c) > float(jnp.finfo(kind).max):
    raise ValueError(f"c is {c}, beyond {jnp.dtype(kind).name}")
  c = jnp.asarray(c, kind)
  if sample_weight is None:
    return c.reshape(1, 1)
  return c * values.weights(sample_weight, num).astype(kind)[:, None]


def scale(bias, kind):
  """The scale of the appended constant, 0 for none."""
  if bias is None:
    return jnp.zeros((), kind)
  return jnp.asarray(values.positive(bias, "bias"), kind)


def columns(column_scale, num: int, kind):
  """The scales [K] of the columns."""
  if column_scale is None:
    return jnp.ones(num, kind)
  column_scale = values.finite(column_scale, "column_scale")
  if column_scale.shape != (num,):
    raise ValueError(f"column_scale must be [{num}], got {column_scale.shape}")
  return column_scale.astype(kind)


def tolerance(tol, kind):
  """Of the gap, relative to the objective; by default the root of the eps."""
  if tol is None:
    tol = jnp.finfo(kind).eps ** 0.5
  return jnp.asarray(values.nonnegative(tol, "tol"), kind)


def check_solved(w):
  """Raises ValueError where the solution is beyond the dtype."""
  if not values.traced(w) and not bool(jnp.isfinite(w).all()):
    raise ValueError(
      f"no finite solution in {w.dtype}: c, the weights, or the features and "
      "their scales are too large"
    )


def check_loss(loss):
  """Raises ValueError for an unknown name."""
  if loss not in LOSSES:
    raise ValueError(f"loss must be one of {', '.join(LOSSES)}, got {loss!r}")
