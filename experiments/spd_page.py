"""What the report's page says of an `spd_reduction` run."""

import html

from experiments.figure_style import metric_name, rows
from experiments.method_table import is_chosen, picks
from experiments.method_table import table as methods
from experiments.records import Records

# Heading and caption of each figure, in the order of the page.
CAPTIONS = {
  "accuracy": (
    "Accuracy against the reduced size",
    "Solid: 1-NN on the reduced matrices. Dashed, same colour: 1-NN on the "
    "matrices as they came.",
  ),
  "cost": (
    "Cost during the search",
    "First split. A dot marks where a solver stopped; times leave compilation "
    "out.",
  ),
  "confusion": (
    "Which classes are taken for which",
    "Test items of all splits, 1-NN as validation chose. "
    "Numbers are counts; the shade is the share of the true class.",
  ),
  "view": (
    "The test set in two dimensions",
    "First split, logs of the matrices, one mark per item. Each panel has axes "
    "of its own.",
  ),
}
FAMILY = "reduced 1-NN"  # whose accuracy the result line gives
LONGEST = 20  # rows of the table that show without a click
TABLE = """<div class="wide"><table>
<thead><tr><th>method</th><th>metric</th><th class="number">m</th>
<th class="number">accuracy (%)</th><th class="number">splits</th></tr></thead>
<tbody>
{rows}
</tbody></table></div>"""


def title(record: Records) -> str:
  """The page's heading."""
  return f"SPD reduction on {_name(record)}"


def summary(record: Records) -> list[str]:
  """What was reduced, and how well."""
  data = (rows(record, "data") or [{}])[-1]
  size = f"{data.get('n')} × {data.get('n')}"
  facts = [
    f"{data['items']} matrices of {size}" if "items" in data else "",
    f"{len(data['classes'])} classes" if data.get("classes") else "",
    f"{data['skipped']} items skipped" if data.get("skipped") else "",
  ]
  parts = [f'<p class="small">{_safe(", ".join(filter(None, facts)))}</p>']
  result = (rows(record, "result") or [{}])[-1]
  if result.get("accuracy") is not None:
    chosen = rows(record, "choice", family=FAMILY)
    plain = sum(not row.get("dim") for row in chosen)
    mean = _percent(result["accuracy"], result.get("std"), len(chosen))
    parts.append(
      f'<p class="lead">1-NN as validation chose: <b>{mean} %</b> of the test '
      "items right.</p>"
    )
    if plain:
      parts.append(
        f'<p class="note">Validation chose not to reduce in {plain} of '
        f"{len(chosen)} splits.</p>"
      )
  else:
    parts.append(
      '<p class="note">The records hold no final result: the run stopped '
      "early or is still going. Below is what there is.</p>"
    )
  return parts


def table(record: Records) -> list[str]:
  """Every method, best first."""
  found = [(row, is_chosen(record, row)) for row in methods(record)]
  if not found:
    return []
  lines = [_table_row(record, row, chosen) for row, chosen in found]
  top = [
    line
    for i, (line, (_, chosen)) in enumerate(zip(lines, found, strict=True))
    if i < LONGEST or chosen
  ]
  parts = [
    "<h2>Methods by test accuracy</h2>",
    '<p class="small">Mean ± standard deviation over splits. ▸ marks what '
    "validation on the training part chose; the other rows of a reduction "
    "show what other sizes and metrics would have given. m is the reduced "
    "size, n where nothing is reduced.</p>",
    TABLE.format(rows="\n".join(top)),
  ]
  if len(top) < len(lines):
    rest = TABLE.format(rows="\n".join(lines))
    parts += [
      f"<details><summary>all {len(lines)} rows</summary>{rest}</details>"
    ]
  return parts


def _table_row(record: Records, row: dict, chosen: bool) -> str:
  method, metric, dim = row.get("method"), row.get("metric"), row.get("dim")
  metric = "–" if metric is None else metric_name(metric)
  size = "n" if dim is None else dim
  if chosen and row.get("metric") is None:
    metric, size = picks(record, method)
  splits = row.get("splits", "–")
  cells = ["▸ " * chosen + str(method), metric]
  numbers = [size, _percent(row.get("mean"), row.get("std"), splits), splits]
  return (
    ('<tr class="chosen">' if chosen else "<tr>")
    + "".join(f"<td>{_safe(cell)}</td>" for cell in cells)
    + "".join(f'<td class="number">{_safe(n)}</td>' for n in numbers)
    + "</tr>"
  )


def _name(record: Records) -> str:
  named = [row["name"] for row in rows(record, "data") if row.get("name")]
  return str(named[-1]) if named else "an unnamed data set"


def _percent(mean, std, splits) -> str:
  if mean is None:
    return "–"
  spread = "" if std is None or splits == 1 else f" ± {100 * std:.1f}"
  return f"{100 * mean:.1f}{spread}"


def _safe(text) -> str:
  return html.escape(str(text))
