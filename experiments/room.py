"""Folders that hold no more than a number of bytes."""

import math
import os
from pathlib import Path


def made(folder: Path, limit: float, before: float = math.inf) -> bool:
  """Whether a folder holds no more than `limit` bytes.

  Files last written or touched before a time are removed for it, the oldest
  first.
  """
  held = [(entry.stat(), entry.path) for entry in os.scandir(folder)]
  total = sum(stat.st_size for stat, _ in held)
  for stat, path in sorted(held, key=lambda pair: pair[0].st_mtime):
    if total <= limit or stat.st_mtime >= before:
      break
    Path(path).unlink(missing_ok=True)
    total -= stat.st_size
  return total <= limit
