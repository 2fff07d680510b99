"""Cells of a spatial pyramid."""

import jax
import jax.numpy as jnp


def pyramid_cells(centres, *, levels):
  """Which descriptors lie in which cell of a pyramid, bool [cells, T].

  A level (rows, columns) cuts the image into equal cells, half-open,
  [k / rows, (k + 1) / rows) down and alike across; the last ones are closed. So
  each descriptor is in exactly one cell of each level. Cells are in order of
  the levels, each row by row.

  Args:
    centres: [T, 2] (x, y) in [0, 1], as `kernel_descriptors` gives them; may be
      traced. What lies outside belongs to the nearest cell.
    levels: pairs (rows, columns), as ((1, 1), (2, 2), (3, 1)); or a number L,
      which means (1, 1), (2, 2), ..., (2^(L - 1), 2^(L - 1)).

  Raises:
    ValueError: on centres that are not [T, 2], no levels, or a level that is
      not two positive integers.

  Source: Lazebnik, Schmid & Ponce, "Beyond Bags of Features" (CVPR 2006).
  """
  centres = jnp.asarray(centres)
  if centres.ndim != 2 or centres.shape[1] != 2:
    raise ValueError(f"centres must be [T, 2], got shape {centres.shape}")
  if not jnp.issubdtype(centres.dtype, jnp.floating):
    centres = centres.astype(jnp.result_type(float))
  x, y = centres.T
  cells = []
  for rows, columns in _levels(levels):
    cell = columns * _part(y, rows) + _part(x, columns)
    number = jax.lax.broadcasted_iota(jnp.int32, (rows * columns, len(cell)), 0)
    cells.append(number == cell[None])
  return jnp.concatenate(cells)


def _levels(levels):
  if isinstance(levels, int):
    levels = tuple((2**k, 2**k) for k in range(levels))
  levels = tuple(tuple(level) for level in levels)
  if not levels:
    raise ValueError("levels must not be empty")
  for level in levels:
    whole = all(isinstance(n, int) and n > 0 for n in level)
    if len(level) != 2 or not whole:
      raise ValueError(f"levels must be (rows, columns), both > 0, got {level}")
  return levels


def _part(place, parts):
  """The half-open part of [0, 1] that a place is in, int32."""
  return jnp.clip(jnp.floor(place * parts), 0, parts - 1).astype(jnp.int32)
