"""What a config may say, checked before anything is loaded or computed."""

import re

from experiments import fields
from experiments.errors import UserError

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
  if not max(config.ranks) <= 1:
    raise UserError(f"--config.ranks={config.ranks}: expected parts, 0 to 1.")
  if config.svm_c and not min(config.svm_c) > 0:
    raise UserError(f"--config.svm_c={config.svm_c}: expected above 0.")
