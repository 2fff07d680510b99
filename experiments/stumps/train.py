"""One fit of a kernel, and what it is worth."""

import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from experiments.data import splits
from experiments.errors import UserError
from spdjax import stumps

_BATCH = 10_000  # rows of a timed prediction, at most


class Setting(NamedTuple):
  """Everything that a fit depends on besides the rows."""

  kind: str
  draw: str
  thresholds: str
  c: float
  num_stumps: int
  selection: str = "none"
  keep: int | None = None


def fit(config, table, setting: Setting, split):
  """(Model, Info, seconds) of a fit on the training rows of the split."""
  x = jnp.asarray(table.x[split.train], config.dtype)
  key = jax.random.key(config.seed)
  begin = time.perf_counter()
  try:
    model, info = stumps.fit(
      key,
      x,
      table.labels[split.train],
      grid=table.grid,
      radius=config.radius,
      c_theta=config.c_theta,
      **setting._asdict(),
    )
  except ValueError as error:  # as of features constant in this part
    raise UserError(f"{setting.kind}, c = {setting.c:g}: {error}.") from error
  jax.block_until_ready(model.weights)
  return model, info, time.perf_counter() - begin


def accuracy(config, table, model, items) -> float:
  """The part of right labels among the items."""
  x = jnp.asarray(table.x[items], config.dtype)
  return float(np.mean(stumps.predict(model, x) == table.labels[items]))


def microseconds(config, table, model) -> float:
  """Microseconds a sample of a prediction of up to 10,000 rows, the best of 3.

  Compilation apart.
  """
  rows = np.resize(table.split.test, min(_BATCH, 4 * len(table.split.test)))
  x = jnp.asarray(table.x[rows], config.dtype)
  stumps.predict(model, x)
  seconds = []
  for _ in range(3):
    begin = time.perf_counter()
    stumps.predict(model, x)
    seconds.append(time.perf_counter() - begin)
  return 1e6 * min(seconds) / len(x)


def chooser(config, table) -> splits.Split:
  """Two parts of the training rows: to learn candidates, and to rank them.

  Of a large part only `choose_rows` rows are used.
  """
  train = table.split.train
  if len(train) > config.choose_rows:
    rng = np.random.default_rng(config.seed)
    train = np.sort(rng.choice(train, config.choose_rows, replace=False))
  own = splits.folds(
    table.labels[train], 5, seed=config.seed, names=table.classes
  )[0]
  return splits.Split(train[own.train], train[own.test])


def candidates(config, kinds) -> list[Setting]:
  """Every candidate of the kinds; a single stump has no neighbour to draw."""
  return list(
    dict.fromkeys(
      Setting(
        kind,
        "uniform" if kind == "stump" and draw == "local" else draw,
        thresholds,
        c,
        config.choose_stumps,
      )
      for kind in kinds
      for draw in config.draws
      for thresholds in config.thresholds
      for c in config.c
    )
  )


def choose(config, table, kinds, part, log, bar) -> Setting:
  """The candidate of the best accuracy on the ranking part; ties to the first.

  Each is logged.
  """
  best, top = None, -1.0
  for setting in candidates(config, kinds):
    model, info, seconds = fit(config, table, setting, part)
    right = accuracy(config, table, model, part.test)
    log(
      "candidate",
      **setting._asdict(),
      validation=right,
      converged=bool(info.converged),
      seconds=seconds,
    )
    bar.update()
    if right > top:
      best, top = setting, right
  return best
