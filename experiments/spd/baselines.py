"""What needs no learned subspace, on one split."""

import time

import jax.numpy as jnp
import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from experiments.spd import candidates, evaluate
from experiments.spd.candidates import METRIC_NN, Candidate, Geometry
from experiments.spd.validation import best
from spdjax.reduction import starts


def rows(config, matrices, split, scores):
  """Yields the fields of every "baseline" line of a split.

  The ridge, and C, are those that did best in validation, as for what is
  learned.
  """
  log_geometry = None
  for metric in dict.fromkeys([*config.metrics, "log_euclidean"]):
    allowed = candidates.unreduced(config, (metric,))
    allowed = [Candidate(geometry, METRIC_NN) for geometry in allowed]
    geometry = best(allowed, scores)[0].geometry
    if metric == "log_euclidean":
      log_geometry = geometry
    if metric in config.metrics:
      yield from _metric_rows(config, matrices, geometry, split)
  yield from _log_rows(config, matrices, log_geometry, split)
  yield _svm_row(config, matrices, split, scores)


def _metric_rows(config, matrices, geometry, split):
  yield _nearest_row("full 1-NN", matrices, geometry, None, split)
  x = matrices.x(geometry.ridge)
  mean = x[split.train].mean(0)
  for dim in config.dims:
    own = geometry._replace(dim=dim)
    identity = jnp.eye(x.shape[-1], dim, dtype=x.dtype)
    leading = starts.leading(mean, dim)
    for method, w in (
      ("truncated identity 1-NN", identity),
      ("PCA of mean 1-NN", leading),
    ):
      yield _nearest_row(method, matrices, own, w, split)


def _nearest_row(method, matrices, geometry: Geometry, w, split):
  begin = time.perf_counter()
  seen = evaluate.see(matrices, geometry, w, *split)
  predicted = evaluate.nearest(seen.squared, matrices.labels[split.train])
  return _row(method, geometry, predicted, matrices, split, begin)


def _log_rows(config, matrices, geometry, split):
  """1-NN on as many principal components as a reduced matrix has numbers."""
  logs, labels = matrices.logs(geometry.ridge), matrices.labels
  begin = time.perf_counter()
  pca = PCA(svd_solver="full").fit(logs[split.train])
  old, new = pca.transform(logs[split.train]), pca.transform(logs[split.test])
  for dim in config.dims:
    kept = dim * (dim + 1) // 2
    squared = evaluate.euclidean_distances(
      new[:, :kept], old[:, :kept], squared=True
    )
    predicted = evaluate.nearest(squared, labels[split.train])
    own = geometry._replace(dim=dim)
    method = "PCA of logs 1-NN"
    yield _row(method, own, predicted, matrices, split, begin)
    begin = time.perf_counter()
  predicted = _discriminant(old, labels[split.train], new)
  yield _row("LDA of logs", geometry, predicted, matrices, split, begin)


def _discriminant(train, labels, test) -> np.ndarray:
  """Labels by linear discriminants of a shrunk covariance.

  With more features than items the plain covariance has no inverse.
  """
  spread = train.std(0)
  kept = spread > spread.max() * np.sqrt(np.finfo(train.dtype).eps)
  if not kept.any():  # copies of one item
    return np.full(len(test), labels[0])
  model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
  return model.fit(train[:, kept], labels).predict(test[:, kept])


def _svm_row(config, matrices, split, scores):
  begin = time.perf_counter()
  allowed = [
    Candidate(geometry, classifier)
    for geometry in candidates.unreduced(config, ("log_euclidean",))
    for classifier in candidates.svms(config)
  ]
  geometry, classifier = best(allowed, scores)[0]
  seen = evaluate.see(matrices, geometry, None, *split)
  labels = matrices.labels[split.train]
  predicted = evaluate.linear_svm(seen, labels, classifier)
  method = "linear SVM of logs"
  return _row(method, geometry, predicted, matrices, split, begin)


def _row(method, geometry, predicted, matrices, split, begin):
  return {
    "method": method,
    "metric": geometry.metric,
    "ridge": geometry.ridge,
    "dim": geometry.dim,
    "accuracy": evaluate.accuracy(predicted, matrices.labels[split.test]),
    "seconds": time.perf_counter() - begin,
  }
