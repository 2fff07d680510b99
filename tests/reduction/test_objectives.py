"""Costs of a subspace and their derivatives, from loops over pairs in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from spdjax import reduction, spd
from spdjax.reduction import graph, terms
from tests.reduction.cases import (  # fmt: skip
  DIM,
  SIZE,
  N,
  basis,
  every_metric,
  some_edges,
  spd_matrices,
  supervised,
)


def squared(metric, a, b):
  """By the definitions, in NumPy and SciPy."""
  logdet = lambda z: np.linalg.slogdet(z)[1]
  logs = lambda: np.log(scipy.linalg.eigh(a, b, eigvals_only=True))
  gap = lambda: scipy.linalg.logm(a) - scipy.linalg.logm(b)
  inverse = np.linalg.inv
  return {
    "airm": lambda: (logs() ** 2).sum(),
    "stein": lambda: logdet((a + b) / 2) - logdet(a @ b) / 2,
    "jeffrey": lambda: np.trace(inverse(a) @ b + inverse(b) @ a) / 2 - len(a),
    "log_euclidean": lambda: (gap() ** 2).sum(),
    "euclidean": lambda: ((a - b) ** 2).sum(),
  }[metric]()


def naive_cost(metric, w, x, edges):
  """Eq. 15, the sum over i != j: a pair is met in both orders."""
  a = np.zeros((len(x), len(x)))
  for i, j, weight in zip(*map(np.asarray, edges), strict=True):
    a[i, j] = a[j, i] = weight
  return sum(
    a[i, j] * squared(metric, w.T @ x[i] @ w, w.T @ x[j] @ w)
    for i in range(len(x))
    for j in range(len(x))
    if i != j and a[i, j]
  )


@every_metric
def test_supervised_cost_eq15(metric, rng):
  x, w, edges = spd_matrices(rng), basis(rng), some_edges(rng)
  cost = lambda w: supervised(w, jnp.asarray(x), edges, metric=metric)
  wanted = naive_cost(metric, w, x, edges)
  np.testing.assert_allclose(cost(jnp.asarray(w)), wanted, rtol=1e-9)
  # Any basis of the subspace will do where the metric is invariant, any
  # orthonormal one elsewhere.
  turn = np.linalg.qr(rng.normal(size=(DIM, DIM)))[0]
  if metric in ("airm", "stein", "jeffrey"):
    turn = turn @ np.diag([2.0, 0.3])
  np.testing.assert_allclose(cost(jnp.asarray(w @ turn)), wanted, rtol=1e-8)


@every_metric
def test_padding_changes_nothing(metric, rng):
  x, w, edges = spd_matrices(rng), basis(rng), some_edges(rng)
  cost = lambda w, x, edges: supervised(w, x, edges, metric=metric)
  fun = jax.jit(jax.value_and_grad(cost))
  w, x = jnp.asarray(w), jnp.asarray(x)
  value, slope = fun(w, x, edges)
  again, same = fun(w, *graph.pad(x, edges))
  np.testing.assert_allclose(again, value, rtol=1e-11)
  np.testing.assert_allclose(same, slope, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("metric", ["jeffrey", "log_euclidean", "euclidean"])
def test_dense_and_gathered_sums_agree(metric, rng, monkeypatch):
  x, w, edges = spd_matrices(rng), basis(rng), some_edges(rng)
  results = []
  for bound, dense in ((0, False), (10**9, True)):
    monkeypatch.setattr(terms, "_DENSE_PAIRS_PER_EDGE", bound)
    assert terms._is_dense(edges, N) == dense
    # A fresh function: the bound is read while tracing.
    cost = lambda w: reduction.supervised(
      w, jnp.asarray(x), edges, metric=metric
    )
    results.append(jax.jit(jax.value_and_grad(cost))(jnp.asarray(w)))
  (value, slope), (again, same) = results
  np.testing.assert_allclose(again, value, rtol=1e-10)
  np.testing.assert_allclose(same, slope, rtol=1e-9, atol=1e-10)


@every_metric
def test_unsupervised_eq21(metric, rng):
  x, w = spd_matrices(rng), basis(rng)
  mean, _ = spd.mean(jnp.asarray(x), metric=metric)
  wanted = sum(
    squared(metric, w.T @ z @ w, w.T @ np.asarray(mean) @ w) for z in x
  )
  got = reduction.unsupervised(
    jnp.asarray(w), jnp.asarray(x), mean, metric=metric
  )
  np.testing.assert_allclose(got, wanted, rtol=1e-9)


@every_metric
def test_float32_agrees_with_float64(metric, rng):
  low = lambda z: jnp.asarray(z, jnp.float32)
  x, w, edges = spd_matrices(rng), basis(rng), some_edges(rng)
  single = edges._replace(weight=low(edges.weight))
  got = supervised(low(w), low(x), single, metric=metric)
  assert got.dtype == jnp.float32
  wanted = naive_cost(metric, w, x, edges)
  terms_of = edges._replace(weight=jnp.abs(edges.weight))
  scale = naive_cost(metric, w, x, terms_of)
  assert abs(float(got) - wanted) < 1e-4 * scale


def test_pyriemanns_spelling_and_an_unknown_metric(rng):
  x, w = jnp.asarray(spd_matrices(rng)), jnp.asarray(basis(rng))
  edges = some_edges(rng)
  ours, theirs = (
    supervised(w, x, edges, metric=m) for m in ("airm", "riemann")
  )
  assert ours == theirs
  with pytest.raises(ValueError, match="unknown metric"):
    supervised(w, x, edges, metric="cosine")


def test_project_is_the_congruence(rng):
  x, w = spd_matrices(rng), basis(rng)
  wanted = np.einsum("ia,kij,jb->kab", w, x, w)
  got = reduction.project(jnp.asarray(x), jnp.asarray(w))
  np.testing.assert_allclose(got, wanted, atol=1e-12)
  np.testing.assert_allclose(
    reduction.project(jnp.asarray(x[0]), jnp.asarray(w)), wanted[0], atol=1e-12
  )


def test_project_features_is_project_of_the_covariance(rng):
  features = rng.normal(size=(4, 30, SIZE)) + 100
  w = jnp.asarray(basis(rng))
  wanted = reduction.project(spd.covariance(jnp.asarray(features)), w)
  got = reduction.project_features(jnp.asarray(features), w)
  np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-11)
  # J = r^(-3/2) (r I - 11'): C = O J J' O'.
  r = features.shape[1]
  j = r**-1.5 * (r * np.eye(r) - np.ones((r, r)))
  o = features[0].T
  np.testing.assert_allclose(
    got[0], w.T @ (o @ j @ j.T @ o.T) @ w, rtol=1e-8, atol=1e-8
  )
