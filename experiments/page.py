"""The report's web page: a pure function of records and drawn figures.

One file without script or outside reference: it can be mailed or printed.
"""

import base64
import html
import json

from experiments import stump_page
from experiments.figure_style import metric_name, rows
from experiments.method_table import is_chosen, picks, table
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
STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; } figure { margin: 0; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 4rem;
  font: 1rem/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  color: #222; background: #fff; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .5rem; }
p { max-width: 44rem; margin: .4rem 0; } .lead { font-size: 1.15rem; }
.note { border-left: 4px solid #e69f00; padding: .2rem .8rem; }
figcaption, .small { color: #555; font-size: .92rem; max-width: 44rem; }
.wide { overflow-x: auto; }
.wide img { display: block; max-width: 100%; min-width: min(34rem, 160vw);
  height: auto; margin: .6rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .9rem .3rem 0; text-align: left; white-space: nowrap;
  border-bottom: 1px solid #ddd; vertical-align: top; }
thead th { border-bottom: 2px solid #888; }
td.number, th.number { text-align: right; }
tr.chosen { background: #e8f1fa; font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem;
  font-size: .92rem; margin: .8rem 0; } dt { color: #555; } dd { margin: 0; }
code, pre { font: .88rem/1.45 ui-monospace, Menlo, Consolas, monospace; }
pre { overflow-x: auto; background: #f6f6f6; padding: .8rem; }
@media (max-width: 40rem) { table { font-size: .8rem; } }
"""


def render(record: Records, images: dict[str, bytes]) -> str:
  """The whole HTML page, images included as data URIs."""
  stumps = stump_page.holds(record)
  if stumps:
    title, captions = stump_page.title(record), stump_page.CAPTIONS
    opening = [*stump_page.summary(record), *stump_page.table(record)]
  else:
    title, captions = f"SPD reduction on {_name(record)}", CAPTIONS
    opening = [*_summary(record), *_table(record)]
  body = [
    f"<h1>{html.escape(title)}</h1>",
    *opening,
    *(_figure(*captions[n], images[n]) for n in captions if n in images),
    *_warnings(record),
    *_provenance(record),
  ]
  return "\n".join(
    [
      '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
      '<meta name="viewport" content="width=device-width, initial-scale=1">',
      f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n</head>",
      "<body>",
      *body,
      "</body>\n</html>\n",
    ]
  )


def _summary(record: Records) -> list[str]:
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


def _table(record: Records) -> list[str]:
  found = [(row, is_chosen(record, row)) for row in table(record)]
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


def _figure(heading: str, caption: str, image: bytes) -> str:
  data = base64.b64encode(image).decode()
  return (
    f"<h2>{heading}</h2>\n<figure><figcaption>{caption}</figcaption>\n"
    f'<div class="wide"><img alt="{heading}" '
    f'src="data:image/png;base64,{data}"></div></figure>'
  )


def _warnings(record: Records) -> list[str]:
  warned = [row for row in rows(record, "reduced") if row.get("warning")]
  if not warned:
    return []
  items = [
    f"split {r.get('split')}, {metric_name(r.get('metric'))}, "
    f"m = {r.get('dim')}: {r['warning']}"
    for r in warned
  ]
  lines = [f"<li>{_safe(item)}</li>" for item in items]
  return [
    f"<h2>Warnings</h2>\n<details{' open' * (len(lines) <= 10)}>",
    f'<summary>{len(lines)} in all</summary>\n<ul class="small">',
    *lines,
    "</ul></details>",
  ]


def _provenance(record: Records) -> list[str]:
  """How to run it again: command, revision, versions, date, time, config."""
  start = (rows(record, "start") or [{}])[-1]
  versions = ("spdjax", "jax", "jaxlib", "numpy", "python", "platform")
  revision = f"<code>{_safe(start.get('revision') or 'none')}</code>"
  if start.get("dirty"):
    revision += ", with uncommitted changes"
  spent = sum(row.get("seconds") or 0 for row in _stages(record))
  facts = {
    "command": f"<code>{_safe(start.get('command', 'not recorded'))}</code>",
    "date": _safe(start.get("time", "not recorded")),
    "time": f"{spent:.3g} s over the recorded stages",
    "device": _safe(
      f"{start.get('num_devices', '?')} × {start.get('device', '?')}"
    ),
    "git revision": revision,
    "versions": _safe(
      ", ".join(f"{v} {start[v]}" for v in versions if v in start)
    ),
  }
  config = _safe(json.dumps(record.config, indent=2, ensure_ascii=False))
  return [
    "<h2>How this was run</h2>\n<dl>",
    *(f"<dt>{name}</dt><dd>{fact}</dd>" for name, fact in facts.items()),
    f"</dl>\n<details><summary>config</summary><pre>{config}</pre></details>",
  ]


def _stages(record: Records) -> list[dict]:
  """The rows whose "seconds" is one duration (a trace holds a list)."""
  stages = ("data", "baseline", "reduced", "candidate", "size", "selection")
  return [row for row in record.metrics if row.get("event") in stages]


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
