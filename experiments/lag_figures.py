"""The figures of a `lag_scenes` run: pure functions Records -> Figure."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

from experiments import confusion_figure
from experiments.figure_style import (
  INK,
  MARKERS,
  PALETTE,
  TITLE,
  class_names,
  label_axes,
  legend_outside,
  open_axes,
  rows,
)
from experiments.records import Records

VECTORS = {"lag": "LAG", "rlag": "rLAG", "klvec": "KLVec", "fisher": "Fisher"}
_STAGES = ("sample", "fit", "encode", "recognise")


def components(record: Records) -> Figure | None:
  """Accuracy of the centroids against the number of components, by vector."""
  found = {}
  for row in rows(record, "accuracy", classifier="centroid"):
    key = row["vector"], row["components"]
    found.setdefault(key, []).append(100 * row["accuracy"])
  sizes = sorted({num for _, num in found})
  if len(sizes) < 2:
    return None
  figure = Figure(figsize=(8, 4.2), layout="constrained")
  ax = open_axes(figure.subplots())
  for i, name in enumerate(dict.fromkeys(name for name, _ in found)):
    own = [num for num in sizes if (name, num) in found]
    values = [found[name, num] for num in own]
    ax.errorbar(
      own,
      [np.mean(v) for v in values],
      [np.std(v) for v in values],
      color=PALETTE[i],
      marker=MARKERS[i],
      capsize=3,
      label=VECTORS.get(name, name),
    )
  ax.set_xscale("log", base=2)
  ax.set_xticks(sizes, [str(num) for num in sizes])
  splits = max(len(values) for values in found.values())
  told = f"mean of {splits} splits, bar ± 1 standard deviation"
  ax.set_title(told if splits > 1 else "one split, no spread", **TITLE)
  label_axes(ax, "components of the background model", "test accuracy (%)")
  legend_outside(figure, ax.get_legend_handles_labels()[0])
  return figure


def confusions(record: Records) -> Figure | None:
  """Counts over all splits by the centroids, a panel for each vector."""
  name = lambda vector: f"confusion.{vector}.{_main(record)}"
  found = {v: record.arrays[name(v)] for v in VECTORS
           if name(v) in record.arrays}  # fmt: skip
  if not found:
    return None
  counts = next(iter(found.values()))
  names = class_names(record, len(counts))
  side = confusion_figure.side(counts, names)
  columns = min(2, len(found))
  lines = -(-len(found) // columns)
  figure = Figure(
    figsize=(side * columns + 1, side * lines), layout="constrained"
  )
  panels = figure.subplots(lines, columns, squeeze=False).ravel()
  for ax in panels[len(found) :]:
    ax.remove()
  for ax, (vector, own) in zip(panels, found.items(), strict=False):
    shade = confusion_figure.draw(ax, own, names, percent=False)
    right = 100 * np.trace(own) / max(own.sum(), 1)
    ax.set_title(f"{VECTORS[vector]}: {right:.1f} % right", **TITLE)
  confusion_figure.share_bar(figure, shade, list(panels[: len(found)]))
  return figure


def _main(record: Records):
  """The number of components of the main model."""
  numbers = record.config.get("components") or [None]
  return numbers[0]


def adapted(record: Records) -> Figure | None:
  """Means of three components in pictures' models, around the common one's."""
  means = record.arrays.get("adapted.means")
  if means is None:
    return None
  base = record.arrays["adapted.base"]
  deviation = record.arrays["adapted.deviation"]
  figure = Figure(figsize=(6.4, 5), layout="constrained")
  ax = open_axes(figure.subplots())
  for k in range(len(base)):
    style = {"color": PALETTE[k], "label": f"component {k + 1}"}
    ax.scatter(*means[:, k].T, s=14, alpha=0.6, lw=0, **style)
    ax.add_patch(
      Ellipse(base[k], *(2 * deviation[k]), fill=False, color=PALETTE[k], lw=1)
    )
    ax.plot(*base[k], marker="P", color=INK, ms=9, mec="white", ls="")
  ax.autoscale_view()
  told = f"{len(means)} training pictures; cross and ellipse: common model, "
  ax.set_title(told + "± 1 standard deviation", **TITLE)
  label_axes(ax, "first principal axis", "second principal axis")
  legend_outside(figure, ax.get_legend_handles_labels()[0])
  return figure


def wrong(record: Records) -> Figure | None:
  """The test pictures whose wrong class leads by most."""
  images = record.arrays.get("wrong.images")
  if images is None or not len(images):
    return None
  truth = record.arrays["wrong.truth"]
  predicted = record.arrays["wrong.predicted"]
  classes = [c for r in rows(record, "data") for c in r.get("classes") or []]
  names = class_names(record, len(classes))
  columns = min(6, len(images))
  lines = -(-len(images) // columns)
  figure = Figure(figsize=(1.75 * columns, 2.4 * lines), layout="constrained")
  panels = figure.subplots(lines, columns, squeeze=False).ravel()
  for ax in panels:
    ax.set_axis_off()
  files = [Path(str(name)).name for name in record.arrays["wrong.names"]]
  for ax, image, file, is_, was in zip(
    panels, images, files, truth, predicted, strict=False
  ):
    ax.imshow(image, cmap="gray", vmin=0, vmax=255)
    text = f"{file[-22:]}\n{names[is_]}\ntaken for {names[was]}"
    ax.set_title(text, loc="left", fontsize=8, color=INK)
  return figure


def stages(record: Records) -> Figure | None:
  """Seconds of each stage, one bar a split."""
  found = {}
  for row in rows(record, "stage"):
    own = found.setdefault(row["split"], dict.fromkeys(_STAGES, 0.0))
    own[row["stage"]] = own.get(row["stage"], 0) + row["seconds"]
  if not found:
    return None
  figure = Figure(figsize=(8, 1.4 + 0.3 * len(found)), layout="constrained")
  ax = open_axes(figure.subplots())
  place, left = np.arange(len(found)), np.zeros(len(found))
  for i, stage in enumerate(_STAGES):
    seconds = np.array([own[stage] for own in found.values()])
    ax.barh(place, seconds, left=left, color=PALETTE[i], label=stage)
    left += seconds
  ax.set_yticks(place, [f"split {number}" for number in found])
  ax.invert_yaxis()
  label_axes(ax, "seconds", "")
  legend_outside(figure, ax.get_legend_handles_labels()[0])
  return figure


ALL = (components, confusions, adapted, wrong, stages)
