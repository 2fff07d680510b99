"""The five metrics against closed forms, SciPy, pyRiemann and each other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from spdjax import spd

# Compiled once a shape for the whole file.
METRICS = {name: jax.jit(fun) for name, fun in spd.METRICS.items()}


distance = jax.jit(spd.distance, static_argnames="metric")


INVARIANT = ("airm", "stein", "jeffrey")


every_metric = pytest.mark.parametrize("metric", spd.METRICS)


invariant_metric = pytest.mark.parametrize("metric", INVARIANT)


# Each metric as a sum over the logs l of the generalised eigenvalues.
OF_LOGS = {
  "airm": lambda l: (l**2).sum(),
  "stein": lambda l: np.log(np.cosh(l / 2)).sum(),
  "jeffrey": lambda l: (np.cosh(l) - 1).sum(),
}


def spd_matrix(rng, n=4, spread=1.0):
  q = np.linalg.qr(rng.normal(size=(n, n)))[0]
  x = (q * np.exp(spread * rng.normal(size=n))) @ q.T
  return (x + x.T) / 2


def symmetric(rng, n=4):
  a = rng.normal(size=(n, n))
  return a + a.T


def logs_of(x, y):
  return np.log(scipy.linalg.eigh(y, x, eigvals_only=True))


def reference(metric, x, y):
  """In float64, by SciPy's generalised eigenvalues and logarithm."""
  if metric in OF_LOGS:
    return OF_LOGS[metric](logs_of(x, y))
  if metric == "log_euclidean":
    return ((scipy.linalg.logm(x) - scipy.linalg.logm(y)) ** 2).sum()
  return ((x - y) ** 2).sum()


@pytest.mark.parametrize("spread", [0.01, 1.0, 3.0])
@every_metric
def test_value_is_scipys(metric, spread, rng):
  for n in (1, 2, 5):
    x, y = spd_matrix(rng, n, spread), spd_matrix(rng, n, spread)
    got = METRICS[metric](jnp.asarray(x), jnp.asarray(y))
    np.testing.assert_allclose(got, reference(metric, x, y), rtol=1e-8)


@pytest.mark.parametrize(
  ("ours", "theirs"),
  [
    ("airm", "riemann"),
    ("stein", "logdet"),
    ("jeffrey", "kullback_sym"),
    ("log_euclidean", "logeuclid"),
    ("euclidean", "euclid"),
  ],
)
def test_value_is_pyriemanns_and_its_spelling_works(ours, theirs, rng):
  theirs_of = pytest.importorskip("pyriemann.utils.distance").distance
  x, y = (np.stack([spd_matrix(rng) for _ in range(3)]) for _ in range(2))
  got = distance(jnp.asarray(x), jnp.asarray(y), metric=theirs)
  wanted = [theirs_of(a, b, metric=theirs) for a, b in zip(x, y, strict=True)]
  if ours == "jeffrey":  # pyRiemann's is not a root
    wanted = np.sqrt(wanted)
  np.testing.assert_allclose(got, wanted, rtol=1e-9)
  assert spd.metric_name(theirs) == ours == spd.metric_name(ours)
  np.testing.assert_array_equal(
    got, distance(jnp.asarray(x), jnp.asarray(y), metric=ours)
  )


def test_an_unknown_metric_is_named():
  with pytest.raises(ValueError, match="unknown metric 'wasserstein'"):
    distance(jnp.eye(2), jnp.eye(2), metric="wasserstein")


@pytest.mark.parametrize(
  ("metric", "x", "y", "wanted"),
  [
    ("airm", [2.0], [8.0], np.log(4) ** 2),
    ("stein", [1e-3] * 200, [4e-3] * 200, 200 * np.log(1.25)),
    ("jeffrey", [1.0, 2.0], [3.0, 5.0], 67 / 60),
    ("log_euclidean", [1.0, np.e], [np.e, 1.0], 2.0),
    ("euclidean", [1.0, 2.0], [3.0, 5.0], 13.0),
    ("airm", [1e-3] * 200, [4e-3] * 200, 200 * np.log(4) ** 2),
    ("jeffrey", [1e-3] * 200, [4e-3] * 200, 200 * (4 + 1 / 4) / 2 - 200),
  ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_diagonal_closed_forms(metric, x, y, wanted, dtype):
  x, y = (jnp.diag(jnp.asarray(a, dtype)) for a in (x, y))
  got = METRICS[metric](x, y)
  assert got.dtype == dtype
  np.testing.assert_allclose(got, wanted, rtol=100 * np.finfo(dtype).eps)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**31), spread=st.floats(0.01, 2.0))
def test_invariance_and_identities_in_l(seed, spread):
  rng = np.random.default_rng(seed)
  x, y = spd_matrix(rng, 3, spread), spd_matrix(rng, 3, spread)
  a = rng.normal(size=(3, 3)) + 3 * np.eye(3)
  turned = [spd.sym(jnp.asarray(a @ z @ a.T)) for z in (x, y)]
  inverted = [spd.sym(jnp.asarray(np.linalg.inv(z))) for z in (x, y)]
  l = logs_of(x, y)
  for metric in INVARIANT:
    fun, wanted = METRICS[metric], OF_LOGS[metric](l)
    tol = 1e-6 * wanted + 1e-9
    for pair in ((x, y), (y, x), turned, inverted):
      got = fun(*map(jnp.asarray, pair))
      assert abs(got - wanted) < tol, metric


