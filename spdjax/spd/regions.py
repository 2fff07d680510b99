"""Covariances of the rectangles of an image, from integral images."""

import jax
import jax.numpy as jnp
import numpy as np

from spdjax.spd import twofloat
from spdjax.spd.covariance import real


def region_covariances(features, boxes):
  """Biased covariances of the features in rectangles, from integral images.

  C_ij = (S_ij - S_i S_j / r) / r with sums S over the r pixels of a box, each
  read off four corners of an integral image (Tuzel, Porikli & Meer, 2006). The
  channel means are subtracted first and the sums are carried in pairs of
  floats, so that float32 serves for images of any size and boxes of any.

  The integral images of the n first moments are held, [n, H, W] pairs, and
  those of the n (n + 1) / 2 products are made one at a time: 2 (n + 2) H W
  floats in all and no more. The time is that of n (n + 3) / 2 integral images
  whatever the number of boxes; for a few boxes, or a single one, `covariance`
  of the cut is cheaper.

  Args:
    features: [H, W, n], integers are widened.
    boxes: [R, 4] integers (top, left, bottom, right), half open.

  Returns:
    [R, n, n]. A traced box that is empty or reaches outside gives NaN.

  Raises:
    ValueError: on a wrong rank, boxes that are not integers, and on a concrete
      box that is empty or reaches outside, by its index.
  """
  features = real(features)
  if features.ndim != 3 or 0 in features.shape:
    raise ValueError(f"features must be [H, W, n], got shape {features.shape}")
  height, width, _ = features.shape
  return _region_covariances(features, _check_boxes(boxes, height, width))


def _check_boxes(boxes, height, width):
  if np.ndim(boxes) != 2 or np.shape(boxes)[1] != 4:
    raise ValueError(f"boxes must be [R, 4], got shape {np.shape(boxes)}")
  if not jnp.issubdtype(jnp.result_type(boxes), jnp.integer):
    raise ValueError(f"boxes must be integers, got {jnp.result_type(boxes)}")
  if isinstance(boxes, jax.core.Tracer):
    return boxes
  boxes = np.asarray(boxes)
  bad = np.flatnonzero(~_is_inside(boxes, height, width))
  if bad.size:
    raise ValueError(
      f"boxes[{bad[0]}] = {boxes[bad[0]].tolist()} is empty or reaches "
      f"outside of the {height} x {width} image"
    )
  # Inside of the image, so every index fits; and unsigned differences do not.
  return jnp.asarray(boxes.astype(np.int32))


def _is_inside(boxes, height, width):
  top, left, bottom, right = boxes.T
  rows = (top >= 0) & (top < bottom) & (bottom <= height)
  return rows & (left >= 0) & (left < right) & (right <= width)


@jax.jit
def _region_covariances(features, boxes):
  height, width, n = features.shape
  channels = jnp.moveaxis(features, -1, 0)
  channels -= channels.mean((1, 2), keepdims=True)
  inside = _is_inside(boxes, height, width)
  boxes = jnp.where(inside[:, None], boxes, jnp.ones_like(boxes))
  top, left, bottom, right = boxes.T
  count = ((bottom - top) * (right - left)).astype(features.dtype)
  sums = jax.lax.map(lambda x: _window_sums(twofloat.of(x), boxes), channels)

  def entry(pair):
    i, j = pair
    products = twofloat.product(channels[i], channels[j])
    second = _window_sums(products, boxes)
    mean = twofloat.divide([s[j] for s in sums], count)
    outer = twofloat.multiply([s[i] for s in sums], mean)
    return twofloat.value(twofloat.subtract(second, outer)) / count

  i, j = np.triu_indices(n)
  upper = jax.lax.map(entry, (jnp.asarray(i), jnp.asarray(j)))
  upper = jnp.where((i == j)[:, None], jnp.maximum(upper, 0), upper)
  full = jnp.zeros((n, n, len(boxes)), features.dtype)
  full = full.at[i, j].set(upper).at[j, i].set(upper)
  return jnp.where(inside[:, None, None], jnp.moveaxis(full, -1, 0), jnp.nan)


def _window_sums(image, boxes):
  """Sums over boxes [R, 4] of a two-float image [H, W], two-float [R]."""
  table = [
    jnp.pad(x, ((1, 0), (1, 0)))
    for x in twofloat.cumsum([x.T for x in twofloat.cumsum(image)])
  ]
  top, left, bottom, right = boxes.T
  corner = lambda y, x: [t[x, y] for t in table]  # transposed by the sums
  lower = twofloat.subtract(corner(bottom, right), corner(bottom, left))
  upper = twofloat.subtract(corner(top, right), corner(top, left))
  return twofloat.subtract(lower, upper)
