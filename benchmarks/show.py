"""The table and the plots of a record: python -m benchmarks.show FILE."""

import json
import sys
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter


def rows(record):
  return [row for suite in record["suites"].values() for row in suite["rows"]]


def table(record) -> str:
  """Markdown: one line a row that is no point of a curve."""
  lines = [
    "| work | spdjax | peer | ratio | goal |",
    "|---|---|---|---|---|",
  ]
  for row in rows(record):
    if "curve" in row:
      continue
    lines.append("| " + " | ".join(_cells(row)) + " |")
  return "\n".join(lines)


def _cells(row):
  if "refused" in row:
    goal = _number(row["goal"]) if row["goal"] else ""
    return row["work"], "", row["peer"], row["refused"], goal
  own = _seconds(row["seconds"])
  for key, said in (("of_matrix_rate", "products"), ("of_copy_rate", "copies")):
    if key in row:
      own += f", {100 * row[key]:.0f} % of {said}"
  if "ratio" not in row:
    goal = row.get("goal_seconds")
    return row["work"], own, "", "", _seconds(goal) if goal else ""
  low, high = row["spread"]
  ratio = f"{_number(row['ratio'])} ({_number(low)} to {_number(high)})"
  goal = _number(row["goal"]) if row["goal"] else ""
  peer = f"{row['peer']}, {_seconds(row['peer_seconds'])}"
  return row["work"], own, peer, ratio, goal


def _seconds(value):
  if value >= 1:
    return f"{value:.3g} s"
  return f"{1e3 * value:.3g} ms"


def _number(value):
  return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def curves(record) -> dict:
  """{(axis, name): (at, seconds)}."""
  found = {}
  for row in rows(record):
    if "curve" in row:
      own = found.setdefault((row["axis"], row["curve"]), ([], []))
      own[0].append(row["at"])
      own[1].append(row["seconds"])
  return found


def figure(record) -> Figure:
  """Time against size, one panel an axis, both logarithmic; slopes of ends."""
  found = curves(record)
  axes = sorted({axis for axis, _ in found})
  fig = Figure(figsize=(4.5 * len(axes), 4), layout="constrained")
  FigureCanvasAgg(fig)
  for panel, axis in zip(
    fig.subplots(1, len(axes), squeeze=False)[0], axes, strict=True
  ):
    for (own, name), (at, seconds) in found.items():
      if own != axis:
        continue
      slope = np.polyfit(np.log(at[-3:]), np.log(seconds[-3:]), 1)[0]
      panel.loglog(at, seconds, marker=".", label=f"{name}, slope {slope:.1f}")
    panel.set(xlabel=axis, ylabel="seconds")
    panel.xaxis.set_minor_formatter(NullFormatter())  # they would overlap
    panel.legend(fontsize=7)
    panel.grid(alpha=0.3)
  return fig


def main(path):
  path = Path(path)
  record = json.loads(path.read_text(encoding="utf-8"))
  print(table(record))
  image = path.with_suffix(".png")
  figure(record).savefig(image, dpi=120)
  print(image)


if __name__ == "__main__":
  if len(sys.argv) != 2:
    sys.exit(__doc__)
  main(sys.argv[1])
