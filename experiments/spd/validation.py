"""Choosing among candidates, inside the training part alone."""

from typing import NamedTuple

import numpy as np

from experiments.data import splits
from experiments.errors import UserError
from experiments.spd import candidates, evaluate, pool
from experiments.spd.candidates import METRIC_NN, Candidate

TIE = 1e-9  # scores that differ by no more are equal


class Score(NamedTuple):
  """How a candidate did in validation."""

  accuracy: float  # mean over the folds
  margin: float  # mean over the validation items


def folds(config, items, train) -> list[splits.Split]:
  """Splits of the training part, as indices into all items.

  One group is left out at a time where the part has two groups or more, as a
  fold with the same subject on both sides tells little; otherwise the folds
  are stratified, and the only item of a class always trains.
  """
  if items.groups is not None and len(set(items.groups[train])) > 1:
    own = splits.leave_one_group_out(items.groups[train])
    return [splits.Split(train[s.train], train[s.test]) for s in own]
  labels = items.labels[train]
  counts = np.bincount(labels)[labels]
  many, single = train[counts > 1], train[counts == 1]
  if not len(many):
    raise UserError(
      "one training item a class leaves nothing to validate on; expected "
      "more, or --config.choose=fixed."
    )
  own = splits.folds(
    items.labels[many], min(config.folds, len(many)), seed=config.seed
  )
  join = lambda indices: np.sort(np.concatenate([many[indices], single]))
  return [splits.Split(join(s.train), many[s.test]) for s in own]


def validate(config, matrices, parts, bar) -> dict[Candidate, Score]:
  """The score of every candidate that a family or a baseline may choose.

  None without folds.
  """
  scores = {}
  if not parts:
    return scores
  for geometry in geometries(config):
    classifiers = _classifiers(config, geometry)
    found = {classifier: [] for classifier in classifiers}
    for part in parts:
      w = None
      if geometry.dim is not None:
        w = pool.fit(matrices, geometry, part.train, config).w
        bar.update()
      seen = evaluate.see(matrices, geometry, w, *part)
      truth = matrices.labels[part.test]
      outcomes = evaluate.classify_all(
        seen, matrices.labels[part.train], truth, classifiers
      )
      for classifier, outcome in outcomes.items():
        right = evaluate.accuracy(outcome.predicted, truth)
        found[classifier].append((right, outcome.margins))
    for classifier, each in found.items():
      scores[Candidate(geometry, classifier)] = _score(each)
  return scores


def geometries(config) -> list[candidates.Geometry]:
  """What validation looks at: reduced where asked, and all full matrices."""
  metrics = candidates.validated(config)
  full = dict.fromkeys([*config.metrics, "log_euclidean"])
  return [
    *candidates.reduced(config, metrics, config.dims),
    *candidates.unreduced(config, full),
  ]


def _classifiers(config, geometry) -> list[candidates.Classifier]:
  if geometry.dim is None and geometry.metric != "log_euclidean":
    return [METRIC_NN]  # the logs of full matrices do not know the metric
  own = [METRIC_NN, *candidates.log_classifiers(config)]
  if geometry.dim is None:
    own += candidates.svms(config)
  return list(dict.fromkeys(own))


def best(allowed: list[Candidate], scores: dict) -> tuple[Candidate, Score]:
  """The allowed candidate of the best score.

  Ties in accuracy go to the larger margin, then to the first in the list.
  Without scores, or with none of those allowed, the first: (it, None).
  """
  known = [c for c in allowed if c in scores]
  if not known:
    return allowed[0], None
  top = max(scores[c].accuracy for c in known)
  tied = [c for c in known if scores[c].accuracy >= top - TIE]
  winner = max(tied, key=lambda c: scores[c].margin)
  return winner, scores[winner]


def _score(found) -> Score:
  margins = np.concatenate([margins for _, margins in found])
  margins = margins[np.isfinite(margins)]
  margin = float(margins.mean()) if len(margins) else -np.inf
  return Score(float(np.mean([right for right, _ in found])), margin)
