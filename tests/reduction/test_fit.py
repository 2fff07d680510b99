"""Learning a subspace: what is returned, refused, kept and compiled."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax import reduction, spd
from spdjax.reduction import graph, starts
from spdjax.reduction.fit import _solve

INVARIANT = ("airm", "stein", "jeffrey")
every_metric = pytest.mark.parametrize("metric", spd.METRICS)
# One number of steps, and graphs of one bucket: one compile serves many tests.
COUNT, SIZE, DIM, STEPS = 24, 6, 2, 100


@pytest.fixture
def data(rng):
  """Two classes that differ in a plane, and noise in the other directions."""
  y = np.arange(COUNT) % 2
  a = rng.normal(size=(COUNT, SIZE, 4 * SIZE)) / (4 * SIZE) ** 0.5
  a[:, 2:] *= np.exp(0.7 * rng.normal(size=(COUNT, SIZE - 2, 1)))
  a[:, 0] *= np.where(y == 0, 1.0, 2.0)[:, None]
  q = np.linalg.qr(rng.normal(size=(SIZE, SIZE)))[0]
  a = q @ a
  return jnp.asarray(a @ np.swapaxes(a, -1, -2)), y


@functools.partial(jax.jit, static_argnames="metric")
def cost_at(w, x, edges, metric):
  return reduction.supervised(w, x, edges, metric=metric)


@every_metric
def test_fit_lowers_the_cost_it_reports(metric, data, key):
  x, y = data
  edges = reduction.affinity(x, y, within=1, between=1, metric=metric)
  found = reduction.fit(
    key, x, y, dim=DIM, metric=metric, within=1, between=1, max_steps=STEPS
  )
  assert found.w.shape == (SIZE, DIM)
  np.testing.assert_allclose(found.w.T @ found.w, np.eye(DIM), atol=1e-12)
  np.testing.assert_allclose(
    found.cost, cost_at(found.w, x, edges, metric), rtol=1e-9
  )
  start = starts.make(key, "pca", x, y, DIM)[0]
  assert found.cost < cost_at(start, x, edges, metric)


@pytest.mark.slow
@pytest.mark.parametrize("metric", INVARIANT)
def test_whitening_keeps_the_objective_of_invariant_metrics(metric, data, key):
  x, y = data
  edges = reduction.affinity(x, y, within=1, between=1, metric=metric)
  names = ("pca", "random", "random")
  fit = lambda whiten: reduction.fit(
    key, x, dim=DIM, metric=metric, edges=edges, starts=names, whiten=whiten,
    max_steps=STEPS,
  )  # fmt: skip
  plain, white = fit(False), fit(True)
  np.testing.assert_allclose(white.w.T @ white.w, np.eye(DIM), atol=1e-12)
  np.testing.assert_allclose(
    white.cost, cost_at(white.w, x, edges, metric), rtol=1e-8
  )
  # A point where the objective in the original coordinates does not move.
  slope = jax.grad(cost_at)(white.w, x, edges, metric)
  slope = slope - white.w @ (white.w.T @ slope)
  assert jnp.linalg.norm(slope) < 1e-3 * abs(white.cost)
  np.testing.assert_allclose(white.cost, plain.cost, rtol=0.2)


@pytest.mark.parametrize("metric", ["log_euclidean", "euclidean"])
def test_whitening_changes_coordinates_for_the_other_metrics(metric, data, key):
  x, y = data
  edges = reduction.affinity(x, y, within=1, between=1, metric=metric)
  found = reduction.fit(
    key, x, dim=DIM, metric=metric, edges=edges, whiten=True, max_steps=STEPS
  )
  np.testing.assert_allclose(
    found.w.T @ x.mean(0) @ found.w, np.eye(DIM), atol=1e-9
  )
  np.testing.assert_allclose(
    found.cost, cost_at(found.w, x, edges, metric), rtol=1e-8
  )


def test_the_best_of_several_starts_is_returned(data, key):
  x, y = data
  fit = lambda starts: reduction.fit(
    key, x, y, dim=DIM, within=1, between=1, starts=starts, max_steps=STEPS
  )
  found, one = fit(3), fit("pca")
  assert found.cost <= one.cost + 1e-9 * abs(one.cost)
  assert found.info.value.shape == (3,)
  assert found.cost == found.info.value.min()
  edges = reduction.affinity(x, y, within=1, between=1, metric="stein")
  np.testing.assert_allclose(
    found.cost, cost_at(found.w, x, edges, "stein"), rtol=1e-9
  )


@pytest.mark.slow
@every_metric
def test_fit_without_labels_maximises_the_spread(metric, data, key):
  x, _ = data
  found = reduction.fit(key, x, dim=DIM, metric=metric, max_steps=STEPS)
  mean, _ = spd.mean(x, metric=metric)
  spread = lambda w: reduction.unsupervised(w, x, mean, metric=metric)
  np.testing.assert_allclose(found.cost, -spread(found.w), rtol=1e-9)
  assert spread(found.w) > spread(starts.make(key, "pca", x, None, DIM)[0])


@pytest.mark.slow
def test_the_trust_region_finds_the_same_optimum(data, key):
  x, y = data
  fit = lambda solver: reduction.fit(
    key, x, y, dim=DIM, solver=solver, starts="between", whiten=True
  )
  gradient, region = fit("cg"), fit("tr")
  assert region.info.converged.all()
  np.testing.assert_allclose(region.cost, gradient.cost, rtol=1e-6)


def test_edges_of_the_users_own(data, key):
  x, y = data
  edges = reduction.Edges(
    jnp.asarray([0, 1, 5]), jnp.asarray([2, 3, 6]), jnp.asarray([1.0, 1, -1])
  )
  found = reduction.fit(key, x, dim=DIM, edges=edges, max_steps=STEPS)
  np.testing.assert_allclose(
    found.cost, cost_at(found.w, x, edges, "stein"), rtol=1e-9
  )
  # They take the place of the labels' graph.
  same = reduction.fit(key, x, y, dim=DIM, edges=edges, max_steps=STEPS)
  np.testing.assert_array_equal(same.w, found.w)


def test_the_same_key_gives_the_same_subspace(data, key):
  x, y = data
  fit = lambda key: reduction.fit(
    key, x, y, dim=DIM, within=1, between=1, starts="random", max_steps=STEPS
  )
  np.testing.assert_array_equal(fit(key).w, fit(key).w)
  assert np.abs(fit(key).w - fit(jax.random.key(1)).w).max() > 1e-3


def test_float32_stays_float32(data, key):
  x, y = data
  x = x.astype(jnp.float32)
  found = reduction.fit(key, x, y, dim=DIM, metric="airm", max_steps=STEPS)
  assert found.w.dtype == found.cost.dtype == jnp.float32
  assert np.isfinite(found.cost)


@pytest.mark.slow
@pytest.mark.parametrize("metric", spd.METRICS)
def test_one_compile_for_keys_and_sizes_of_one_bucket(metric, data):
  x, y = data

  def compiled(seed, count, between, dim=DIM):
    graph_of = {"within": 1, "between": between}
    reduction.fit(
      jax.random.key(seed), x[:count], y[:count], dim=dim, **graph_of,
      starts="random", max_steps=STEPS, metric=metric,
    )  # fmt: skip
    return _solve._cache_size()

  sizes = {
    len(reduction.affinity(x, y, within=1, between=b, metric=metric).i)
    for b in (1, 2)
  }
  assert len(sizes) == 2
  assert max(sizes) <= 64
  once = compiled(0, COUNT, 1)
  for seed, count, between in ((1, COUNT, 1), (2, COUNT, 2), (3, 17, 1)):
    assert compiled(seed, count, between) == once
  assert compiled(0, COUNT, 1, dim=3) == once + 1  # the count does move


@pytest.mark.parametrize(
  ("change", "said"),
  [
    ({"dim": SIZE}, "dim must be above 0 and below n = 6"),
    ({"dim": 0}, "dim must be above 0"),
    ({"y": np.zeros(5)}, "y must have one label an item"),
    ({"x": jnp.eye(3)}, "x must be square matrices"),
    ({"metric": "cosine"}, "unknown metric 'cosine'"),
    ({"starts": "zeros"}, "unknown start 'zeros'"),
    ({"starts": ()}, "at least one start"),
    ({"starts": jnp.ones((SIZE, 3))}, "starts must be"),
    ({"within": -1}, "within"),
    ({"solver": "adam"}, "solver"),
    ({"starts": "between", "y": None}, "'between' needs labels"),
    ({"starts": "random", "key": None}, "'random' needs a key"),
  ],
)
def test_wrong_arguments_are_named(change, said, data, key):
  x, y = data
  arguments = {"key": key, "x": x, "y": y, "dim": DIM, **change}
  with pytest.raises(ValueError, match=said):
    reduction.fit(arguments.pop("key"), **arguments)


@pytest.mark.parametrize(
  ("i", "j", "said"),
  [(3, 3, "two different items"), (0, COUNT, "edges name items")],
)
def test_wrong_edges_are_named(i, j, said, data, key):
  edges = graph.Edges(jnp.asarray([i]), jnp.asarray([j]), jnp.ones(1))
  with pytest.raises(ValueError, match=said):
    reduction.fit(key, data[0], dim=DIM, edges=edges)


def test_an_indefinite_item_is_named_by_the_graph(data, key):
  x, y = data
  bad = x.at[2].set(jnp.diag(jnp.asarray([1.0, 1, 1, 1, 1, -1])))
  with pytest.raises(ValueError, match="NaN at index"):
    reduction.fit(key, bad, y, dim=DIM)


def test_starts_are_orthonormal_and_what_they_say(data, key):
  x, y = data
  names = ("pca", "between", "random", "identity")
  made = starts.make(key, names, x, y, DIM)
  assert made.shape == (4, SIZE, DIM)
  np.testing.assert_allclose(
    jnp.swapaxes(made, 1, 2) @ made, np.stack([np.eye(DIM)] * 4), atol=1e-12
  )
  top = np.linalg.eigh(x.mean(0))[1][:, -DIM:]
  project = lambda w: w @ w.T
  np.testing.assert_allclose(project(made[0]), project(top), atol=1e-10)
  logs = np.asarray(spd.logm(x))
  gaps = [(y == c).sum() ** 0.5 * (logs[y == c].mean(0) - logs.mean(0))
          for c in (0, 1)]  # fmt: skip
  top = np.linalg.eigh(sum(g @ g for g in gaps))[1][:, -DIM:]
  np.testing.assert_allclose(project(made[1]), project(top), atol=1e-9)
  np.testing.assert_array_equal(made[3], np.eye(SIZE)[:, :DIM])


def test_starts_may_be_numbers_or_arrays(data, key):
  x, y = data
  assert starts.make(key, 1, x, y, DIM).shape == (1, SIZE, DIM)
  made = starts.make(key, 3, x, y, DIM)
  assert made.shape == (3, SIZE, DIM)
  np.testing.assert_array_equal(made[0], starts.make(key, "pca", x, y, DIM)[0])
  assert np.abs(made[1] - made[2]).max() > 1e-3
  own = jnp.asarray(np.random.default_rng(3).normal(size=(SIZE, DIM)))
  for given in (own, own[None]):
    (q,) = starts.make(key, given, x, y, DIM)
    np.testing.assert_allclose(q @ (q.T @ own), own, atol=1e-12)
