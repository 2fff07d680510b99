"""Centroids and the nearest of them, on known answers and plain loops."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax.classify import centroids, nearest_centroid

N, D, C = 40, 6, 4
METRICS = ("euclidean", "cosine")


def _items(dtype="float64"):
  rng = np.random.default_rng(0)
  y = rng.integers(0, C - 1, N)
  y[y == 1] = C - 1  # so that class 1 has no items
  return (rng.normal(size=(N, D)) + y[:, None]).astype(dtype), y


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_means_of_the_classes(dtype):
  x, y = _items(dtype)
  found = centroids(x, y, num_classes=C)
  assert found.dtype == dtype and found.shape == (C, D)
  eps = np.finfo(dtype).eps
  for c in (0, 2, 3):
    right = x[y == c].astype(float).mean(0)
    np.testing.assert_allclose(found[c], right, atol=50 * eps)
  assert np.isnan(found[1]).all()
  traced = jax.jit(lambda x, y: centroids(x, y, num_classes=C))(x, y)
  np.testing.assert_allclose(traced, found, atol=10 * eps)


def test_weights_are_repetitions_and_0_removes():
  x, y = _items()
  weight = np.random.default_rng(1).integers(0, 3, N)
  x[weight == 0] = np.inf
  found = centroids(x, y, num_classes=C, sample_weight=weight)
  right = centroids(
    np.repeat(x, weight, 0), np.repeat(y, weight), num_classes=C
  )
  np.testing.assert_allclose(found, right, atol=1e-14)
  none = centroids(x, y, num_classes=C, sample_weight=np.zeros(N))
  assert np.isnan(none).all()


def test_a_bad_item_stays_in_its_class():
  x, y = _items()
  right = centroids(x, y, num_classes=C)
  x[y == 2] = np.nan
  found = centroids(x, y, num_classes=C)
  np.testing.assert_array_equal(found[::3], right[::3])
  assert np.isnan(found[2]).all()


def test_traced_labels_outside_are_left_out():
  x, y = _items()
  run = jax.jit(lambda x, y: centroids(x, y, num_classes=C))
  kept = y != 2
  found = run(x, np.where(kept, y, np.where(x[:, 0] > 2, -1, C)))
  np.testing.assert_allclose(
    found, centroids(x[kept], y[kept], num_classes=C), atol=1e-14
  )


def test_integers_and_bytes_are_widened():
  x = np.array([[250], [252], [7]], np.uint8)
  found = centroids(x, np.array([0, 0, 1]), num_classes=2)
  np.testing.assert_array_equal(found, [[251], [7]])
  label = nearest_centroid(np.array([[100]], np.uint8), found)
  assert label.tolist() == [1] and label.dtype == jnp.int32


def _nearest(x, centres, metric):
  """The definition, in Python."""
  labels = []
  for item in x.astype(float):
    distances = []
    for centre in centres.astype(float):
      norms = np.linalg.norm(item) * np.linalg.norm(centre)
      cosine = item @ centre / norms if norms else 0.0
      far = np.linalg.norm(item - centre)
      far = {"euclidean": far, "cosine": 1 - cosine}[metric]
      distances.append(np.inf if np.isnan(far) else far)
    labels.append(int(np.argmin(distances)))
  return labels


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("metric", METRICS)
def test_definition(metric, dtype):
  x, y = _items(dtype)
  centres = np.asarray(centroids(x, y, num_classes=C))
  found = nearest_centroid(x, centres, metric=metric)
  np.testing.assert_array_equal(found, _nearest(x, centres, metric))
  run = jax.jit(lambda x, c: nearest_centroid(x, c, metric=metric))
  np.testing.assert_array_equal(run(x, centres), found)
  assert 1 not in found


@pytest.mark.parametrize("metric", METRICS)
def test_ties_go_to_the_lowest_label(metric):
  x = np.array([[1.0, 1.0], [-1.0, -1.0]])
  centres = np.array([[np.nan, 0], [2.0, 0.0], [0.0, 2.0], [2.0, 0.0]])
  found = nearest_centroid(x, centres, metric=metric)
  np.testing.assert_array_equal(found, [1, 1])


@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])
def test_cosine_is_blind_to_lengths(scale):
  x = np.array([[1, 0.1], [0, 2], [0, 0]], np.float32)
  centres = np.array([[0, 1], [3, 0], [0, 0]], np.float32)
  centres[0] *= scale
  found = nearest_centroid(x, centres, metric="cosine")
  np.testing.assert_array_equal(found, [1, 0, 0])
  found = nearest_centroid(scale * x, centres, metric="cosine")
  np.testing.assert_array_equal(found, [1, 0, 0])


def test_an_offset_costs_no_digits():
  x, y = _items("float32")
  centres = np.asarray(centroids(x, y, num_classes=C))
  right = nearest_centroid(x, centres)
  x, centres = (np.round(z, 2) for z in (x, centres))
  far = nearest_centroid(x + np.float32(1e4), centres + np.float32(1e4))
  assert (np.asarray(far) == right).mean() > 0.9
  exact = _nearest(x + np.float32(1e4), centres + np.float32(1e4), "euclidean")
  np.testing.assert_array_equal(far, exact)


@pytest.mark.parametrize("metric", METRICS)
def test_items_that_are_not_finite_get_a_class_that_exists(metric):
  centres = np.array([[np.nan, np.nan], [1.0, 0.0], [0.0, 1.0]])
  x = np.array([[np.nan, 1.0], [np.inf, -np.inf]])
  found = nearest_centroid(x, centres, metric=metric)
  np.testing.assert_array_equal(found, [1, 1])


@pytest.mark.parametrize("metric", METRICS)
def test_constant_features_and_classes_of_one(metric):
  x = np.full((3, 2), 0.1)
  centres = centroids(x, np.arange(3), num_classes=3)
  np.testing.assert_array_equal(centres, x)
  found = nearest_centroid(x, centres, metric=metric)
  np.testing.assert_array_equal(found, 0)


@pytest.mark.parametrize(
  ("x", "y", "weight", "said"),
  [
    (np.zeros(3), [0, 1, 0], None, "x must be"),
    (np.zeros((3, 2)), [0, 1], None, "y must be 3 integers"),
    (np.zeros((3, 2)), [0.0, 1, 0], None, "y must be 3 integers"),
    (np.zeros((3, 2)), [0, 2, 0], None, "y must be classes 0 to 1; entry 1"),
    (np.zeros((3, 2)), [0, 1, -1], None, "entry 2 is -1"),
    (np.zeros((3, 2)), [0, 1, 0], [1.0, 1], "sample_weight must be"),
    (np.zeros((3, 2)), [0, 1, 0], [1.0, -1, 1], r"sample_weight\[1\]"),
    (np.zeros((3, 2)), [0, 1, 0], [1.0, 1, np.nan], r"sample_weight\[2\]"),
  ],
)
def test_refuses(x, y, weight, said):
  with pytest.raises(ValueError, match=said):
    centroids(x, np.array(y), num_classes=2, sample_weight=weight)


@pytest.mark.parametrize(
  ("x", "centres", "metric", "said"),
  [
    (np.zeros(2), np.zeros((3, 2)), "cosine", "x and centroids must be"),
    (np.zeros((1, 2)), np.zeros((3, 3)), "cosine", "x and centroids must be"),
    (np.zeros((1, 2)), np.zeros((3, 2)), "city", "metric must be one of"),
    (np.zeros((1, 2)), np.full((3, 2), np.nan), "cosine", "a finite row"),
  ],
)
def test_nearest_refuses(x, centres, metric, said):
  with pytest.raises(ValueError, match=said):
    nearest_centroid(x, centres, metric=metric)
