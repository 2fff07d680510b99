"""The logarithm of upper triangular affine matrices against scipy."""

import jax
import numpy as np
import pytest
from scipy import linalg

from spdjax import gaussians

SIZE = 5
affine_log = jax.jit(gaussians.affine_log)
slope = jax.jit(jax.grad(lambda m, w: (gaussians.affine_log(m) * w).sum()))

DIAGONALS = {
  "spread": [0.2, 3.0, 0.7, 11.0],
  "equal": [2.0, 2.0, 2.0, 2.0],
  "pairs": [0.5, 3.0, 0.5, 3.0],
  "nearly equal": [2.0, 2.0 + 1e-9, 2.0 - 1e-12, 2.0],
  "ones": [1.0, 1.0, 1.0, 1.0],
  "far": [1e-3, 1e3, 1e-3, 1e3],
}


def affine(rng, diagonal, size=1.0):
  m = np.diag([*diagonal, 1.0])
  m += size * np.triu(rng.normal(size=m.shape), 1)
  return m


@pytest.mark.parametrize("name", DIAGONALS)
def test_is_scipys_logm(name, rng):
  m = affine(rng, DIAGONALS[name])
  right = linalg.logm(m)
  got = np.asarray(affine_log(m))
  limit = 1e-10 * np.abs(right).max()
  np.testing.assert_allclose(got, right, atol=limit)
  np.testing.assert_allclose(np.diag(got), np.log(np.diag(m)), rtol=1e-14)
  assert not np.tril(got, -1).any() and not got[-1].any()
  np.testing.assert_allclose(linalg.expm(got), m, rtol=1e-9, atol=1e-10)


def test_many_random_ones_in_one_batch(rng):
  m = np.stack(
    [affine(rng, np.exp(rng.normal(size=SIZE - 1))) for _ in range(12)]
  ).reshape(3, 4, SIZE, SIZE)
  got = affine_log(m)
  for index in np.ndindex(3, 4):
    right = linalg.logm(m[index])
    np.testing.assert_allclose(got[index], right, atol=1e-10)


@pytest.mark.parametrize(
  ("m", "right"),
  [
    ([[1.0, 0, 7], [0, 1, 0], [0, 0, 1]], [[0.0, 0, 7], [0] * 3, [0] * 3]),
    ([[1.0, 2, 3], [0, 1, 4], [0, 0, 1]], [[0.0, 2, -1], [0, 0, 4], [0] * 3]),
    (
      [[2.0, 0, 3], [0, np.e, 0], [0, 0, 1]],
      [[np.log(2), 0, 3 * np.log(2)], [0, 1, 0], [0] * 3],
    ),
  ],
)
def test_known_values(m, right):
  np.testing.assert_allclose(affine_log(np.array(m)), right, atol=1e-14)


@pytest.mark.parametrize("name", DIAGONALS)
def test_logarithms_of_a_square_and_of_the_inverse(name, rng):
  m = affine(rng, DIAGONALS[name])
  log = np.asarray(affine_log(m))
  limit = {"atol": 1e-11 * np.abs(m).max() ** 2}
  np.testing.assert_allclose(affine_log(m @ m), 2 * log, **limit)
  np.testing.assert_allclose(affine_log(np.linalg.inv(m)), -log, **limit)


@pytest.mark.parametrize("name", ["spread", "equal", "pairs", "ones"])
def test_derivatives_at_repeated_entries(name, rng):
  m = affine(rng, DIAGONALS[name], size=0.3)
  weight, step = rng.normal(size=(2, SIZE, SIZE))
  got = np.asarray(slope(m, weight))
  assert np.isfinite(got).all() and not np.tril(got, -1).any()
  h = 1e-5
  ends = [(affine_log(m + s * h * step) * weight).sum() for s in (1, -1)]
  right = (ends[0] - ends[1]) / (2 * h)
  np.testing.assert_allclose((got * step).sum(), right, rtol=1e-7)


def test_float32(rng):
  m = affine(rng, DIAGONALS["pairs"]).astype(np.float32)
  got = affine_log(m)
  assert got.dtype == np.float32
  right = linalg.logm(m.astype(float))
  np.testing.assert_allclose(got, right, atol=5e-6 * np.abs(right).max())


def test_what_is_below_the_diagonal_is_not_read(rng):
  m = affine(rng, DIAGONALS["spread"])
  below = m + np.tril(np.full_like(m, np.nan), -1)
  np.testing.assert_array_equal(affine_log(below), affine_log(m))


def test_a_diagonal_that_is_not_positive_gives_nan(rng):
  for value in (0.0, -1.0):
    m = affine(rng, [0.5, value, 2.0, 1.0])
    assert np.isnan(affine_log(m)).any() or np.isinf(affine_log(m)).any()


@pytest.mark.parametrize("shape", [(3,), (2, 3), (4, 2, 3)])
def test_refuses_what_is_not_square(shape):
  with pytest.raises(ValueError, match=r"m must be \[\.\.\., d \+ 1, d \+ 1\]"):
    gaussians.affine_log(np.ones(shape))
