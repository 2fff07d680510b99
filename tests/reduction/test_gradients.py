"""Derivatives of the costs: the formulas of the papers, finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg

from spdjax import reduction, spd
from tests.reduction.cases import (  # fmt: skip
  DIM,
  N,
  basis,
  every_metric,
  some_edges,
  spd_matrices,
  supervised,
)


def log_derivative(a, e):
  """Dlog_A[E], from the logarithm of a block triangular matrix."""
  m = len(a)
  return scipy.linalg.logm(np.block([[a, e], [np.zeros_like(a), a]]))[:m, m:]


def pair_slope(metric, w, x, y):
  """d/dW of d^2(W'XW, W'YW), each formula as the papers print it."""
  a, b = w.T @ x @ w, w.T @ y @ w
  xw, yw, inverse = x @ w, y @ w, np.linalg.inv
  if metric == "stein":  # eq. 17
    middle = inverse(w.T @ (x + y) @ w / 2)
    return (x + y) @ w @ middle - xw @ inverse(a) - yw @ inverse(b)
  if metric == "jeffrey":  # eq. 19
    left = inverse(b) - inverse(a) @ b @ inverse(a)
    return xw @ left + yw @ (inverse(a) - inverse(b) @ a @ inverse(b))
  if metric == "airm":  # eq. 20, with the logarithm of a non-symmetric matrix
    log = scipy.linalg.logm(a @ inverse(b))
    return 4 * (xw @ inverse(a) - yw @ inverse(b)) @ log
  if metric == "log_euclidean":  # Daleckii-Krein
    e = scipy.linalg.logm(a) - scipy.linalg.logm(b)
    return 4 * (xw @ log_derivative(a, e) - yw @ log_derivative(b, e))
  return 4 * (xw - yw) @ (a - b)


def check_slope(metric, rng):
  x, w, edges = spd_matrices(rng), basis(rng), some_edges(rng)
  wanted = sum(
    2 * weight * pair_slope(metric, w, x[i], x[j])
    for i, j, weight in zip(*map(np.asarray, edges), strict=True)
  )
  cost = lambda w, x: supervised(w, x, edges, metric=metric)
  got = jax.jit(jax.grad(cost))(jnp.asarray(w), jnp.asarray(x))
  np.testing.assert_allclose(got, wanted, rtol=1e-8, atol=1e-9)


def test_stein_gradient_eq17(rng):
  check_slope("stein", rng)


def test_jeffrey_gradient_eq19(rng):
  check_slope("jeffrey", rng)


def test_airm_gradient_eq20(rng):
  check_slope("airm", rng)


def test_log_euclidean_gradient_is_daleckii_kreins(rng):
  check_slope("log_euclidean", rng)


def test_euclidean_gradient(rng):
  check_slope("euclidean", rng)


def reduced_sets(rng):
  """Apart; all equal; and pairs whose generalised eigenvalues repeat."""
  x = spd_matrices(rng)
  some = rng.uniform(0.5, 3, size=N)
  return np.stack([x, np.stack([x[0]] * N), some[:, None, None] * x[:1]])


@every_metric
def test_derivatives_are_finite_differences_also_at_ties(metric, rng):
  w, edges = jnp.asarray(basis(rng)), some_edges(rng)
  x = jnp.asarray(reduced_sets(rng))
  d = jnp.asarray(rng.normal(size=w.shape))
  cost = lambda w, x: supervised(w, x, edges, metric=metric)
  slope = jax.grad(cost)
  push = lambda w, x: jax.jvp(lambda w: slope(w, x), (w,), (d,))[1]
  pull = lambda w, x: jax.grad(lambda w: (d * slope(w, x)).sum())(w)
  over = lambda f: jax.jit(jax.vmap(f, (None, 0)))
  h = 1e-5
  both = over(jax.value_and_grad(cost))
  (value_a, slope_a), (value_b, slope_b) = (
    both(w + h * d, x),
    both(w - h * d, x),
  )
  along = (over(slope)(w, x) * d[None]).sum((1, 2))
  wanted = (value_a - value_b) / (2 * h)
  np.testing.assert_allclose(along, wanted, rtol=1e-6, atol=1e-6)
  bend = (slope_a - slope_b) / (2 * h)
  for mode in (push, pull):
    np.testing.assert_allclose(over(mode)(w, x), bend, rtol=1e-4, atol=1e-4)


@every_metric
def test_gradient_with_respect_to_the_matrices(metric, rng):
  x, w, edges = spd_matrices(rng), basis(rng), some_edges(rng)
  e = spd.sym(jnp.asarray(rng.normal(size=x.shape)))
  cost = jax.jit(lambda x: supervised(jnp.asarray(w), x, edges, metric=metric))
  h = 1e-5
  wanted = (cost(x + h * e) - cost(x - h * e)) / (2 * h)
  slope = jax.grad(cost)(jnp.asarray(x))
  np.testing.assert_allclose((slope * e).sum(), wanted, rtol=1e-6)


@every_metric
def test_cost_is_linear_in_the_weights(metric, rng):
  x, w, edges = spd_matrices(rng), basis(rng), some_edges(rng)
  cost = lambda weight: supervised(
    jnp.asarray(w), jnp.asarray(x), edges._replace(weight=weight), metric=metric
  )
  slope = jax.grad(cost)(edges.weight)
  np.testing.assert_allclose(
    (slope * edges.weight).sum(), cost(edges.weight), rtol=1e-9
  )


def test_project_differentiates_like_the_plain_product(rng):
  x, w = jnp.asarray(spd_matrices(rng)), jnp.asarray(basis(rng))
  plain = lambda x, w: jnp.einsum("ia,kij,jb->kab", w, x, w)
  c = spd.sym(jnp.asarray(rng.normal(size=(N, DIM, DIM))))
  total = lambda f: jax.grad(lambda x, w: (c * f(x, w) ** 2).sum(), (0, 1))
  for got, wanted in zip(
    total(reduction.project)(x, w), total(plain)(x, w), strict=True
  ):
    np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-11)
