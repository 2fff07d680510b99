"""What a config may say, checked before anything is loaded or computed."""

from experiments import fields
from experiments.errors import UserError
from experiments.spd.items import LOADERS
from spdjax import spd

CHOICES = {
  "data": tuple(LOADERS),
  "features": ("plain", "textures"),
  "protocol": ("per_class", "groups", "given", "halves"),
  "metrics": spd.METRICS,
  "choose_metrics": spd.METRICS,
  "starts": ("pca", "between"),
  "solver": ("cg", "tr"),
  "choose": ("cv", "fixed"),
  "classifiers": ("log_nn", "log_svm", "tangent_svm"),
  "facing": ("recorded", "turned"),
}
# Lowest value of a number, or of each in a list.
FLOORS = {
  "train_per_class": 1,
  "num_splits": 1,
  "group_size": 1,
  "max_groups": 0,
  "ridges": 0,
  "dims": 1,
  "neighbours": 1,
  "within": 0,
  "between": 0,
  "max_steps": 1,
  "folds": 2,
  "svm_c": 0,
  "seed": 0,
}
MAY_BE_EMPTY = ("choose_metrics",)


def check(config) -> None:
  """UserError unless every field of the config has a value with a meaning."""
  fields.check(
    config, choices=CHOICES, floors=FLOORS, may_be_empty=MAY_BE_EMPTY
  )
  if min(config.svm_c) <= 0:
    raise UserError(f"--config.svm_c={config.svm_c}: expected above 0.")
  if config.facing == "turned" and config.data != "hdm05":
    raise UserError(
      "--config.facing='turned' is for the skeletons of hdm05; "
      f"{config.data} has none."
    )
  foreign = set(config.choose_metrics) - set(config.metrics)
  if foreign:
    raise UserError(
      f"--config.choose_metrics: {foreign.pop()!r} is not in --config.metrics; "
      "it names those of them that validation chooses from."
    )
  if config.fixed_dim is not None and config.fixed_dim not in config.dims:
    raise UserError(
      f"--config.fixed_dim={config.fixed_dim} is not in "
      f"--config.dims={config.dims}."
    )


def check_dims(config, n: int) -> None:
  """UserError unless every m is below n."""
  if max(config.dims) >= n:
    raise UserError(
      f"--config.dims={config.dims}: the matrices are {n} x {n}; expected m "
      f"from 1 to {n - 1}."
    )
