"""Sums over the patches of a regular grid, without the patches."""

import jax
import jax.numpy as jnp


def along(maps, picks, filters, stride, axis):
  """Strided correlations of products of maps, [C, H, W] with H or W shorter.

  A sum over shifts, that XLA makes one pass of multiplications and additions
  without storing the products: on CPUs several times quicker than a product
  with a banded matrix or a convolution.

  Args:
    maps: arrays [M, H, W], of any M.
    picks: [C] of each, which of its maps is a factor.
    filters: [C, patch].
    stride: in pixels.
    axis: 1 to go down the rows, 2 along the columns.
  """
  patch = filters.shape[1]
  last = maps[0].shape[axis] - patch
  total = 0
  for k in range(patch):
    term = filters[:, k, None, None]
    for own, pick in zip(maps, picks, strict=True):
      term *= jax.lax.slice_in_dim(own, k, last + k + 1, stride, axis)[pick]
    total += term
  return total


def box(image, patch, stride):
  """Sums over the grid's patches, [H, W] -> [rows, columns]."""
  ones, only = jnp.ones((1, patch), image.dtype), [jnp.zeros(1, jnp.int32)]
  rows = along([image[None]], only, ones, stride, 1)
  return along([rows], only, ones, stride, 2)[0]


def grid(shape, size, patch, stride, kind):
  """Centres of a grid of patches and whether they lie inside of an image.

  Args:
    shape: (rows, columns) of the grid.
    size: (height, width) of the image, may be traced.
    patch: side of a patch, in pixels.
    stride: in pixels.
    kind: dtype of the centres.

  Returns:
    Centres (x, y) [rows, columns, 2] over the width and height, and bool
    [rows, columns].
  """
  rows, columns = (
    stride * jax.lax.broadcasted_iota(jnp.int32, shape, axis) for axis in (0, 1)
  )
  inside = (rows + patch <= size[0]) & (columns + patch <= size[1])
  middle = lambda start: start.astype(kind) + patch / 2
  size = jnp.asarray(size).astype(kind)
  centres = [middle(columns) / size[1], middle(rows) / size[0]]
  return jnp.stack(centres, -1), inside
