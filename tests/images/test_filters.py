"""Filters against scipy.ndimage, up to the border, and on known images."""

from inspect import signature

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax import images
from spdjax.images import orientation

pytestmark = pytest.mark.slow

ndimage = pytest.importorskip("scipy.ndimage")

gaussian_derivative, laplacian_of_gaussian, gabor, gabor_bank = (
  jax.jit(
    fun, static_argnames=[k for k in signature(fun).parameters if k != "image"]
  )
  for fun in (
    images.gaussian_derivative,
    images.laplacian_of_gaussian,
    images.gabor,
    images.gabor_bank,
  )
)

# Wider and narrower than a tile of the products, and than the filters.
SHAPES = [(41, 70), (64, 32), (9, 5), (1, 3)]


def _noise(shape, dtype="float64"):
  return np.random.default_rng(0).normal(size=shape).astype(dtype)


def _close(computed, right, dtype):
  tolerance = 50 * np.finfo(dtype).eps * max(1, np.abs(right).max())
  assert computed.dtype == dtype
  np.testing.assert_allclose(computed, right, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("sigma", [0.7, 3.3])
@pytest.mark.parametrize("order", [(0, 1), (2, 0), (1, 1)])
def test_gaussian_derivatives(order, sigma, shape, dtype):
  image = _noise(shape, dtype)
  right = ndimage.gaussian_filter(
    image.astype(float), sigma, order=order, mode="reflect"
  )
  _close(gaussian_derivative(image, sigma=sigma, order=order), right, dtype)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("truncate", [3.0, 4.0])
def test_laplacian_of_gaussian(shape, truncate):
  image = _noise(shape)
  right = ndimage.gaussian_laplace(
    image, 1.4, mode="reflect", truncate=truncate
  )
  computed = laplacian_of_gaussian(image, sigma=1.4, truncate=truncate)
  _close(computed, right, "float64")


def _gabor_filters(wavelength, angle, ratio, truncate):
  """The two filters written out in the plane."""
  sigma = ratio * wavelength
  radius = int(truncate * sigma + 0.5)
  y, x = np.mgrid[-radius : radius + 1, -radius : radius + 1]
  g = np.exp(-(x**2 + y**2) / (2 * sigma**2))
  g /= g.sum()
  phase = 2 * np.pi / wavelength * (x * np.cos(angle) + y * np.sin(angle))
  even = g * np.cos(phase)
  return even - even.sum() * g, g * np.sin(phase)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("angle", [0.4, np.pi / 2])
def test_gabor_is_the_direct_correlation(angle, shape, dtype):
  image = _noise(shape, dtype)
  pair = gabor(image, wavelength=4.5, angle=angle, ratio=0.45)
  filters = _gabor_filters(4.5, angle, 0.45, 3.0)
  for computed, kernel in zip(pair, filters, strict=True):
    right = ndimage.correlate(image.astype(float), kernel, mode="reflect")
    _close(computed, right, dtype)


@pytest.mark.parametrize("num_angles", [2, 8])
def test_bank_is_the_magnitude_of_single_filters(num_angles):
  image = _noise((30, 45))
  bank = gabor_bank(image, wavelength=5.0, num_angles=num_angles)
  for a in range(num_angles):
    pair = gabor(image, wavelength=5.0, angle=np.pi * a / num_angles)
    np.testing.assert_allclose(bank[a], np.hypot(*pair), atol=1e-14)


@pytest.mark.parametrize("wavelength", [3.0, 4.5, 7.0, 11.0])
@pytest.mark.parametrize("a", range(8))
def test_grating_excites_its_own_angle_and_wavelength(a, wavelength):
  y, x = np.mgrid[:64, :64]
  angle = np.pi * a / 8
  phase = 2 * np.pi / wavelength * (x * np.cos(angle) + y * np.sin(angle))
  centre = [
    gabor_bank(np.sin(phase), wavelength=w)[:, 32, 32]
    for w in (3.0, 4.5, 7.0, 11.0)
  ]
  own = [3.0, 4.5, 7.0, 11.0].index(wavelength)
  best = np.unravel_index(np.argmax(centre), (4, 8))
  assert best == (own, a)
  # exp(i phase) / 2 passes with gain 1, exp(-i phase) / 2 hardly at all.
  np.testing.assert_allclose(centre[own][a], 0.5, atol=0.02)


@pytest.mark.parametrize("slope", [(3.0, 0.0), (0.0, -2.0), (1.5, 4.0)])
def test_linear_ramp_has_its_slopes_inside(slope):
  y, x = np.mgrid[:40, :50].astype(float)
  image = slope[0] * x + slope[1] * y + 7
  inside = (slice(10, -10), slice(10, -10))
  for order, right in (((0, 1), slope[0]), ((1, 0), slope[1])):
    # Eight sigmas leave nothing out of the Gaussian.
    d = gaussian_derivative(image, sigma=1.0, order=order, truncate=8.0)
    np.testing.assert_allclose(d[inside], right, atol=1e-6)
  angle = np.arctan2(*np.abs(slope)[::-1])
  np.testing.assert_allclose(orientation(image)[inside], angle, atol=1e-12)


def test_even_filter_and_orientation_are_blind_to_a_constant():
  image = np.full((30, 30), 5.0)
  even, odd = gabor(image, wavelength=7.0, angle=0.3)
  np.testing.assert_allclose(even, 0, atol=1e-14)
  np.testing.assert_allclose(odd, 0, atol=1e-14)
  np.testing.assert_array_equal(orientation(jnp.zeros((4, 4))), 0)


@pytest.mark.parametrize(
  "call",
  [
    lambda x: gaussian_derivative(x[0], sigma=1.0),
    lambda x: laplacian_of_gaussian(x[:0], sigma=1.0),
    lambda x: gabor(x[None], wavelength=3.0, angle=0.0),
    lambda x: gabor_bank(x, wavelength=3.0, num_angles=5),
    lambda x: gaussian_derivative(x, sigma=1.0, order=(0, 3)),
    lambda x: gaussian_derivative(x, sigma=1.0, order=(1,)),
  ],
)
def test_refuses(call):
  with pytest.raises(ValueError, match=r"^(image|num_angles|order) must be"):
    call(np.zeros((6, 6)))
