"""Separable correlations on symmetrically extended images."""

import jax
import jax.numpy as jnp
import numpy as np

_TILE = 32  # outputs that one matrix product makes along a filter's axis


def gaussian(sigma, order, truncate):
  """Kernel to correlate with, so an odd derivative has its sign turned."""
  radius = int(truncate * sigma + 0.5)
  x = np.arange(-radius, radius + 1)
  g = np.exp(-0.5 * (x / sigma) ** 2)
  g /= g.sum()
  return (1, x / sigma**2, x**2 / sigma**4 - 1 / sigma**2)[order] * g


def extend(image, rows, columns, radius):
  """Symmetric extension of image[:rows, :columns] by radius on every side."""
  for axis, size in enumerate((rows, columns)):
    length = image.shape[axis] + 2 * radius
    index = (jnp.arange(length, dtype=jnp.int32) - radius) % (2 * size)
    index = jnp.minimum(index, 2 * size - 1 - index)
    image = jnp.take(image, index, axis, mode="clip")
  return image


def separable(image, down, across):
  """Correlation with the product of two kernels, the border consumed."""
  (rows,) = along_columns(image, across[None])
  return along_rows(rows, down[None])[0]


def along_rows(image, kernels):
  """Correlation down the rows, [..., H + 2 r, W] -> [..., K, H, W].

  The K kernels are a numpy array [K, 2 r + 1].
  """
  return jnp.swapaxes(
    along_columns(jnp.swapaxes(image, -1, -2), kernels), -1, -2
  )


def along_columns(image, kernels):
  """Correlation across the columns, [..., H, W + 2 r] -> [..., K, H, W].

  In tiles, each a product with a banded matrix: on CPUs several times quicker
  than a convolution of a single channel.
  """
  taps = kernels.shape[1]
  width = image.shape[-1] - taps + 1
  tiles = -(-width // _TILE)
  spare = [(0, 0)] * (image.ndim - 1) + [(0, tiles * _TILE - width)]
  image = jnp.pad(image, spare)
  starts = range(0, tiles * _TILE, _TILE)
  windows = [image[..., s : s + _TILE + taps - 1] for s in starts]
  band = np.zeros((len(kernels), _TILE, _TILE + taps - 1))
  for t in range(_TILE):
    band[:, t, t : t + taps] = kernels
  out = jnp.einsum(
    "...bhs,kts->...khbt",
    jnp.stack(windows, -3),
    jnp.asarray(band, image.dtype),
    precision=jax.lax.Precision.HIGHEST,
  )
  return out.reshape(*out.shape[:-2], -1)[..., :width]
