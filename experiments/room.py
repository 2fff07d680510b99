"""Folders that hold no more than a number of bytes."""

import contextlib
import math
import os
from pathlib import Path


def left(folder: Path, limit: float, own, before: float = math.inf) -> float:
  """Bytes that a folder's own files leave of `limit`; below 0 if too many.

  Those last written or touched before a time are removed until they fit, the
  oldest first. Other files in the folder are neither counted nor removed.

  Args:
    own: a compiled pattern that the whole name of such a file matches.
  """
  held = []
  for entry in os.scandir(folder):
    # Another process may be renaming or removing what is listed.
    with contextlib.suppress(FileNotFoundError):
      if own.fullmatch(entry.name) and entry.is_file():
        held.append((entry.stat(), entry.path))
  total = sum(stat.st_size for stat, _ in held)
  for stat, path in sorted(held, key=lambda pair: pair[0].st_mtime):
    if total <= limit or stat.st_mtime >= before:
      break
    Path(path).unlink(missing_ok=True)
    total -= stat.st_size
  return limit - total
