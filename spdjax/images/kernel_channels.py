"""What a pixel shows, as functions of kernel descriptors' bases.

A pixel has a weight and attributes, one vector a factor of the joint kernel
(`kernel_bases`). Neighbours beyond the border are the border's own pixels.
"""

import jax.numpy as jnp

from spdjax.images import kernel_bases

_LUMA = (0.299, 0.587, 0.114)  # Rec. 601
# The 8 neighbours, clockwise from the upper left, four a factor.
_RING = ((0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0))


def extend(image, rows, columns):
  """image[:rows, :columns] with its edge pixels repeated all around.

  [H, W, ...] -> [H + 2, W + 2, ...]; what lies outside is never read.
  """
  for axis, size in enumerate((rows, columns)):
    index = jnp.arange(image.shape[axis] + 2, dtype=jnp.int32) - 1
    index = jnp.clip(index, 0, size - 1)
    image = jnp.take(image, index, axis, mode="clip")
  return image


def gradient(image):
  """The magnitude [H, W] and the (sin, cos) of the gradient's angle.

  By central differences (I(x + 1) - I(x - 1)) / 2. [H + 2, W + 2] or
  [H + 2, W + 2, 3], which is made grey, -> weight [H, W], ([2, H, W],).
  """
  image = _grey(image)
  ix = (image[1:-1, 2:] - image[1:-1, :-2]) / 2
  iy = (image[2:, 1:-1] - image[:-2, 1:-1]) / 2
  square = ix * ix + iy * iy
  some = square > 0
  magnitude = jnp.sqrt(jnp.where(some, square, 1))
  sine, cosine = iy / magnitude, ix / magnitude
  return jnp.where(some, magnitude, 0), (jnp.stack([sine, cosine]),)


def shape(image):
  """Standard deviation of the 3 x 3 pixels, and local binary patterns.

  A bit says that a neighbour is above the pixel, strictly. Shapes in as for
  `gradient` -> weight [H, W], ([4, H, W], [4, H, W]).
  """
  image = _grey(image)
  height, width = (n - 2 for n in image.shape)
  ring = [image[y : y + height, x : x + width] for y, x in _RING]
  ring = jnp.stack(ring) - image[None, 1:-1, 1:-1]
  # About the centre pixel at most a factor of 9 is lost, whatever the offset.
  total = ring.sum(0)
  variance = (jnp.square(ring).sum(0) - total * total / 9) / 9
  some = variance > 0
  deviation = jnp.sqrt(jnp.where(some, variance, 1))
  bits = (ring > 0).astype(image.dtype)
  return jnp.where(some, deviation, 0), (bits[:4], bits[4:])


def colour(image):
  """No weight, and red, green, blue: [H + 2, W + 2, 3] -> 3 of [1, H, W]."""
  inside = image[1:-1, 1:-1]
  return None, tuple(inside[None, ..., c] for c in range(3))


KINDS = {"gradient": gradient, "shape": shape, "colour": colour}


def functions(attribute, factor):
  """e_j = sum_i modes_ij exp(-gamma norm(attribute - points_i)^2).

  [k, H, W] of a factor, `kernel_bases.Pixel` with n points or `Bits` -> [n, H,
  W].
  """
  if isinstance(factor, kernel_bases.Bits):
    return factor.scale[:, None, None] * _signs(attribute)
  distances = sum(
    jnp.square(value[None] - point[:, None, None])
    for value, point in zip(attribute, factor.points.T, strict=True)
  )
  return jnp.einsum(
    "ij,iyx->jyx",
    factor.modes,
    jnp.exp(-factor.gamma * distances),
    precision="highest",
  )


def _signs(bits):
  """[k, H, W] of 0 and 1 -> [2^k, H, W]: products of the signs in a pattern.

  Patterns in the order of np.ndindex: the last bit runs fastest.
  """
  out = jnp.ones_like(bits[:1])
  for bit in bits:
    both = jnp.stack([out, out * (1 - 2 * bit)[None]], 1)
    out = both.reshape(-1, *bit.shape)
  return out


def _grey(image):
  if image.ndim == 2:
    return image
  return sum(image[..., c] * w for c, w in enumerate(_LUMA))
