"""Arrays kept in a folder of bounded size, by what they were computed from."""

import os
import re
import time
from pathlib import Path

import numpy as np

from experiments import room

_BEGIN = time.time()
_LEFT = {}  # bytes, as of the last look at a folder and what was written since
_OWN = re.compile(r"[0-9a-f]{32}\.(npy|\d+\.partial)")


def read(file: Path) -> np.ndarray | None:
  """The array, which is now in use; None for none, or half of one."""
  try:
    found = np.load(file, allow_pickle=False)
    os.utime(file)
  except (OSError, ValueError, EOFError):
    return None
  return found


def write(file: Path, array: np.ndarray, limit: float) -> None:
  """Keeps an array if its folder then holds no more than `limit` bytes.

  What this process has not used gives way, the longest unused first; what it
  has used stays, since a corpus that is gone through in turn would else find
  nothing again.
  """
  file.parent.mkdir(parents=True, exist_ok=True)
  key, size = (file.parent, limit), array.nbytes
  if _LEFT.get(key, 0) < size:
    spare = room.left(file.parent, limit - size, _OWN, before=_BEGIN)
    _LEFT[key] = spare + size
  if _LEFT[key] < size:
    return
  _LEFT[key] -= size
  partial = file.with_suffix(f".{os.getpid()}.partial")
  with partial.open("wb") as out:
    np.save(out, array)
  partial.replace(file)
