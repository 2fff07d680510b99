"""The supervised problems that solvers are compared on."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from experiments.data import bundled, sets, splits
from experiments.errors import UserError
from experiments.features import image_covariances
from spdjax import reduction, spd


class Problem(NamedTuple):
  name: str
  x: jax.Array  # [N, n, n] training matrices
  y: np.ndarray  # [N]
  test: jax.Array  # [M, n, n]
  test_y: np.ndarray  # [M]
  dim: int


def hdm05() -> Problem:
  """One actor's 93 x 93 joint covariances, root included, to 20."""
  data = sets.hdm05(sets.folder())
  still = [np.pad(o, ((0, 0), (3, 0))) for o in data.observations]
  x = jnp.stack([spd.covariance(jnp.asarray(o)) for o in still])
  x = spd.regularise(x, 1e-3)
  labels, train = np.asarray(data.labels), np.asarray(data.subjects) == "bk"
  return Problem("hdm05 93 -> 20", x[train], labels[train], x[~train],
                 labels[~train], 20)  # fmt: skip


def kth() -> Problem:
  """KTH-TIPS, 43 features, 40 a class to train, to 15."""
  data = sets.kth(sets.folder())
  x = image_covariances(data.images, kind="textures", dtype="float32")
  x = jnp.asarray(x, jnp.float64)
  train, test = splits.per_class(data.labels, 40, seed=0)
  return Problem("kth 43 -> 15", x[train], data.labels[train], x[test],
                 data.labels[test], 15)  # fmt: skip


def patches() -> Problem:
  """The bundled pictures' patches, 12 features to 6: needs no data."""
  data = bundled.load(limit=20)
  x = image_covariances(list(data.images), kind="plain", dtype="float64")
  x = spd.regularise(jnp.asarray(x), 1e-4)
  train = np.asarray(data.train)
  return Problem("patches 12 -> 6", x[train], data.labels[train], x[~train],
                 data.labels[~train], 6)  # fmt: skip


def available() -> list[Problem]:
  """HDM05 and KTH-TIPS where SPDJAX_DATA has them, else the patches."""
  try:
    sets.folder()
  except UserError as error:
    print(f"{error} The bundled patches stand in.")
    return [patches()]
  return [hdm05(), kth()]


def graph(problem, metric, neighbours=5) -> reduction.Edges:
  return reduction.affinity(
    problem.x,
    problem.y,
    within=neighbours,
    between=neighbours,
    metric=metric,
  )


def start(problem) -> jax.Array:
  """Leading eigenvectors of the mean, [n, dim]."""
  return jnp.linalg.eigh(problem.x.mean(0))[1][:, ::-1][:, : problem.dim]
