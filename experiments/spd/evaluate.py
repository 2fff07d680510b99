"""Test labels and margins of every classifier, from a learned subspace."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
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
  squared: np.ndarray | None  # [N, M] distances in the metric of the geometry


class Outcome(NamedTuple):
  """What a classifier says of the test items."""

  predicted: np.ndarray  # [N] int
  margins: np.ndarray  # [N], NaN without an item of the class to train on


def see(matrices: Pool, geometry: Geometry, w, train, test) -> Seen:
  """The items reduced by w, or in full where w is None."""
  if w is None:
    logs = matrices.logs(geometry.ridge)
    squared = matrices.distances(geometry.ridge, geometry.metric)
    return Seen(logs[train], logs[test], squared[np.ix_(test, train)])
  x = matrices.x(geometry.ridge)
  old, new = (reduction.project(x[_filled(i)], w) for i in (train, test))
  old, new = spd.sym(old), spd.sym(new)
  squared = np.asarray(spd.pairwise(new, old, metric=geometry.metric))
  return Seen(
    np.asarray(spd.log_vectors(old))[: len(train)],
    np.asarray(spd.log_vectors(new))[: len(test)],
    squared[: len(test), : len(train)],
  )


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
      predicted = linear_svm(seen.train_logs, labels, seen.test_logs, each.c)
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


def linear_svm(train, labels, test, c: float) -> np.ndarray:
  """Labels [N] by a linear SVM on standardised vectors."""
  if len(np.unique(labels)) < 2:
    return np.full(len(test), labels[0])
  model = make_pipeline(StandardScaler(), SVC(kernel="linear", C=c))
  return model.fit(train, labels).predict(test)


def accuracy(predicted, truth) -> float:
  """The part of right labels."""
  return float(np.mean(np.asarray(predicted) == np.asarray(truth)))


def _filled(indices: np.ndarray) -> np.ndarray:
  """The indices and as many more as make a multiple of ROUND."""
  return np.pad(indices, (0, -len(indices) % ROUND), mode="edge")
