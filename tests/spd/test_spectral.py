"""Matrix functions against SciPy, and on matrices at the edge of SPD."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax import spd
from tests.spd.cases import (  # fmt: skip
  FUNCTIONS,
  SPECTRA,
  every_function,
  symmetric,
  with_spectrum,
)


def assert_near(actual, wanted, tol):
  scale = max(np.abs(wanted).max(), 1e-3)
  np.testing.assert_allclose(actual, wanted, rtol=0, atol=tol * scale)


@every_function
def test_values_are_scipys(name, rng):
  ours, theirs = FUNCTIONS[name]
  x = np.stack([with_spectrum(rng, s) for s in SPECTRA.values()])
  for got, each in zip(ours(jnp.asarray(x)), x, strict=True):
    assert_near(got, theirs(each), 1e-11)


@every_function
def test_loop_is_vmap_is_broadcasting(name, rng):
  fun, _ = FUNCTIONS[name]
  x = np.stack([with_spectrum(rng, s) for s in SPECTRA.values()])
  x = jnp.asarray(x).reshape(2, 2, 4, 4)
  e = jnp.asarray(symmetric(rng))
  pair = lambda x: jnp.stack(
    [fun(x), jax.jvp(jax.grad(lambda z: fun(z)[0, 1]), (x,), (e,))[1]]
  )
  single = jax.jit(pair)
  loop = jnp.stack([jnp.stack([single(z) for z in row]) for row in x])
  batched = jax.jit(jax.vmap(jax.vmap(pair)))(x)
  np.testing.assert_allclose(batched, loop, rtol=1e-9, atol=1e-9)
  np.testing.assert_allclose(fun(x), loop[:, :, 0], rtol=1e-9, atol=1e-9)


@every_function
def test_results_are_symmetric_bit_for_bit(name, rng):
  fun, _ = FUNCTIONS[name]
  out = fun(jnp.asarray(1e-4 * with_spectrum(rng, [1.0, 2.0, 3.0, 9.0])))
  np.testing.assert_array_equal(out, out.T)


def test_log_of_a_nearly_singular_matrix_is_floored():
  # 1e-40 is below eps^2 of the largest eigenvalue.
  x = jnp.diag(jnp.asarray([1, 0.01, 1e-40], jnp.float32))
  eps = float(jnp.finfo(jnp.float32).eps)
  wanted = np.diag([0, np.log(0.01), 2 * np.log(eps)])
  np.testing.assert_allclose(spd.logm(x), wanted, rtol=1e-6)
  slope = jax.grad(lambda x: spd.logm(x).sum())(x)
  assert np.isfinite(slope).all()


@pytest.mark.parametrize("name", ["logm", "sqrtm", "inv_sqrtm", "powm_third"])
def test_an_indefinite_matrix_gives_nan(name):
  fun, _ = FUNCTIONS[name]
  bad = jnp.asarray([[1.0, 2.0], [2.0, 1.0]])
  pair = fun(jnp.stack([bad, jnp.eye(2)]))
  assert np.isnan(pair[0]).all()
  np.testing.assert_allclose(pair[1], fun(jnp.eye(2)), atol=1e-15)


@pytest.mark.parametrize("name", ["logm", "expm", "sqrtm"])
def test_nan_stays_nan_inside_jit(name):
  fun, _ = FUNCTIONS[name]
  assert np.isnan(jax.jit(fun)(jnp.full((3, 3), jnp.nan))).all()


def test_sym_is_the_symmetric_part():
  x = jnp.asarray([[[1.0, 4.0], [2.0, 3.0]]])
  np.testing.assert_array_equal(spd.sym(x), [[[1.0, 3.0], [3.0, 3.0]]])


def test_works_with_x64_off():
  with jax.enable_x64(False):
    x = jnp.asarray([[2.0, 1.0], [1.0, 2.0]])
    assert x.dtype == jnp.float32
    value, slope = jax.value_and_grad(lambda x: spd.logm(x).sum())(x)
    low = spd.eigvalsh(x)
  np.testing.assert_allclose(value, 2 * np.log(3.0), rtol=1e-6)
  # 1 is an eigenvector, of eigenvalue 3: 2 log 3, with derivative 11' / 3.
  np.testing.assert_allclose(slope, np.full((2, 2), 1 / 3), rtol=1e-5)
  np.testing.assert_allclose(low, [1.0, 3.0], rtol=1e-6)
