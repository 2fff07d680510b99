"""What a config may say, checked before anything is loaded or computed."""

import math
import re

from experiments import fields
from experiments.errors import UserError
from experiments.lag import describe

_CELLS = 256  # of a level of the pyramid

DATA = ("demo", "scene15", "kth", "images")
CHOICES = {
  "data": DATA,
  "kinds": ("gradient", "shape", "colour"),
  "vectors": ("lag", "rlag", "klvec", "fisher"),
  "metric": ("cosine", "euclidean"),
  "dtype": ("float32", "float64"),
}
# Lowest value of a number, or of each in a list.
FLOORS = {
  "train_per_class": 2,
  "num_splits": 1,
  "side": 1,
  "max_side": 1,
  "patches": 1,
  "stride": 1,
  "dim": 1,
  "components": 1,
  "per_image": 1,
  "em_steps": 1,
  "relevance": 0,
  "ranks": 0,
  "folds": 2,
  "batch": 1,
  "cache_gb": 0,
  "seed": 0,
}


def check(config) -> None:
  """UserError unless every field of the config has a value with a meaning."""
  fields.check(config, choices=CHOICES, floors=FLOORS, may_be_empty=("svm_c",))
  for cell in fields.each(config, "cells"):
    if not re.fullmatch(r"[1-9]\d*x[1-9]\d*", cell):
      raise UserError(
        f"--config.cells: {cell!r}; expected rows x columns, as 2x2."
      )
    if math.prod(map(int, cell.split("x"))) > _CELLS:
      raise UserError(f"--config.cells: {cell!r}; expected {_CELLS} at most.")
  for name in ("kinds", "vectors", "components"):
    own = getattr(config, name)
    if len(set(own)) < len(own):
      raise UserError(f"--config.{name}={own}: one of them is there twice.")
  if config.dim > describe.COMPONENTS:
    raise UserError(
      f"--config.dim={config.dim}: expected {describe.COMPONENTS} at most, the "
      "components of a descriptor."
    )
  if not config.relevance < math.inf:
    raise UserError(
      f"--config.relevance={config.relevance}: expected a number."
    )
  if not max(config.ranks) <= 1:
    raise UserError(f"--config.ranks={config.ranks}: expected parts, 0 to 1.")
  if not all(0 < c < math.inf for c in config.svm_c):
    raise UserError(
      f"--config.svm_c={config.svm_c}: expected finite numbers above 0."
    )
