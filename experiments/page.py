"""The report's web page: a pure function of records and drawn figures.

One file without script or outside reference: it can be mailed or printed.
"""

import base64
import html
import json

from experiments import lag_page, spd_page, stump_page
from experiments.figure_style import metric_name, rows
from experiments.records import Records

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
  pages = (stump_page, lag_page)
  own = next((page for page in pages if page.holds(record)), spd_page)
  title, captions = own.title(record), own.CAPTIONS
  body = [
    f"<h1>{html.escape(title)}</h1>",
    *own.summary(record),
    *own.table(record),
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
  return [
    r for r in record.metrics if isinstance(r.get("seconds"), int | float)
  ]


def _safe(text) -> str:
  return html.escape(str(text))
