"""Distances of all pairs and means, beside pyRiemann; float64."""

import functools

import jax.numpy as jnp
import numpy as np
from pyriemann.utils.distance import pairwise_distance
from pyriemann.utils.mean import mean_riemann

from benchmarks import harness
from spdjax import spd

DTYPE = "float64"
PEERS = {
  "airm": ("riemann", 2),
  "stein": ("logdet", 8),
  "jeffrey": ("kullback_sym", 200),
  "log_euclidean": ("logeuclid", 10),
}


def matrices(count, n, seed=0):
  """Covariances of 3 n samples, [count, n, n]."""
  a = np.random.default_rng(seed).normal(size=(count, n, 3 * n))
  return a @ a.mT / (3 * n)


def pairs(count, n, **more):
  x = matrices(count, n)
  own = jnp.asarray(x)
  for metric, (name, goal) in PEERS.items():
    # Their symmetric divergence is no root; its square would be one too many.
    squared = metric != "jeffrey"
    slow = metric != "log_euclidean"
    yield harness.compare(
      f"pairwise {metric}, {count} of {n} x {n}",
      lambda m=metric: spd.pairwise(own, metric=m),
      lambda m=name, s=squared: pairwise_distance(x, metric=m, squared=s),
      name="pyRiemann",
      goal=goal,
      difference=harness.relative,
      repeats=5 if slow else 15,
      peer_repeats=2 if slow else None,
      dtype=DTYPE,
      **more,
    )


def means():
  for count, n in ((1000, 20), (200, 43), (300, 8)):
    x = matrices(count, n)
    own = jnp.asarray(x)
    yield harness.compare(
      f"mean airm, {count} of {n} x {n}, to 1e-8",
      lambda o=own: spd.mean(o, metric="airm", tol=1e-8)[0],
      lambda x=x: mean_riemann(x, tol=1e-8, maxiter=100),
      name="pyRiemann",
      goal=2,
      difference=harness.relative,
      dtype=DTYPE,
    )
  x = matrices(5000, 20).reshape(100, 50, 20, 20)
  own = jnp.asarray(x)
  yield harness.compare(
    "means airm, 100 groups of 50 of 20 x 20, to 1e-8",
    lambda: spd.mean(own, metric="airm", tol=1e-8)[0],
    lambda: np.stack([mean_riemann(z, tol=1e-8, maxiter=100) for z in x]),
    name="pyRiemann",
    goal=3,
    difference=harness.relative,
    dtype=DTYPE,
  )


def scaling():
  """Our time against the number and the size of the matrices."""
  for metric in PEERS:
    for axis, sizes in (
      ("N", [(count, 20) for count in (50, 100, 200, 400)]),
      ("n", [(100, n) for n in (5, 10, 20, 40, 80)]),
    ):
      for count, n in sizes:
        own = jnp.asarray(matrices(count, n))
        yield harness.alone(
          f"pairwise {metric}, {count} of {n} x {n}",
          functools.partial(spd.pairwise, own, metric=metric),
          repeats=3,
          curve=f"pairwise {metric}",
          axis=axis,
          at=count if axis == "N" else n,
        )


def rows():
  yield from pairs(500, 20)
  yield from pairs(300, 43)
  yield from means()
  yield from scaling()
