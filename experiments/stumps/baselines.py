"""What scikit-learn offers for the same rows."""

import time
import warnings

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomTreesEmbedding
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC


def rows(config, table, chooser):
  """Yields the fields of a "baseline" line for each that the config names.

  The candidate of each is the best on the part that the stumps are chosen on.
  """
  x, y = table.x, table.labels
  for name in config.baselines:
    candidates = BASELINES[name](x[table.split.train], config)
    scores = [
      _fit(model, x, y, chooser).score(x[chooser.test], y[chooser.test])
      for _, model in candidates
    ]
    setting, model = candidates[int(np.argmax(scores))]
    begin = time.perf_counter()
    _fit(model, x, y, table.split)
    seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    right = model.score(x[table.split.test], y[table.split.test])
    yield {
      "method": name,
      **setting,
      "validation": max(scores),
      "accuracy": right,
      "seconds": seconds,
      "microseconds": 1e6 * (time.perf_counter() - begin)
      / len(table.split.test),
    }  # fmt: skip


def _fit(model, x, y, split):
  with warnings.catch_warnings():
    # LIBLINEAR at its own number of steps is what its users get.
    warnings.simplefilter("ignore", ConvergenceWarning)
    return model.fit(x[split.train], y[split.train])


def _one_scale(x):
  """All columns brought to one scale, as a kernel of distances wants them."""
  size = float(x.std(dtype=np.float64)) or 1.0
  return FunctionTransformer(lambda v: v / size)


def _linear(x, config):
  del config
  return [
    ({"scaling": scaling, "c": c}, make_pipeline(scale, LinearSVC(C=c)))
    for scaling, scale in _scalings(x)
    for c in (0.01, 0.1, 1.0)
  ]


def _scalings(x):
  return [("one", _one_scale(x)), ("columns", StandardScaler())]


def _gammas(x):
  return [factor / x.shape[1] for factor in (0.25, 1.0, 4.0)]


def _rbf(x, config):
  del config
  return [
    ({"gamma": gamma}, make_pipeline(_one_scale(x), SVC(C=10.0, gamma=gamma)))
    for gamma in _gammas(x)
  ]


def _fourier(x, config):
  num = max(config.num_stumps)
  return [
    (
      {"gamma": gamma, "features": num},
      make_pipeline(
        _one_scale(x),
        RBFSampler(gamma=gamma, n_components=num, random_state=config.seed),
        LinearSVC(C=10.0),
      ),
    )
    for gamma in _gammas(x)
  ]


def _trees(x, config):
  del x
  depth = 5
  num = max(1, max(config.num_stumps) // 2**depth)
  embedding = RandomTreesEmbedding(
    num, max_depth=depth, random_state=config.seed
  )
  return [
    ({"trees": num, "c": c}, make_pipeline(embedding, LinearSVC(C=c)))
    for c in (0.1, 1.0)
  ]


def _extra(x, config):
  del x
  model = ExtraTreesClassifier(200, random_state=config.seed, n_jobs=-1)
  return [({"trees": 200}, model)]


BASELINES = {
  "linear_svm": _linear,
  "rbf_svm": _rbf,
  "fourier": _fourier,
  "trees": _trees,
  "extra_trees": _extra,
}
