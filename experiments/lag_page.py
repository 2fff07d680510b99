"""What the report's page says of a `lag_scenes` run."""

import html

import numpy as np

from experiments.figure_style import rows
from experiments.lag_figures import VECTORS
from experiments.records import Records

CAPTIONS = {
  "components": (
    "Accuracy against the number of components",
    "Test pictures, nearest centroid after the projection.",
  ),
  "confusions": (
    "Which classes are taken for which",
    "Test pictures of all splits, nearest centroid after the projection. "
    "Numbers are counts; the shade is the share of the true class.",
  ),
  "wrong": (
    "Most confidently wrong",
    "Test pictures of the first split whose wrong class leads the true one by "
    "most, the worst first.",
  ),
  "adapted": (
    "Components of pictures around the common model's",
    "The three heaviest components; first kind of descriptor, first split.",
  ),
  "stages": (
    "Where the time goes",
    "Sample: descriptors that fit the common model. Encode: descriptors, "
    "vectors and their inner products. Stages that a killed run had finished "
    "count only what was left of them.",
  ),
}
_HEAD = ("K", "vector", "classifier", "accuracy (%)", "splits")


def holds(record: Records) -> bool:
  """Whether the records are of this experiment."""
  return bool(rows(record, "accuracy") or rows(record, "stage"))


def title(record: Records) -> str:
  """The page's heading."""
  return f"Lie-algebrized Gaussians on {record.config.get('data', 'pictures')}"


def summary(record: Records) -> list[str]:
  """What was learned from what, and how well."""
  parts = []
  for row in rows(record, "data"):
    left = len(row.get("skipped") or [])
    told = f"; {left} left out" if left else ""
    parts.append(
      f"<p>{row['images']:,} pictures of {len(row['classes'])} classes"
      f"{told}.</p>"
    )
    remarks = row.get("remarks") or {}
    if remarks:
      told = ", ".join(
        f"{num:,} {html.escape(r)}" for r, num in remarks.items()
      )
      parts.append(f'<p class="small">Of them {told}.</p>')
  results = rows(record, "result")
  if not results:
    return [*parts, '<p class="note">The run has no final result.</p>']
  result = results[-1]
  return [
    *parts,
    f'<p class="lead">The first vector and number of components have <b>'
    f"{_percent(result['accuracy'], result['std'])} %</b> of the test pictures "
    "right by the nearest centroid after the projection.</p>",
  ]


def table(record: Records) -> list[str]:
  """Every combination, in the order it was run."""
  found = {}
  for row in rows(record, "accuracy"):
    key = row["components"], row["vector"], row["classifier"]
    found.setdefault(key, []).append(row["accuracy"])
  if not found:
    return []
  head = "".join(f"<th>{name}</th>" for name in _HEAD)
  body = "\n".join(_row(key, values) for key, values in found.items())
  return [
    "<h2>Vectors and classifiers</h2>",
    '<p class="small">Test accuracy, mean ± standard deviation over splits. '
    "The projection's rank and the SVM's C were chosen by folds inside each "
    "training part.</p>",
    f'<div class="wide"><table><thead><tr>{head}</tr></thead>\n'
    f"<tbody>{body}</tbody></table></div>",
  ]


def _row(key, values) -> str:
  num, vector, classifier = key
  cells = [num, VECTORS.get(vector, vector), classifier]
  spread = np.std(values) if len(values) > 1 else None
  cells += [_percent(np.mean(values), spread), len(values)]
  return (
    "<tr>" + "".join(f"<td>{html.escape(str(c))}</td>" for c in cells) + "</tr>"
  )


def _percent(mean, std) -> str:
  return f"{100 * mean:.2f}" + (f" ± {100 * std:.2f}" if std else "")
