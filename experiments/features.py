"""Covariances of the local features of whole images, many at a time."""

import functools
import hashlib
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

import spdjax
from experiments import buckets
from experiments.errors import UserError
from spdjax.images import region_features
from spdjax.spd import covariance

BATCH = 16  # images a compiled call takes


def image_covariances(
  images,
  *,
  kind="textures",
  position=False,
  dtype="float32",
  cache=None,
  progress=True,
):
  """Covariances of the region features of N grey images, numpy [N, n, n].

  A shape that at least `BATCH` images have is compiled for; all others share
  one canvas, so a set of photographs of every size compiles once.

  Args:
    images: N arrays [H, W].
    kind: of features, see `spdjax.images.region_features`.
    position: whether x and y are appended to the features.
    dtype: of the computation; "float64" needs jax_enable_x64.
    cache: a folder that keeps results by the images' content, the arguments
      and the code that computes them; None keeps nothing.
    progress: whether to draw a progress bar.

  Raises:
    UserError: on no images, one that is not [H, W], by its index, and
      "float64" without jax_enable_x64.
  """
  images = [np.asarray(image) for image in images]
  _check(images)
  if np.dtype(dtype) == np.float64 and jnp.result_type(float) != np.float64:
    raise UserError("dtype float64 needs jax_enable_x64")
  path = cache and Path(cache) / f"{_key(images, kind, position, dtype)}.npy"
  if path and path.exists():
    return np.load(path)
  result = _compute(images, dtype, progress, kind=kind, position=position)
  if path:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial.npy")
    np.save(partial, result)
    partial.replace(path)
  return result


def _check(images):
  if not images:
    raise UserError("there are no images")
  for index, image in enumerate(images):
    if image.ndim != 2 or 0 in image.shape:
      raise UserError(f"image {index} has shape {image.shape}, not [H, W]")


def _key(images, *arguments):
  digest = hashlib.sha256(repr(arguments).encode())
  root = Path(spdjax.__file__).parent
  sources = [*root.glob("images/*.py"), root / "spd" / "covariance.py"]
  for source in sorted(sources):
    digest.update(source.read_bytes())
  for image in images:
    digest.update(repr((image.shape, image.dtype.str)).encode())
    digest.update(np.ascontiguousarray(image))
  return digest.hexdigest()[:32]


def _compute(images, dtype, progress, **kwargs):
  result = [None] * len(images)
  with tqdm(
    total=len(images), desc="features", unit="image", disable=not progress
  ) as bar:
    for canvas, members in buckets.groups(
      [image.shape for image in images], BATCH
    ):
      for start in range(0, len(members), BATCH):
        batch = members[start : start + BATCH]
        padded = buckets.pad([images[i] for i in batch], canvas, BATCH, dtype)
        out = np.asarray(_covariances(*padded, **kwargs))
        for index, matrix in zip(batch, out, strict=False):
          result[index] = matrix
        bar.update(len(batch))
  return np.stack(result)


@functools.partial(jax.jit, static_argnames=("kind", "position"))
def _covariances(stack, sizes, *, kind, position):
  # One image at a time: on CPUs a whole batch's features leave the cache, and
  # vmap takes twice as long.
  def one(example):
    image, (rows, columns) = example
    features = region_features(
      image, kind=kind, position=position, size=(rows, columns)
    )
    y, x = (
      jax.lax.broadcasted_iota(sizes.dtype, image.shape, k) for k in (0, 1)
    )
    inside = (y < rows) & (x < columns)
    samples = features.reshape(-1, features.shape[-1])
    return covariance(samples, inside.ravel().astype(image.dtype))

  return jax.lax.map(one, (stack, sizes))
