"""The public sets of the experiments, as laid out in the data folder."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments.data import images, matrices
from experiments.errors import UserError


class Sequences(NamedTuple):
  """Motion capture: one array of observations for each sequence."""

  observations: list[np.ndarray]  # N arrays [T, 90] float64, T varies
  labels: np.ndarray  # [N] int, index into classes
  classes: np.ndarray  # [C] the labels as given
  subjects: np.ndarray  # [N] str
  names: np.ndarray  # [N] str


def folder(data_dir: str | None = None) -> Path:
  """The data folder: `data_dir`, or failing that $SPDJAX_DATA.

  UserError when neither is given or the folder is absent.
  """
  given = data_dir or os.environ.get("SPDJAX_DATA")
  if not given:
    raise UserError(
      "no data folder: set --config.data_dir or the variable SPDJAX_DATA to "
      "the folder that holds the sets."
    )
  if not Path(given).is_dir():
    source = "--config.data_dir" if data_dir else "SPDJAX_DATA"
    raise UserError(f"{source}={given}: no such folder.")
  return Path(given)


def kth(root, *, skip_bad=False) -> images.Images:
  """KTH-TIPS: 10 materials x 81 grey pictures of about 200 x 200."""
  return images.load(Path(root) / "kth_tips", skip_bad=skip_bad)


def hdm05(root, *, turned: bool = False) -> Sequences:
  """HDM05: 288 sequences of 11 actions by 5 actors, 31 joints at 120 Hz.

  Joints are taken relative to the root and the root's column, then zero, is
  dropped: 30 joints x 3 coordinates. The actors were not recorded facing the
  same way: with `turned` every sequence is turned about the vertical axis, y,
  so that the line from the right hip to the left begins along x.
  """
  path = Path(root) / "hdm05.npz"
  keys = ("frames", "offsets", "labels", "subjects", "names", "joint_names")
  arrays = matrices.read_npz(path, required=keys)
  frames, offsets = arrays["frames"].astype(np.float64), arrays["offsets"]
  _check_offsets(offsets, len(frames), path)
  at = list(arrays["joint_names"]).index("root")
  frames -= frames[:, at : at + 1]
  if turned:
    hips = [_joint(arrays["joint_names"], side, path) for side in "lr"]
    frames = _turned(frames, offsets, *hips)
  relative = np.delete(frames, at, axis=1)
  observations = np.split(relative.reshape(len(frames), -1), offsets[1:-1])
  labels, classes = matrices.encode(arrays["labels"], name=f"{path}: labels")
  return Sequences(
    observations, labels, classes, arrays["subjects"], arrays["names"]
  )


def uav51(root) -> matrices.Matrices:
  """UAV-Human skeleton covariances: 1,883 matrices 51 x 51, 15 classes."""
  path = Path(root) / "uav51.npz"
  arrays = matrices.read_npz(path, required=("triu", "labels", "split"))
  labels, classes = matrices.encode(arrays["labels"], name=f"{path}: labels")
  x = unpack(arrays["triu"].astype(np.float64))
  return matrices.Matrices(x, labels, classes, None, arrays["split"] == "train")


def unpack(triu: np.ndarray) -> np.ndarray:
  """[..., n(n+1)/2] upper triangles, row by row -> symmetric [..., n, n]."""
  n = int((8 * triu.shape[-1] + 1) ** 0.5 - 1) // 2
  if n * (n + 1) // 2 != triu.shape[-1]:
    raise UserError(
      f"{triu.shape[-1]} entries are no upper triangle; expected n(n+1)/2."
    )
  rows, columns = np.triu_indices(n)
  x = np.zeros((*triu.shape[:-1], n, n), triu.dtype)
  x[..., rows, columns] = x[..., columns, rows] = triu
  return x


def _joint(names, side: str, path) -> int:
  """Index of the hip of a side."""
  name = f"{side}hipjoint_@_{side}femur"
  found = np.flatnonzero(np.asarray(names) == name)
  if not len(found):
    raise UserError(f"{path}: no joint {name!r}, which turning needs.")
  return int(found[0])


def _turned(frames, offsets, left: int, right: int) -> np.ndarray:
  """Each sequence turned about y by the one angle of its first frame."""
  first = frames[offsets[:-1], left] - frames[offsets[:-1], right]
  angle = np.repeat(np.arctan2(first[:, 2], first[:, 0]), np.diff(offsets))
  cosine, sine = np.cos(angle)[:, None], np.sin(angle)[:, None]
  x, y, z = np.moveaxis(frames, -1, 0)
  return np.stack([cosine * x + sine * z, y, cosine * z - sine * x], -1)


def _check_offsets(offsets: np.ndarray, num_frames: int, path) -> None:
  ends = (offsets[0], offsets[-1])
  if ends != (0, num_frames) or (np.diff(offsets) <= 0).any():
    raise UserError(
      f"{path}: offsets must rise from 0 to the number of frames, {num_frames}."
    )
