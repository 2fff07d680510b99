"""Confusion matrices: counts in cells, shaded by the share of the row."""

import numpy as np

from experiments.figure_style import INK, label_axes


def draw(ax, counts, names, *, percent=True):
  """Counts [C, C] on `ax`, true classes down; returns the shaded image."""
  share = 100 * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
  shade = ax.imshow(share, cmap="Blues", vmin=0, vmax=100)
  for i, j in np.argwhere(counts) if len(counts) <= 40 else ():
    text = f"{counts[i, j]:.0f}"
    if percent:
      text += f"\n{share[i, j]:.0f} %"
    ink = "white" if share[i, j] > 55 else INK
    ax.text(j, i, text, ha="center", va="center", color=ink, fontsize=8.5)
  ax.set_xticks(range(len(names)), names, rotation=90)
  ax.set_yticks(range(len(names)), names)
  ax.tick_params(
    length=0, labelsize=9.5 if len(counts) <= 40 else 5, colors=INK
  )
  ax.spines[:].set_visible(False)
  label_axes(ax, "predicted class", "true class")
  return shade


def side(counts, names) -> float:
  """Inches that a panel of `draw` needs."""
  cell = 0.62 if len(counts) <= 12 else 0.34 if len(counts) <= 40 else 0.1
  return max(2.4, cell * len(counts)) + 0.075 * max(map(len, names)) + 0.8


def share_bar(figure, shade, axes) -> None:
  """The colour bar of the shares."""
  bar = figure.colorbar(shade, ax=axes, shrink=0.6, aspect=25, pad=0.02)
  bar.set_label("share of the true class (%)", color=INK)
  bar.ax.tick_params(labelsize=9, colors=INK)
  bar.outline.set_visible(False)
