"""Eigenvalues alone, and sums over them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax import spd
from spdjax.spd import eigenvalues, spectral
from tests.spd.cases import SPECTRA, symmetric, with_spectrum

every_spectrum = pytest.mark.parametrize("spectrum", SPECTRA)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("lead", [(), (1,), (2, 3), (0,)], ids=str)
def test_eigvalsh_is_numpys(lead, dtype, rng):
  x = rng.normal(size=(*lead, 5, 5)).astype(dtype)
  x = x + np.swapaxes(x, -1, -2)
  got = spd.eigvalsh(jnp.asarray(x))
  assert got.dtype == dtype
  tol = 50 * np.finfo(dtype).eps
  np.testing.assert_allclose(got, np.linalg.eigvalsh(x), atol=tol)
  jitted = jax.jit(spd.eigvalsh)(jnp.asarray(x))
  np.testing.assert_allclose(jitted, got, atol=tol)


def test_eigvalsh_under_vmap_scan_and_nan(rng):
  x = jnp.asarray(np.stack([symmetric(rng) for _ in range(3)]))
  loop = jnp.stack([spd.eigvalsh(z) for z in x])
  np.testing.assert_allclose(jax.vmap(spd.eigvalsh)(x), loop, atol=1e-13)
  np.testing.assert_allclose(jax.lax.map(spd.eigvalsh, x), loop, atol=1e-13)
  assert np.isnan(spd.eigvalsh(x.at[1].set(jnp.nan))[1]).all()


def test_eigvalsh_gradient_is_the_finite_difference(rng):
  x, e = (jnp.asarray(symmetric(rng)) for _ in range(2))
  h = 1e-6
  wanted = (spd.eigvalsh(x + h * e) - spd.eigvalsh(x - h * e)) / (2 * h)
  np.testing.assert_allclose(
    jax.jvp(spd.eigvalsh, (x,), (e,))[1], wanted, atol=1e-7
  )
  slope = jax.vmap(jax.grad(lambda x: (spd.eigvalsh(x) ** 2).sum()))(x[None])
  np.testing.assert_allclose(slope[0], 2 * x, atol=1e-12)


CUBES = eigenvalues.Sum(
  lambda w: w**3,
  spectral.Function(
    lambda w: 3 * w**2,
    lambda a, b: 3 * (a + b),
    lambda w: 3 + 0 * w,
    positive=False,
  ),
)


@every_spectrum
def test_sum_over_eigenvalues_differentiates_twice(spectrum, rng):
  x = jnp.asarray(with_spectrum(rng, SPECTRA[spectrum]))
  e = jnp.asarray(symmetric(rng))
  total = lambda x: eigenvalues.total(CUBES, x)
  np.testing.assert_allclose(total(x), jnp.trace(x @ x @ x), rtol=1e-12)
  np.testing.assert_allclose(jax.grad(total)(x), 3 * x @ x, atol=1e-11)
  bend = jax.jvp(jax.grad(total), (x,), (e,))[1]
  np.testing.assert_allclose(bend, 3 * (x @ e + e @ x), atol=1e-10)
  again = jax.grad(lambda x: (e * jax.grad(total)(x)).sum())(x)
  np.testing.assert_allclose(again, 3 * (x @ e + e @ x), atol=1e-10)
