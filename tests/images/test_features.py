"""Feature vectors of pixels: their names, invariances and sizes."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax.images import (
  KINDS,
  gabor_bank,
  gaussian_derivative,
  laplacian_of_gaussian,
  names,
  orientation,
  region_features,
)

pytestmark = pytest.mark.slow

COUNTS = {"plain": 12, "textures": 43}


def _noise(*shape):
  return np.random.default_rng(0).normal(size=shape)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("position", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_count_and_names(kind, position, dtype):
  image = _noise(31, 17).astype(dtype)
  features = region_features(image, kind=kind, position=position)
  listed = names(kind, position=position)
  assert features.shape == (31, 17, COUNTS[kind] + 2 * position)
  assert features.dtype == dtype and jnp.isfinite(features).all()
  assert len(set(listed)) == len(listed) == features.shape[-1]


@pytest.mark.parametrize("kind", KINDS)
def test_names_say_what_the_maps_are(kind):
  image = _noise(31, 17)
  image = (image - image.mean()) / image.std()
  run = lambda fun, **kw: jax.jit(functools.partial(fun, **kw))(image)
  d = lambda *order: np.asarray(run(gaussian_derivative, sigma=1, order=order))
  right = {
    "intensity": image,
    "|Ix|": np.abs(d(0, 1)),
    "|Iy|": np.abs(d(1, 0)),
    "|grad|": np.hypot(d(0, 1), d(1, 0)),
    "orientation": orientation(image),
    "|Ixx|": np.abs(d(0, 2)),
    "|Iyy|": np.abs(d(2, 0)),
    "|Ixy|": np.abs(d(1, 1)),
    "|Hessian|": np.sqrt(d(0, 2) ** 2 + d(2, 0) ** 2 + 2 * d(1, 1) ** 2),
  }
  for sigma in (0.7, 1, 1.4, 2, 2.8, 4, 5.6):
    blob = run(laplacian_of_gaussian, sigma=sigma)
    right[f"|LoG| {sigma:g}"] = sigma**2 * np.abs(blob)
  for wavelength in (3, 4.5, 7, 11):
    bank = run(gabor_bank, wavelength=wavelength)
    for a in range(8):
      name = f"sqrt gabor {wavelength:g} {22.5 * a:g}"
      right[name] = np.sqrt(bank[a])
  features = region_features(image, kind=kind)
  for k, name in enumerate(names(kind)):
    np.testing.assert_allclose(
      features[..., k], right[name], atol=1e-12, err_msg=name
    )


def test_positions_are_centred_fractions():
  xy = region_features(_noise(3, 4), kind="plain", position=True)[..., -2:]
  x, y = np.array([-3, -1, 1, 3]) / 8, np.array([-1, 0, 1]) / 3
  np.testing.assert_allclose(xy[..., 0], np.tile(x, (3, 1)), atol=1e-15)
  np.testing.assert_allclose(xy[..., 1], np.tile(y, (4, 1)).T, atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_blind_to_an_affine_change_of_values(kind):
  image = _noise(31, 17)
  right = region_features(image, kind=kind)
  computed = region_features(20 + 3 * image, kind=kind)
  np.testing.assert_allclose(computed, right, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
@pytest.mark.parametrize("value", [0, 101, 0.1])
def test_constant_image_is_zeros(value, dtype, kind):
  image = np.full((31, 17), value, dtype)
  features = region_features(image, kind=kind)
  np.testing.assert_array_equal(features, 0)


def test_bytes_are_widened():
  image = np.random.default_rng(1).integers(0, 256, (31, 17), np.uint8)
  right = region_features(image.astype(np.float64))
  np.testing.assert_allclose(region_features(image), right, atol=1e-13)


def test_mean_and_deviation_of_the_intensity_far_from_zero():
  image = (1e4 + _noise(64, 64)).astype(np.float32)
  standard = np.asarray(region_features(image, kind="plain")[..., 0], float)
  np.testing.assert_allclose(
    [standard.mean(), standard.std()], [0, 1], atol=1e-3
  )


@pytest.mark.parametrize("kind", KINDS)
def test_vmap_and_jit_are_the_loop(kind):
  images = _noise(2, 31, 17)
  loop = np.stack([region_features(image, kind=kind) for image in images])
  batched = jax.jit(jax.vmap(lambda x: region_features(x, kind=kind)))
  np.testing.assert_allclose(batched(images), loop, atol=1e-6)


def test_one_compilation_serves_smaller_images_exactly():
  traces = []

  @jax.jit
  def padded(image, size):
    traces.append(size)
    return region_features(image, kind="plain", position=True, size=size)

  for rows, columns in [(40, 50), (33, 7), (1, 50)]:
    image = _noise(rows, columns)
    right = region_features(image, kind="plain", position=True)
    for fill in (0.0, np.nan):
      canvas = np.full((40, 50), fill)
      canvas[:rows, :columns] = image
      features = np.asarray(padded(canvas, (rows, columns)))
      np.testing.assert_allclose(features[:rows, :columns], right, atol=1e-7)
      assert not features[rows:].any() and not features[:, columns:].any()
  assert len(traces) == 1


@pytest.mark.parametrize(
  ("shape", "kind", "said"),
  [
    ((5,), "plain", "image must be"),
    ((5, 5, 3), "plain", "image must be"),
    ((0, 5), "textures", "image must be"),
    ((5, 5), "texture", "kind must be one of plain, textures"),
  ],
)
def test_refuses(shape, kind, said):
  with pytest.raises(ValueError, match=said):
    region_features(np.zeros(shape), kind=kind)
