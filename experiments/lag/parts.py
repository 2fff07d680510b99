"""Which pictures train and which test."""

import numpy as np

from experiments.data import splits
from experiments.errors import UserError


def of(config, loaded):
  """The splits, each of which leaves enough to choose by folds."""
  if loaded.train is not None:
    found = [splits.given(loaded.train)]
  else:
    found = [_drawn(config, loaded, s) for s in range(config.num_splits)]
  for split in found:
    y = loaded.labels[split.train]
    try:
      splits.folds(y, config.folds, seed=config.seed, names=loaded.classes)
    except UserError as error:
      raise UserError(f"--config.folds={config.folds}: {error}") from error
  return found


def _drawn(config, loaded, number):
  own = config.train_per_class
  if own is None:
    own = max(2, min(100, int(np.bincount(loaded.labels).min()) // 2))
  try:
    return splits.per_class(
      loaded.labels, own, seed=config.seed + number, names=loaded.classes
    )
  except UserError as error:
    raise UserError(f"--config.train_per_class={own}: {error}") from error
