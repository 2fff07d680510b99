"""How the figures look: colours, names, axes, legends."""

from experiments.records import Records

# Okabe & Ito (2008), told apart under every common colour blindness; their
# yellow is left out, it fades on white.
PALETTE = (
  *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"),
  "#000000",
)
MARKERS = "os^DvP*Xp"
METRIC_NAMES = {
  "airm": "affine-invariant",
  "stein": "Stein",
  "jeffrey": "Jeffrey",
  "log_euclidean": "log-Euclidean",
  "euclidean": "Euclidean",
}
INK, FAINT = "#333333", "#dddddd"
TITLE = {"loc": "left", "fontsize": 10, "color": INK}


def rows(record: Records, event: str, **fields) -> list[dict]:
  """The lines of one event, in order, whose fields have the given values."""
  wanted = {"event": event, **fields}.items()
  return [r for r in record.metrics if all(r.get(k) == v for k, v in wanted)]


def metric_name(metric) -> str:
  """A metric as a reader writes it; an unknown name stays as it is."""
  return METRIC_NAMES.get(metric, str(metric))


def plain_text(name, longest: int = 24) -> str:
  """A name on one line that matplotlib does not take for mathematics."""
  name = " ".join(str(name).split())
  if len(name) > longest:  # ends tell names apart as well
    head = longest // 2
    name = name[:head] + "…" + name[len(name) - (longest - head - 1) :]
  return name.replace("$", r"\$")


def class_names(record: Records, count: int) -> list[str]:
  """`count` class names, numbers where the records name none."""
  names = [n for row in rows(record, "data") for n in row.get("classes") or []]
  return [
    plain_text(n) for n in (names if len(names) == count else range(count))
  ]


def open_axes(ax):
  """`ax` with a faint grid and no box; returned for chaining."""
  ax.grid(color=FAINT, lw=0.6)
  ax.set_axisbelow(True)
  ax.spines[["top", "right"]].set_visible(False)
  ax.spines[["left", "bottom"]].set_color("#999999")
  ax.tick_params(labelsize=9, colors=INK, length=3, which="both")
  return ax


def label_axes(ax, x: str, y: str) -> None:
  """Axis labels, with their units in the text."""
  ax.set_xlabel(x, color=INK, fontsize=10)
  ax.set_ylabel(y, color=INK, fontsize=10)


def legend_outside(figure, handles, ncols: int = 1) -> None:
  """A legend right of the axes, where it hides no data."""
  figure.legend(
    handles=handles,
    loc="outside right center",
    frameon=False,
    fontsize=9,
    labelcolor=INK,
    ncols=ncols,
    markerscale=1.3,
    columnspacing=1.2,
    handletextpad=0.5,
  )
