"""Kernel descriptors beside a direct numpy sum over each patch; float32."""

import functools

import jax.numpy as jnp
import numpy as np
from skimage import data

from benchmarks import harness
from spdjax.images import kernel_bases, kernel_channels, kernel_descriptors

SIDE, PATCHES, STRIDE, DIM = 200, (16, 24), 4, 200
FLOOR = {"gradient": 0.8, "shape": 0.2}


def picture():
  """[200, 200, 3] float32 in [0, 1], of a picture that scikit-image ships."""
  image = data.astronaut()[:400:2, :400:2]
  return image.astype(np.float32) / 255


def per_patch(image, kind, patch):
  """Descriptors [T, d] in numpy, every patch cut out and summed."""
  alpha = kernel_bases.coefficients(kind, DIM)
  weight, attributes = _pixels(image, kind)
  factors = kernel_bases.FACTORS[kind]
  shown = np.ones((*weight.shape, 1))
  for attribute, factor in zip(attributes, factors, strict=True):
    gaps = np.square(attribute[..., None, :] - factor.points).sum(-1)
    near = np.exp(-factor.gamma * gaps)
    shown = (shown[..., :, None] * near[..., None, :]).reshape(
      *weight.shape, -1
    )
  line = kernel_bases.POSITION
  centres = (np.arange(patch)[:, None] + 0.5) / patch
  place = np.exp(-line.gamma * np.square(centres - line.points.T))
  place = np.einsum("ai,bj->abij", place, place).reshape(patch**2, -1)
  out = []
  for top in range(0, SIDE - patch + 1, STRIDE):
    for left in range(0, SIDE - patch + 1, STRIDE):
      cut = np.s_[top : top + patch, left : left + patch]
      m = weight[cut].ravel()
      if kind in FLOOR:
        m = m / np.sqrt((m**2).sum() + FLOOR[kind])
      own = shown[cut].reshape(patch**2, -1) * m[:, None]
      out.append((own.T @ place).ravel() @ alpha)
  return np.stack(out)


def _pixels(image, kind):
  """What every pixel shows, from our own channels: the sums are compared."""
  padded = kernel_channels.extend(jnp.asarray(image), SIDE, SIDE)
  weight, attributes = kernel_channels.KINDS[kind](padded)
  if weight is None:
    weight = np.ones((SIDE, SIDE))
  return np.asarray(weight, np.float64), [
    np.moveaxis(np.asarray(a, np.float64), 0, -1) for a in attributes
  ]


def rows():
  image = picture()
  own = jnp.asarray(image)
  kinds = (*FLOOR, "colour")

  def ours(kinds=kinds):
    return [
      kernel_descriptors(own, kind=k, patch=p, stride=STRIDE, dim=DIM)[0]
      for k in kinds
      for p in PATCHES
    ]

  peer = lambda: [per_patch(image, k, p) for k in kinds for p in PATCHES]
  yield harness.compare(
    f"kernel descriptors, {SIDE} x {SIDE}, patches 16 + 24, three kinds",
    ours,
    peer,
    name="numpy, patch by patch",
    goal=30,
    difference=lambda a, b: max(
      harness.relative(*pair) for pair in zip(a, b, strict=True)
    ),
    tol=1e-4,  # float32 against float64
    repeats=9,
    peer_repeats=1,
    goal_seconds=1 / 40,
  )
  for kind in kinds:
    yield harness.alone(
      f"kernel descriptors, the same, {kind}",
      functools.partial(ours, (kind,)),
      repeats=9,
    )
