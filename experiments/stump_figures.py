"""The figures of a `stump_kernel` run: pure functions Records -> Figure."""

import numpy as np
from matplotlib.figure import Figure

from experiments.figure_style import (
  MARKERS,
  PALETTE,
  TITLE,
  label_axes,
  legend_outside,
  open_axes,
  plain_text,
  rows,
)
from experiments.records import Records

BASELINES = {
  "linear_svm": "linear SVM",
  "rbf_svm": "RBF SVM",
  "fourier": "random Fourier features",
  "trees": "random tree embedding",
  "extra_trees": "extra trees",
}
_STYLES = ((0, (5, 3)), (0, (1, 2)), (0, (7, 2, 1, 2)))


def growth(record: Records) -> Figure | None:
  """Accuracy against kept stumps: all kept, the selections, the baselines."""
  sizes = rows(record, "size")
  if not sizes:
    return None
  figure = Figure(figsize=(9, 4.6), layout="constrained")
  ax = open_axes(figure.subplots())
  for i, kind in enumerate(dict.fromkeys(r["kind"] for r in sizes)):
    own = [r for r in sizes if r["kind"] == kind]
    ax.plot(
      [r["kept"] for r in own],
      [100 * r["accuracy"] for r in own],
      color=PALETTE[i],
      marker=MARKERS[i],
      label=f"{kind_name(kind)}, all kept",
    )
  for i, name in enumerate(_selections(record)):
    own = [r for r in rows(record, "selection") if r["selection"] == name]
    ax.plot(
      [r["kept"] for r in own],
      [100 * r["accuracy"] for r in own],
      color=PALETTE[2 + i],
      marker=MARKERS[2 + i],
      ls="",
      label="drawn at random"
      if name == "none"
      else f"{name} of {own[0]['num_stumps']:,}",
      zorder=3,
    )
  for i, row in enumerate(rows(record, "baseline")):
    ax.axhline(
      100 * row["accuracy"],
      color="#777777",
      lw=1.3,
      ls=_STYLES[i % 3],
      alpha=1 - 0.4 * (i // 3),
      label=BASELINES.get(row["method"], row["method"]),
    )
  ax.set_xscale("log", base=2)
  ticks = sorted({r["kept"] for r in [*sizes, *rows(record, "selection")]})
  # Of ticks that would touch, the first.
  apart = [t for k, t in enumerate(ticks) if not k or t > 1.2 * ticks[k - 1]]
  ax.set_xticks(apart, [f"{t:,}" for t in apart])
  label_axes(ax, "stumps kept", "test accuracy (%)")
  legend_outside(figure, ax.get_legend_handles_labels()[0])
  return figure


def _selections(record: Records) -> list[str]:
  """The names of the selections, each once."""
  found = [row["selection"] for row in rows(record, "selection")]
  return list(dict.fromkeys(found))


def spectrum(record: Records) -> Figure | None:
  """theta, sorted."""
  theta = record.arrays.get("theta")
  if theta is None:
    return None
  figure = Figure(figsize=(7, 3.6), layout="constrained")
  ax = open_axes(figure.subplots())
  for i, name in enumerate(_selections(record)):
    own = record.arrays.get(f"theta_{name}")
    if own is not None and name != "none":  # that one is uniform too
      kept = own[own > 0]
      style = {"color": PALETTE[2 + i], "label": name}
      ax.plot(np.arange(1, len(kept) + 1), kept, **style)
  ax.plot(np.arange(1, len(theta) + 1), theta, color="#777777", label="uniform")
  ax.set_xscale("log")
  ax.set_yscale("log")
  label_axes(ax, "rank of the stump", "weight theta (sum 1)")
  legend_outside(figure, ax.get_legend_handles_labels()[0])
  return figure


def features(record: Records) -> Figure | None:
  """How often the kept stumps look at each feature; an image for pixels."""
  counts = record.arrays.get("features")
  if counts is None:
    return None
  grid = record.arrays.get("grid", np.zeros(2))
  pixels = bool(np.prod(grid))
  figure = Figure(
    figsize=(4.6, 4) if pixels else (8, 3.4), layout="constrained"
  )
  ax = figure.subplots()
  if pixels:
    image = ax.imshow(counts.reshape(grid.astype(int)), cmap="viridis")
    figure.colorbar(image, ax=ax, shrink=0.8, label="mappings that look at it")
    for axis in (ax.xaxis, ax.yaxis):
      axis.get_major_locator().set_params(integer=True)
    label_axes(ax, "column (pixels)", "row (pixels)")
    return figure
  order = np.argsort(-counts, kind="stable")[:60]
  open_axes(ax).bar(np.arange(len(order)), counts[order], color=PALETTE[0])
  names = record.arrays.get("feature_names", np.arange(len(counts)))
  told = [plain_text(names[k], 18) for k in order]
  if len(told) > 30:  # no room for them
    ax.set_xticks([])
  else:
    turned = 90 if max(map(len, told)) > 3 else 0
    ax.set_xticks(range(len(told)), told, rotation=turned)
  ax.yaxis.get_major_locator().set_params(integer=True)
  title = "the 60 most used" if len(counts) > 60 else "all features"
  ax.set_title(title, **TITLE)
  label_axes(ax, "feature, most used first", "mappings that look at it")
  return figure


def kind_name(kind: str) -> str:
  """A kind of mapping as a reader writes it."""
  return {
    "stump": "single stumps",
    "xor": "xor of two stumps",
    "and": "and of two stumps",
    "projection": "signed pairs",
    "xor_projection": "xor of signed pairs",
  }.get(kind, kind)
