"""Labels, costs and names, checked and brought to the solvers' form."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from spdjax.classify import hinge

LOSSES = tuple(hinge.STARTS)


class Targets(NamedTuple):
  """The signs of C problems."""

  y: jax.Array  # [N, C] +-1
  single: bool  # whether the user gave one problem, so C = 1


def signs(y, shape, num_classes, kind) -> Targets:
  """Targets of y for features of the shape (N, K)."""
  if len(shape) != 2 or 0 in shape:
    raise ValueError(f"features must be [N, K], not empty, got shape {shape}")
  if np.ndim(y) not in (1, 2) or np.shape(y)[0] != shape[0]:
    raise ValueError(
      f"y must have a label for each of the {shape[0]} rows of features, got "
      f"shape {np.shape(y)}"
    )
  plain = not isinstance(y, jax.core.Tracer)
  if plain and np.asarray(y).dtype.kind not in "iuf":
    raise ValueError(f"y must be numbers, got {np.asarray(y).dtype}")
  single = np.ndim(y) == 1 and _is_binary(y, num_classes)
  if single or np.ndim(y) == 2:
    bad = plain and np.flatnonzero(np.abs(np.asarray(y)) != 1)
    if plain and len(bad):
      raise ValueError(f"y must be -1 or 1; entry {bad[0]} is not")
    return Targets(jnp.asarray(y, kind).reshape(shape[0], -1), single)
  if num_classes is None:
    if not plain:
      raise ValueError("num_classes is needed where y is traced")
    num_classes = int(np.max(np.asarray(y))) + 1
  if plain:
    _check_classes(np.asarray(y), num_classes)
  classes = jnp.arange(num_classes, dtype=jnp.int32)
  member = jnp.asarray(y, jnp.int32)[:, None] == classes[None]
  return Targets(jnp.where(member, 1, -1).astype(kind), False)


def _is_binary(y, num_classes):
  if num_classes is not None:
    return False
  if isinstance(y, jax.core.Tracer):
    return jnp.issubdtype(y.dtype, jnp.floating)
  return set(np.unique(np.asarray(y)).tolist()) <= {-1, 1}


def _check_classes(y, num_classes):
  bad = np.flatnonzero((y < 0) | (y >= num_classes) | (y != np.floor(y)))
  if len(bad):
    raise ValueError(
      f"y must be classes 0 to {num_classes - 1}; entry {bad[0]} is {y[bad[0]]}"
    )


def costs(c, sample_weight, num: int, kind):
  """c * sample_weight, [N, 1]; [1, 1] without weights."""
  if not isinstance(c, jax.core.Tracer) and not 0 < float(c) < np.inf:
    raise ValueError(f"c must be above 0 and finite, got {c}")
  c = jnp.asarray(c, kind)
  if sample_weight is None:
    return c.reshape(1, 1)
  if np.shape(sample_weight) != (num,):
    raise ValueError(
      f"sample_weight must be [{num}], got {np.shape(sample_weight)}"
    )
  if not isinstance(sample_weight, jax.core.Tracer):
    own = np.asarray(sample_weight)
    bad = np.flatnonzero(~((own >= 0) & (own < np.inf)))
    if len(bad):
      raise ValueError(
        f"sample_weight[{bad[0]}] is {own[bad[0]]}; expected >= 0"
      )
  return c * jnp.asarray(sample_weight, kind)[:, None]


def scale(bias, kind):
  """The scale of the appended constant, 0 for none."""
  if bias is None:
    return jnp.zeros((), kind)
  if not isinstance(bias, jax.core.Tracer) and not 0 < float(bias) < np.inf:
    raise ValueError(f"bias must be above 0 and finite, or None, got {bias}")
  return jnp.asarray(bias, kind)


def columns(column_scale, num: int, kind):
  """The scales [K] of the columns."""
  if column_scale is None:
    return jnp.ones(num, kind)
  if np.shape(column_scale) != (num,):
    raise ValueError(
      f"column_scale must be [{num}], got {np.shape(column_scale)}"
    )
  return jnp.asarray(column_scale, kind)


def check_loss(loss):
  """Raises ValueError for an unknown name."""
  if loss not in LOSSES:
    raise ValueError(f"loss must be one of {', '.join(LOSSES)}, got {loss!r}")
