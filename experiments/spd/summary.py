"""What all splits say together: the table, the confusions, the view."""

from collections import defaultdict

import numpy as np
from sklearn.decomposition import PCA

LEARNED = {
  "accuracy": "reduced 1-NN",
  "log_nn": "reduced, 1-NN of logs",
  "log_svm": "reduced, linear SVM of logs",
}


def table(lines: list[dict]) -> list[dict]:
  """A row for each method, metric and dim: mean and deviation over splits."""
  cells = defaultdict(list)
  for line in lines:
    for key, accuracy in _cells(line):
      cells[key].append(accuracy)
  return [
    {
      "method": method,
      "metric": metric,
      "dim": dim,
      "mean": float(np.mean(found)),
      "std": float(np.std(found)),
      "splits": len(found),
    }
    for (method, metric, dim), found in cells.items()
  ]


def _cells(line: dict):
  """Pairs of (method, metric, dim) and an accuracy in one line."""
  if line["event"] == "baseline":
    yield (line["method"], line["metric"], line["dim"]), line["accuracy"]
  elif line["event"] == "reduced":
    for field, method in LEARNED.items():
      yield (method, line["metric"], line["dim"]), line[field]
  elif line["event"] == "choice":
    # Over the splits the metric and dim may differ: one row for the family.
    yield (line["family"], None, None), line["accuracy"]


def confusion(truth, predicted, num_classes: int) -> np.ndarray:
  """Counts [C, C], rows true."""
  counts = np.zeros((num_classes, num_classes), int)
  np.add.at(counts, (truth, predicted), 1)
  return counts


def view(vectors: np.ndarray) -> np.ndarray:
  """The first two principal axes [N, 2] of vectors [N, D]."""
  kept = min(2, *vectors.shape)
  axes = PCA(kept, svd_solver="full").fit_transform(vectors)
  return np.pad(axes, ((0, 0), (0, 2 - kept)))


def text(rows: list[dict]) -> str:
  """The table in plain text, percents."""
  lines = [f"{'method':<30}{'metric':<15}{'m':>4}{'accuracy':>16}"]
  for row in rows:
    dim = "" if row["dim"] is None else row["dim"]
    score = f"{100 * row['mean']:.1f}"
    if row["splits"] > 1:
      score += f" +- {100 * row['std']:.1f}"
    lines.append(
      f"{row['method']:<30}{row['metric'] or '(chosen)':<15}{dim:>4}{score:>16}"
    )
  return "\n".join(lines)
