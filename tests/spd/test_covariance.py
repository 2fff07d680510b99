"""Covariances, their weights and their repairs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

from spdjax.spd.covariance import condition, covariance, regularise, shrink

SHAPES = [(7, 3), (2, 40, 5), (2, 3, 9, 1)]


def _centering(r):
  """The seed paper's J."""
  return r**-1.5 * (r * np.eye(r) - np.ones((r, r)))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_is_the_papers_product_with_the_centering_matrix(shape):
  o = np.random.default_rng(0).normal(size=shape)
  oj = np.swapaxes(o, -1, -2) @ _centering(shape[-2])
  right = oj @ np.swapaxes(oj, -1, -2)
  np.testing.assert_allclose(covariance(o), right, atol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_offset_of_10000_costs_no_accuracy(dtype):
  o = (1e4 + np.random.default_rng(1).normal(size=(500, 6))).astype(dtype)
  right = np.cov(o.astype(np.float64).T, bias=True)
  eps = np.finfo(dtype).eps
  np.testing.assert_allclose(covariance(o), right, atol=20 * eps)
  assert covariance(o).dtype == dtype


def test_weights_are_those_of_numpy_at_any_scale():
  rng = np.random.default_rng(2)
  o, w = rng.normal(size=(3, 30, 4)), rng.random((3, 30))
  right = [
    np.cov(a.T, bias=True, aweights=b) for a, b in zip(o, w, strict=True)
  ]
  np.testing.assert_allclose(covariance(o, w), right, rtol=1e-12, atol=1e-14)
  np.testing.assert_allclose(
    covariance(o, 1e3 * w), right, rtol=1e-12, atol=1e-14
  )


@pytest.mark.parametrize("bad", [1e30, np.inf, np.nan])
def test_zero_weight_is_removal(bad):
  o = np.random.default_rng(3).normal(size=(6, 2))
  o[4] = bad
  w = np.array([1, 1, 1, 1, 0, 1])
  right = np.cov(np.delete(o, 4, 0).T, bias=True)
  np.testing.assert_allclose(covariance(o, w), right, rtol=1e-13)


def test_symmetric_bit_for_bit_and_unchanged_by_jit_and_vmap():
  o = np.random.default_rng(4).normal(size=(4, 300, 17)).astype("float32")
  c = covariance(o)
  np.testing.assert_array_equal(c, c.mT)
  np.testing.assert_allclose(jax.jit(covariance)(o), c, atol=1e-6)
  np.testing.assert_allclose(jax.vmap(covariance)(o), c, atol=1e-6)


def test_integers_are_widened():
  o = np.array([[0], [255]] * 150, np.uint8)
  np.testing.assert_allclose(covariance(o), [[127.5**2]], rtol=1e-14)


@pytest.mark.parametrize(
  ("shape", "weights", "said"),
  [
    ((3,), None, "features must be"),
    ((0, 3), None, "features must be"),
    ((4, 2), [1, 1, 1], "weights must be"),
    ((4, 2), [1, 1, 1, -1], "weights must be finite and not negative"),
    ((4, 2), [1, 1, 1, np.nan], "weights must be finite and not negative"),
    ((4, 2), [0, 0, 0, 0], "weights must not all be zero"),
  ],
)
def test_refuses(shape, weights, said):
  with pytest.raises(ValueError, match=said):
    covariance(np.zeros(shape), weights and np.array(weights))


def test_refuses_bad_concrete_weights_inside_jit():
  with pytest.raises(ValueError, match="all be zero"):
    jax.jit(lambda o: covariance(o, np.zeros(4)))(np.zeros((4, 2)))


def test_traced_weights_of_zero_give_nan():
  c = jax.jit(covariance)(np.ones((4, 2)), np.zeros(4))
  assert jnp.isnan(c).all()


def test_derivative_with_respect_to_features_and_weights():
  rng = np.random.default_rng(5)
  o, w = jnp.asarray(rng.normal(size=(6, 2))), jnp.asarray(rng.random(6))
  fun = lambda o, w: covariance(o, w)[0, 1]
  check_grads(fun, (o, w), order=1, modes=["rev"])
  assert jnp.isfinite(jax.grad(fun, 1)(o, w.at[2].set(0))).all()


def test_shrink_and_regularise_in_closed_form():
  x = np.array([[[4.0, 1], [1, 2]], [[1, 0], [0, 0]]])
  right = [[[3.5, 0.5], [0.5, 2.5]], [[0.75, 0], [0, 0.25]]]
  np.testing.assert_allclose(shrink(x, 0.5), right, rtol=1e-15)
  ridge = [[[5.5, 1], [1, 3.5]], [[1.25, 0], [0, 0.25]]]
  np.testing.assert_allclose(regularise(x, 0.5), ridge, rtol=1e-15)


@pytest.mark.parametrize("amount", [0.0, 0.3, 1.0])
def test_shrinking_keeps_the_trace_and_repairs_the_rank(amount):
  o = np.random.default_rng(6).normal(size=(2, 2, 3))
  x = shrink(covariance(o), amount)
  trace = lambda a: jnp.trace(a, axis1=-2, axis2=-1)
  np.testing.assert_allclose(trace(x), trace(covariance(o)), rtol=1e-14)
  assert (np.linalg.eigvalsh(x)[:, 0] > 1e-3).all() == (amount > 0)


@pytest.mark.parametrize(
  ("spectrum", "right"),
  [((1, 1), 1), ((2, 8), 4), ((0, 1), np.inf), ((-1, 1), np.inf)],
)
def test_condition_of_a_known_spectrum(spectrum, right):
  q, _ = np.linalg.qr([[1.0, 2], [3, 4]])
  exact = np.diag(np.asarray(spectrum, float))
  assert condition(exact) == right
  turned = np.stack([q @ exact @ q.T] * 2)
  if spectrum[0]:
    np.testing.assert_allclose(condition(turned), [right] * 2, rtol=1e-13)
