"""Reduction by repeated eigenvectors, and the approximation it rests on."""

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from spdjax import reduction, spd
from spdjax.reduction import eigen, graph, starts

pytestmark = pytest.mark.slow

FLAT = ("log_euclidean", "euclidean")
COUNT, SIZE, DIM = 20, 6, 2


@pytest.fixture
def data(rng):
  y = np.arange(COUNT) % 2
  a = rng.normal(size=(COUNT, SIZE, 3 * SIZE)) / (3 * SIZE) ** 0.5
  a[:, 0] *= np.where(y == 0, 1.0, 2.0)[:, None]
  a = np.linalg.qr(rng.normal(size=(SIZE, SIZE)))[0] @ a
  return jnp.asarray(a @ np.swapaxes(a, -1, -2)), y


def basis(rng):
  return np.linalg.qr(rng.normal(size=(SIZE, DIM)))[0]


def naive_scatter(w, flat, edges):
  out = np.zeros((SIZE, SIZE))
  for i, j, weight in zip(*map(np.asarray, edges), strict=True):
    gap = flat[i] - flat[j]
    out += 2 * weight * gap @ w @ w.T @ gap  # both orders
  return out


@pytest.mark.parametrize("metric", FLAT)
def test_scatter_eq34(metric, data, rng):
  x, y = data
  w = basis(rng)
  edges = reduction.affinity(x, y, within=3, between=4, metric=metric)
  flat = eigen.flat_coordinates(x, metric)
  wanted = naive_scatter(w, np.asarray(flat), edges)
  got = eigen.scatter(jnp.asarray(w), flat, edges)
  np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-10)
  np.testing.assert_array_equal(got, got.T)
  padded = eigen.scatter(jnp.asarray(w), *graph.pad(flat, edges))
  np.testing.assert_allclose(padded, got, rtol=1e-10, atol=1e-11)


def test_surrogate_eq35_is_the_cost_for_the_euclidean_metric(data, rng):
  x, y = data
  w = jnp.asarray(basis(rng))
  edges = reduction.affinity(x, y, metric="euclidean")
  surrogate = jnp.trace(w.T @ eigen.scatter(w, x, edges) @ w)
  cost = reduction.supervised(w, x, edges, metric="euclidean")
  np.testing.assert_allclose(surrogate, cost, rtol=1e-10)


def test_log_approximation_eq32_33(rng):
  # log(W' exp(tS) W) - W' tS W = t^2 (W'SSW - (W'SW)^2) / 2 + O(t^3).
  s = rng.normal(size=(SIZE, SIZE))
  s, w = s + s.T, basis(rng)
  small = w.T @ s @ w
  bend = (w.T @ s @ s @ w - small @ small) / 2
  for t in (1e-2, 1e-3):
    x = jnp.asarray(scipy.linalg.expm(t * s))
    exact = spd.logm(spd.sym(reduction.project(spd.sym(x), jnp.asarray(w))))
    approximate = w.T @ np.asarray(spd.logm(spd.sym(x))) @ w
    gap = (np.asarray(exact) - approximate) / t**2
    np.testing.assert_allclose(gap, bend, atol=20 * t * np.abs(bend).max())


def test_log_approximation_is_exact_on_an_invariant_subspace(data):
  x = data[0][0]
  w = jnp.linalg.eigh(x)[1][:, 1:4]
  np.testing.assert_allclose(
    spd.logm(reduction.project(x, w)), w.T @ spd.logm(x) @ w, atol=1e-11
  )


@pytest.mark.parametrize("metric", FLAT)
def test_fit_eigen_is_never_above_its_start(metric, data):
  x, y = data
  edges = reduction.affinity(x, y, within=3, between=3, metric=metric)
  fit = lambda max_steps: reduction.fit_eigen(
    x, y, dim=DIM, metric=metric, within=3, between=3, max_steps=max_steps
  )
  none, few, many = fit(0), fit(3), fit(50)
  start = starts.make(None, "pca", x, y, DIM)[0]
  np.testing.assert_array_equal(none.w, start)
  for found in (none, few, many):
    cost = reduction.supervised(found.w, x, edges, metric=metric)
    np.testing.assert_allclose(found.cost, cost, rtol=1e-9)
    np.testing.assert_allclose(found.w.T @ found.w, np.eye(DIM), atol=1e-11)
    flat = np.asarray(eigen.flat_coordinates(x, metric))
    w = np.asarray(found.w)
    surrogate = np.trace(w.T @ naive_scatter(w, flat, edges) @ w)
    np.testing.assert_allclose(found.info.surrogate, surrogate, rtol=1e-8)
  assert many.cost <= few.cost <= none.cost
  assert many.cost < none.cost
  assert many.info.surrogate <= none.info.surrogate
  assert none.info.steps == 0
  assert not none.info.converged


def test_fit_eigen_converges_to_a_stationary_point(data):
  x, y = data
  edges = reduction.affinity(x, y, within=3, between=3, metric="euclidean")
  found = reduction.fit_eigen(
    x, dim=DIM, metric="euclidean", edges=edges, max_steps=500
  )
  assert found.info.converged
  # The surrogate's gradient is 4 F(W) W: its tangent part is near zero.
  slope = np.asarray(eigen.scatter(found.w, x, edges) @ found.w)
  tangent = slope - found.w @ (found.w.T @ slope)
  assert np.linalg.norm(tangent) < 1e-3 * np.linalg.norm(slope)


@pytest.mark.parametrize("metric", FLAT)
def test_fit_eigen_in_float32_and_from_a_given_start(metric, data, rng):
  x, y = data
  own = jnp.asarray(basis(rng), jnp.float32)
  found = reduction.fit_eigen(
    x.astype(jnp.float32), y, dim=DIM, metric=metric, start=own, max_steps=5
  )
  assert found.w.dtype == found.cost.dtype == jnp.float32
  assert np.isfinite(found.cost)


@pytest.mark.parametrize(
  ("change", "said"),
  [
    ({"metric": "airm"}, "log_euclidean and euclidean.*'airm'"),
    ({"y": None}, "labels y, or edges"),
    ({"dim": SIZE}, "dim must be above 0 and below n = 6"),
    ({"start": "random"}, "'random' needs a key"),
    ({"start": "zeros"}, "unknown start"),
  ],
)
def test_wrong_arguments_are_named(change, said, data):
  x, y = data
  with pytest.raises(ValueError, match=said):
    reduction.fit_eigen(x, **{"y": y, "dim": DIM, **change})
