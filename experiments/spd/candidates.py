"""The candidates that validation ranks, in the order of the config's lists."""

import itertools
from typing import NamedTuple


class Geometry(NamedTuple):
  """What is learned: everything a subspace depends on besides the data."""

  metric: str
  ridge: float
  dim: int | None = None  # None: no reduction
  within: int | None = None
  between: int | None = None
  start: str | None = None


class Classifier(NamedTuple):
  """How reduced matrices are classified."""

  name: str  # "metric_nn", "log_nn", "log_svm" or "tangent_svm"
  c: float | None = None  # of an SVM


class Candidate(NamedTuple):
  """One of the answers that validation may give."""

  geometry: Geometry
  classifier: Classifier


METRIC_NN = Classifier("metric_nn")
SVMS = ("log_svm", "tangent_svm")


def reduced(config, metrics, dims) -> list[Geometry]:
  """Every geometry of the metrics and dims with a subspace to learn."""
  grid = itertools.product(
    metrics, dims, config.ridges, config.neighbours, config.starts
  )
  found = [
    Geometry(
      metric,
      ridge,
      dim,
      v if config.within is None else config.within,
      v if config.between is None else config.between,
      start,
    )
    for metric, dim, ridge, v, start in grid
  ]
  return list(dict.fromkeys(found))


def unreduced(config, metrics) -> list[Geometry]:
  """The full matrices in each metric and with each ridge."""
  pairs = itertools.product(metrics, config.ridges)
  return [Geometry(metric, ridge) for metric, ridge in pairs]


def log_classifiers(config) -> list[Classifier]:
  """The classifiers of log-vectors, in the config's order."""
  plain = [Classifier("log_nn")] if "log_nn" in config.classifiers else []
  return plain + _svms(config, config.classifiers)


def svms(config) -> list[Classifier]:
  """The linear SVMs of the config; there is one to compare with at least."""
  return _svms(config, config.classifiers) or _svms(config, SVMS[:1])


def _svms(config, names) -> list[Classifier]:
  known = [name for name in SVMS if name in names]
  return [Classifier(*pair) for pair in itertools.product(known, config.svm_c)]


def validated(config) -> tuple[str, ...]:
  """The metrics that take part in the validation."""
  return config.choose_metrics or config.metrics


def nearest_family(config) -> list[Candidate]:
  """Family "reduced 1-NN": the neighbour of the metric that was learned in."""
  metrics = validated(config)
  if config.fixed_dim is not None:
    own = reduced(config, metrics, (config.fixed_dim,))
  else:
    own = reduced(config, metrics, config.dims) + unreduced(config, metrics)
  return [Candidate(geometry, METRIC_NN) for geometry in own]


def logs_family(config) -> list[Candidate]:
  """Family "reduced + logs": log-vectors of reduced or of full matrices.

  Those of the full matrices do not depend on the metric.
  """
  own = reduced(config, validated(config), config.dims)
  own += unreduced(config, ("log_euclidean",))
  pairs = itertools.product(own, log_classifiers(config))
  return [Candidate(*pair) for pair in pairs]


FAMILIES = {"reduced 1-NN": nearest_family, "reduced + logs": logs_family}
