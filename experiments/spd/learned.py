"""What is learned on one split, and how it does on the test part."""

import time
from typing import NamedTuple

import numpy as np

from experiments.spd import candidates, evaluate, pool
from experiments.spd.candidates import METRIC_NN, Candidate, Geometry
from experiments.spd.validation import best


class Chosen(NamedTuple):
  """A family's choice on one split."""

  w: np.ndarray  # [n, m]; the identity where nothing is reduced
  predicted: np.ndarray  # [N] int, of the test items
  seen: evaluate.Seen
  geometry: Geometry
  classifier: candidates.Classifier


def fitter(config, matrices, split):
  """geometry -> (Fit or None, seconds), each learned once on the split."""
  known = {}

  def learn(geometry: Geometry):
    if geometry.dim is None:
      return None, 0.0
    if geometry not in known:
      begin = time.perf_counter()
      found = pool.fit(matrices, geometry, split.train, config)
      known[geometry] = found, time.perf_counter() - begin
    return known[geometry]

  return learn


def reduced_rows(config, matrices, split, scores, learn, bar):
  """Yields the fields of a "reduced" line for each metric and dim.

  The other choices are validation's, where the metric took part in it, else
  the first of each list.
  """
  for metric in config.metrics:
    for dim in config.dims:
      geometry = geometry_of(config, scores, metric, dim)
      svm = svm_of(config, scores, geometry)
      found, seconds = learn(geometry)
      bar.update()
      yield {
        **spelled(geometry),
        **_accuracies(matrices, geometry, found.w, split, svm),
        **found._asdict() | {"w": None},
        "svm": svm.name,
        "svm_c": svm.c,
        "seconds": seconds,
      }


def geometry_of(config, scores, metric: str, dim: int) -> Geometry:
  """The geometry to use for a metric and a dim."""
  allowed = candidates.reduced(config, (metric,), (dim,))
  return best([Candidate(g, METRIC_NN) for g in allowed], scores)[0].geometry


def svm_of(config, scores, geometry: Geometry) -> candidates.Classifier:
  """The SVM to use on what the geometry reduces."""
  allowed = [Candidate(geometry, svm) for svm in candidates.svms(config)]
  return best(allowed, scores)[0].classifier


def choose(family, config, matrices, split, scores, learn):
  """(fields of a "choice" line, Chosen) for a family's best candidate."""
  allowed = candidates.FAMILIES[family](config)
  (geometry, classifier), score = best(allowed, scores)
  found, _ = learn(geometry)
  labels, truth = matrices.labels[split.train], matrices.labels[split.test]
  w = found.w if found else None
  seen = evaluate.see(matrices, geometry, w, *split)
  outcomes = evaluate.classify_all(seen, labels, truth, [classifier])
  predicted = outcomes[classifier].predicted
  row = {
    "family": family,
    **spelled(geometry),
    "reduced": geometry.dim is not None,
    "classifier": classifier.name,
    "svm_c": classifier.c,
    "validation": score and score.accuracy,
    "margin": score and score.margin,
    "accuracy": evaluate.accuracy(predicted, truth),
  }
  if w is None:
    w = np.eye(matrices.x(geometry.ridge).shape[-1])
  return row, Chosen(np.asarray(w), predicted, seen, geometry, classifier)


def spelled(geometry: Geometry) -> dict:
  """The fields of a geometry, with "whiten"."""
  whiten = None if geometry.start is None else geometry.start == "between"
  return {**geometry._asdict(), "whiten": whiten}


def _accuracies(matrices, geometry, w, split, svm) -> dict[str, float]:
  labels, truth = matrices.labels[split.train], matrices.labels[split.test]
  log_nn = candidates.Classifier("log_nn")
  named = {"accuracy": METRIC_NN, "log_nn": log_nn, "log_svm": svm}
  seen = evaluate.see(matrices, geometry, w, *split)
  found = evaluate.classify_all(seen, labels, truth, list(named.values()))
  return {
    name: evaluate.accuracy(found[classifier].predicted, truth)
    for name, classifier in named.items()
  }
