"""The figures of a reduction run: pure functions Records -> Figure or None.

A figure whose rows or arrays the records lack is None. Nothing here touches
pyplot or its settings, so drawing in a notebook leaves the notebook's alone.
"""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments import confusion_figure, lag_figures
from experiments.cost_figure import cost
from experiments.figure_style import (
  MARKERS,
  PALETTE,
  TITLE,
  class_names,
  label_axes,
  legend_outside,
  metric_name,
  open_axes,
  rows,
)
from experiments.records import Records
from experiments.stump_figures import features, growth, spectrum

DASHES = (0, (5, 3))


def draw(record: Records) -> dict[str, Figure]:
  """Every figure that the records hold the numbers of, by file name."""
  known = (cost, accuracy, growth, spectrum, features, confusion, view)
  known += lag_figures.ALL
  drawn = {f.__name__: f(record) for f in known}
  return {name: figure for name, figure in drawn.items() if figure is not None}


def accuracy(record: Records) -> Figure | None:
  """1-NN accuracy against m by metric, beside the same metric unreduced."""
  reduced = _accuracies(rows(record, "reduced"))
  if not reduced:
    return None
  full = _accuracies(rows(record, "baseline", method="full 1-NN"))
  figure = Figure(figsize=(9, 4.4), layout="constrained")
  ax = open_axes(figure.subplots())
  metrics = list(dict.fromkeys(metric for metric, _ in [*reduced, *full]))
  for i, metric in enumerate(metrics):
    style = {"color": PALETTE[i % 7], "marker": MARKERS[i % len(MARKERS)]}
    curve = {m: v for (name, m), v in sorted(reduced.items()) if name == metric}
    _accuracy_curve(ax, curve, label=metric_name(metric), **style)
    for values in (v for (name, _), v in full.items() if name == metric):
      ax.axhline(np.mean(values), color=style["color"], ls=DASHES, lw=1.4)
  splits = max(len(values) for values in reduced.values())
  if len(dims := sorted({m for _, m in reduced})) <= 12:
    ax.set_xticks(dims)
  label_axes(
    ax, "reduced size m (rows of a matrix)", "test accuracy of 1-NN (%)"
  )
  band = f"mean of {splits} splits, band ± 1 standard deviation"
  ax.set_title(band if splits > 1 else "one split, no spread", **TITLE)
  dashed = Line2D([], [], color="#666666", ls=DASHES, label="same, not reduced")
  handles = ax.get_legend_handles_labels()[0]
  legend_outside(figure, [*handles, *([dashed] if full else [])])
  return figure


def confusion(record: Records) -> Figure | None:
  """Counts over all splits; rows are the true classes, shade the row's %."""
  if "confusion" not in record.arrays:
    return None
  counts = record.arrays["confusion"]
  names = class_names(record, len(counts))
  side = confusion_figure.side(counts, names)
  figure = Figure(figsize=(side + 1, side), layout="constrained")
  ax = figure.subplots()
  shade = confusion_figure.draw(ax, counts, names, percent=len(counts) <= 12)
  confusion_figure.share_bar(figure, shade, ax)
  return figure


def view(record: Records) -> Figure | None:
  """The reduced test set of the first split in 2-D beside the unreduced one."""
  arrays = record.arrays
  names = [n for n in ("full_view", "view") if n in arrays]
  if "view" not in names or "view_labels" not in arrays:
    return None
  labels = arrays["view_labels"]
  classes = class_names(record, _num_classes(record, labels))
  columns = -(-len(classes) // 18)
  size = (4.3 * len(names) + 1.6 * columns, 4.6)
  figure = Figure(figsize=size, layout="constrained")
  panels = figure.subplots(1, len(names), squeeze=False)[0]
  titles = {"full_view": "not reduced", "view": _view_title(record)}
  for ax, name in zip(panels, names, strict=True):
    _scatter(open_axes(ax), arrays[name], labels, classes)
    ax.set_title(titles[name], **TITLE)
    label_axes(
      ax, "first axis (natural-log units)", "second axis (natural-log units)"
    )
  legend_outside(
    figure, panels[-1].get_legend_handles_labels()[0], ncols=columns
  )
  return figure


def _view_title(record) -> str:
  """What "view" shows: validation may have found no reduction worth it."""
  chosen = rows(record, "choice", split=0, family="reduced 1-NN")
  if not chosen:
    return "reduced"
  dim = chosen[-1].get("dim")
  return f"reduced to m = {dim}" if dim else "as chosen: again not reduced"


def _accuracies(found) -> dict[tuple, list[float]]:
  """Accuracies in % over splits by (metric, m); m is None if not reduced."""
  values = {}
  for row in found:
    if row.get("accuracy") is not None:
      key = (row.get("metric"), row.get("dim"))
      values.setdefault(key, []).append(100 * row["accuracy"])
  return values


def _accuracy_curve(ax, curve, *, label, color, marker) -> None:
  if not curve:
    return
  dims = list(curve)
  mean = np.array([np.mean(values) for values in curve.values()])
  std = np.array([np.std(values) for values in curve.values()])
  ax.fill_between(dims, mean - std, mean + std, color=color, alpha=0.15, lw=0)
  ax.plot(dims, mean, color=color, marker=marker, lw=1.8, label=label)


def _num_classes(record, labels) -> int:
  named = [len(r.get("classes") or []) for r in rows(record, "data")]
  return max([*named, int(labels.max(initial=-1)) + 1])


def _scatter(ax, points, labels, classes) -> None:
  for i, name in enumerate(classes):
    x, y = points[labels == i].T
    style = {"color": PALETTE[i % 7], "marker": MARKERS[i // 7 % len(MARKERS)]}
    ax.scatter(x, y, s=16, alpha=0.75, lw=0, label=name, **style)
  ax.set_aspect("equal", adjustable="datalim")
