"""Tables of numbers in .csv files, with a column of labels or without."""

import csv
import re
from pathlib import Path

import numpy as np

from experiments.errors import UserError


def labelled(path, label: str | None = None):
  """(feature names, x [N, D], y [N] str) of a .csv with one label column.

  `label` is a column's name, or its number from 0 (or from the end, below 0);
  None: the last column. The first line is a header where it has that name, or
  no number.
  """
  lines = _lines(path)
  if not lines:
    raise UserError(f"{path}: the file is empty.")
  first = lines[0][1]
  width = len(first)
  parted = [c for c in (";", "\t") if all(c in text for text in first)]
  if width < 2 or parted:
    hint = f" parted by commas, not by {parted[0]!r}" if parted else ""
    raise UserError(f"{path}: one column; expected features and a label{hint}.")
  header = label in first or not any(map(_is_number, first))
  names = first if header else [f"column {k}" for k in range(width)]
  at = _label_column(path, names, label)
  x = np.empty((len(lines) - header, width - 1))
  for row, (number, line) in enumerate(lines[header:]):
    _check_width(path, number, line, width)
    if not line[at]:
      raise UserError(f"{path}: line {number} has an empty label.")
    x[row] = [_number(line[k], path, number, names[k])
              for k in range(width) if k != at]  # fmt: skip
  y = np.array([line[at] for _, line in lines[header:]])
  return [n for k, n in enumerate(names) if k != at], x, y


def _lines(path) -> list[tuple[int, list[str]]]:
  """(number, entries) of a .csv's lines that are not empty.

  UserError for what is no CSV.
  """
  try:
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
      reader = csv.reader(file)
      return [(reader.line_num, row) for row in reader if row]
  except UnicodeDecodeError as error:
    raise UserError(
      f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8."
    ) from error
  except csv.Error as error:
    raise UserError(f"{path}: no valid CSV ({error}).") from error
  except OSError as error:
    raise UserError(f"{path}: {error.strerror}.") from error


def _label_column(path, names, label) -> int:
  if label is None:
    return len(names) - 1
  if names.count(label) > 1:
    raise UserError(f"{path}: {names.count(label)} columns named {label!r}.")
  if label in names:
    return names.index(label)
  if re.fullmatch("-?[0-9]+", label) and -len(names) <= int(label) < len(names):
    return int(label) % len(names)
  raise UserError(
    f"{path}: no column {label!r} (--config.label); there are "
    f"{', '.join(names[:8])}{' ...' if len(names) > 8 else ''}."
  )


def _is_number(text: str) -> bool:
  try:
    float(text)
  except ValueError:
    return False
  return True


def _number(text, path, line, name) -> float:
  value = float(text) if _is_number(text) else np.nan
  if not np.isfinite(value):
    hint = "; a header has no number in it" if line == 1 else ""
    raise UserError(
      f"{path}: line {line}, {name}: {text!r} is no finite number{hint}."
    )
  return value


def numbers(path) -> np.ndarray:
  """A .csv without labels; a first line without any number is a header."""
  lines = _lines(path)
  if lines and not any(map(_is_number, lines[0][1])):
    lines = lines[1:]
  width = len(lines[0][1]) if lines else 0
  x = np.empty((len(lines), width))
  for row, (number, line) in enumerate(lines):
    _check_width(path, number, line, width)
    x[row] = [
      _number(text, path, number, f"column {k}") for k, text in enumerate(line)
    ]
  return x


def _check_width(path, number, line, width) -> None:
  if len(line) != width:
    raise UserError(
      f"{path}: line {number} has {len(line)} entries; expected {width}."
    )
