"""The pictures of a run, read one at a time."""

import hashlib
import sys
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

  read: Callable[[int], np.ndarray]  # index -> [H, W (, 3)] float32 in [0, 1]
  names: list[str]  # N, files
  labels: np.ndarray  # [N] int, index into classes
  classes: list[str]
  shapes: list[tuple[int, int]]  # N, as read
  skipped: list[str]  # one sentence for each picture left out
  train: np.ndarray | None  # [N] bool, where the split is given
  remarks: dict[str, list[str]]  # "in colour" and the like -> names of such
  digest: str = ""  # of what was read: labels and pixels
  passed: tuple[str, ...] = ()  # files in class folders that are no pictures


def load(config) -> Pictures:
  """Every picture is read once, so that a bad one is named at the start.

  UserError names it, or with `skip_bad` it is left out and told.
  """
  if config.data == "demo":
    return _demo(config)
  folder = images.find(_root(config))
  kept, shapes, skipped, remarks = [], [], [], {}
  digest = hashlib.sha256()
  for index, path in enumerate(
    tqdm(folder.paths, desc="reading", unit="image")
  ):
    try:
      image, own = read_one(path, config)
    except UserError as error:
      if not config.skip_bad:
        raise
      skipped.append(str(error))
      continue
    for remark in own:
      remarks.setdefault(remark, []).append(str(path))
    kept.append(index)
    shapes.append(image.shape[:2])
    digest.update(repr((folder.labels[index], image.shape)).encode())
    digest.update(np.ascontiguousarray(image).data)
  labels = folder.labels[kept]
  images.check_counts(_root(config), folder.classes, labels)
  names = [str(folder.paths[index]) for index in kept]
  return Pictures(
    lambda index: read_one(folder.paths[kept[index]], config)[0],
    names, labels, folder.classes, shapes, skipped, None, remarks,
    digest.hexdigest(), folder.passed,
  )  # fmt: skip


def read_one(path, config):
  """(picture, remarks) as the config has it; UserError for too small a one.

  [H, W], or [H, W, 3] where colour is described: grey is then three times
  the same.
  """
  values, remarks = images.read_pixels(path)
  if "colour" not in config.kinds:
    values = images.grey(values)
  elif values.ndim == 2:
    values = np.repeat(values[..., None], 3, -1)
  image = resized(values.astype(np.float32), config)
  least = max(config.patches)
  if min(image.shape[:2]) < least:
    size = f"{values.shape[0]} x {values.shape[1]} pixels"
    if image.shape[:2] != values.shape[:2]:
      name = "side" if config.side else "max_side"
      size += (
        f", {image.shape[0]} x {image.shape[1]} as resized by --config.{name}"
      )
    raise UserError(
      f"{path} is {size}; expected no less than a patch, {least} "
      "(--config.patches)."
    )
  return image, remarks


def tell_remarks(pictures) -> None:
  """What some pictures are and others are not, on stderr."""
  num = len(pictures.names)
  if pictures.passed:
    print(
      f"note: {len(pictures.passed)} files in class folders are no pictures by "
      f"their names, as {pictures.passed[0]}",
      file=sys.stderr,
    )
  for remark, names in pictures.remarks.items():
    if len(names) < num:
      print(
        f"note: {len(names)} of {num} pictures {remark}, as {names[0]}",
        file=sys.stderr,
      )


def resized(image, config) -> np.ndarray:
  """The picture with its longer side as the config says, bicubic."""
  longest = max(image.shape[:2])
  side = config.side or min(longest, config.max_side)
  if side == longest:
    return image
  rows, columns = (max(1, round(n * side / longest)) for n in image.shape[:2])
  channels = np.atleast_3d(image).transpose(2, 0, 1)
  own = [
    Image.fromarray(c).resize((columns, rows), Image.Resampling.BICUBIC)
    for c in channels
  ]
  own = np.clip(np.stack(own, -1), 0, 1)
  return own if image.ndim == 3 else own[..., 0]


def alone(image, name) -> Pictures:
  """One picture that is at hand."""
  return Pictures(
    lambda _: image,
    [str(name)],
    np.zeros(1, int),
    [""],
    [image.shape[:2]],
    [],
    None,
    {},
  )


def _root(config) -> Path:
  if config.data == "images":
    if not config.path:
      raise UserError("data 'images' needs --config.path=FOLDER.")
    return Path(config.path)
  return sets.folder(config.data_dir) / _FOLDERS[config.data]


def _demo(config) -> Pictures:
  if "colour" in config.kinds:
    raise UserError("--config.kinds: the bundled pictures have no colour.")
  data = bundled.load(size=64, limit=24)
  names = [f"{data.classes[k]} {i}" for i, k in enumerate(data.labels)]
  return Pictures(
    lambda index: data.images[index],
    names, data.labels, data.classes,
    [image.shape for image in data.images], [], data.train, {},
  )  # fmt: skip
