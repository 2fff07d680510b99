"""Covariances of a list of images of many sizes, against one at a time."""

import jax
import numpy as np
import pytest

from experiments import features
from experiments.errors import UserError
from experiments.features import image_covariances
from spdjax.images import region_features

pytestmark = pytest.mark.slow


def _images():
  rng = np.random.default_rng(0)
  shapes = [(24, 30)] * 17 + [(20, 25), (33, 18), (9, 40)]
  order = rng.permutation(len(shapes))
  return [rng.integers(0, 256, shapes[i], np.uint8) for i in order]


def test_every_image_in_its_place():
  images = _images()
  computed = image_covariances(
    images, kind="plain", position=True, dtype="float64", progress=False
  )
  for image, matrix in zip(images, computed, strict=True):
    maps = region_features(image, kind="plain", position=True)
    samples = np.asarray(maps).reshape(image.size, -1)
    right = np.cov(samples.T, bias=True)
    np.testing.assert_allclose(matrix, right, atol=1e-10)


def test_cache_returns_the_same_and_knows_its_inputs(tmp_path, monkeypatch):
  images = [image for image in _images() if image.shape == (24, 30)][:3]
  args = {"kind": "plain", "progress": False, "cache": tmp_path / "deep"}
  first = image_covariances(images, **args)
  monkeypatch.setattr(features, "_compute", lambda *a, **k: np.zeros(1))
  np.testing.assert_array_equal(image_covariances(images, **args), first)
  changed = [images[0] ^ 1, *images[1:]]
  assert image_covariances(changed, **args).shape == (1,)
  assert image_covariances(images, **args, position=True).shape == (1,)
  assert image_covariances(images, **args, dtype="float64").shape == (1,)


@pytest.mark.parametrize(
  ("images", "said"),
  [
    ([], "no images"),
    ([np.zeros((4, 4)), np.zeros((4, 4, 3))], "image 1 has shape"),
  ],
)
def test_refuses(images, said):
  with pytest.raises(UserError, match=said):
    image_covariances(images)


def test_float64_without_x64_is_refused():
  with jax.enable_x64(False), pytest.raises(UserError, match="needs jax_en"):
    image_covariances([np.zeros((4, 4))], dtype="float64")
