"""The greedy selection, and the columns that it solves on."""

import jax.numpy as jnp
import numpy as np
import pytest

from spdjax import stumps
from spdjax.stumps import theta as thetas

pytestmark = pytest.mark.slow


def test_columns_of_packed_bits(rng):
  bits = rng.random((13, 21)) < 0.5
  columns = np.array([20, 0, 7, 8, 8, 3])
  own = thetas.take_columns(stumps.pack(bits), jnp.asarray(columns))
  np.testing.assert_array_equal(stumps.unpack(own), bits[:, columns])
  floats = jnp.asarray(bits, float)
  np.testing.assert_array_equal(
    thetas.take_columns(floats, jnp.asarray(columns)), floats[:, columns]
  )


def test_greedy_finds_the_columns_that_tell(key, rng):
  """Two bits of 64 make the label; the others are coins."""
  bits = rng.random((400, 64)) < 0.5
  y = jnp.asarray(2 * bits[:, 41] + bits[:, 50])
  theta, info = thetas.greedy(
    key, stumps.pack(bits), y,
    num_classes=4, keep=8, c=1.0, weight=None, tol=None,
  )  # fmt: skip
  kept = np.flatnonzero(theta)
  assert info.converged and len(kept) == 8
  assert {41, 50} <= set(kept.tolist())
  np.testing.assert_allclose(theta[kept], 1 / 8)
