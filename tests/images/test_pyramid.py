"""Cells of a spatial pyramid, on known places and as partitions."""

import jax
import numpy as np
import pytest

from spdjax.images import pyramid_cells


def test_known_places():
  centres = np.array([[0.2, 0.1], [0.7, 0.4], [0.1, 0.9], [0.5, 0.5]])
  cells = pyramid_cells(centres, levels=((1, 1), (2, 2), (3, 1)))
  right = [
    [1, 1, 1, 1],
    [1, 0, 0, 0],  # upper left
    [0, 1, 0, 0],  # upper right
    [0, 0, 1, 0],
    [0, 0, 0, 1],
    [1, 0, 0, 0],  # upper third
    [0, 1, 0, 1],
    [0, 0, 1, 0],
  ]
  np.testing.assert_array_equal(cells, np.array(right, bool))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_cells_are_half_open_and_the_last_is_closed(parts, dtype):
  edges = np.arange(parts + 1) / parts
  centres = np.stack([edges, np.zeros(parts + 1)], 1).astype(dtype)
  cells = pyramid_cells(centres, levels=((1, parts),))
  np.testing.assert_array_equal(np.argmax(cells, 0), [*range(parts), parts - 1])


@pytest.mark.parametrize("levels", [3, ((1, 1), (3, 2)), ((5, 4),)], ids=str)
def test_one_cell_of_each_level(rng, levels):
  centres = rng.random((200, 2))
  cells = np.asarray(pyramid_cells(centres, levels=levels))
  counts = [1, 4, 16] if levels == 3 else [r * c for r, c in levels]
  assert cells.dtype == bool and cells.shape == (sum(counts), 200)
  for part in np.split(cells, np.cumsum(counts)[:-1]):
    np.testing.assert_array_equal(part.sum(0), 1)


def test_a_number_means_powers_of_two(rng):
  centres = rng.random((50, 2))
  right = pyramid_cells(centres, levels=((1, 1), (2, 2), (4, 4)))
  np.testing.assert_array_equal(pyramid_cells(centres, levels=3), right)


def test_centres_may_be_traced_and_batched(rng):
  centres = rng.random((3, 20, 2))
  run = lambda x: pyramid_cells(x, levels=((2, 2), (3, 1)))
  right = np.stack([run(x) for x in centres])
  np.testing.assert_array_equal(jax.jit(jax.vmap(run))(centres), right)


def test_what_lies_outside_is_in_the_nearest_cell():
  centres = np.array([[-0.1, 0.5], [1.4, 0.5]])
  cells = pyramid_cells(centres, levels=((1, 3),))
  np.testing.assert_array_equal(np.argmax(cells, 0), [0, 2])


@pytest.mark.parametrize(
  ("shape", "levels", "said"),
  [
    ((4,), 2, "centres must be"),
    ((4, 3), 2, "centres must be"),
    ((4, 2), 0, "levels must not be empty"),
    ((4, 2), (), "levels must not be empty"),
    ((4, 2), ((2, 0),), "levels must be"),
    ((4, 2), ((2, 2, 2),), "levels must be"),
    ((4, 2), ((1.5, 2),), "levels must be"),
  ],
)
def test_refuses(shape, levels, said):
  with pytest.raises(ValueError, match=said):
    pyramid_cells(np.zeros(shape), levels=levels)
