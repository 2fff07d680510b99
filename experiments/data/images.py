"""Pictures from a folder of class folders, as grey arrays in [0, 1]."""

import itertools
import struct
import sys
import tokenize
import warnings
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageOps

from experiments.errors import UserError

SUFFIXES = (
  *(".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif", ".webp"),
  *(".pgm", ".ppm", ".npy"),
)
LUMA = np.array([0.299, 0.587, 0.114])  # ITU-R BT.601
# What Pillow's decoders raise on files that are no pictures, or cut short.
UNREADABLE = (
  *(OSError, ValueError, SyntaxError, EOFError, struct.error, zlib.error),
  *(tokenize.TokenError, Image.DecompressionBombError),
)


class Folder(NamedTuple):
  """The files of a folder of class folders, in the order of their names."""

  paths: list[Path]  # N
  labels: np.ndarray  # [N] int, index into classes
  classes: list[str]  # the names of the class folders
  passed: tuple[str, ...] = ()  # what else is in them, but for hidden files


class Pixels(NamedTuple):
  """One picture."""

  values: np.ndarray  # [H, W] or [H, W, 3] float64 in [0, 1]
  remarks: tuple[str, ...]  # what it is beside grey of 8 bits, or floats


class Images(NamedTuple):
  """The pictures of a folder; sizes may differ."""

  images: list[np.ndarray]  # N arrays [H, W] float32 in [0, 1]
  labels: np.ndarray  # [N] int, index into classes
  classes: list[str]
  paths: list[Path]  # N
  skipped: list[str]  # one sentence for each bad file left out


def load(root, *, skip_bad=False, same_size=False) -> Images:
  """Reads every picture under `root`/CLASS/.

  A picture that cannot be used raises UserError, or with `skip_bad` is left
  out and told in `skipped`; `same_size` refuses pictures of several sizes.
  """
  folder = find(root)
  kept, skipped = [], []
  for path, label in zip(folder.paths, folder.labels, strict=True):
    try:
      kept.append((read_grey(path), label, path))
    except UserError as error:
      if not skip_bad:
        raise
      skipped.append(str(error))
  labels = np.array([label for _, label, _ in kept], int)
  check_counts(root, folder.classes, labels)
  images, paths = [k[0] for k in kept], [k[2] for k in kept]
  if same_size:
    _check_sizes(images, paths)
  return Images(images, labels, folder.classes, paths, skipped)


def tell_skipped(skipped: list[str]) -> None:
  """What was left out, on stderr: the first five, and how many."""
  for told in skipped[:5]:
    print(f"left out: {told}", file=sys.stderr)
  if len(skipped) > 5:
    print(f"left out: {len(skipped)} items in all", file=sys.stderr)


def find(root) -> Folder:
  """Lists the pictures under `root`/CLASS/; hidden and other files are passed.

  UserError unless there are at least two classes of two pictures each.
  """
  root = Path(root)
  if not root.is_dir():
    raise UserError(
      f"{root}: no such folder; expected a folder of class folders."
    )
  folders = sorted(
    p for p in root.iterdir() if p.is_dir() and not p.name.startswith(".")
  )
  if len(folders) < 2:
    raise UserError(
      f"{root} holds {len(folders) or 'no'} class folder; expected two or "
      "more, each with the pictures of one class."
    )
  files = [_pictures(folder) for folder in folders]
  labels = np.repeat(np.arange(len(files)), [len(f) for f in files])
  classes = [folder.name for folder in folders]
  check_counts(root, classes, labels)
  paths = [*itertools.chain(*files)]
  taken = set(paths)
  passed = tuple(
    str(path)
    for folder in folders
    for path in sorted(folder.iterdir())
    if path not in taken and not path.name.startswith(".")
  )
  return Folder(paths, labels, classes, passed)


def read_grey(path) -> np.ndarray:
  """One picture, [H, W] float32 in [0, 1]; colour becomes BT.601 luma."""
  return grey(read_pixels(path).values).astype(np.float32)


def grey(values) -> np.ndarray:
  """[H, W] or [H, W, 3] -> [H, W]."""
  return values if values.ndim == 2 else values @ LUMA


