"""Vectors of adapted mixtures against matrix logarithms and derivatives."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads
from scipy import linalg
from skimage.feature import fisher_vector
from sklearn.mixture import GaussianMixture

from spdjax import gaussians
from tests.gaussians.cases import D, K, cast, items, random_mixture

log_map = jax.jit(gaussians.log_map)
affine_log = jax.jit(gaussians.affine_log)
fisher = jax.jit(gaussians.fisher)
VECTORS = {
  name: jax.jit(getattr(gaussians, name)) for name in ("lag", "rlag", "klvec")
}


@pytest.fixture
def pair(rng):
  """(image, base)."""
  return tuple(
    gaussians.Mixture(*(jnp.asarray(a) for a in random_mixture(rng)))
    for _ in range(2)
  )


def gaussian(mean, sigma, kind="float64"):
  """One component in one dimension."""
  fields = [1.0], [[mean]], [[sigma**2]]
  return gaussians.Mixture(*(jnp.asarray(a, kind) for a in fields))


def test_eq25_is_scipys_matrix_logarithm(pair):
  image, base = (cast(mix, float) for mix in pair)
  scale, shift = gaussians.log_map(*pair)
  matrix = lambda mix, k, d: np.array(
    [[np.sqrt(mix.var[k, d]), mix.mean[k, d]], [0, 1]]
  )
  for k in range(K):
    for d in range(D):
      m = np.linalg.solve(matrix(base, k, d), matrix(image, k, d))
      right = linalg.logm(m)
      np.testing.assert_allclose(scale[k, d], right[0, 0], atol=1e-13)
      np.testing.assert_allclose(shift[k, d], right[0, 1], rtol=1e-11)
  for got, eager in zip(log_map(*pair), (scale, shift), strict=True):
    np.testing.assert_allclose(got, eager, rtol=1e-12)


def test_eq25_is_the_diagonal_case_of_the_affine_logarithm(pair):
  image, base = (cast(mix, float) for mix in pair)
  scale, shift = log_map(*pair)
  m = np.zeros((K, D + 1, D + 1))
  m[:, D, D] = 1
  sigma = np.sqrt(base.var)
  m[:, range(D), range(D)] = np.sqrt(image.var) / sigma
  m[:, :D, D] = (image.mean - base.mean) / sigma
  log = np.asarray(affine_log(m))
  np.testing.assert_allclose(log[:, range(D), range(D)], scale, atol=1e-13)
  np.testing.assert_allclose(log[:, :D, D], shift, atol=1e-13)


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize(
  ("sigma", "scale", "shift"),
  [
    (2.0, math.log(2), 3 * math.log(2)),
    (1.0, 0.0, 3.0),
    (0.5, -math.log(2), 6 * math.log(2)),
    (1e-6, math.log(1e-6), 3 * math.log(1e-6) / (1e-6 - 1)),
    (1e6, math.log(1e6), 3 * math.log(1e6) / (1e6 - 1)),
  ],
)
def test_logarithm_of_a_gaussian_against_the_standard_one(
  sigma, scale, shift, kind
):
  got = log_map(gaussian(3.0, sigma, kind), gaussian(0.0, 1.0, kind))
  rtol = 4 * np.finfo(kind).eps
  np.testing.assert_allclose(np.ravel(got), [scale, shift], rtol=rtol)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_accuracy_is_relative_near_equal_variances(kind, rng):
  """A few units in the last place apart, up to factors."""
  eps = np.finfo(kind).eps
  sizes = np.concatenate([2.0 ** np.arange(0, -np.log2(eps) - 1), [0]])
  base = (0.1 + rng.random((1, 2 * len(sizes)))).astype(kind)
  image = base * (1 + eps * np.concatenate([sizes, -sizes]).astype(kind))
  wide = [a.astype(np.longdouble) for a in (image, base)]
  scale = np.log1p((wide[0] - wide[1]) / wide[1]) / 2
  safe = np.where(scale, scale, 1)
  ratio = np.where(scale, safe / np.expm1(safe), 1)
  ones, one = np.ones_like(base), np.ones(1, kind)
  got = log_map(
    gaussians.Mixture(one, 3 * ones, image),
    gaussians.Mixture(one, 0 * ones, base),
  )
  right = scale, 3 * ratio / np.sqrt(wide[1])
  assert (scale == 0).any() and (scale != 0).all(0).any()
  for a, b in zip(got, right, strict=True):
    np.testing.assert_allclose(a, b.astype(float), rtol=3 * eps)


def shift(l):
  """That of N(1, exp(2 l)) against N(0, 1)."""
  one = jnp.ones_like(l)[None, None]
  image = gaussians.Mixture(one[0], one, jnp.exp(2 * l)[None, None])
  return gaussians.log_map(image, gaussians.Mixture(one[0], 0 * one, one))[1][
    0, 0
  ]


by_scale = jax.jit(jax.grad(shift))
twice_by_scale = jax.jit(jax.grad(jax.grad(shift)))


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("step", [0.0, 1e-6, 1e-3, 0.2, 0.3, 1.0, -1.0])
def test_derivatives_by_the_log_scale(step, kind):
  """d/dl of l / (e^l - 1): -1/2 and 1/6 at 0, smooth around."""
  l = np.longdouble(step)
  near = abs(l) < 0.01
  e = np.expm1(l) if not near else np.longdouble(1)
  first = -0.5 + l / 6 - l**3 / 180 if near else (e - l * (e + 1)) / e**2
  second = 1 / 6 - l**2 / 60 if near else (e + 1) * (l * (e + 2) - 2 * e) / e**3
  got = by_scale(jnp.asarray(step, kind))
  tol = 40 * np.finfo(kind).eps
  np.testing.assert_allclose(got, float(first), rtol=tol)
  if kind == "float64":
    got = twice_by_scale(jnp.asarray(step, kind))
    np.testing.assert_allclose(got, float(second), rtol=1e-9)


def test_derivatives_of_the_map_at_the_base(pair):
  base = pair[1]
  total = jax.jit(
    lambda mean, var: sum(
      a.sum()
      for a in gaussians.log_map(base._replace(mean=mean, var=var), base)
    )
  )
  mean, var = jax.jit(jax.grad(total, (0, 1)))(base.mean, base.var)
  np.testing.assert_allclose(mean, base.var**-0.5, rtol=1e-12)
  np.testing.assert_allclose(var, 1 / (2 * base.var), rtol=1e-12)
  check_grads(total, (pair[0].mean, pair[0].var), 1, modes=["rev"])


def test_extreme_variances_stay_finite():
  for sigma in (1e-18, 1e18):
    got = log_map(gaussian(1.0, sigma, "float32"), gaussian(0, 1.0, "float32"))
    assert np.isfinite(np.ravel(got)).all()


def test_layout_is_component_by_component(pair):
  image, base = pair
  scale, shift = (np.asarray(a) for a in log_map(image, base))
  root = np.sqrt(np.asarray(image.weight))
  lag, rlag, klvec = (
    np.asarray(VECTORS[name](image, base)) for name in ("lag", "rlag", "klvec")
  )
  assert lag.shape == (2 * K * D,) and rlag.shape == klvec.shape == (K * D,)
  for k in range(K):
    own = lag[2 * D * k : 2 * D * (k + 1)]
    np.testing.assert_allclose(own[:D], root[k] * scale[k], rtol=1e-12)
    np.testing.assert_allclose(own[D:], root[k] * shift[k], rtol=1e-12)
    sigma = np.sqrt(base.var[k])
    mean = np.asarray(image.mean[k])
    own = slice(D * k, D * (k + 1))
    right = root[k] * (mean - base.mean[k]) / sigma
    np.testing.assert_allclose(rlag[own], right, rtol=1e-12)
    right = root[k] * mean / sigma
    np.testing.assert_allclose(klvec[own], right, rtol=1e-12)


def test_the_reduced_vector_is_the_limit_of_equal_variances(pair):
  image, base = pair
  image = image._replace(var=base.var)
  both = np.asarray(VECTORS["lag"](image, base)).reshape(K, 2, D)
  np.testing.assert_array_equal(both[:, 0], 0)
  right = np.asarray(VECTORS["rlag"](image, base)).reshape(K, D)
  np.testing.assert_allclose(both[:, 1], right, rtol=1e-14)
  assert not np.asarray(VECTORS["lag"](base, base)).any()
  assert not np.asarray(VECTORS["rlag"](base, base)).any()


def test_lag_sees_no_shift_or_scale_of_a_dimension(pair):
  scale, shift = np.array([[1e-3, 1, 50.0]]), np.array([[5.0, -20, 1e3]])
  moved = [
    gaussians.Mixture(m.weight, m.mean * scale + shift, m.var * scale**2)
    for m in (cast(m, float) for m in pair)
  ]
  for f in (VECTORS["lag"], VECTORS["rlag"]):
    np.testing.assert_allclose(f(*moved), f(*pair), rtol=1e-9)


@pytest.mark.parametrize("name", ["lag", "rlag", "klvec"])
def test_a_component_of_weight_0_gives_zeros(name, pair):
  image, base = (
    mix._replace(
      weight=mix.weight.at[1].set(0), mean=mix.mean.at[1].set(jnp.nan)
    )
    for mix in pair
  )
  got = np.asarray(VECTORS[name](image, base)).reshape(K, -1)
  right = np.asarray(VECTORS[name](*pair)).reshape(K, -1)
  assert not got[1].any()
  np.testing.assert_allclose(np.delete(got, 1, 0), np.delete(right, 1, 0))
  total = lambda w: VECTORS[name](pair[0]._replace(weight=w), pair[1]).sum()
  assert np.isfinite(jax.jit(jax.grad(total))(image.weight)).all()


def test_fisher_is_skimages(rng):
  base = random_mixture(rng)
  x = items(rng, random_mixture(rng), 80)
  peer = GaussianMixture(K, covariance_type="diag")
  peer.weights_, peer.means_, peer.covariances_ = base
  peer.precisions_cholesky_ = 1 / np.sqrt(base.var)
  # Weights first, then all means, then all variances with the other sign.
  means, scales = fisher_vector(x, peer)[K:].reshape(2, K, D)
  right = np.stack([means, -scales], 1).ravel()
  got = fisher(gaussians.statistics(base, x), base)
  np.testing.assert_allclose(got, right, rtol=1e-10, atol=1e-12)


def test_fisher_is_the_scaled_derivative_of_the_log_likelihood(pair, rng):
  base, x = pair[1], jnp.asarray(items(rng, cast(pair[0], float), 80))

  def mean(centre, sigma):
    mix = gaussians.Mixture(base.weight, centre, sigma**2)
    return gaussians.log_likelihood(mix, x).mean()

  sigma = jnp.sqrt(base.var)
  by = jax.jit(jax.grad(mean, (0, 1)))(base.mean, sigma)
  root = jnp.sqrt(base.weight)[:, None]
  right = [by[0] * sigma / root, by[1] * sigma / root / 2**0.5]
  got = fisher(gaussians.statistics(base, x), base)
  np.testing.assert_allclose(got, np.stack(right, 1).ravel(), atol=1e-12)


def test_fisher_of_nothing_is_0(pair):
  base = pair[1]._replace(weight=pair[1].weight.at[0].set(0))
  own = gaussians.statistics(base, np.ones((3, D)), np.zeros(3))
  assert not np.asarray(fisher(own, base)).any()
  own = gaussians.statistics(base, np.ones((3, D)))
  got = np.asarray(fisher(own, base))
  assert not got[: 2 * D].any() and np.isfinite(got).all() and got.any()


def test_vmap_over_images(pair):
  image, base = pair
  batch = jax.tree.map(lambda *a: jnp.stack(a), image, base)
  got = jax.jit(jax.vmap(gaussians.lag, (0, None)))(batch, base)
  right = VECTORS["lag"](image, base)
  np.testing.assert_allclose(got[0], right, rtol=1e-12)
  assert not np.asarray(got[1]).any()


@pytest.mark.parametrize("name", ["log_map", "lag", "rlag", "klvec"])
def test_refuses_mixtures_that_differ(name, pair):
  image, base = pair
  short = gaussians.Mixture(*(a[:-1] for a in image))
  with pytest.raises(ValueError, match="image must have means"):
    getattr(gaussians, name)(short, base)
  with pytest.raises(ValueError, match="base must have fields"):
    getattr(gaussians, name)(image, base._replace(var=base.weight))
  with pytest.raises(ValueError, match="image must have fields"):
    getattr(gaussians, name)(image._replace(mean=base.weight), base)


def test_fisher_refuses(pair):
  own = gaussians.statistics(pair[0], np.ones((3, D)))
  with pytest.raises(ValueError, match="base must have fields"):
    gaussians.fisher(own, pair[0]._replace(mean=np.ones(3)))
  with pytest.raises(ValueError, match="statistics must have shapes"):
    gaussians.fisher(own._replace(n=np.ones(3)), pair[0])
