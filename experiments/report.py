"""A run's records as one web page and a folder of PNGs.

python -m experiments.report --workdir=DIR

writes DIR/report.html, which holds its images and needs no network, and
DIR/figures/*.png. It draws from the records alone: nothing is computed anew.
"""

import argparse
import io
import sys
import zipfile
from pathlib import Path

from experiments import (
  figures,
  lag_page,
  page,
  records,
  spd_page,
  stump_page,
)
from experiments.errors import UserError
from experiments.records import Records

PAGE, FOLDER = "report.html", "figures"


def main(argv: list[str] | None = None) -> None:
  """Writes the report that a command line asks for; exit 2 if it cannot."""
  parser = argparse.ArgumentParser("experiments.report", description=__doc__)
  parser.formatter_class = argparse.RawDescriptionHelpFormatter
  parser.add_argument("--workdir", help="the folder of a run's records")
  known, rest = parser.parse_known_args(argv)
  try:
    if rest or not known.workdir:
      raise UserError(
        f"{rest[0]!r} is no flag; give --workdir=DIR."
        if rest
        else "--workdir=DIR is missing: which run's records?"
      )
    print(report(known.workdir))
  except UserError as error:
    print(f"error: {error}", file=sys.stderr)
    sys.exit(2)


def report(workdir) -> Path:
  """Writes report.html and figures/*.png from a folder's records.

  Returns the page's path. Parts that the records do not hold are left out;
  UserError when there are no records or they hold no result at all.
  """
  workdir = Path(workdir)
  record = _read(workdir)
  images = {k: _png(figure) for k, figure in figures.draw(record).items()}
  try:
    (workdir / FOLDER).mkdir(exist_ok=True)
    every = {*spd_page.CAPTIONS, *stump_page.CAPTIONS, *lag_page.CAPTIONS}
    for stale in every - set(images):
      (workdir / FOLDER / f"{stale}.png").unlink(missing_ok=True)
    for name, image in images.items():
      (workdir / FOLDER / f"{name}.png").write_bytes(image)
    (workdir / PAGE).write_text(page.render(record, images), encoding="utf-8")
  except OSError as error:
    raise UserError(f"{error.filename}: {error.strerror}.") from error
  return workdir / PAGE


def _read(workdir: Path) -> Records:
  if not workdir.is_dir():
    raise UserError(f"--workdir={workdir}: no such folder.")
  try:
    record = records.read(workdir)
  except (OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
    if isinstance(error, UserError):
      raise
    raise UserError(f"--workdir={workdir}: unreadable ({error}).") from error
  shown = (
    *("baseline", "reduced", "choice", "trace", "result", "size"),
    *("accuracy", "stage"),
  )
  if not any(row.get("event") in shown for row in record.metrics):
    raise UserError(
      f"{workdir / records.METRICS} holds no result yet: it is empty, cut "
      "short, or the run has only begun."
    )
  return record


def _png(figure) -> bytes:
  file = io.BytesIO()
  figure.savefig(file, format="png", dpi=170, metadata={"Software": None})
  return file.getvalue()


if __name__ == "__main__":
  main()