def read_pixels(path) -> Pixels:
  """One picture, grey or in colour.

  Alpha is dropped, 8 and 16 bits are scaled by their range; of several frames
  the first counts. UserError names the file when it is corrupt, has NaN or
  float values outside [0, 1].
  """
  try:
    pixels = _decode(Path(path))
  except UNREADABLE as error:
    reason = str(error).replace(str(path), "the file")
    raise UserError(f"{path}: not a readable picture ({reason}).") from error
  own = _drop_alpha(pixels, path)
  remarks = {
    "in colour": own.ndim == 3 and (own != own[..., :1]).any(),
    "of 16 bits": pixels.dtype == np.uint16,
    "with alpha": pixels.ndim == 3 and pixels.shape[2] in (2, 4),
  }
  told = tuple(remark for remark, true in remarks.items() if true)
  return Pixels(_scale(own, path), told)


def _decode(path: Path) -> np.ndarray:
  if path.suffix.lower() == ".npy":
    return np.load(path, allow_pickle=False)
  with warnings.catch_warnings():
    # Pillow warns of broken headers, and raises if they matter.
    warnings.simplefilter("ignore", UserWarning)
    return _open(path)


def _open(path: Path) -> np.ndarray:
  with Image.open(path) as image:
    # Cameras say by a tag which way is up.
    image = ImageOps.exif_transpose(image)
    if image.mode == "P":
      image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    elif image.mode in ("CMYK", "YCbCr", "LAB", "HSV"):
      image = image.convert("RGB")
    pixels = np.asarray(image)
    # Some 16-bit files come as 32-bit integers.
    if image.mode == "I" and 0 <= pixels.min() <= pixels.max() < 2**16:
      pixels = pixels.astype(np.uint16)
  return pixels


def _drop_alpha(pixels: np.ndarray, path) -> np.ndarray:
  """[H, W] or [H, W, 3] from those, or with one more channel of alpha."""
  channels = pixels.shape[2] if pixels.ndim == 3 else 1
  if pixels.ndim not in (2, 3) or not 1 <= channels <= 4 or not pixels.size:
    raise UserError(
      f"{path}: its shape is {pixels.shape}; expected [H, W], or [H, W, C] "
      "with 1 to 4 channels."
    )
  if pixels.ndim == 2:
    return pixels
  return pixels[..., 0] if channels <= 2 else pixels[..., :3]


def _scale(pixels: np.ndarray, path) -> np.ndarray:
  """Pixels as float64 in [0, 1]."""
  if pixels.dtype in (np.uint8, np.uint16):
    return pixels / np.iinfo(pixels.dtype).max
  if pixels.dtype == bool:
    return pixels.astype(np.float64)
  if not np.issubdtype(pixels.dtype, np.floating):
    raise UserError(
      f"{path}: pixels of type {pixels.dtype}; expected 8 or 16 bits, or "
      "floats in [0, 1]."
    )
  bad = np.argwhere(~np.isfinite(pixels))
  if len(bad):
    raise UserError(
      f"{path}: the pixel at row {bad[0][0]}, column {bad[0][1]} is not "
      f"finite ({len(bad)} in all)."
    )
  if pixels.min() < 0 or pixels.max() > 1:
    raise UserError(
      f"{path}: float pixels run from {pixels.min():g} to {pixels.max():g}; "
      "expected [0, 1]."
    )
  return pixels.astype(np.float64)


def _pictures(folder: Path) -> list[Path]:
  return sorted(
    p
    for p in folder.iterdir()
    if p.suffix.lower() in SUFFIXES and not p.name.startswith(".")
  )


def check_counts(root, classes: list[str], labels: np.ndarray) -> None:
  """UserError names a class of fewer than two pictures."""
  counts = np.bincount(labels, minlength=len(classes))
  for name, count in zip(classes, counts, strict=True):
    if count < 2:
      raise UserError(
        f"{Path(root) / name} holds {count or 'no'} picture that can be "
        "used; expected two or more, to train and to test."
      )


def _check_sizes(images: list[np.ndarray], paths: list[Path]) -> None:
  for image, path in zip(images, paths, strict=True):
    if image.shape != images[0].shape:
      raise UserError(
        f"{path} is {image.shape[0]} x {image.shape[1]}, but {paths[0]} is "
        f"{images[0].shape[0]} x {images[0].shape[1]}; expected one size."
      )
