"""Local features of a grey image: derivatives, blobs and Gabor magnitudes.

All filters are separable, so each is two passes of a short correlation; a Gabor
with an isotropic envelope is a product of two complex exponentials and needs
two such passes too, shared between an angle and its mirror image. Images are
extended by symmetric reflection (the edge pixel is repeated), as often as a
wide filter on a small image needs.
"""

import functools

import jax.numpy as jnp
import numpy as np

from spdjax.images import separable


def gaussian_derivative(image, *, sigma, order=(0, 1), truncate=4.0):
  """Derivative of the image smoothed by a Gaussian, [H, W] -> [H, W].

  Args:
    image: [H, W].
    sigma: standard deviation of the Gaussian, in pixels.
    order: derivatives along (rows, columns), each 0, 1 or 2: (0, 1) is Ix.
    truncate: radius of the filter in sigmas.

  Raises:
    ValueError: on a wrong rank, an empty image, or an order not in 0, 1, 2.
  """
  if len(order) != 2 or not set(order) <= {0, 1, 2}:
    raise ValueError(f"order must be two of 0, 1, 2, got {order!r}")
  image = grey(image)
  kernels = [separable.gaussian(sigma, o, truncate) for o in order]
  return separable.separable(
    separable.extend(image, *image.shape, len(kernels[0]) // 2), *kernels
  )


def laplacian_of_gaussian(image, *, sigma, truncate=4.0):
  """Laplacian Ixx + Iyy of the image smoothed by a Gaussian of `sigma` pixels.

  [H, W] -> [H, W]; raises as `gaussian_derivative` does.
  """
  image = grey(image)
  extend = functools.partial(separable.extend, image, *image.shape)
  return laplacian(extend, sigma, truncate)


def orientation(image, *, sigma=1.0):
  """Angle atan2(|Iy|, |Ix|) of the gradient, in [0, pi/2]; 0 where it is 0."""
  ix = gaussian_derivative(image, sigma=sigma, order=(0, 1))
  iy = gaussian_derivative(image, sigma=sigma, order=(1, 0))
  return jnp.arctan2(jnp.abs(iy), jnp.abs(ix))


def gabor(image, *, wavelength, angle, ratio=0.5, truncate=3.0):
  """Even and odd Gabor responses, ([H, W], [H, W]).

  The correlation with g(x, y) exp(i k (x cos angle + y sin angle)), where
  k = 2 pi / wavelength and g is an isotropic Gaussian that sums to one; the
  even (cosine) filter has the multiple of g taken off that makes it sum to
  zero.

  Args:
    image: [H, W].
    wavelength: of the grating, in pixels.
    angle: of the wave vector, radians from the x (column) axis towards y.
    ratio: sigma of the Gaussian over the wavelength.
    truncate: radius of the filter in sigmas.

  Raises:
    ValueError: on a wrong rank or an empty image.
  """
  image = grey(image)
  extend = functools.partial(separable.extend, image, *image.shape)
  pair, _ = gabors(extend, wavelength, np.array([angle]), ratio, truncate)
  return pair[0, 0], pair[1, 0]


def gabor_bank(image, *, wavelength, num_angles=8, ratio=0.5, truncate=3.0):
  """Gabor magnitudes sqrt(even^2 + odd^2) at angles pi a / num_angles.

  [H, W] -> [num_angles, H, W], `num_angles` even; see `gabor`.
  """
  if num_angles < 2 or num_angles % 2:
    raise ValueError(f"num_angles must be even, got {num_angles}")
  image = grey(image)
  extend = functools.partial(separable.extend, image, *image.shape)
  return jnp.sqrt(energies(extend, wavelength, num_angles, ratio, truncate))


def grey(image):
  image = jnp.asarray(image)
  if image.ndim != 2 or 0 in image.shape:
    raise ValueError(f"image must be [H, W], got shape {image.shape}")
  if not jnp.issubdtype(image.dtype, jnp.floating):
    image = image.astype(jnp.result_type(float))
  return image


def laplacian(extend, sigma, truncate):
  smooth, bend = (
    separable.gaussian(sigma, order, truncate) for order in (0, 2)
  )
  image = extend(len(smooth) // 2)
  return separable.separable(image, bend, smooth) + separable.separable(
    image, smooth, bend
  )


def energies(extend, wavelength, num_angles, ratio, truncate):
  """Squared Gabor magnitudes [num_angles, H, W] from a quarter turn's."""
  angles = np.pi * np.arange(num_angles // 2 + 1) / num_angles
  pair, mirrored = gabors(extend, wavelength, angles, ratio, truncate)
  turned = jnp.square(mirrored).sum(0)[-2:0:-1]
  return jnp.concatenate([jnp.square(pair).sum(0), turned])


def gabors(extend, wavelength, angles, ratio, truncate):
  """(even, odd) [2, A, H, W] at A angles and at their mirrors pi - angle."""
  envelope = separable.gaussian(ratio * wavelength, 0, truncate)
  across = _exponentials(envelope, wavelength, np.cos(angles))
  along = _exponentials(envelope, wavelength, np.sin(angles))
  image = extend(len(envelope) // 2)
  smooth = separable.separable(image, envelope, envelope)
  rows = separable.along_columns(image, across.reshape(-1, len(envelope)))
  rows = rows.reshape(*across.shape[:2], *rows.shape[1:])
  # Products by the part, cosine or sine, of the row and of the column filter.
  products = [
    separable.along_rows(x, k) for x, k in zip(rows, along, strict=True)
  ]
  (cc, cs), (sc, ss) = jnp.moveaxis(jnp.stack(products), 0, 2)
  sums = np.prod([across[:, 0].sum(-1), along[:, 0].sum(-1)], 0)
  mean = jnp.asarray(sums, image.dtype)[:, None, None] * smooth[None]
  pair = jnp.stack([cc - ss - mean, sc + cs])
  return pair, jnp.stack([cc + ss - mean, cs - sc])


def _exponentials(envelope, wavelength, slopes):
  """envelope * (cos, sin)(2 pi slope x / wavelength), [A, 2, taps]."""
  x = np.arange(len(envelope)) - len(envelope) // 2
  phase = 2 * np.pi / wavelength * slopes[:, None] * x
  return envelope * np.stack([np.cos(phase), np.sin(phase)], 1)
