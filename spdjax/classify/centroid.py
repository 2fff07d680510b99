"""Nearest centroids."""

import jax
import jax.numpy as jnp

from spdjax.classify import values

METRICS = ("euclidean", "cosine")


def centroids(x, y, *, num_classes, sample_weight=None):
  """Weighted means of the classes, sum_i w_i x_i / sum_i w_i, [C, D].

  A class without items, or whose weights are all 0, has a row of NaN, which
  `nearest_centroid` never predicts. A weight of 0 removes an item, even one
  that is not finite.

  Args:
    x: [N, D], any real dtype; integers are widened.
    y: [N] integers in 0..C-1, may be traced; a traced label outside of them
      removes the item.
    num_classes: C.
    sample_weight: [N], >= 0; None for ones.

  Raises:
    ValueError: on a wrong shape, labels that are not integers, and, unless
      traced, on labels outside of 0..C-1 and on weights that are not >= 0 and
      finite.
  """
  x = values.floats(x)
  if x.ndim != 2:
    raise ValueError(f"x must be [N, D], got shape {x.shape}")
  y = jnp.asarray(values.labels(y, len(x), num_classes))
  weight = jnp.ones(len(x), x.dtype)
  if sample_weight is not None:
    weight = values.weights(sample_weight, len(x)).astype(x.dtype)
    x = jnp.where(weight[:, None] > 0, x, 0)
  # By scatter, not by a product with indicators: 0 * inf would spread an item
  # that is not finite over all classes.
  add = lambda part: jax.ops.segment_sum(part, y, num_classes)
  total = add(weight)
  share = weight / jnp.where(total > 0, total, 1)[y]
  means = add(share[:, None] * x)
  return jnp.where((total > 0)[:, None], means, jnp.nan)


def nearest_centroid(x, centroids, *, metric="euclidean"):
  """The class of the nearest of C centroids, [N] int32.

  Ties go to the lowest label, and so does an item that is as far from all, as
  the zero vector is by the cosine. A centroid that is not finite stands for a
  class without items and is never predicted.

  Args:
    x: [N, D], any real dtype; integers are widened.
    centroids: [C, D] of the same dtype, row c that of class c.
    metric: "euclidean", or "cosine": the largest x'c / (norm(x) norm(c)), where
      a zero vector has cosine 0 with all.

  Raises:
    ValueError: on wrong shapes, an unknown metric, and, unless traced, where no
      centroid is finite.
  """
  x = values.floats(x)
  centroids = values.floats(centroids, "centroids")
  if metric not in METRICS:
    raise ValueError(
      f"metric must be one of {', '.join(METRICS)}, got {metric!r}"
    )
  if x.ndim != 2 or centroids.ndim != 2 or x.shape[1] != centroids.shape[1]:
    raise ValueError(
      "x and centroids must be [N, D] and [C, D], got shapes "
      f"{x.shape} and {centroids.shape}"
    )
  present = jnp.isfinite(centroids).all(1)
  if not isinstance(present, jax.core.Tracer) and not present.any():
    raise ValueError("centroids must have a finite row")
  centroids = jnp.where(present[:, None], centroids, 0)
  score = _cosine if metric == "cosine" else _euclidean
  scores = score(x, centroids, present[:, None])
  # An item that is not finite: no centroid is nearer than another.
  scores = jnp.where(jnp.isnan(scores), jnp.finfo(scores.dtype).min, scores)
  scores = jnp.where(present[None], scores, -jnp.inf)
  return jnp.argmax(scores, 1).astype(jnp.int32)


def _euclidean(x, centroids, present):
  """(norm(x)^2 - norm(x - c)^2) / 2 about the mean of the centroids."""
  # About their mean an offset that all items share costs no digits.
  count = present.sum().astype(x.dtype)
  mean = centroids.sum(0, keepdims=True) / jnp.maximum(count, 1)
  centroids = jnp.where(present, centroids - mean, 0)
  squares = jnp.square(centroids).sum(1)
  return _products(x - mean, centroids) - squares[None] / 2


def _cosine(x, centroids, present):
  del present
  unit = lambda v, size: v / jnp.where(size > 0, size, 1)
  # First to a largest entry of 1: the squares of small ones would underflow.
  centroids = unit(centroids, jnp.abs(centroids).max(1, keepdims=True))
  norm = jnp.sqrt(jnp.square(centroids).sum(1, keepdims=True))
  return _products(x, unit(centroids, norm))


def _products(x, z):
  return jnp.matmul(x, z.T, precision="highest")
