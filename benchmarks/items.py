"""The rows that the second method is timed on."""

import functools

import numpy as np

from configs import stump_kernel as configs
from experiments.data import tables
from experiments.errors import UserError


@functools.cache
def table():
  """(name, x [N, D], y [N] in 0 .. 9): MNIST, or digits that are repeated."""
  try:
    found = tables.load(configs.get_config("mnist"))
    name = "MNIST"
  except UserError:
    found = tables.load(configs.get_config("demo"))
    name = "digits, repeated with noise"
  x, y = found.x[found.split.train], found.labels[found.split.train]
  if name != "MNIST":
    rng = np.random.default_rng(0)
    index = np.arange(60_000) % len(x)
    x, y = x[index] + rng.normal(size=(60_000, x.shape[1])), y[index]
  return name, np.asarray(x, np.float32), np.asarray(y)
