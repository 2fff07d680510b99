"""What the report's page says of a `stump_kernel` run."""

import html

from experiments.figure_style import rows
from experiments.records import Records
from experiments.stump_figures import BASELINES, kind_name

CAPTIONS = {
  "growth": (
    "Accuracy against the number of stumps",
    "Test part. Lines with marks: uniform weights on all that were drawn. "
    "Marks alone: selections, beside as many at random. Grey lines: baselines, "
    "tuned on the same part of the training rows.",
  ),
  "spectrum": (
    "Weights of the kernel",
    "Sorted; what a selection left out has weight 0 and is not drawn.",
  ),
  "features": (
    "Features that the kept mappings look at",
    "Counts over all mappings of the saved model.",
  ),
  "confusion": (
    "Which classes are taken for which",
    "Test items, by the saved model. Numbers are counts; the shade is the "
    "share of the true class.",
  ),
}
_HEAD = ("method", "drawn", "kept", "accuracy (%)", "train (s)", "µs each")


def holds(record: Records) -> bool:
  """Whether the records are of this experiment."""
  return bool(rows(record, "size") or rows(record, "candidate"))


def title(record: Records) -> str:
  """The page's heading."""
  return f"Stump kernel on {record.config.get('data', 'own rows')}"


def summary(record: Records) -> list[str]:
  """What was learned from what, and how well."""
  parts = []
  for row in rows(record, "data"):
    parts.append(
      f"<p>{row['num_train']:,} rows to train, {row['num_test']:,} to test; "
      f"{row['num_features']:,} features, {len(row['classes'])} classes.</p>"
    )
  results = rows(record, "result")
  if not results:
    return [*parts, '<p class="note">The run has no final result.</p>']
  right = 100 * results[-1]["accuracy"]
  return [
    *parts,
    f'<p class="lead">The saved model has <b>{right:.2f} %</b> of the test '
    "items right.</p>",
  ]


def table(record: Records) -> list[str]:
  """All methods, best first."""
  found = [*rows(record, "size"), *rows(record, "selection")]
  found += rows(record, "baseline")
  if not found:
    return []
  found = sorted(found, key=lambda r: -r["accuracy"])
  head = "".join(f"<th>{name}</th>" for name in _HEAD)
  body = "\n".join(map(_row, found))
  return [
    "<h2>Methods by test accuracy</h2>",
    '<p class="small">Kind, draw, thresholds and C were chosen on a part of '
    "the training rows; every other row is shown as it came out.</p>",
    f'<div class="wide"><table><thead><tr>{head}</tr></thead>\n'
    f"<tbody>{body}</tbody></table></div>",
  ]


def _row(row) -> str:
  drawn, kept = row.get("num_stumps", "–"), row.get("kept", "–")
  cells = [
    html.escape(_method(row)),
    drawn,
    kept,
    f"{100 * row['accuracy']:.2f}",
    f"{row['seconds']:.1f}",
    f"{row['microseconds']:.1f}",
  ]
  return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _method(row) -> str:
  if row["event"] == "baseline":
    return BASELINES.get(row["method"], row["method"])
  name = f"{kind_name(row['kind'])}, {row['draw']}, C = {row['c']:g}"
  return f"{row['selection']}: {name}" if row["event"] == "selection" else name
