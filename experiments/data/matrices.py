"""Matrices or table rows with labels, from an .npz file."""

import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments.errors import UserError

UNREADABLE = (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error)


class Matrices(NamedTuple):
  """Symmetric matrices with labels."""

  x: np.ndarray  # [N, n, n] float64, symmetric; definiteness is not checked
  labels: np.ndarray  # [N] int, index into classes
  classes: np.ndarray  # [C] the labels as given, sorted
  groups: np.ndarray | None  # [N] as given, e.g. the subject
  train: np.ndarray | None  # [N] bool, where the file gives a split


class Table(NamedTuple):
  """Rows of features with labels."""

  x: np.ndarray  # [N, D] float64
  labels: np.ndarray  # [N] int, index into classes
  classes: np.ndarray  # [C] the labels as given, sorted
  groups: np.ndarray | None  # [N] as given
  train: np.ndarray | None  # [N] bool, where the file gives a split


def load(path) -> Matrices:
  """Reads X [N, n, n] and y [N], optionally groups [N] and a split.

  The split is `split` [N] ("train" or not) or `n_train` (that many rows
  first). UserError names the key or the index of the first bad matrix.
  """
  arrays = read_npz(path, required=("X", "y"))
  x = finite(arrays["X"], path)
  if x.ndim != 3 or x.shape[1] != x.shape[2] or not x.size:
    raise UserError(
      f"{path}: X has shape {x.shape}; expected [N, n, n], N square matrices."
    )
  _check_symmetric(x, path)
  return Matrices(x, *_companions(arrays, len(x), path))


def load_table(path) -> Table:
  """Reads X [N, D] and y [N], optionally groups and a split, as `load`."""
  arrays = read_npz(path, required=("X", "y"))
  x = finite(arrays["X"], path)
  if x.ndim != 2 or not x.size:
    raise UserError(
      f"{path}: X has shape {x.shape}; expected [N, D], a row for each item."
    )
  return Table(x, *_companions(arrays, len(x), path))


def encode(y, *, name="y") -> tuple[np.ndarray, np.ndarray]:
  """Labels of any plain type -> (codes [N] int, classes [C] as given)."""
  y = np.asarray(y)
  if y.ndim != 1:
    raise UserError(
      f"{name} has shape {y.shape}; expected [N], a label for each item."
    )
  if y.dtype.kind not in "biufUS":
    raise UserError(
      f"{name} is of type {y.dtype}; expected labels: integers, strings or "
      "booleans."
    )
  if np.issubdtype(y.dtype, np.floating) and (bad := y % 1 != 0).any():
    i = np.argmax(bad)
    raise UserError(
      f"{name}[{i}] is {y[i]}; expected labels: integers, strings or booleans."
    )
  classes, codes = np.unique(y, return_inverse=True)
  if len(classes) < 2:
    raise UserError(
      f"{name} holds {len(classes) or 'no'} class; expected two or more."
    )
  return codes, classes


def read_npz(path, *, required) -> dict[str, np.ndarray]:
  """Every array of an .npz file; UserError when it or a key is missing."""
  path = Path(path)
  if path.is_dir():
    raise UserError(f"{path}: a folder; expected an .npz file.")
  if not path.is_file():
    raise UserError(f"{path}: no such file; expected an .npz file.")
  try:
    # numpy leaves a file that it opened itself, and cannot read, open.
    with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
      names = list(file)
      arrays = {name: _read_array(file, name, path) for name in names}
  except UserError:
    raise
  except UNREADABLE as error:
    raise UserError(f"{path}: not a readable .npz file ({error}).") from error
  except (AttributeError, TypeError) as error:  # np.load gave a bare array
    raise UserError(
      f"{path}: a single array; expected an .npz file with "
      f"{' and '.join(required)}."
    ) from error
  for key in required:
    if key not in arrays:
      raise UserError(
        f"{path} has no array {key!r}; expected {' and '.join(required)}, "
        f"found {', '.join(arrays) or 'none'}."
      )
  return arrays


def _read_array(file, name: str, path) -> np.ndarray:
  try:
    return file[name]
  except ValueError as error:
    raise UserError(
      f"{path}: {name} cannot be read as a plain array ({error}); save "
      "numbers or strings (astype(str)), not Python objects."
    ) from error


def finite(x: np.ndarray, path) -> np.ndarray:
  """X as float64; UserError names the first item that is not finite."""
  if not np.issubdtype(x.dtype, np.number) or np.iscomplexobj(x):
    raise UserError(f"{path}: X is of type {x.dtype}; expected real numbers.")
  x = x.astype(np.float64)
  bad = np.argwhere(~np.isfinite(x))
  if len(bad):
    where = ", ".join(map(str, bad[0]))
    raise UserError(f"{path}: X[{where}] is {x[tuple(bad[0])]}, not finite.")
  return x


def _check_symmetric(x: np.ndarray, path) -> None:
  # float32 is the coarsest type that such files are stored in.
  scale = np.abs(x).max(axis=(1, 2))
  gap = np.abs(x - x.mT).max(axis=(1, 2))
  bad = gap > 16 * np.finfo(np.float32).eps * scale
  if bad.any():
    i = np.argmax(bad)
    raise UserError(
      f"{path}: X[{i}] is not symmetric (entries differ from their mirror by "
      f"up to {gap[i]:.2g}); expected symmetric matrices."
    )


def _n_train(value: np.ndarray, num: int, path) -> int:
  whole = value.shape == () and value.dtype.kind in "iuf" and value % 1 == 0
  if not whole or not 0 < value < num:
    told = value if value.shape == () else f"an array of shape {value.shape}"
    raise UserError(
      f"{path}: n_train is {told}; expected a whole number from 1 to {num - 1}."
    )
  return int(value)


def _companions(arrays: dict, num: int, path):
  """(labels, classes, groups, train) for `num` items."""
  labels, classes = encode(arrays["y"], name=f"{path}: y")
  split = arrays.get("split")
  if split is not None:
    train = split if split.dtype == bool else split == "train"
  elif "n_train" in arrays:
    train = np.arange(num) < _n_train(arrays["n_train"], num, path)
  else:
    train = None
  groups = arrays.get("groups")
  for name, value in (("y", labels), ("groups", groups), ("split", train)):
    if value is not None and np.shape(value) != (num,):
      raise UserError(
        f"{path}: {name} has shape {np.shape(value)}; expected ({num},), one "
        "for each item of X."
      )
  return labels, classes, groups, train
