"""Nearest neighbours against a plain loop, and their ties."""

from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax.classify import nearest_neighbour


def _loop(row, labels, k):
  """The definition, in Python."""
  kept = [p for p in zip(row, labels, strict=True) if p[0] == p[0]]
  votes = Counter(label for _, label in sorted(kept)[:k])
  return min(votes, key=lambda label: (-votes[label], label))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("k", [1, 2, 3, 8, 12])
def test_definition_on_many_ties_and_missing_distances(k, dtype):
  rng = np.random.default_rng(0)
  d = rng.integers(0, 4, (60, 12)).astype(dtype)
  labels = rng.integers(-2, 3, 12)
  if dtype != "int32":
    d[rng.random(d.shape) < 0.3] = np.nan
    d[:, 0] = np.where(np.isnan(d[:, 0]), np.inf, d[:, 0])
  right = [_loop(row, labels.tolist(), k) for row in d.tolist()]
  np.testing.assert_array_equal(nearest_neighbour(d, labels, k=k), right)
  traced = jax.jit(lambda d, y: nearest_neighbour(d, y, k=k))(d, labels)
  np.testing.assert_array_equal(traced, right)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]], ids=str)
@pytest.mark.parametrize("k", [1, 3])
def test_answer_does_not_depend_on_the_order_of_items(order, k):
  d, labels = np.array([[1.0, 1, 1]]), np.array([7, 3, 5])
  assert nearest_neighbour(d[:, order], labels[order], k=k)[0] == 3


@pytest.mark.parametrize("k", [1, 2])
def test_infinite_distances_win_against_nan_only(k):
  d = np.array([[np.nan, np.inf], [np.inf, np.nan], [np.nan, np.nan]])
  labels = np.array([4, 9])
  np.testing.assert_array_equal(nearest_neighbour(d, labels, k=k), [9, 4, 4])


@pytest.mark.parametrize(
  "labels",
  [
    np.array(["wool", "cork", "wool"]),
    np.array([True, False, True]),
    np.array([0.5, -1.5, 0.5]),
    np.array(["wool", "cork", "wool"], object),
  ],
  ids=["strings", "booleans", "floats", "objects"],
)
def test_other_labels_come_back_as_numpy(labels):
  d = np.array([[0.0, 1, 2], [2, 0, 1], [1, 1, 3]])
  predicted = nearest_neighbour(d, labels)
  assert isinstance(predicted, np.ndarray) and predicted.dtype == labels.dtype
  assert predicted.tolist() == [labels[0], labels[1], labels[1]]
  majority = nearest_neighbour(d, list(labels), k=3)
  assert majority.tolist() == [labels[0]] * 3


def test_integer_labels_stay_jax_arrays_of_their_dtype():
  labels = jnp.asarray([3, -1], jnp.int32)
  predicted = nearest_neighbour(jnp.eye(2), labels)
  assert isinstance(predicted, jax.Array) and predicted.dtype == jnp.int32
  np.testing.assert_array_equal(predicted, [-1, 3])


@pytest.mark.parametrize(
  ("d", "labels", "k", "said"),
  [
    (np.zeros(3), np.zeros(3, int), 1, "distances must be"),
    (np.zeros((2, 0)), np.zeros(0, int), 1, "distances must be"),
    (np.zeros((2, 3)), np.zeros(2, int), 1, "labels must be"),
    (np.zeros((2, 3)), np.zeros(3, int), 0, "k must be"),
    (np.zeros((2, 3)), np.zeros(3, int), 4, "k must be"),
  ],
)
def test_refuses(d, labels, k, said):
  with pytest.raises(ValueError, match=said):
    nearest_neighbour(d, labels, k=k)


def test_refuses_strings_inside_jit():
  labels = np.array(["a", "b"])
  with pytest.raises(ValueError, match="must be integers"):
    jax.jit(lambda d: nearest_neighbour(d, labels))(np.eye(2))
