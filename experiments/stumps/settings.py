"""What a config may say, checked before anything is loaded or computed."""

from configs.stump_kernel import VARIANTS
from experiments import fields
from experiments.errors import UserError
from experiments.stumps.baselines import BASELINES
from spdjax.stumps import sampling, theta

CHOICES = {
  "data": VARIANTS,
  "kinds": tuple(k for k in sampling.KINDS if k != "stump"),
  "draws": sampling.DRAWS,
  "thresholds": sampling.THRESHOLDS,
  "selections": theta.SELECTIONS,
  "baselines": tuple(BASELINES),
  "dtype": ("float32", "float64"),
}
# Lowest value of a number, or of each in a list.
FLOORS = {
  "test_folds": 2,
  "num_stumps": 1,
  "radius": 1,
  "pool": 2,
  "keep": 1,
  "choose_stumps": 1,
  "choose_rows": 10,
  "seed": 0,
}
MAY_BE_EMPTY = ("selections", "baselines", "kinds")


def check(config) -> None:
  """UserError unless every field of the config has a value with a meaning."""
  fields.check(
    config, choices=CHOICES, floors=FLOORS, may_be_empty=MAY_BE_EMPTY
  )
  for value in fields.each(config, "c"):
    if not 0 < value < float("inf"):
      raise UserError(f"--config.c: {value}; expected above 0.")
  if config.c_theta is not None and not 0 < config.c_theta < float("inf"):
    raise UserError(f"--config.c_theta={config.c_theta}: expected above 0.")
  if config.seed >= 2**32:
    raise UserError(f"--config.seed={config.seed}: expected below 2^32.")
  if max(config.keep) > config.pool:
    raise UserError(
      f"--config.keep={max(config.keep)} of --config.pool={config.pool} "
      "stumps: expected no more than are drawn."
    )


def check_rows(config, rows) -> None:
  """UserError where the rows cannot do what the config asks."""
  if "local" in config.draws and rows.grid is None:
    raise UserError(
      f"--config.draws: 'local' needs a grid of pixels; {config.data} has none."
    )
  train = rows.x[rows.split.train]
  if not (train.max(0) > train.min(0)).any():
    name = config.path or config.data
    raise UserError(f"{name}: all features are constant on the training part.")
