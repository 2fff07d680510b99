"""Cost curves: what each solver reached, by iteration and by second."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from experiments.figure_style import (
  PALETTE,
  TITLE,
  label_axes,
  legend_outside,
  metric_name,
  open_axes,
  plain_text,
  rows,
)
from experiments.records import Records

SOLVERS = {
  "cg": ("conjugate gradients", PALETTE[0], "-"),
  "eigen": ("eigenvectors", PALETTE[1], "--"),
}


def cost(record: Records) -> Figure | None:
  """Cost against iteration and seconds, one solver beside the other.

  Harandi et al., 2017, figure 4. The log-Euclidean metric, which both solvers
  know, is drawn large; other metrics follow in small panels.
  """
  traces = [t for t in rows(record, "trace") if np.isfinite(_costs(t)).any()]
  if not traces:
    return None
  metrics = list(dict.fromkeys(t.get("metric") for t in traces))
  main = "log_euclidean" if "log_euclidean" in metrics else metrics[0]
  others = [m for m in metrics if m != main]
  columns = min(4, max(3, len(others)))
  heights = [3.8] + [2.5] * -(-len(others) // columns)
  figure = Figure(figsize=(9, sum(heights)), layout="constrained")
  parts = figure.subfigures(
    len(heights), 1, squeeze=False, height_ratios=heights
  )[:, 0]
  _cost_pair(parts[0], main, [t for t in traces if t.get("metric") == main])
  for i, part in enumerate(parts[1:]):
    shown = others[columns * i :][:columns]
    panels = part.subplots(1, columns)
    for ax, metric in zip(panels, shown, strict=False):
      chosen = [t for t in traces if t.get("metric") == metric]
      _cost_panel(ax, chosen, _cost_scale(chosen))
      ax.set_title(metric_name(metric), **TITLE)
    for ax in panels[len(shown) :]:
      ax.set_visible(False)
  return figure


def _cost_pair(part, metric, traces) -> None:
  steps, seconds = part.subplots(1, 2, sharey=True)
  scale = _cost_scale(traces)
  _cost_panel(steps, traces, scale)
  steps.set_title(metric_name(metric), **TITLE)
  timed = [t for t in traces if t.get("seconds")]
  _cost_panel(seconds, timed, scale, against="seconds")
  seconds.set_ylabel("")
  if not timed:
    seconds.set_title("no times recorded", **TITLE)
  legend_outside(part, steps.get_legend_handles_labels()[0])


def _cost_panel(ax, traces, scale, against="iteration") -> None:
  label, shift, kind = scale
  open_axes(ax).set_yscale(kind)
  ends = []
  for trace in traces:
    y = _costs(trace) - shift
    x = np.arange(0.0, len(y)) + _first_iteration(trace)
    if against == "seconds":
      x = np.array(trace["seconds"][: len(y)], dtype=float)
    name, colour, dash = SOLVERS.get(
      trace.get("solver"), (plain_text(trace.get("solver")), PALETTE[2], ":")
    )
    ax.plot(x, y[: len(x)], dash, color=colour, lw=1.8, label=name)
    ax.plot(x[-1:], y[: len(x)][-1:], "o", color=colour, ms=4.5)
    ends.append(x[-1])
  # A solver that is far quicker would be a dot at the left edge.
  if against == "seconds" and ends and max(ends) > 20 * min(ends) > 0:
    ax.set_xscale("log")
  else:
    whole = against == "iteration"
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=whole))
  label_axes(ax, "time (s)" if against == "seconds" else against, label)


def _cost_scale(traces) -> tuple[str, float, str]:
  """(axis label, what to take off, axis scale) that shows these costs best.

  Costs of one sign that hardly change need no log axis; costs that reach below
  zero can have none, so the distance to the best one is drawn.
  """
  costs = np.concatenate([_costs(t) for t in traces])
  low, high = np.nanmin(costs), np.nanmax(costs)
  if low > 0:
    return "cost", 0.0, "log" if high > 10 * low else "linear"
  if low == high:
    return "cost", 0.0, "linear"
  # Below the rounding of `low` the shift would be lost and the best cost zero.
  lost = 8 * np.finfo(float).eps * abs(low)
  least = max(10.0 ** np.floor(np.log10(1e-4 * (high - low))), lost)
  power = int(np.ceil(np.log10(least)))
  best = f"{low:.4g}".replace("-", "\u2212")
  label = f"cost \u2212 best + $10^{{{power}}}$\n(best = {best})"
  return label, low - 10.0**power, "log"


def _first_iteration(trace) -> int:
  """0 where a trace opens with the cost of the start, at no time spent."""
  return 0 if (trace.get("seconds") or [1])[0] == 0 else 1


def _costs(trace) -> np.ndarray:
  costs = np.array(trace.get("cost") or [], dtype=float)
  return np.where(np.isfinite(costs), costs, np.nan)
