"""The affinity graph: who neighbours whom, and how it is padded."""

import jax.numpy as jnp
import numpy as np
import pytest

from spdjax import reduction, spd
from spdjax.reduction import graph


def spd_matrices(rng, count, n=3):
  a = rng.normal(size=(count, n, 2 * n))
  return jnp.asarray(a @ np.swapaxes(a, -1, -2) / n)


def distances_of(points):
  return np.abs(points[:, None] - points[None])


def as_dict(edges):
  i, j, w = map(np.asarray, edges)
  assert (i < j).all()
  out = {(int(a), int(b)): float(c) for a, b, c in zip(i, j, w, strict=True)}
  assert len(out) == len(i)  # each pair once
  return out


def naive_affinity(d, y, within, between):
  """Eqs. 12-14 as loops over i and j."""
  count = len(y)

  def among(i, j, same, v):
    """Is i among the v nearest (not) of j's class?"""
    if i == j or (y[i] == y[j]) != same:
      return False
    rest = [k for k in range(count) if k != j and (y[k] == y[j]) == same]
    return i in sorted(rest, key=lambda k: (d[j, k], k))[:v]

  out = {}
  for i in range(count):
    for j in range(i + 1, count):
      near = among(i, j, True, within) or among(j, i, True, within)
      far = among(i, j, False, between) or among(j, i, False, between)
      if near != far:
        out[i, j] = float(near) - float(far)
  return out


@pytest.mark.parametrize(
  ("within", "between"), [(1, 1), (2, 3), (0, 2), (2, 0), (0, 0), (99, 99)]
)
def test_neighbours_eqs12_14(within, between, rng):
  y = np.array([0, 1, 0, 2, 1, 0, 0, 2, 1, 3])
  d = distances_of(rng.normal(size=10))
  got = reduction.neighbours(d, y, within=within, between=between)
  assert as_dict(got) == naive_affinity(d, y, within, between)


def test_one_direction_is_enough():
  # 2's nearest is 1, 1's is 0: the OR rule keeps (1, 2) all the same.
  got = reduction.neighbours(
    distances_of(np.array([0.0, 1.0, 3.0])), [0, 0, 0], within=1, between=1
  )
  assert as_dict(got) == {(0, 1): 1.0, (1, 2): 1.0}


def test_ties_go_to_the_lower_index():
  d = np.ones((4, 4))  # a diagonal that is no smaller must not be a neighbour
  got = reduction.neighbours(d, [0, 0, 0, 1], within=1, between=1)
  # 0 takes 1; 1 and 2 take 0; all take 3 as the only other, and 3 takes 0.
  wanted = {(0, 1): 1, (0, 2): 1, (0, 3): -1, (1, 3): -1, (2, 3): -1}
  assert as_dict(got) == wanted


def test_duplicates_do_not_neighbour_themselves():
  got = reduction.neighbours(np.zeros((3, 3)), [0, 0, 1], within=5, between=0)
  assert as_dict(got) == {(0, 1): 1.0}


@pytest.mark.parametrize("labels", [list("aabb"), [3, 3, 7, 7], [-1, -1, 1, 1]])
def test_labels_of_any_kind(labels):
  d = distances_of(np.array([0.0, 1, 2, 3.5]))
  got = reduction.neighbours(d, labels, within=1, between=1)
  wanted = {(0, 1): 1, (2, 3): 1, (0, 2): -1, (1, 2): -1, (1, 3): -1}
  assert as_dict(got) == wanted


@pytest.mark.parametrize(
  ("d", "y", "kw", "said"),
  [
    (
      np.array([[0, np.nan], [np.nan, 0]]),
      [0, 1],
      {},
      r"NaN at index \(0, 1\)",
    ),
    (np.zeros((2, 3)), [0, 1], {}, "must be .N, N."),
    (np.zeros((2, 2)), [0, 1, 1], {}, "must be .N, N."),
    (np.zeros((2, 2)), [0, 1], {"within": -1}, "within"),
    (np.zeros((2, 2)), [0, 1], {"between": -2}, "between"),
  ],
)
def test_wrong_arguments_are_named(d, y, kw, said):
  with pytest.raises(ValueError, match=said):
    reduction.neighbours(d, y, **kw)


@pytest.mark.parametrize("metric", spd.METRICS)
def test_affinity_uses_the_distances_of_the_metric(metric, rng):
  x, y = spd_matrices(rng, 12), np.arange(12) % 3
  got = reduction.affinity(x, y, within=2, between=3, metric=metric)
  fun = spd.METRICS[metric]
  d = np.asarray(fun(x[:, None], x[None]))
  assert as_dict(got) == naive_affinity(d, y, 2, 3)
  assert got.weight.dtype == x.dtype
  assert got.i.dtype == jnp.int32


@pytest.mark.parametrize("size", [0, 1, 64, 65, 96, 97, 300, 1000])
def test_few_lengths_and_little_waste(size):
  length = graph.bucket(size)
  assert size <= length <= max(64, 1.5 * size)
  # 2^k or 3 * 2^k, from 64.
  assert length & (length - 1) == 0 or (length // 3) & (length // 3 - 1) == 0


@pytest.mark.parametrize(("count", "size"), [(3, 0), (64, 64), (65, 97)])
def test_padding_adds_copies_and_edges_of_weight_zero(count, size, rng):
  x = spd_matrices(rng, count)
  edges = graph.Edges(
    jnp.zeros(size, jnp.int32),
    jnp.full(size, 2, jnp.int32),
    jnp.full(size, -1.0),
  )
  more, padded = graph.pad(x, edges)
  assert len(more) == graph.bucket(count)
  np.testing.assert_array_equal(more[:count], x)
  copies = np.broadcast_to(x[0], (len(more) - count, 3, 3))
  np.testing.assert_array_equal(more[count:], copies)
  assert {len(field) for field in padded} == {graph.bucket(size)}
  np.testing.assert_array_equal(padded.weight[:size], edges.weight)
  np.testing.assert_array_equal(padded.weight[size:], 0 * padded.weight[size:])
  assert (padded.i != padded.j).all()


def test_the_star_joins_every_item_to_the_mean(rng):
  x = spd_matrices(rng, 4)
  items, edges = graph.star(x, x.mean(0))
  np.testing.assert_array_equal(items[:4], x)
  np.testing.assert_array_equal(items[4], x.mean(0))
  assert as_dict(edges) == {(k, 4): -0.5 for k in range(4)}
