"""Nuisance projection by inner products against that of the vectors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax.classify import (
  centroids,
  nearest_neighbour,
  nuisance,
  nuisance_distances,
  nuisance_weights,
  remove,
)
from tests.classify.cases import C, D, N, items


@pytest.mark.parametrize("between", [0.0, 0.3])
@pytest.mark.parametrize("offset", [0.0, 10.0])
def test_directions_are_weighteditems(offset, between):
  x, y = items()
  x = x + offset
  weights, values = nuisance_weights(x @ x.T, y, rank=9, between=between)
  right = np.asarray(nuisance(x, y, rank=9, between=between))
  found = x.T @ weights
  overlap = np.sum(found * right, 0)
  np.testing.assert_allclose(overlap, np.sign(overlap), atol=1e-10)
  np.testing.assert_allclose(np.square(found).sum(0), 1, atol=1e-10)
  np.testing.assert_allclose(np.asarray(weights).sum(0), 0, atol=1e-12)
  # The eigenvalues are the scatter within, less that between, along them.
  means = np.asarray(centroids(x, y, num_classes=C))
  own = np.square((x - means[y]) @ right).sum(0)
  other = np.square((means[y] - x.mean(0)) @ right).sum(0)
  np.testing.assert_allclose(values, own - between * other, rtol=1e-9)


def test_directions_that_do_not_exist_have_no_weight():
  x, y = items()
  x = x[np.arange(N) % 8]  # eight distinct rows, each twice
  y = np.arange(N) % 8 % C
  weights, values = nuisance_weights(x @ x.T, y, rank=N - C)
  assert (np.asarray(values) > 0).sum() == 4
  np.testing.assert_array_equal(np.asarray(weights)[:, 4:], 0)
  traced = jax.jit(nuisance_weights, static_argnames="rank")
  again, _ = traced(x @ x.T, y, rank=N - C)
  np.testing.assert_allclose(np.abs(again), np.abs(weights), atol=1e-12)
  with pytest.raises(ValueError, match=r"rank must be in 0\.\.12, got 13"):
    nuisance_weights(x @ x.T, y, rank=N - C + 1)
  with pytest.raises(ValueError, match="gram must be"):
    nuisance_weights(x, y, rank=1)
  with pytest.raises(ValueError, match=r"gram\[0, 0\] is not finite"):
    nuisance_weights(np.full((N, N), np.nan), y, rank=1)


def test_distances_of_classes_of_one_without_projection():
  x, _ = items()
  gram = x @ x.T
  found = nuisance_distances(
    gram, np.arange(N), np.arange(N), ranks=[0], num_classes=N
  )
  right = ((x[:, None] - x[None]) ** 2).sum(-1)
  np.testing.assert_allclose(found[0], right, atol=1e-11)


@pytest.mark.parametrize("between", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("offset", [0.0, 10.0])
def test_distances_by_the_gram_matrix_alone(offset, between):
  x, y = items(num=24)
  x = x + offset
  train, ranks = np.arange(24)[::-1][:N], (5, 0, 2)
  found = nuisance_distances(
    x @ x.T, y, train, ranks=ranks, num_classes=C + 1, between=between
  )
  assert found.shape == (3, 24, C + 1)
  assert np.isnan(found[..., C]).all()
  for distances, rank in zip(np.asarray(found), ranks, strict=True):
    u = nuisance(x[train], y[train], rank=rank, between=between)
    means = centroids(remove(x, u)[train], y[train], num_classes=C)
    gaps = remove(x, u)[:, None] - means[None]
    right = np.square(gaps).sum(-1)
    np.testing.assert_allclose(distances[:, :C], right, atol=1e-9)
  labels = nearest_neighbour(found[0], np.arange(C + 1))
  np.testing.assert_array_equal(labels, np.argmin(found[0][:, :C], 1))


def test_distances_traced_by_a_mask_and_in_single_precision():
  x, y = items(num=24)
  x = x[:, :20]
  kept = np.arange(24) % 3 > 0
  run = lambda gram, y: nuisance_distances(
    gram, y, kept, ranks=(0, 6), num_classes=C
  )
  right = run(x @ x.T, y)
  by_index = nuisance_distances(
    x @ x.T, y, np.flatnonzero(kept), ranks=(0, 6), num_classes=C
  )
  np.testing.assert_array_equal(by_index, right)
  np.testing.assert_allclose(jax.jit(run)(x @ x.T, y), right, atol=1e-11)
  single = run((x @ x.T).astype(np.float32), y)
  assert single.dtype == jnp.float32
  np.testing.assert_allclose(single, right, atol=1e-4 * np.max(right))


@pytest.mark.parametrize(
  ("change", "said"),
  [
    ({"gram": np.zeros((N, D))}, "gram must be"),
    ({"y": np.zeros(N - 1, int)}, "y must be 16 integers"),
    ({"y": np.full(N, C)}, "y must be classes 0 to 3"),
    ({"train": [[0]]}, "train must be indices"),
    ({"train": []}, "train must be indices"),
    ({"train": [0.0]}, "train must be indices"),
    ({"train": np.zeros(N, bool)}, "train must be indices"),
    ({"train": [0, N]}, r"train must be in 0\.\.15"),
    ({"ranks": [N]}, r"rank must be in 0\.\.12, got 16"),
    ({"ranks": []}, "ranks must not be empty"),
    ({"between": np.nan}, "between must be"),
  ],
)
def test_distances_refuse(change, said):
  x, y = items()
  given = {"gram": x @ x.T, "y": y, "train": np.arange(N)}
  given |= {"ranks": [0], "num_classes": C} | change
  args = [given.pop(name) for name in ("gram", "y", "train")]
  with pytest.raises(ValueError, match=said):
    nuisance_distances(*args, **given)
