"""Patches of the pictures inside scikit-image's wheel: data on any machine.

Each picture is a class. Patches of its left half train and patches of its
right half test, so that no pixel is in both.
"""

import importlib.util
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments.data.images import read_grey
from experiments.errors import UserError

# Left out: drawings and masks (their flat areas have no covariance), a second
# view of the motorcycle, and pictures too small or mostly black.
PICTURES = (
  *("astronaut.png", "brick.png", "camera.png", "cell.png", "chelsea.png"),
  *("clock_motion.png", "coffee.png", "coins.png", "grass.png", "gravel.png"),
  *("hubble_deep_field.jpg", "ihc.png", "moon.png", "motorcycle_left.png"),
  *("page.png", "rocket.jpg"),
)


class Patches(NamedTuple):
  """Square patches, each labelled with its picture."""

  images: np.ndarray  # [N, size, size] float32 in [0, 1]
  labels: np.ndarray  # [N] int, index into classes
  classes: list[str]  # names of the pictures
  train: np.ndarray  # [N] bool: from the left half


def load(*, size: int = 48, limit: int | None = None) -> Patches:
  """Patches on a grid without overlap; at most `limit` a half, evenly chosen.

  UserError when scikit-image or one of its pictures is absent, or when a half
  is smaller than a patch.
  """
  folder = _folder()
  parts = []
  for label, name in enumerate(PICTURES):
    halves = [cut(half, size) for half in _halves(folder / name, size)]
    for train, patches in zip((True, False), halves, strict=True):
      kept = patches[_evenly(len(patches), limit)]
      num = len(kept)
      parts.append((kept, np.full(num, label), np.full(num, train)))
  images, labels, train = map(np.concatenate, zip(*parts, strict=True))
  return Patches(images, labels, [Path(p).stem for p in PICTURES], train)


def cut(image: np.ndarray, size: int) -> np.ndarray:
  """[H, W] -> [N, size, size], row by row; what is left at the edges goes."""
  rows, columns = image.shape[0] // size, image.shape[1] // size
  grid = image[: rows * size, : columns * size]
  grid = grid.reshape(rows, size, columns, size).swapaxes(1, 2)
  return grid.reshape(-1, size, size)


def _halves(path: Path, size: int) -> tuple[np.ndarray, np.ndarray]:
  image = read_grey(path)
  middle = image.shape[1] // 2
  if not 1 <= size <= min(middle, image.shape[0]):
    raise UserError(
      f"patches of {size} pixels; expected 1 to "
      f"{min(middle, image.shape[0])}, what half of {path.name} holds."
    )
  return image[:, :middle], image[:, middle:]


def _evenly(num: int, limit: int | None) -> np.ndarray:
  """At most `limit` of `num` indices, spread over all of them."""
  if limit is not None and limit < 1:
    raise UserError(f"a limit of {limit} patches; expected 1 or more.")
  kept = num if limit is None else min(limit, num)
  return np.arange(kept) * num // kept


def _folder() -> Path:
  # Found without an import: skimage.data's own loader may want to download.
  spec = importlib.util.find_spec("skimage")
  if spec is None:
    raise UserError(
      "scikit-image is not installed; its pictures are the demo's data: "
      "pip install 'spdjax[experiments]'."
    )
  folder = Path(spec.submodule_search_locations[0]) / "data"
  missing = [name for name in PICTURES if not (folder / name).is_file()]
  if missing:
    raise UserError(
      f"{folder}: {missing[0]} is missing; expected the pictures that "
      "scikit-image 0.25 or 0.26 ships."
    )
  return folder
