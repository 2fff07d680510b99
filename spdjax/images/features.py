"""Feature vectors of the pixels of a grey image."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from spdjax.images import filters, separable

KINDS = ("plain", "textures")

_SIGMA = 1.0  # of the derivatives, in pixels
_BLOBS = {"plain": (1.0, 2.0, 4.0), "textures": (0.7, 1.4, 2.8, 5.6)}
_WAVELENGTHS = (3.0, 4.5, 7.0, 11.0)
_ANGLES = 8
_RATIO = 0.5  # Gabor envelope's sigma over the wavelength


def region_features(image, *, kind="textures", position=False, size=None):
  """Features of every pixel of a standardised image, [H, W] -> [H, W, n].

  The image is first brought to zero mean and unit standard deviation (a
  constant image to zeros), which makes the features blind to an affine change
  of its values.

  Args:
    image: [H, W], grey, any real dtype; integers are widened.
    kind: "plain", 12 features in the manner of Tuzel, Porikli & Meer (2006):
      intensity, |Ix|, |Iy|, gradient norm and its orientation, |Ixx|, |Iyy|,
      |Ixy| and |LoG| at sigma 1, 2 and 4 with the norm of the Hessian; or
      "textures", 43 features: intensity, |Ix|, |Iy|, gradient norm, |Ixx|,
      |Iyy|, |Ixy| at sigma 1, |LoG| at sigma 0.7, 1.4, 2.8 and 5.6, and the
      square root of Gabor magnitudes at wavelengths 3, 4.5, 7 and 11 by 8
      orientations. `names` lists them.
    position: whether to append the pixel's column and row over W and H, both
      centred, in (-1/2, 1/2).
    size: (rows, columns), which may be traced, of an image that fills only
      the upper left of `image`; what lies outside has no influence and its
      features are zero. One compilation then serves images of many sizes.

  Raises:
    ValueError: on a wrong rank, an empty image or an unknown kind.
  """
  names(kind)
  image = filters.grey(image)
  size = image.shape if size is None else size
  return _region_features(image, *size, kind=kind, position=position)


# Compiled as a whole: op by op, a new shape takes ten times as long.
@functools.partial(jax.jit, static_argnames=("kind", "position"))
def _region_features(image, rows, columns, *, kind, position):
  rows, columns = (jnp.asarray(n).astype(jnp.int32) for n in (rows, columns))
  y, x = (jax.lax.broadcasted_iota(jnp.int32, image.shape, k) for k in (0, 1))
  inside = (y < rows) & (x < columns)
  image = _standardise(image, inside)
  extend = functools.partial(separable.extend, image, rows, columns)
  maps = [image, *_DERIVED[kind](extend)]
  if position:
    maps += [_fraction(x, columns, image), _fraction(y, rows, image)]
  return jnp.where(inside[..., None], jnp.stack(maps, -1), 0)


def names(kind="textures", *, position=False):
  """Names of the features that `region_features` returns, in order."""
  if kind not in KINDS:
    raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
  first = ("intensity", "|Ix|", "|Iy|", "|grad|")
  second = ("|Ixx|", "|Iyy|", "|Ixy|")
  blobs = tuple(f"|LoG| {s:g}" for s in _BLOBS[kind])
  last = ("x", "y") if position else ()
  if kind == "plain":
    return (*first, "orientation", *second, "|Hessian|", *blobs, *last)
  gabors = tuple(
    f"sqrt gabor {w:g} {180 * a / _ANGLES:g}"
    for w in _WAVELENGTHS
    for a in range(_ANGLES)
  )
  return (*first, *second, *blobs, *gabors, *last)


def _fraction(place, size, image):
  """(place + 1/2) / size - 1/2, in the image's dtype."""
  return (place.astype(image.dtype) + 0.5) / size.astype(image.dtype) - 0.5


def _standardise(image, inside):
  count = inside.sum().astype(image.dtype)
  mean = jnp.where(inside, image, 0).sum() / count
  image = jnp.where(inside, image - mean, 0)
  # Again: the first mean carries the rounding of a large offset.
  image = jnp.where(inside, image - image.sum() / count, 0)
  deviation = jnp.sqrt(jnp.square(image).sum() / count)
  # What rounding leaves of a constant image is no signal.
  flat = deviation <= 4 * jnp.finfo(image.dtype).eps * jnp.abs(mean)
  return jnp.where(flat, 0, image / jnp.where(flat, 1, deviation))


def _plain(extend):
  ix, iy, ixx, iyy, ixy = _derivatives(extend)
  return [
    jnp.abs(ix),
    jnp.abs(iy),
    _norm(ix, iy),
    jnp.arctan2(jnp.abs(iy), jnp.abs(ix)),
    jnp.abs(ixx),
    jnp.abs(iyy),
    jnp.abs(ixy),
    _norm(_norm(ixx, iyy), 2**0.5 * ixy),
    *_blobs(extend, _BLOBS["plain"]),
  ]


def _textures(extend):
  ix, iy, ixx, iyy, ixy = _derivatives(extend)
  firsts = [jnp.abs(ix), jnp.abs(iy), _norm(ix, iy)]
  seconds = [jnp.abs(d) for d in (ixx, iyy, ixy)]
  gabors = [
    jnp.sqrt(jnp.sqrt(energy))
    for wavelength in _WAVELENGTHS
    for energy in filters.energies(extend, wavelength, _ANGLES, _RATIO, 3.0)
  ]
  return [*firsts, *seconds, *_blobs(extend, _BLOBS["textures"]), *gabors]


_DERIVED = {"plain": _plain, "textures": _textures}


def _norm(x, y):
  return jnp.sqrt(jnp.square(x) + jnp.square(y))


def _blobs(extend, sigmas):
  # Times sigma^2 (Lindeberg, 1998): responses of one size at every scale, which
  # keeps the covariances well conditioned.
  return [s**2 * jnp.abs(filters.laplacian(extend, s, 4.0)) for s in sigmas]


def _derivatives(extend):
  """Ix, Iy, Ixx, Iyy, Ixy at the one sigma, [5, H, W]."""
  kernels = np.stack(
    [separable.gaussian(_SIGMA, order, 4.0) for order in range(3)]
  )
  image = extend(kernels.shape[1] // 2)
  smooth, first, second = separable.along_columns(image, kernels)
  smooth = separable.along_rows(smooth, kernels[1:])
  first = separable.along_rows(first, kernels[:2])
  (second,) = separable.along_rows(second, kernels[:1])
  return first[0], smooth[0], second, smooth[1], first[1]
