"""Matrix functions, and their first and second derivatives, against SciPy.

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
from spdjax.spd import eigenvalues, spectral

FUNCTIONS = {
  "logm": (spd.logm, scipy.linalg.logm),
  "expm": (spd.expm, scipy.linalg.expm),
  "sqrtm": (spd.sqrtm, scipy.linalg.sqrtm),
  "inv_sqrtm": (
    spd.inv_sqrtm,
    lambda x: scipy.linalg.inv(scipy.linalg.sqrtm(x)),
  ),
  "powm_third": (
    lambda x: spd.powm(x, 1 / 3),
    lambda x: scipy.linalg.expm(scipy.linalg.logm(x) / 3),
  ),
  "powm_-1": (lambda x: spd.powm(x, -1), scipy.linalg.inv),
  "powm_2": (lambda x: spd.powm(x, 2), lambda x: x @ x),
  "powm_traced": (
    lambda x: spd.powm(x, jnp.asarray(0.7)),
    lambda x: scipy.linalg.expm(0.7 * scipy.linalg.logm(x)),
  ),
}
SPECTRA = {
  "spread": [0.05, 0.4, 2.0, 6.0],
  "identity": [1.0, 1.0, 1.0, 1.0],
  "repeated": [0.3, 2.0, 2.0, 2.0],
  "cluster": [0.5, 1.0, 1 + 1e-9, 1 + 1e-5],
}
every_function = pytest.mark.parametrize("name", FUNCTIONS)
every_spectrum = pytest.mark.parametrize("spectrum", SPECTRA)


def symmetric(rng, n=4):
  a = rng.normal(size=(n, n))
  return a + a.T


def with_spectrum(rng, values):
  q = np.linalg.qr(rng.normal(size=(len(values), len(values))))[0]
  x = (q * np.asarray(values)) @ q.T
  return (x + x.T) / 2


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
  scale = np.abs(wanted).max() or 1.0
  np.testing.assert_allclose(actual, wanted, rtol=0, atol=tol * scale)


@every_function
def test_values_are_scipys(name, rng):
  ours, theirs = FUNCTIONS[name]
  x = np.stack([with_spectrum(rng, s) for s in SPECTRA.values()])
  for got, each in zip(ours(jnp.asarray(x)), x, strict=True):
    assert_near(got, theirs(each), 1e-11)


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


@every_function
def test_results_are_symmetric_bit_for_bit(name, rng):
  fun, _ = FUNCTIONS[name]
  out = fun(jnp.asarray(1e-4 * with_spectrum(rng, [1.0, 2.0, 3.0, 9.0])))
  np.testing.assert_array_equal(out, out.T)


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


def test_exp_does_not_overflow_before_its_result():
  s = jnp.diag(jnp.asarray([709.0, -709.0, -800.0]))
  slope = jax.grad(lambda s: jnp.trace(spd.expm(s)))(s)
  assert np.isfinite(slope).all()
  np.testing.assert_allclose(jnp.diagonal(slope)[0], np.exp(709.0), rtol=1e-12)


def test_sym_is_the_symmetric_part():
  x = jnp.asarray([[[1.0, 4.0], [2.0, 3.0]]])
  np.testing.assert_array_equal(spd.sym(x), [[[1.0, 3.0], [3.0, 3.0]]])


def test_power_differentiates_in_a_traced_exponent(rng):
  x = with_spectrum(rng, SPECTRA["spread"])
  slope = jax.jacfwd(lambda t: spd.powm(jnp.asarray(x), t))(0.5)
  wanted = scipy.linalg.logm(x) @ scipy.linalg.sqrtm(x)
  assert_near(slope, wanted, 1e-11)


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
