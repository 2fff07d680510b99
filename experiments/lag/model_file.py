"""What labels new pictures: encoders and C vectors, in one .npz and a .json."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from configs.lag_scenes import Config
from experiments import precision, whole_files
from experiments.data.matrices import read_npz
from experiments.errors import UserError
from experiments.lag import models, products, recognise, settings, vectors

ARRAYS, SETTINGS = "lag.npz", "lag.json"
_KEPT = (
  *("side", "max_side", "kinds", "patches", "stride", "relevance", "cells"),
  *("signed_root", "mirrored", "metric", "dtype"),
)


class Model(NamedTuple):
  """A saved model; scores are the larger the nearer a class is."""

  config: Config
  vector: str
  encoders: dict  # kind -> `gaussians.Encoder`
  weights: dict  # kind -> [S L, C]
  norms: np.ndarray  # [C]
  classes: np.ndarray  # [C]


def save(workdir, config, encoders, centroids, norms, classes) -> int:
  """Writes the main model of a run; returns the bytes of both files.

  Args:
    centroids: {kind: [S L, C]} the classes' projected centroids.
    norms: [C] their squared lengths, as means over kinds and cells.
  """
  scale = products.scale(config, len(centroids))
  arrays = {
    f"{kind}.weights": (scale * own).astype(np.float32)
    for kind, own in centroids.items()
  }
  arrays |= {"norms": norms, "classes": np.asarray(classes)}
  file, other = Path(workdir) / ARRAYS, Path(workdir) / SETTINGS
  models.save(file, encoders, **arrays)
  kept = {name: getattr(config, name) for name in _KEPT}
  text = json.dumps(kept | {"vector": config.vectors[0]}, indent=1) + "\n"
  whole_files.write_bytes(other, text.encode())
  return file.stat().st_size + other.stat().st_size


def is_in(folder) -> bool:
  """Whether a folder holds a saved model."""
  return all((Path(folder) / name).is_file() for name in (ARRAYS, SETTINGS))


def copy(source, target) -> None:
  """Copies a saved model from a folder to another."""
  for name in (ARRAYS, SETTINGS):
    whole_files.write_bytes(
      Path(target) / name, (Path(source) / name).read_bytes()
    )


def load(workdir) -> Model:
  """The model of a run's folder; UserError when it holds none."""
  arrays = read_npz(Path(workdir) / ARRAYS, required=("norms", "classes"))
  path = Path(workdir) / SETTINGS
  try:
    kept = json.loads(path.read_text(encoding="utf-8"))
    vector = kept.pop("vector")
    kept = {k: tuple(v) if isinstance(v, list) else v for k, v in kept.items()}
    config = Config(**kept, batch=1)  # one picture at a time, no filling
    settings.check(config)
    if vector not in settings.CHOICES["vectors"]:
      raise ValueError(f"vector {vector!r}")
    precision.at_least(config.dtype)
    return Model(
      config,
      vector,
      models.read(arrays, config.kinds),
      {kind: arrays[f"{kind}.weights"] for kind in config.kinds},
      arrays["norms"],
      arrays["classes"],
    )
  except (OSError, ValueError, TypeError, KeyError, UserError) as error:
    raise UserError(f"{path}: no settings of a model ({error}).") from error


def scores(model: Model, pictures, indices, canvas) -> np.ndarray:
  """[b, C] of a batch of pictures on one canvas."""
  found = vectors.encoded(
    model.config, pictures, canvas, indices, model.encoders, (model.vector,)
  )
  inner = sum(
    found[kind, model.vector] @ weights
    for kind, weights in model.weights.items()
  )
  return recognise.from_inner(inner, model.norms, model.config.metric)
