"""Statistics of many cells against those of each cell alone."""

import importlib

import jax
import numpy as np
import pytest

from spdjax import gaussians
from tests.gaussians.cases import (
  assert_close,
  items,
  pick,
  random_mixture,
  sums,
)

# The package has functions of the same names as some of its modules.
plan = importlib.import_module("spdjax.gaussians.cells").plan
traced = jax.jit(gaussians.cell_statistics)

NUM = 1200


def pyramid(places):
  """1 x 1, 2 x 2 and 3 x 1 cells of places in [0, 1]^2, [8, T]."""
  x, y = places.T
  quarters = [
    ((x < 0.5) == a) & ((y < 0.5) == b) for a in (0, 1) for b in (0, 1)
  ]
  thirds = [(y * 3).astype(int) == a for a in range(3)]
  return np.stack([np.ones(len(x), bool), *quarters, *thirds])


LAYOUTS = {
  "pyramid": lambda rng: pyramid(rng.random((NUM, 2))),
  "one": lambda rng: np.ones((1, NUM), bool),
  "some in no cell": lambda rng: (
    np.arange(NUM) < np.arange(0, 900, 90)[:, None]
  ),
  "empty": lambda rng: np.zeros((5, NUM), bool),
  "at random": lambda rng: rng.random((8, NUM)) < 0.5,
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_each_cell_has_its_own_items(name, rng):
  mix, cells = random_mixture(rng), LAYOUTS[name](rng)
  x, mask = items(rng, mix, NUM), 2 * rng.random(NUM)
  mask[-100:] = 0
  x[-100:] = np.nan
  clean = np.where(mask[:, None] > 0, x, 0)
  assert (plan(cells) is None) == (name in ("one", "at random"))
  got = gaussians.cell_statistics(mix, x, cells, mask)
  assert got.first.shape == (len(cells), *mix.mean.shape)
  for run in (got, traced(mix, x, cells, mask)):
    for index, cell in enumerate(cells):
      own = pick(run, index)
      right = sums(mix, clean, mask * cell)
      assert_close(own, right, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("num", [0, 60])
def test_few_items(num, rng):
  mix = random_mixture(rng)
  x, cells = items(rng, mix, num), rng.random((3, num)) < 0.5
  got = gaussians.cell_statistics(mix, x, cells)
  for index in range(3):
    own = pick(got, index)
    right = sums(mix, x[cells[index]])
    assert_close(own, right, rtol=1e-9, atol=1e-10)


def test_quarters_add_up_to_the_whole(rng):
  mix, cells = random_mixture(rng), pyramid(rng.random((NUM, 2)))
  got = gaussians.cell_statistics(mix, items(rng, mix, NUM), cells)
  for own in map(np.asarray, got):
    np.testing.assert_allclose(own[1:5].sum(0), own[0], rtol=1e-9, atol=1e-9)


def test_a_plan_has_every_item_of_a_cell_once(rng):
  cells = pyramid(rng.random((NUM, 2)))
  found = plan(cells)
  for own in (found, plan(cells, exact=True)):
    for cell, member in zip(cells, own.member, strict=True):
      rows = own.rows[member][own.used[member]]
      np.testing.assert_array_equal(np.sort(rows), np.flatnonzero(cell))
  assert own.used.any(1).all()
  # Other places of as many items compile nothing new.
  other = plan(pyramid(rng.random((NUM, 2)) ** 2))
  assert [a.shape for a in other] == [a.shape for a in found]


def test_images_by_vmap(rng):
  mix, cells = random_mixture(rng), pyramid(rng.random((NUM, 2)))
  x = items(rng, mix, 2 * NUM).reshape(2, NUM, -1)
  mask = np.arange(NUM) < np.array([[NUM], [500]])
  of_image = lambda x, mask: gaussians.cell_statistics(mix, x, cells, mask)
  got = jax.jit(jax.vmap(of_image))(x, mask)
  for index in range(2):
    own = pick(got, index)
    right = of_image(x[index], mask[index])
    assert_close(own, right, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("shape", [(5,), (2, 4), (2, 5, 1)])
def test_refuses(shape, rng):
  with pytest.raises(ValueError, match=r"cells must be \[S, 5\]"):
    gaussians.cell_statistics(
      random_mixture(rng), np.ones((5, 3)), np.ones(shape)
    )
