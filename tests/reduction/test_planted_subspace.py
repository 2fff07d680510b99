"""A subspace that separates the classes, hidden among loud directions."""

import jax.numpy as jnp
import numpy as np
import pytest

from spdjax import grassmann, reduction, spd

pytestmark = pytest.mark.slow

SIZE, DIM, CLASSES, EACH = 30, 10, 4, 50


def planted(rng):
  """Train and test matrices [2, N, n, n], labels [N], and the subspace.

  Inside the subspace an item is a covariance of 40 draws of its class; outside
  it variances are log-normal with deviation 1.5, whatever the class.
  """
  q = np.linalg.qr(rng.normal(size=(SIZE, SIZE)))[0]
  roots = []
  for _ in range(CLASSES):
    axes = np.linalg.qr(rng.normal(size=(DIM, DIM)))[0]
    roots.append(axes * np.exp(0.25 * rng.normal(size=DIM)))
  y = np.repeat(np.arange(CLASSES), EACH)
  sets = np.stack([[item(rng, q, roots[c]) for c in y] for _ in range(2)])
  return jnp.asarray(sets), y, q[:, :DIM]


def item(rng, q, root):
  signal = rng.normal(size=(40, DIM)) @ root.T
  scale = np.exp(0.75 * rng.normal(size=SIZE - DIM))
  noise = rng.normal(size=(3 * SIZE, SIZE - DIM)) * scale
  x = np.zeros((SIZE, SIZE))
  x[:DIM, :DIM] = signal.T @ signal / len(signal)
  x[DIM:, DIM:] = noise.T @ noise / len(noise)
  x = q @ x @ q.T
  return (x + x.T) / 2


@pytest.fixture(scope="module")
def problem():
  return planted(np.random.default_rng(0))


def accuracy(test, train, y, metric):
  nearest = spd.pairwise(test, train, metric=metric).argmin(1)
  return (y[np.asarray(nearest)] == y).mean()


@pytest.mark.parametrize("metric", ["stein", "airm", "jeffrey"])
def test_the_planted_subspace_is_found(metric, problem, key):
  (train, test), y, truth = problem
  assert accuracy(test, train, y, metric) <= 0.65
  found = reduction.fit(
    key, train, y, dim=DIM, metric=metric, within=5, between=5,
    starts=("pca", "between", "random"), whiten=True, max_steps=40,
  )  # fmt: skip
  small = [reduction.project(x, found.w) for x in (test, train)]
  assert accuracy(*small, y, metric) >= 0.99
  cosines = np.cos(grassmann.angles(found.w, jnp.asarray(truth)))
  assert (cosines**2).mean() >= 0.9
