"""The small problems that the tests of the costs share."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax import reduction, spd
from spdjax.reduction import graph

supervised = jax.jit(reduction.supervised, static_argnames="metric")


every_metric = pytest.mark.parametrize("metric", spd.METRICS)


N, SIZE, DIM = 9, 5, 2


def spd_matrices(rng, count=N, n=SIZE):
  a = rng.normal(size=(count, n, 2 * n))
  return a @ np.swapaxes(a, -1, -2) / n


def basis(rng):
  return np.linalg.qr(rng.normal(size=(SIZE, DIM)))[0]


def some_edges(rng, count=N, size=14):
  i, j = np.triu_indices(count, 1)
  pick = rng.choice(len(i), size, replace=False)
  weight = rng.choice([-1.0, 1.0, 0.5], size)
  return graph.Edges(
    jnp.asarray(i[pick], jnp.int32),
    jnp.asarray(j[pick], jnp.int32),
    jnp.asarray(weight),
  )
