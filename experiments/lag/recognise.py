"""Classifiers of pictures from inner products of their vectors alone.

Nothing here has the vectors' length: a training Gram matrix G [n, n] and the
inner products R [m, n] of other pictures with the training ones are enough.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from experiments.data import splits
from spdjax.classify import l2_svm, nuisance_weights


class Centroids(NamedTuple):
  """Class centroids after nuisance projection, as sums of training vectors.

  The score of a vector v for class c is 2 v'w_c - norms_c, with
  w_c = sum_i coefficients[i, c] x_i; the largest is the nearest centroid. By
  cosine it is v'w_c / norms_c^(1/2).
  """

  coefficients: np.ndarray  # [n, C]
  norms: np.ndarray  # [C] squared length of the projected centroid


class Directions(NamedTuple):
  """Nuisances U = X'W of training vectors X, largest first, beside the classes.

  With A the classes' averages.
  """

  average: np.ndarray  # [n, C]: centroids are X' times it
  weights: np.ndarray  # [n, r] W
  inside: np.ndarray  # [r, C] W'G A
  means: np.ndarray  # [n, C] G A


def directions(gram, y, num_classes) -> Directions:
  """One decomposition for all ranks."""
  member = np.eye(num_classes)[y]
  average = member / np.maximum(member.sum(0), 1)[None]
  means = gram @ average
  with jax.enable_x64(True):
    found = nuisance_weights(gram, y, rank=len(y) - len(np.unique(y)))
    weights, values = map(np.asarray, found)
  # The products are of float32.
  weights = weights[:, values > 1e-7 * values.max(initial=0)]
  return Directions(average, weights, weights.T @ means, means)


def centroids(found: Directions, rank: int) -> Centroids:
  """Class centroids without their part along the `rank` first directions."""
  out = found.average - found.weights[:, :rank] @ found.inside[:rank]
  return Centroids(out, (out * found.means).sum(0))


def scores(found: Centroids, products, metric: str):
  """[m, C] from inner products [m, n]; the largest wins."""
  return from_inner(products @ found.coefficients, found.norms, metric)


def from_inner(inner, norms, metric: str):
  """The scores from inner products [m, C] with the centroids."""
  if metric == "cosine":
    return inner / np.sqrt(np.maximum(norms, 1e-30))[None]
  return 2 * inner - norms[None]


def rank_of(part: float, num: int, num_classes: int) -> int:
  """A part of the N - C directions that there are."""
  return round(part * max(0, num - num_classes))


def choose_rank(config, gram, y, num_classes):
  """(part, {part: accuracy}) that does best over folds of the training part."""
  found = dict.fromkeys(config.ranks, 0.0)
  folds = splits.folds(y, config.folds, seed=config.seed)
  for fold in folds:
    own = gram[np.ix_(fold.train, fold.train)]
    other = gram[np.ix_(fold.test, fold.train)]
    every = directions(own, y[fold.train], num_classes)
    for part in config.ranks:
      model = centroids(every, rank_of(part, len(fold.train), num_classes))
      guesses = scores(model, other, config.metric).argmax(1)
      found[part] += np.mean(guesses == y[fold.test]) / len(folds)
  return max(found, key=found.get), found


def linear_svm(config, gram, products, y, num_classes):
  """(c, scores [m, C]) of one-vs-rest SVMs, c by folds of the training part."""
  values, vectors = np.linalg.eigh(gram)
  good = values > 1e-6 * values[-1]
  # One shape for all vectors, and so one compilation.
  root = np.sqrt(np.where(good, values, 1))[None]
  axes = np.where(good[None], vectors / root, 0)
  x, other = gram @ axes, products @ axes
  folds = splits.folds(y, config.folds, seed=config.seed)
  # What a fold leaves out has no weight.
  weights = np.ones((len(folds) + 1, len(y)), np.float32)
  for weight, fold in zip(weights, folds, strict=False):
    weight[fold.test] = 0
  w, b = _svms(
    jnp.asarray(x, jnp.float32),
    jnp.asarray(y, jnp.int32),
    jnp.asarray(weights),
    jnp.asarray(config.svm_c, jnp.float32),
    num_classes=num_classes,
  )
  w, b = np.asarray(w, np.float64), np.asarray(b, np.float64)
  guesses = (np.einsum("nk,fack->fanc", x, w) + b[:, :, None]).argmax(-1)
  right = [
    np.mean(
      [
        np.mean(guesses[k, c, fold.test] == y[fold.test])
        for k, fold in enumerate(folds)
      ]
    )
    for c in range(len(config.svm_c))
  ]
  best = int(np.argmax(right))
  return config.svm_c[best], other @ w[-1, best].T + b[-1, best][None]


@functools.partial(jax.jit, static_argnames="num_classes")
def _svms(x, y, weights, c, *, num_classes):
  """(w [F, A, C, K], b [F, A, C]) for weights [F, n] and values of c [A]."""

  def solve(weight, c):
    w, b, _ = l2_svm(
      x, y, c=c, sample_weight=weight, num_classes=num_classes, tol=1e-3
    )
    return w, b

  return jax.vmap(jax.vmap(solve, (None, 0)), (0, None))(weights, c)
