"""What labels new matrices or pictures: a subspace and reduced items."""

from pathlib import Path
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from experiments import precision, whole_files
from experiments.data.matrices import read_npz
from experiments.errors import UserError
from experiments.spd.items import regularised
from spdjax import reduction, spd

NAME = "spd.npz"
_ARRAYS = ("w", "items", "labels", "classes")
_SETTINGS = ("metric", "ridge", "pictures", "features", "position", "dtype")


class Model(NamedTuple):
  """The nearest of M reduced training items, by one metric."""

  w: np.ndarray  # [n, m]
  items: np.ndarray  # [M, m, m] SPD
  labels: np.ndarray  # [M] int, index into classes
  classes: np.ndarray  # [C] names
  metric: str  # of the distances between reduced items
  ridge: float  # of a matrix, before it is reduced
  pictures: bool  # whether items came from pictures
  features: str  # of their pixels
  position: bool
  dtype: str  # in which the run computed


def save(workdir, config, items, train, chosen) -> int:
  """Writes what a family chose on a split; returns the file's bytes.

  Args:
    items: the run's `Items`, without ridge.
    train: indices of the training items.
    chosen: `learned.Chosen`, of a nearest neighbour.
  """
  ridge = chosen.geometry.ridge
  reduced = _reduced(regularised(items.x[train], ridge), chosen.w)
  # Log-vectors of reduced items have the log-Euclidean distances.
  flat = chosen.classifier.name == "log_nn"
  path = Path(workdir) / NAME
  whole_files.write_npz(
    path,
    {
      "w": chosen.w,
      "items": reduced,
      "labels": items.labels[train],
      "classes": np.array(items.classes),
      "metric": np.array("log_euclidean" if flat else chosen.geometry.metric),
      "ridge": np.array(ridge),
      "pictures": np.array(config.data in ("demo", "kth", "images")),
      "features": np.array(config.features),
      "position": np.array(config.position),
      "dtype": np.array(config.dtype),
    },
  )
  return path.stat().st_size


def load(workdir) -> Model:
  """The model of a run's folder; UserError when it holds none."""
  arrays = read_npz(Path(workdir) / NAME, required=(*_ARRAYS, *_SETTINGS))
  settings = {name: arrays[name].item() for name in _SETTINGS}
  precision.at_least(settings["dtype"])
  return Model(*(arrays[name] for name in _ARRAYS), **settings)


def predict(model: Model, x, names):
  """(labels [N], minus the distances to the nearest items [N]) of x [N, n, n].

  UserError names the first matrix that is of another size, or not SPD.
  """
  n = len(model.w)
  if np.ndim(x) != 3 or np.shape(x)[1:] != (n, n):
    raise UserError(
      f"{names[0]}: shape {np.shape(x)}; the model takes [N, {n}, {n}]."
    )
  x = regularised(np.asarray(x, np.float64), model.ridge)
  for name, own in zip(names, x, strict=True):
    try:
      spd.check_spd(own.astype(model.dtype), name=name)
    except ValueError as error:
      raise UserError(f"{error}.") from error
  squared = np.asarray(
    spd.pairwise(
      jnp.asarray(_reduced(x, model.w)),
      jnp.asarray(model.items),
      metric=model.metric,
    )
  )
  nearest = squared.argmin(1)
  distance = np.sqrt(np.maximum(squared.min(1), 0))
  return model.classes[model.labels[nearest]], -distance


def _reduced(x, w) -> np.ndarray:
  kind = jnp.result_type(float)
  return np.asarray(
    spd.sym(reduction.project(jnp.asarray(x, kind), jnp.asarray(w, kind)))
  )
