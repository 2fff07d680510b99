"""Rows of features with labels: .npz, .csv and svmlight files, public sets."""

import csv
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits, load_svmlight_file

from experiments.data import matrices, sets, splits
from experiments.errors import UserError

_LARGEST = 8  # GiB of a table that is written sparsely


class Rows(NamedTuple):
  """A table with its split."""

  x: np.ndarray  # [N, D] of config.dtype
  labels: np.ndarray  # [N] int, index into classes
  classes: np.ndarray  # [C] the labels as given, sorted
  split: splits.Split
  names: list[str]  # [D]
  grid: tuple[int, int] | None  # rows and columns of pixels, D of them


def load(config) -> Rows:
  """The rows that a config names; UserError says which file or entry is bad."""
  if config.data == "table":
    if not config.path:
      raise UserError("data 'table' needs --config.path=FILE.")
    return _own(config)
  if config.data == "demo":
    digits = load_digits()
    return _rows(digits.data, digits.target, None, config, grid=(8, 8))
  folder = sets.folder(config.data_dir)
  if config.data == "mnist":
    return _mnist(folder / "mnist.npz", config)
  table = matrices.load_table(folder / f"{config.data}.npz")
  grid = (16, 16) if config.data == "usps" else None
  return _finish(table, config, grid)


def _own(config) -> Rows:
  path = Path(config.path)
  if path.suffix == ".npz":
    return _finish(matrices.load_table(path), config, None)
  if path.is_dir():
    raise UserError(f"{path}: a folder; expected a file.")
  if not path.is_file():
    raise UserError(f"{path}: no such file.")
  if not path.stat().st_size:
    raise UserError(f"{path}: the file is empty.")
  if path.suffix == ".csv":
    names, x, y = read_csv(path, config.label)
    return _rows(x, y, None, config, names=names, name=str(path))
  x, y = read_svmlight(path)
  return _rows(x, y, None, config, name=str(path))


def read_csv(path, label: str | None = None):
  """(feature names, x [N, D], y [N] str) of a .csv with one label column.

  `label` is a column's name, or its number from 0 (or from the end, below 0);
  None: the last column. The first line is a header where it has that name, or
  no number.
  """
  lines = csv_lines(path)
  if not lines:
    raise UserError(f"{path}: the file is empty.")
  width = len(lines[0])
  if width < 2:
    found = [c for c in (";", "\t", "|") if c in lines[0][0]]
    hint = f" parted by commas, not by {found[0]!r}" if found else ""
    raise UserError(f"{path}: one column; expected features and a label{hint}.")
  header = label in lines[0] or not any(map(_is_number, lines[0]))
  names = lines[0] if header else [f"column {k}" for k in range(width)]
  at = _label_column(path, names, label)
  x = np.empty((len(lines) - header, width - 1))
  for row, line in enumerate(lines[header:]):
    if len(line) != width:
      raise UserError(
        f"{path}: line {row + 1 + header} has {len(line)} entries; expected "
        f"{width}."
      )
    if not line[at]:
      raise UserError(f"{path}: line {row + 1 + header} has an empty label.")
    x[row] = [_number(line[k], path, row + 1 + header, names[k])
              for k in range(width) if k != at]  # fmt: skip
  y = np.array([line[at] for line in lines[header:]])
  return [n for k, n in enumerate(names) if k != at], x, y


def csv_lines(path) -> list[list[str]]:
  """The lines of a .csv that are not empty; UserError for what is none."""
  try:
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
      return [row for row in csv.reader(file) if row]
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
    hint = ""
    if line == 1:
      hint = "; a header has no number, or the name given by --config.label"
    raise UserError(
      f"{path}: line {line}, {name}: {text!r} is no finite number{hint}."
    )
  return value


def read_svmlight(path):
  """(x [N, D], y [N]) of a svmlight file."""
  try:
    x, y = load_svmlight_file(str(path))
  except (*matrices.UNREADABLE, OverflowError) as error:
    raise UserError(f"{path}: no valid svmlight file ({error}).") from error
  size = 8 * x.shape[0] * x.shape[1] / 2**30
  if size > _LARGEST:
    raise UserError(
      f"{path}: {x.shape[0]} rows of {x.shape[1]} features, {size:.3g} GiB as "
      f"a table; expected {_LARGEST} or less."
    )
  x = x.toarray()
  if not x.size:
    raise UserError(f"{path}: no rows, or no features.")
  bad = np.argwhere(~np.isfinite(x))
  if len(bad):
    raise UserError(f"{path}: row {bad[0][0]}, feature {bad[0][1]} not finite.")
  return x, y


def _mnist(path, config) -> Rows:
  keys = ("x_train", "y_train", "x_test", "y_test")
  arrays = matrices.read_npz(path, required=keys)
  x = np.concatenate([arrays["x_train"], arrays["x_test"]])
  y = np.concatenate([arrays["y_train"], arrays["y_test"]])
  train = np.arange(len(x)) < len(arrays["x_train"])
  return _rows(x.reshape(len(x), -1), y, train, config, grid=x.shape[1:])


def _rows(x, y, train, config, *, names=None, grid=None, name="y") -> Rows:
  labels, classes = matrices.encode(y, name=f"{name}: the label column")
  table = matrices.Table(x, labels, classes, None, train)
  return _finish(table, config, grid, names)


def _finish(table: matrices.Table, config, grid, names=None) -> Rows:
  if table.train is not None:
    split = splits.given(table.train)
  else:
    split = splits.folds(
      table.labels, config.test_folds, seed=config.seed, names=table.classes
    )[0]
  # A cell that the precision cannot hold would become infinite.
  bad = np.argwhere(np.abs(table.x) > np.finfo(config.dtype).max)
  if len(bad):
    row, column = bad[0]
    raise UserError(
      f"row {row}, feature {column} is {table.x[row, column]:g}, beyond "
      f"{config.dtype}; rescale it, or give --config.dtype=float64."
    )
  x = table.x.astype(config.dtype)
  names = names or [f"feature {k}" for k in range(x.shape[1])]
  seen = np.unique(table.labels[split.train])
  if len(seen) < 2:
    raise UserError("the training part has one class; expected two or more.")
  return Rows(x, table.labels, table.classes, split, names, grid)
