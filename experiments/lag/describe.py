"""Kernel descriptors of pictures in batches, kept in a folder if asked."""

import hashlib
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import spdjax
from experiments import buckets
from experiments.lag import cache
from spdjax import images as descriptors

COMPONENTS = 200  # of the kernel descriptors, before the principal components


class Batch(NamedTuple):
  """Descriptors of a batch; a short one is filled with its first picture."""

  indices: np.ndarray  # [b] pictures, b <= B
  values: dict[str, np.ndarray]  # kind -> [B, T, d] float16
  centres: np.ndarray  # [B, T, 2]
  mask: np.ndarray  # [B, T]
  alike: bool  # whether all have one size, and so one set of centres


def plan(pictures, indices, size: int):
  """The batches of the pictures: a canvas and at most `size` indices each."""
  shapes = [pictures.shapes[i] for i in indices]
  out = []
  for canvas, members in buckets.groups(shapes, size):
    own = np.asarray(indices)[members]
    out += [(canvas, own[k : k + size]) for k in range(0, len(own), size)]
  return out


def batch(config, pictures, canvas, indices) -> Batch:
  """The descriptors of one batch of the plan.

  They are rounded to float16 whether they are kept or not, so that a run with
  warm descriptors is the same to the last bit.
  """
  own = [pictures.read(i) for i in indices]
  stack, sizes = buckets.pad(own, canvas, config.batch, np.float32)
  centres, mask = (
    np.concatenate(parts, 1)
    for parts in zip(
      *(_grid(canvas, sizes, p, config.stride) for p in config.patches),
      strict=True,
    )
  )
  values = {}
  for kind in config.kinds:
    files = [_file(config, kind, image) for image in own]
    found = _kept(files, mask)
    if found is None:
      found = _computed(config, kind, stack, sizes)
      for file, one, inside in zip(files, found, mask, strict=False):
        if file:
          cache.write(file, one[inside], config.cache_gb * 1e9)
    values[kind] = found
  alike = bool((sizes == sizes[0]).all())
  return Batch(np.asarray(indices), values, centres, mask, alike)


def _computed(config, kind, stack, sizes):
  parts = [
    descriptors.kernel_descriptors_batch(
      jnp.asarray(stack), sizes, kind=kind, patch=patch, stride=config.stride,
      dim=COMPONENTS,
    ).values
    for patch in config.patches
  ]  # fmt: skip
  return np.asarray(jnp.concatenate(parts, 1).astype(jnp.float16))


def _grid(canvas, sizes, patch, stride):
  """Centres [B, T, 2] as parts of a picture, and which patches are inside."""
  corners = [np.arange(0, n - patch + 1, stride) for n in canvas]
  y, x = (a.ravel() for a in np.meshgrid(*corners, indexing="ij"))
  corner = np.stack([x, y], 1)[None]
  size = sizes[:, None, ::-1]
  centres = ((corner + patch / 2) / size).astype(np.float32)
  return np.minimum(centres, 1), (corner + patch <= size).all(-1)


def _file(config, kind, image) -> Path | None:
  """Where a picture's descriptors are kept: by its pixels and the code."""
  if not config.cache:
    return None
  digest = hashlib.sha256(_code().encode())
  digest.update(
    repr((kind, config.patches, config.stride, COMPONENTS)).encode()
  )
  digest.update(repr(image.shape).encode() + np.ascontiguousarray(image).data)
  return Path(config.cache) / f"{digest.hexdigest()[:32]}.npy"


def _code() -> str:
  root = Path(spdjax.__file__).parent / "images"
  digest = hashlib.sha256(jax.__version__.encode())
  for source in sorted([*root.glob("kernel_*.py"), root / "patches.py"]):
    digest.update(source.read_bytes())
  return digest.hexdigest()


def _kept(files, mask):
  """The batch from the folder, or None unless it holds all of it."""
  if not all(files):
    return None
  out = np.zeros((*mask.shape, COMPONENTS), np.float16)
  for place, (file, inside) in enumerate(zip(files, mask, strict=False)):
    own = cache.read(file)
    if own is None or own.shape != (inside.sum(), COMPONENTS):
      return None  # absent, torn or foreign: computed anew
    out[place][inside] = own
  # A short batch is filled with its first picture.
  out[len(files) :] = out[0]
  return out
