"""Files that are there whole or not at all, whatever ends the run."""

import os
import zipfile
import zlib
from pathlib import Path

import numpy as np


def write_bytes(path, data: bytes) -> None:
  """Writes a file, whole or not at all."""
  path = Path(path)
  partial = path.with_name(path.name + ".partial")
  with partial.open("wb") as file:
    file.write(data)
    os.fsync(file.fileno())
  partial.replace(path)


def write_npz(path, arrays) -> None:
  """Writes a dict of arrays to one .npz, whole or not at all."""
  partial = Path(path).with_suffix(".partial")
  with partial.open("wb") as file:
    np.savez(file, **arrays)
    os.fsync(file.fileno())
  partial.replace(path)


def read_npz(path) -> dict[str, np.ndarray] | None:
  """The arrays of one .npz; None for none, or half of one."""
  try:
    with np.load(path, allow_pickle=False) as file:
      return dict(file)
  except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error):
    return None
