"""Nuisance projection against the scatters written out, D x D."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax.classify import centroids, nuisance, remove
from tests.classify.cases import C, D, N, items

BETWEEN = [0.0, 0.3, 1.0, 20.0]


def _scatter(x, y, between):
  """S_w - between S_b, item by item."""
  scatter = np.zeros((x.shape[1],) * 2)
  for c in np.unique(y):
    mean = x[y == c].mean(0)
    for item in x[y == c]:
      scatter += np.outer(item - mean, item - mean)
    gap = mean - x.mean(0)
    scatter -= between * (y == c).sum() * np.outer(gap, gap)
  return scatter


@jax.jit
def _traced(x, y, between):
  return nuisance(x, y, rank=6, between=between)


def _top(x, y, between):
  values, vectors = np.linalg.eigh(_scatter(x, y, between))
  return values[::-1], vectors[:, ::-1]


@pytest.mark.parametrize("dims", [6, D], ids=["wide", "tall"])
@pytest.mark.parametrize("between", BETWEEN)
def test_top_eigenvectors(between, dims):
  x, y = items(dims=dims)
  values, vectors = _top(x, y, between)
  rank = int(min((values > 1e-9).sum(), N - C))
  u = np.asarray(nuisance(x, y, rank=rank, between=between))
  assert u.shape == (dims, rank)
  np.testing.assert_allclose(u.T @ u, np.eye(rank), atol=1e-13)
  overlap = np.abs((u * vectors[:, :rank]).sum(0))
  np.testing.assert_allclose(overlap, 1, atol=1e-10)
  quotients = np.diag(u.T @ _scatter(x, y, between) @ u)
  np.testing.assert_allclose(quotients, values[:rank], rtol=1e-11)


@pytest.mark.parametrize("between", [0.0, 1.0])
def test_leading_columns_are_the_answer_for_smaller_ranks(between):
  x, y = items()
  u = nuisance(x, y, rank=9, between=between)
  few = nuisance(x, y, rank=4, between=between)
  np.testing.assert_allclose(few, u[:, :4], atol=1e-13)


def test_all_directions_take_all_that_varies_within():
  x, y = items()
  left = remove(x, nuisance(x, y, rank=N - C))
  means = np.asarray(centroids(left, y, num_classes=C))
  np.testing.assert_allclose(left, means[y], atol=1e-12)


def test_a_known_direction():
  # Two classes a unit apart along the first axis, each spread along the second.
  x = np.array([[0.0, -3, 0], [0, 3, 0], [1, -3, 0], [1, 3, 0]])
  y = np.array([5, 5, -2, -2])
  u = nuisance(x, y, rank=1)
  np.testing.assert_allclose(np.abs(u[:, 0]), [0, 1, 0], atol=1e-15)
  np.testing.assert_allclose(
    remove(x, u), x * np.array([[1, 0, 1]]), atol=1e-14
  )
  # S_w = diag(0, 36, 0), S_b = diag(1, 0, 0): one positive eigenvalue.
  with pytest.raises(ValueError, match=r"rank must be in 0\.\.1, got 2"):
    nuisance(x, y, rank=2)


def test_far_from_zero_turned_and_reordered():
  x, y = items()
  right = np.asarray(nuisance(x, y, rank=5, between=0.3))
  project = lambda u: np.asarray(u) @ np.asarray(u).T
  turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(D, D)))
  order = np.random.default_rng(2).permutation(N)
  same = lambda *args: project(nuisance(*args, rank=5, between=0.3))
  np.testing.assert_allclose(same(x + 1e4, y), project(right), atol=1e-9)
  np.testing.assert_allclose(same(3 * x, 7 - y), project(right), atol=1e-11)
  np.testing.assert_allclose(
    same(x[order], y[order]), project(right), atol=1e-11
  )
  np.testing.assert_allclose(
    same(x @ turn, y), project(turn.T @ right), atol=1e-11
  )


def test_single_precision_with_a_wide_spectrum():
  x, y = items(dims=200)
  x = x * np.geomspace(1, 1e-2, 200)
  u = nuisance(x.astype(np.float32), y, rank=N - C)
  assert u.dtype == jnp.float32
  np.testing.assert_allclose(u.T @ u, np.eye(N - C), atol=1e-6)
  right = np.asarray(nuisance(x, y, rank=N - C))
  found = np.asarray(u, float)
  np.testing.assert_allclose(found @ found.T, right @ right.T, atol=1e-3)


def test_halves_are_widened():
  x, y = items(dtype="float16")
  u = nuisance(x, y, rank=3)
  right = nuisance(x.astype(np.float32), y, rank=3)
  np.testing.assert_array_equal(u, right)


def test_traced_is_eager_with_zeros_for_what_does_not_exist():
  x, y = items()
  x = x[np.arange(N) % 8]  # eight distinct rows, each twice
  y = np.arange(N) % 8 % C
  u = np.asarray(_traced(x, y, 0.0))
  # Eight distinct items in four classes vary in four directions.
  np.testing.assert_allclose(
    np.abs(u[:, :4].T @ nuisance(x, y, rank=4)), np.eye(4), atol=1e-12
  )
  np.testing.assert_array_equal(u[:, 4:], 0)
  with pytest.raises(ValueError, match=r"rank must be in 0\.\.4, got 6"):
    nuisance(x, y, rank=6)


@pytest.mark.parametrize("between", [0.0, 1.0])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e6])
def test_constant_features_have_no_direction(value, between):
  x, y = np.full((N, D), value), items()[1]
  u = nuisance(x, y, rank=0, between=between)
  assert u.shape == (D, 0)
  np.testing.assert_array_equal(remove(x, u), x)
  with pytest.raises(ValueError, match=r"rank must be in 0\.\.0, got 1"):
    nuisance(x, y, rank=1, between=between)
  np.testing.assert_array_equal(_traced(x, y, between), 0)


def test_classes_of_one_have_no_direction():
  x, _ = items()
  assert nuisance(x, np.arange(N), rank=0).shape == (D, 0)
  with pytest.raises(ValueError, match=r"rank must be in 0\.\.0, got 1"):
    nuisance(x, np.arange(N), rank=1)


def test_removing_twice_is_removing_once_of_any_batch():
  x, y = items()
  u = nuisance(x, y, rank=4)
  once = remove(x, u)
  np.testing.assert_allclose(remove(once, u), once, atol=1e-13)
  np.testing.assert_allclose(once @ u, 0, atol=1e-13)
  np.testing.assert_allclose(remove(x[0], u), once[0], atol=1e-13)
  whole = np.ones((2, D), int)
  np.testing.assert_allclose(remove(whole, u)[0], remove(np.ones(D), u))


@pytest.mark.parametrize(
  ("change", "said"),
  [
    ({"x": np.zeros(N)}, "x must be"),
    ({"x": np.zeros((0, D))}, "x must be"),
    ({"x": np.full((N, D), np.nan)}, r"x\[0, 0\] is not finite"),
    ({"y": np.zeros(N - 1, int)}, "y must be 16 integers"),
    ({"y": np.zeros(N)}, "y must be 16 integers"),
    ({"rank": N - C + 1}, r"rank must be in 0\.\.12, got 13"),
    ({"rank": -1}, "rank must be in"),
    ({"between": -0.1}, "between must be"),
  ],
)
def test_refuses(change, said):
  x, y = items()
  given = {"x": x, "y": y, "rank": 2, **change}
  with pytest.raises(ValueError, match=said):
    nuisance(given.pop("x"), given.pop("y"), **given)


def test_remove_refuses():
  with pytest.raises(ValueError, match="x and u must be"):
    remove(np.zeros((3, 4)), np.zeros((5, 2)))
