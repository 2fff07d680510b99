"""The table of all methods of a reduction run, from its records."""

from collections import Counter

import numpy as np

from experiments.figure_style import metric_name, rows
from experiments.records import Records


def table(record: Records) -> list[dict]:
  """Rows {"method", "metric", "dim", "mean", "std", "splits"}, best first.

  The table of the result line; a run without one is summed up from its rows,
  std the population's.
  """
  results = [r["table"] for r in rows(record, "result") if r.get("table")]
  found = results[-1] if results else _gather(record)
  return sorted(found, key=lambda row: -(row.get("mean") or 0))


def is_chosen(record: Records, row: dict) -> bool:
  """Whether a row of the table is what validation chose, in some split."""
  of_family = rows(record, "choice", family=row.get("method"))
  key = (row.get("metric"), row.get("dim"))
  tried = {(r.get("metric"), r.get("dim")) for r in rows(record, "reduced")}
  picked = {(r.get("metric"), r.get("dim")) for r in of_family}
  return bool(of_family) and (key in picked or key not in tried)


def picks(record: Records, family: str) -> tuple[str, str]:
  """What validation chose in a family: (metrics, sizes), the commonest first.

  A size is "n" where it chose not to reduce.
  """
  chosen = rows(record, "choice", family=family)
  metrics = Counter(metric_name(r.get("metric")) for r in chosen)
  sizes = Counter(str(r.get("dim") or "n") for r in chosen)
  return _counted(metrics), _counted(sizes)


def _counted(counts: Counter) -> str:
  if len(counts) == 1:
    return next(iter(counts))
  return ", ".join(f"{name} ({k}×)" for name, k in counts.most_common())


def _gather(record: Records) -> list[dict]:
  """The table of a run that never wrote one, from its rows."""
  groups = {}
  for *key, score in _scores(record):
    if score is not None:
      groups.setdefault(tuple(key), []).append(score)
  names = ("method", "metric", "dim")
  return [
    dict(zip(names, key, strict=True))
    | {"mean": np.mean(v), "std": np.std(v), "splits": len(v)}
    for key, v in groups.items()
  ]


def _scores(record: Records):
  """(method, metric, dim, accuracy) of every test that a row tells of."""
  for row in record.metrics:
    setting = (row.get("metric"), row.get("dim"))
    if row.get("event") == "baseline":
      yield row.get("method"), *setting, row.get("accuracy")
    elif row.get("event") == "choice":  # another setting in every split
      yield row.get("family"), None, None, row.get("accuracy")
    elif row.get("event") == "reduced":
      yield "reduced 1-NN", *setting, row.get("accuracy")
      yield "reduced, 1-NN of logs", *setting, row.get("log_nn")
      yield "reduced, SVM of logs", *setting, row.get("log_svm")
