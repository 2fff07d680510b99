"""Test labels and margins of every classifier, from a learned subspace."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.svm import SVC

from experiments.spd.candidates import Classifier, Geometry
from experiments.spd.pool import Pool
from spdjax import classify, reduction, spd

# A margin of 5 is a factor of 150 in distance; a copy in the training part
# would make it infinite.
LARGEST_MARGIN = 5.0
# A multiple for numbers of items: folds of nearly one size compile once.
ROUND = 32


class Seen(NamedTuple):
  """Two parts of the data as the classifiers see them."""

  train_logs: np.ndarray  # [M, D] log-vectors
  test_logs: np.ndarray  # [N, D]
  train_tangent: np.ndarray  # [M, D] log-vectors at the mean of the M items
  test_tangent: np.ndarray  # [N, D]
  squared: np.ndarray | None  # [N, M] distances in the metric of the geometry


class Outcome(NamedTuple):
  """What a classifier says of the test items."""

  predicted: np.ndarray  # [N] int
  margins: np.ndarray  # [N], NaN without an item of the class to train on


def see(matrices: Pool, geometry: Geometry, w, train, test) -> Seen:
  """The items reduced by w, or in full where w is None."""
  x, counts = matrices.x(geometry.ridge), (len(train), len(test))
  if w is None:
    logs = matrices.logs(geometry.ridge)
    squared = matrices.distances(geometry.ridge, geometry.metric)
    tangent = _tangent(x[_filled(train)], x[_filled(test)], *counts)
    return Seen(logs[train], logs[test], *tangent, squared[np.ix_(test, train)])
  old, new = (reduction.project(x[_filled(i)], w) for i in (train, test))
  old, new = spd.sym(old), spd.sym(new)
  squared = np.asarray(spd.pairwise(new, old, metric=geometry.metric))
  return Seen(
    np.asarray(spd.log_vectors(old))[: len(train)],
    np.asarray(spd.log_vectors(new))[: len(test)],
    *_tangent(old, new, *counts),
    squared[: len(test), : len(train)],
  )


def _tangent(old, new, num_old: int, num_new: int):
  """Log-vectors of both at the log-Euclidean mean of the first num_old."""
  real = jnp.arange(len(old)) < num_old
  at = spd.mean(old, real.astype(old.dtype), metric="log_euclidean")[0]
  vectors = (np.asarray(spd.log_vectors(x, at=at)) for x in (old, new))
  return [v[:n] for v, n in zip(vectors, (num_old, num_new), strict=True)]


def classify_all(
  seen: Seen, labels, truth, classifiers: list[Classifier]
) -> dict[Classifier, Outcome]:
  """Outcomes of the classifiers, trained with `labels` [M].

  `truth` [N] makes margins only.
  """
  flat = euclidean_distances(seen.test_logs, seen.train_logs, squared=True)
  log_margins = margins(flat, labels, truth)
  out = {}
  for each in classifiers:
    if each.name == "metric_nn":
      out[each] = Outcome(
        nearest(seen.squared, labels), margins(seen.squared, labels, truth)
      )
    elif each.name == "log_nn":
      out[each] = Outcome(nearest(flat, labels), log_margins)
    else:
      predicted = linear_svm(seen, labels, each)
      out[each] = Outcome(predicted, log_margins)
  return out


def nearest(squared: np.ndarray, labels) -> np.ndarray:
  """Label of the nearest item [N], from distances [N, M]."""
  found = classify.nearest_neighbour(jnp.asarray(squared), labels)
  return np.asarray(found)


def margins(squared: np.ndarray, labels, truth) -> np.ndarray:
  """log(d nearest other class / d nearest same class), clipped, [N]."""
  same = np.asarray(truth)[:, None] == np.asarray(labels)[None, :]
  lowest = lambda mask: np.where(mask, squared, np.inf).min(1)
  tiny = np.finfo(squared.dtype).tiny
  own, other = (np.maximum(lowest(m), tiny) for m in (same, ~same))
  ratio = (np.log(other) - np.log(own)) / 2  # the distances are squared
  ratio = np.clip(ratio, -LARGEST_MARGIN, LARGEST_MARGIN)
  return np.where(np.isfinite(own), ratio, np.nan)


def linear_svm(seen: Seen, labels, classifier: Classifier) -> np.ndarray:
  """Labels [N] by a linear SVM.

  "log_svm": on log-vectors, each coordinate brought to unit deviation.
  "tangent_svm": on log-vectors at the mean, all brought to one scale, which
  leaves the inner products of the tangent space as they are.
  """
  tangent = classifier.name == "tangent_svm"
  train = seen.train_tangent if tangent else seen.train_logs
  test = seen.test_tangent if tangent else seen.test_logs
  if len(np.unique(labels)) < 2:
    return np.full(len(test), labels[0])
  mean = train.mean(0)
  deviation = np.sqrt(np.square(train - mean).mean(None if tangent else 0))
  deviation = np.where(deviation > 0, deviation, 1)
  train, test = ((v - mean) / deviation for v in (train, test))
  return SVC(kernel="linear", C=classifier.c).fit(train, labels).predict(test)


def accuracy(predicted, truth) -> float:
  """The part of right labels."""
  return float(np.mean(np.asarray(predicted) == np.asarray(truth)))


def _filled(indices: np.ndarray) -> np.ndarray:
  """The indices and as many more as make a multiple of ROUND."""
  return np.pad(indices, (0, -len(indices) % ROUND), mode="edge")
