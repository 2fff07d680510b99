"""Descriptors of mirrored pictures from those of the pictures themselves.

Left and right exchanged, the kernels' bases fall on themselves (angles almost,
as they are 25), so that the descriptor of a mirrored patch is a linear map of
the patch's own. The map is found once by least squares; it is the same for all
sizes of patches, whose places are measured in parts of a patch.
"""

import functools

import jax.numpy as jnp
import numpy as np

from experiments.lag import describe
from spdjax import gaussians
from spdjax import images as descriptors

_PATCH, _STRIDE, _STEPS = 16, 4, 29


@functools.cache
def mapping(kind: str) -> np.ndarray:
  """M [d, d] with d(mirrored patch) = d(patch) M, to some parts in 1,000."""
  own, other = _pairs(kind)
  return np.linalg.lstsq(own, other, rcond=1e-6)[0]


def left_out(kind: str) -> float:
  """The part of the mirrored descriptors' squares that the map misses."""
  own, other = _pairs(kind, seed=1)
  return float(
    np.square(own @ mapping(kind) - other).sum() / np.square(other).sum()
  )


def _pairs(kind, seed=0):
  """Descriptors [T, d] of patches of noise, and of their mirror images."""
  side = _PATCH + _STRIDE * _STEPS
  channels = (3,) if kind == "colour" else ()
  rng = np.random.default_rng(seed)
  image = rng.random((side, side, *channels)).astype(np.float32)
  both = [
    np.asarray(
      descriptors.kernel_descriptors(
        jnp.asarray(seen), kind=kind, patch=_PATCH, stride=_STRIDE,
        dim=describe.COMPONENTS,
      )[0],
      np.float64,
    )
    for seen in (image, np.ascontiguousarray(image[:, ::-1]))
  ]  # fmt: skip
  num = _STEPS + 1
  other = both[1].reshape(num, num, -1)[:, ::-1]
  return both[0], other.reshape(num * num, -1)


def encoder(kind: str, own):
  """What gives a picture's descriptors the coordinates of its mirror image's.

  (d M - mean) basis = (d - mean M^-1) M basis.
  """
  m, dtype = mapping(kind), own.basis.dtype
  mean = np.linalg.solve(m.T, np.asarray(own.mean, np.float64))
  basis = m @ np.asarray(own.basis, np.float64)
  return gaussians.Encoder(
    jnp.asarray(mean, dtype), jnp.asarray(basis, dtype), own.mixture
  )


def centres(own):
  """Patches' centres as parts of the mirrored picture."""
  return np.stack([1 - own[..., 0], own[..., 1]], -1)
