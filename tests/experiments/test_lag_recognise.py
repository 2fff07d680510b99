"""Recognition from inner products equals that from the vectors themselves."""

import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.svm import LinearSVC

from configs import lag_scenes
from experiments.lag import recognise
from spdjax.classify import centroids, nuisance, remove


def problem(rng, num=40, other=9, dim=25):
  y = np.arange(num) % 4
  x = rng.normal(size=(num + other, dim)) + 2 * rng.normal(size=(1, dim))
  x[:num, :4] += 3 * np.eye(4)[y]
  return x[:num], x[num:], y


@pytest.mark.parametrize("rank", [0, 1, 7])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_scores_are_those_of_projected_vectors(rank, metric, rng):
  x, z, y = problem(rng)
  found = recognise.centroids(recognise.directions(x @ x.T, y, 4), rank)
  own = recognise.scores(found, z @ x.T, metric)
  u = nuisance(jnp.asarray(x), y, rank=rank)
  means = centroids(remove(jnp.asarray(x), u), y, num_classes=4)
  means, left = np.asarray(means), np.asarray(remove(jnp.asarray(z), u))
  if metric == "cosine":
    right = left @ means.T / np.linalg.norm(means, axis=1)[None]
  else:
    # Without the square of the vector itself, which all classes share.
    right = 2 * left @ means.T - (means**2).sum(1)[None]
  np.testing.assert_allclose(own, right, atol=1e-8)
  # The saved model is C vectors: no projection is needed any more.
  np.testing.assert_allclose(x.T @ found.coefficients, means.T, atol=1e-8)


def test_rank_is_chosen_by_folds(rng):
  """One loud direction that says nothing: without it all is clear."""
  x, _, y = problem(rng)
  loud = rng.normal(size=(1, 25))
  x = x + 30 * rng.normal(size=(40, 1)) * loud
  config = lag_scenes.Config(ranks=(0.0, 0.1), folds=4, metric="euclidean")
  part, scores = recognise.choose_rank(config, x @ x.T, y, 4)
  assert part == 0.1 and scores[0.1] > scores[0.0]


def test_svm_on_inner_products_is_the_svm_on_vectors(rng):
  x, z, y = problem(rng)
  config = lag_scenes.Config(svm_c=(0.1, 1.0), folds=4)
  c, own = recognise.linear_svm(config, x @ x.T, z @ x.T, y, 4)
  peer = LinearSVC(C=c, tol=1e-8, max_iter=10**6).fit(x, y)
  np.testing.assert_allclose(own, peer.decision_function(z), atol=0.05)