@pytest.mark.parametrize("delta", [1e-1, 1e-3, 1e-5, 1e-7, 1e-9])
def test_near_equality_ratios(delta, rng):
  # log cosh(l/2) = l^2/8 - l^4/192 + ..., cosh l - 1 = l^2/2 + l^4/24 + ...
  x = spd_matrix(rng)
  y = jnp.asarray(x + delta * symmetric(rng) * np.linalg.norm(x) / 100)
  airm, stein, jeffrey = (METRICS[m](jnp.asarray(x), y) for m in INVARIANT)
  rtol = float(airm) / 12 + 1e-9
  np.testing.assert_allclose(8 * stein, airm, rtol=rtol)
  np.testing.assert_allclose(2 * jeffrey, airm, rtol=rtol)
  assert airm > 0


@pytest.mark.parametrize("delta", [2.0**-k for k in (2, 10, 20, 30, 45)])
@invariant_metric
def test_nearly_equal_matrices_keep_their_digits(metric, delta):
  # 1 + delta is exact, so the closed form is known to full precision.
  x, y = jnp.eye(3), (1 + delta) * jnp.eye(3)
  l = np.log1p(delta)
  wanted = {
    "airm": 3 * l**2,
    "stein": 1.5 * np.log1p(delta**2 / (4 * (1 + delta))),
    "jeffrey": 1.5 * delta**2 / (1 + delta),
  }[metric]
  np.testing.assert_allclose(METRICS[metric](x, y), wanted, rtol=1e-13)


@every_metric
def test_float32_draws_are_never_negative(metric, rng):
  x = jnp.asarray(np.stack([spd_matrix(rng) for _ in range(100)]), jnp.float32)
  near = spd.sym(x * (1 + 1e-6))
  assert (METRICS[metric](x, near) >= 0).all()
  assert np.isfinite(distance(x, near, metric=metric)).all()


@every_metric
def test_float32_value_agrees_with_float64(metric, rng):
  x, y = (np.stack([spd_matrix(rng) for _ in range(20)]) for _ in range(2))
  fun = METRICS[metric]
  got = fun(jnp.asarray(x, jnp.float32), jnp.asarray(y, jnp.float32))
  assert got.dtype == jnp.float32
  np.testing.assert_allclose(got, fun(x, y), rtol=3e-4)


@every_metric
def test_broadcasting_is_vmap_is_a_loop(metric, rng):
  fun = METRICS[metric]
  x = jnp.asarray(np.stack([spd_matrix(rng, 3) for _ in range(3)]))
  y = jnp.asarray(np.stack([spd_matrix(rng, 3) for _ in range(2)]))
  single = jax.jit(fun)
  loop = jnp.stack([jnp.stack([single(a, b) for b in y]) for a in x])
  mapped = jax.vmap(lambda a: jax.vmap(lambda b: fun(a, b))(y))(x)
  np.testing.assert_allclose(fun(x[:, None], y[None]), loop, rtol=1e-12)
  np.testing.assert_allclose(mapped, loop, rtol=1e-12)


@pytest.mark.parametrize("metric", [m for m in spd.METRICS if m != "euclidean"])
def test_an_indefinite_matrix_gives_nan(metric):
  bad = jnp.asarray([[1.0, 2.0], [2.0, 1.0]])
  assert np.isnan(METRICS[metric](bad, jnp.eye(2)))
  assert np.isnan(METRICS[metric](jnp.eye(2), bad))
  assert np.isnan(distance(bad, jnp.eye(2), metric=metric))


@every_metric
def test_sizes_that_do_not_match_raise(metric):
  with pytest.raises(ValueError):
    METRICS[metric](jnp.eye(3), jnp.eye(4))


def test_logdet_does_not_underflow():
  assert spd.logdet(1e-3 * jnp.eye(200)) == pytest.approx(200 * np.log(1e-3))


def bregman(value, slope, x, y):
  """zeta(X) - zeta(Y) - <zeta'(Y), X - Y>, definition 2."""
  return value(x) - value(y) - (slope(y) * (x - y)).sum()


def test_bregman_euclidean_form(rng):
  # zeta = ||X||_F^2 / 2, symmetrised (B(X, Y) + B(Y, X)) / 2: half the metric.
  x, y = spd_matrix(rng), spd_matrix(rng)
  form = lambda a, b: bregman(lambda z: (z**2).sum() / 2, lambda z: z, a, b)
  wanted = form(x, y) + form(y, x)
  np.testing.assert_allclose(
    spd.euclidean(jnp.asarray(x), jnp.asarray(y)), wanted, rtol=1e-12
  )


def test_bregman_stein_and_jeffrey_forms(rng):
  # zeta = -log det: Jensen-Shannon symmetrisation gives Stein's divergence, the
  # mean of both orders Jeffrey's (definitions 3 and 4).
  x, y = spd_matrix(rng), spd_matrix(rng)
  form = lambda a, b: bregman(
    lambda z: -np.linalg.slogdet(z)[1], lambda z: -np.linalg.inv(z), a, b
  )
  middle = (x + y) / 2
  stein = (form(x, middle) + form(y, middle)) / 2
  jeffrey = (form(x, y) + form(y, x)) / 2
  ours = [f(jnp.asarray(x), jnp.asarray(y)) for f in (spd.stein, spd.jeffrey)]
  np.testing.assert_allclose(ours, [stein, jeffrey], rtol=1e-10)
