"""Region covariances against windows cut out and computed in float64."""

import jax
import numpy as np
import pytest

from spdjax.spd.regions import region_covariances


def _cut(features, box):
  top, left, bottom, right = box
  window = features[top:bottom, left:right].astype(np.float64)
  window = window.reshape(-1, features.shape[-1])
  return np.cov(window.T, bias=True).reshape([features.shape[-1]] * 2)


def _error(features, boxes):
  """Largest error in units of the standard deviations."""
  worst = 0.0
  computed = np.asarray(region_covariances(features, np.asarray(boxes)))
  for c, box in zip(computed, boxes, strict=True):
    right = _cut(features, box)
    scale = np.sqrt(np.diagonal(right))
    worst = max(worst, np.max(np.abs(c - right) / np.outer(scale, scale)))
  return worst


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(20, 30, 4), (9, 1, 1), (1, 12, 2)], ids=str)
def test_every_window_of_a_few(shape, dtype):
  features = np.random.default_rng(0).normal(size=shape).astype(dtype)
  height, width, _ = shape
  boxes = [[0, 0, height, width], [height // 3, width // 4, height, width]]
  boxes += [[0, 0, max(height // 2, 1), max(width // 2, 1)]]
  assert _error(features, boxes) < 50 * np.finfo(dtype).eps


def test_float32_at_2048_pixels_with_values_near_100():
  side = 2048
  rng = np.random.default_rng(1)
  features = 100 + rng.random((side, side, 2), dtype=np.float32)
  far, half = side - 8, side // 2
  boxes = [[0, 0, side, side], [far, far, side, side], [5, 5, 12, 13]]
  boxes += [[half, half, half + 3, half + 3], [100, far, 1900, side]]
  assert _error(features, boxes) < 1e-6


def test_float32_small_windows_on_a_long_ramp():
  # The window's variance is a millionth of the square of its mean.
  ramp = np.broadcast_to(np.arange(1024, dtype=np.float32), (64, 1024))
  features = np.stack([ramp, ramp**2 / 1024], -1)
  boxes = [[y, x, y + 6, x + 6] for y in (0, 58) for x in (0, 500, 1018)]
  assert _error(features, boxes) < 1e-4


def test_sums_of_bytes_do_not_wrap():
  # 300 pixels of 255 against 300 of 0: a variance of 127.5^2.
  features = np.zeros((20, 30, 1), np.uint8)
  features[:, :15] = 255
  computed = region_covariances(features, np.array([[0, 0, 20, 30]]))
  np.testing.assert_allclose(computed, [[[127.5**2]]], rtol=1e-14)


def test_constant_window_is_zero_and_never_negative():
  features = np.full((40, 40, 2), 1e4, np.float32)
  features[20:] += np.random.default_rng(2).random((20, 40, 2))
  flat = region_covariances(features, np.array([[0, 0, 15, 40]]))
  np.testing.assert_allclose(flat, 0, atol=1e-6)
  assert (np.diagonal(flat[0]) >= 0).all()


@pytest.mark.parametrize(
  "box",
  [[0, 0, 0, 4], [2, 3, 4, 3], [-1, 0, 2, 2], [0, 0, 7, 2], [0, 1, 2, 9]],
  ids=str,
)
def test_bad_box_is_named_eagerly_and_nan_when_traced(box):
  features = np.random.default_rng(3).normal(size=(6, 8, 2))
  boxes = np.array([[0, 0, 6, 8], box])
  with pytest.raises(ValueError, match=r"boxes\[1\].*6 x 8"):
    region_covariances(features, boxes)
  traced = jax.jit(region_covariances)(features, boxes)
  assert np.isnan(traced[1]).all()
  np.testing.assert_allclose(traced[0], _cut(features, boxes[0]), rtol=1e-12)


@pytest.mark.parametrize(
  ("features", "boxes", "said"),
  [
    ((4, 4), np.zeros((1, 4), int), "features must be"),
    ((4, 4, 1), np.zeros(4, int), "boxes must be"),
    ((4, 4, 1), np.ones((1, 4)), "boxes must be integers"),
  ],
)
def test_refuses(features, boxes, said):
  with pytest.raises(ValueError, match=said):
    region_covariances(np.zeros(features), boxes)
