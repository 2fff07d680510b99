"""The pictures of a run, read one at a time."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image
from tqdm import tqdm

from experiments.data import bundled, images, sets
from experiments.errors import UserError

_FOLDERS = {"scene15": "scene15", "kth": "kth_tips"}


class Pictures(NamedTuple):
  """What is known of the pictures; their pixels stay where they are."""

  read: Callable[[int], np.ndarray]  # index -> [H, W] float32 in [0, 1]
  names: list[str]  # N, files
  labels: np.ndarray  # [N] int, index into classes
  classes: list[str]
  shapes: list[tuple[int, int]]  # N, as read
  skipped: list[str]  # one sentence for each picture left out
  train: np.ndarray | None  # [N] bool, where the split is given


def load(config) -> Pictures:
  """Every picture is read once, so that a bad one is named at the start.

  UserError names it, or with `skip_bad` it is left out and told.
  """
  if config.data == "demo":
    return _demo()
  folder = images.find(_root(config))
  read = lambda index: resized(images.read_grey(folder.paths[index]), config)
  kept, shapes, skipped = [], [], []
  least = max(config.patches)
  for index, path in enumerate(
    tqdm(folder.paths, desc="reading", unit="image")
  ):
    try:
      shape = read(index).shape
      if min(shape) < least:
        raise UserError(
          f"{path} is {shape[0]} x {shape[1]} pixels; expected no less than a "
          f"patch, {least} (--config.patches)."
        )
    except UserError as error:
      if not config.skip_bad:
        raise
      skipped.append(str(error))
      continue
    kept.append(index)
    shapes.append(shape)
  labels = folder.labels[kept]
  images.check_counts(_root(config), folder.classes, labels)
  names = [str(folder.paths[index]) for index in kept]
  return Pictures(
    lambda index: read(kept[index]),
    names, labels, folder.classes, shapes, skipped, None,
  )  # fmt: skip


def resized(image, config) -> np.ndarray:
  """The picture with its longer side as the config says, bicubic."""
  longest = max(image.shape)
  side = config.side or min(longest, config.max_side)
  if side == longest:
    return image
  rows, columns = (max(1, round(n * side / longest)) for n in image.shape)
  own = Image.fromarray(image).resize((columns, rows), Image.Resampling.BICUBIC)
  return np.clip(np.asarray(own), 0, 1)


def alone(image, name) -> Pictures:
  """One picture that is at hand."""
  return Pictures(
    lambda _: image,
    [str(name)],
    np.zeros(1, int),
    [""],
    [image.shape],
    [],
    None,
  )


def _root(config) -> Path:
  if config.data == "images":
    if not config.path:
      raise UserError("data 'images' needs --config.path=FOLDER.")
    return Path(config.path)
  return sets.folder(config.data_dir) / _FOLDERS[config.data]


def _demo() -> Pictures:
  data = bundled.load(size=64, limit=24)
  names = [f"{data.classes[k]} {i}" for i, k in enumerate(data.labels)]
  return Pictures(
    lambda index: data.images[index],
    names, data.labels, data.classes,
    [image.shape for image in data.images], [], data.train,
  )  # fmt: skip
