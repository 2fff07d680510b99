"""Rows of features with labels: .npz, .csv and svmlight files, public sets."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits, load_svmlight_file

from experiments.data import csv_files, matrices, sets, splits
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
  suffix = path.suffix.lower()
  if config.label is not None and suffix != ".csv":
    raise UserError(f"--config.label is for .csv files; {path} is none.")
  if suffix == ".npz":
    return _finish(matrices.load_table(path), config, None, name=str(path))
  check_file(path)
  if suffix == ".csv":
    names, x, y = csv_files.labelled(path, config.label)
    return _rows(x, y, None, config, names=names, name=str(path))
  x, y = read_svmlight(path)
  return _rows(x, y, None, config, name=str(path))


def check_file(path: Path) -> None:
  """UserError unless the path is a file with something in it."""
  if path.is_dir():
    raise UserError(f"{path}: a folder; expected a file.")
  if not path.is_file():
    raise UserError(f"{path}: no such file.")
  if not path.stat().st_size:
    raise UserError(f"{path}: the file is empty.")


def unlabelled(path, num: int) -> np.ndarray:
  """Rows [N, num] to be labelled, float64: .npz with X, .csv, or svmlight.

  UserError names the file and the line, row or entry that cannot be used.
  """
  path = Path(path)
  suffix = path.suffix.lower()
  if suffix == ".npz":
    x = matrices.finite(matrices.read_npz(path, required=("X",))["X"], path)
  else:
    check_file(path)
    if suffix == ".csv":
      x = csv_files.numbers(path)
    else:
      x, _ = read_svmlight(path, num)
  if x.ndim != 2 or not len(x):
    raise UserError(f"{path}: shape {x.shape}; expected rows of {num} numbers.")
  if x.shape[1] != num:
    hint = "; leave the labels out" if x.shape[1] == num + 1 else ""
    raise UserError(
      f"{path}: {x.shape[1]} features a row; the model takes {num}{hint}."
    )
  return x


def read_svmlight(path, num: int | None = None):
  """(x [N, D], y [N]) of a svmlight file; D is `num` where that is given."""
  try:
    x, y = load_svmlight_file(str(path), n_features=num)
  except (*matrices.UNREADABLE, OverflowError) as error:
    raise UserError(
      f"{path}: no valid svmlight file ({error}); a table of commas is to be "
      "named .csv."
    ) from error
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
  return _finish(table, config, grid, names, name)


def _finish(table: matrices.Table, config, grid, names=None, name="y") -> Rows:
  try:
    split = _split(table, config)
  except UserError as error:
    raise UserError(f"{name}: {error}") from error
  # A cell that the precision cannot hold would become infinite.
  bad = np.argwhere(np.abs(table.x) > np.finfo(config.dtype).max)
  if len(bad):
    row, column = bad[0]
    what = names[column] if names else f"feature {column}"
    raise UserError(
      f"{name}: row {row}, {what} is {table.x[row, column]:g}, beyond "
      f"{config.dtype}; rescale it, or give --config.dtype=float64."
    )
  x = table.x.astype(config.dtype)
  names = names or [f"feature {k}" for k in range(x.shape[1])]
  seen = np.unique(table.labels[split.train])
  if len(seen) < 2:
    raise UserError(
      f"{name}: the training part has the one class "
      f"{str(table.classes[seen[0]])!r}; expected two or more."
    )
  return Rows(x, table.labels, table.classes, split, names, grid)


def _split(table, config):
  if table.train is not None:
    return splits.given(table.train)
  if config.test_folds > len(table.labels):
    raise UserError(
      f"--config.test_folds={config.test_folds} of {len(table.labels)} rows."
    )
  return splits.folds(
    table.labels, config.test_folds, seed=config.seed, names=table.classes
  )[0]
