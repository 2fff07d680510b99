"""First and second derivatives of matrix functions, against SciPy.

The upper right block of f([[X, E], [0, X]]) is Df(X)[E], and nested once more
D^2f(X)[E, F] (Higham, "Functions of Matrices", 2008, thm. 3.6; Higham & Relton,
2014). It holds where eigenvalues meet and needs no eigendecomposition.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from spdjax import spd
from tests.spd.cases import (  # fmt: skip
  FUNCTIONS,
  SPECTRA,
  every_function,
  symmetric,
  with_spectrum,
)


def first_derivative(f, x, e):
  n, zero = len(x), np.zeros_like(x)
  return np.real(f(np.block([[x, e], [zero, x]])))[:n, n:]


def second_derivative(f, x, e, g):
  n, zero = len(x), np.zeros_like(x)
  one = np.block([[x, e], [zero, x]])
  other = np.kron(np.eye(2), g)
  big = np.block([[one, other], [np.zeros_like(one), one]])
  return np.real(f(big))[:n, -n:]


def assert_near(actual, wanted, tol):
  scale = max(np.abs(wanted).max(), 1e-3)
  np.testing.assert_allclose(actual, wanted, rtol=0, atol=tol * scale)


# The directions that each mode's result is a derivative along.
MODES = {
  "forward": ("e",),
  "reverse": ("c",),
  "forward_over_forward": ("e", "g"),
  "forward_over_reverse": ("c", "e"),
  "reverse_over_forward": ("c", "e"),
  "reverse_over_reverse": ("c", "g"),
}


def derivatives(fun, x, e, g, c):
  """What each of the modes makes of fun, in their order."""
  push = lambda x: jax.jvp(fun, (x,), (e,))[1]
  slope = jax.grad(lambda x: (c * fun(x)).sum())
  return (
    push(x),
    slope(x),
    jax.jvp(push, (x,), (g,))[1],
    jax.jvp(slope, (x,), (e,))[1],
    jax.grad(lambda x: (c * push(x)).sum())(x),
    jax.grad(lambda x: (g * slope(x)).sum())(x),
  )


@every_function
def test_first_and_second_derivatives_in_every_mode(name, rng):
  ours, theirs = FUNCTIONS[name]
  x = np.stack([with_spectrum(rng, s) for s in SPECTRA.values()])
  along = {k: symmetric(rng) for k in "egc"}
  one = lambda x: derivatives(ours, x, **along)
  for mode, results in zip(
    MODES.values(), jax.jit(jax.vmap(one))(x), strict=True
  ):
    for each, out in zip(x, results, strict=True):
      order = {1: first_derivative, 2: second_derivative}[len(mode)]
      wanted = order(theirs, each, *(along[k] for k in mode))
      # A divided difference of second order keeps two thirds of the digits.
      assert_near((out + out.T) / 2, wanted, 1e-9 if len(mode) == 1 else 2e-6)


@every_function
def test_derivatives_are_the_finite_differences(name, rng):
  fun, _ = FUNCTIONS[name]
  spectrum = with_spectrum(rng, SPECTRA["repeated"])
  x, e, c = map(jnp.asarray, (spectrum, symmetric(rng), symmetric(rng)))
  slope = jax.jit(jax.grad(lambda x: (c * fun(x)).sum()))
  h = 1e-5
  centred = lambda f: (f(x + h * e) - f(x - h * e)) / (2 * h)
  push = jax.jit(lambda x: jax.jvp(slope, (x,), (e,))[1])
  assert_near((slope(x) * e).sum(), (c * centred(fun)).sum(), 1e-7)
  assert_near(push(x), centred(slope), 1e-6)


def test_vmap_over_the_direction_alone(rng):
  x = jnp.asarray(with_spectrum(rng, SPECTRA["repeated"]))
  e = jnp.asarray(np.stack([symmetric(rng) for _ in range(3)]))
  along = lambda e: jax.jvp(spd.logm, (x,), (e,))[1]
  loop = jnp.stack([along(z) for z in e])
  np.testing.assert_allclose(jax.vmap(along)(e), loop, atol=1e-13)


def test_gradient_of_sum_log_at_identity_is_ones():
  for dtype in (jnp.float32, jnp.float64):
    slope = jax.jit(jax.grad(lambda x: spd.logm(x).sum()))
    g = slope(jnp.eye(3, dtype=dtype))
    np.testing.assert_allclose(g, np.ones((3, 3)), atol=1e-6)


def log_difference(*points):
  """Divided difference of the logarithm at two or three points, in float64."""
  low, *_, high = sorted(points)
  if low == high:
    return 1 / low if len(points) == 2 else -0.5 / low**2
  if len(points) == 2:
    return np.log(high / low) / (high - low)
  mid = sorted(points)[1]
  return (log_difference(mid, high) - log_difference(low, mid)) / (high - low)


@pytest.mark.parametrize(
  "values", [[1.0, 3.0, 2.0**25], [2.0**26] * 3, [1e9, 3e9, 3e9]], ids=str
)
def test_log_of_eigenvalues_past_2_to_24_in_float32(values, rng):
  # On the diagonal float32 knows the matrix exactly: so can the result be.
  x = np.diag(values)
  e, c = symmetric(rng, 3), symmetric(rng, 3)
  single = [jnp.asarray(a, jnp.float32) for a in (x, e, c)]
  slope = jax.grad(lambda x: (single[2] * spd.logm(x)).sum())
  push = jax.jit(lambda x, e: jax.jvp(slope, (x,), (e,)))
  value, (got, bend) = spd.logm(single[0]), push(*single[:2])
  np.testing.assert_allclose(value, np.diag(np.log(values)), rtol=1e-6)
  k = np.array([[log_difference(a, b) for b in values] for a in values])
  np.testing.assert_allclose(got, k * c, rtol=1e-5)
  k = np.array(
    [
      [[log_difference(a, b, m) for b in values] for m in values]
      for a in values
    ]
  )  # [i, m, j]
  terms = k * (e[:, :, None] * c[None] + c[:, :, None] * e[None])
  # float32 keeps two thirds of its digits of a second divided difference.
  gap = np.abs(np.asarray(bend, float) - terms.sum(1)) / np.abs(terms).sum(1)
  assert gap.max() < 1e-2


# SciPy warns of errors from 3e-13 on.
@pytest.mark.filterwarnings("ignore:logm result may be inaccurate")
@pytest.mark.parametrize("name", ["logm", "sqrtm", "inv_sqrtm", "powm_third"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e8])
def test_float32_agrees_with_float64(name, scale, rng):
  fun, theirs = FUNCTIONS[name]
  x = scale * with_spectrum(rng, [0.2, 0.9, 1.0, 4.0])
  e = scale * symmetric(rng)
  low = lambda a: jnp.asarray(a, jnp.float32)
  assert fun(low(x)).dtype == jnp.float32
  assert_near(fun(low(x)), theirs(x), 1e-5)
  wanted = first_derivative(theirs, x, e)
  got = jax.jvp(fun, (low(x),), (low(e),))[1]
  assert got.dtype == jnp.float32
  assert_near(got, wanted, 1e-4)


@pytest.mark.parametrize(
  "modes",
  [
    (jax.jacfwd, jax.jacfwd, jax.jacfwd),
    (jax.jacfwd, jax.jacrev, jax.jacrev),
    (jax.jacrev, jax.jacfwd, jax.jacrev),
  ],
)
def test_third_derivatives_raise(modes):
  fun = lambda t: spd.logm(t * jnp.eye(2) + jnp.ones((2, 2)))[0, 1]
  for mode in modes:
    fun = mode(fun)
  with pytest.raises(NotImplementedError, match="third derivatives"):
    fun(1.0)


def test_exp_does_not_overflow_before_its_result():
  s = jnp.diag(jnp.asarray([709.0, -709.0, -800.0]))
  slope = jax.grad(lambda s: jnp.trace(spd.expm(s)))(s)
  assert np.isfinite(slope).all()
  np.testing.assert_allclose(jnp.diagonal(slope)[0], np.exp(709.0), rtol=1e-12)


def test_power_differentiates_in_a_traced_exponent(rng):
  x = with_spectrum(rng, SPECTRA["spread"])
  slope = jax.jacfwd(lambda t: spd.powm(jnp.asarray(x), t))(0.5)
  wanted = scipy.linalg.logm(x) @ scipy.linalg.sqrtm(x)
  assert_near(slope, wanted, 1e-11)
