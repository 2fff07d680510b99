"""From a config to labelled SPD matrices and their splits."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from experiments import features
from experiments.data import bundled, images, matrices, sets, splits
from experiments.errors import UserError
from spdjax import spd


class Items(NamedTuple):
  """Symmetric matrices with labels; definite once `definite` has passed."""

  x: np.ndarray  # [N, n, n] float64
  labels: np.ndarray  # [N] int, index into classes
  classes: list[str]
  names: list[str]  # N, what an error calls an item
  groups: np.ndarray | None = None  # [N], e.g. the subject
  train: np.ndarray | None = None  # [N] bool, where the data give a split
  skipped: tuple[str, ...] = ()  # one sentence for each item left out


def load(config) -> Items:
  """The items of the config; UserError names what is wrong with them."""
  items = LOADERS[config.data](config)
  items = definite(items, min(config.ridges), config.skip_bad)
  counts = np.bincount(items.labels, minlength=len(items.classes))
  for name, count in zip(items.classes, counts, strict=True):
    if count < 2:
      raise UserError(
        f"class {name!r} has {count or 'no'} item; expected two or more, to "
        "train and to test."
      )
  return items


def definite(items: Items, ridge: float, skip_bad: bool) -> Items:
  """The items that are SPD with the ridge.

  UserError names the first other one, unless `skip_bad` leaves it out.
  """
  x = regularised(items.x, ridge)
  if _fault(x, "x") is None:
    return items
  faults = [_fault(a, name) for a, name in zip(x, items.names, strict=True)]
  told = [
    f"{f}; a ridge mends a low rank: --config.ridges." for f in faults if f
  ]
  if not skip_bad:
    raise UserError(told[0])
  return keep(items, np.array([f is None for f in faults]), told)


def keep(items: Items, good: np.ndarray, told: list[str]) -> Items:
  """The items where `good` [N] holds; `told` joins `skipped`."""
  pick = lambda a: None if a is None else a[good]
  return Items(
    items.x[good],
    items.labels[good],
    items.classes,
    [n for n, g in zip(items.names, good, strict=True) if g],
    pick(items.groups),
    pick(items.train),
    (*items.skipped, *told),
  )


def regularised(x: np.ndarray, ridge: float) -> np.ndarray:
  """X + ridge tr(X)/n I in numpy's float64, [N, n, n]."""
  n = x.shape[-1]
  scale = ridge * np.trace(x, axis1=1, axis2=2) / n
  return x + scale[:, None, None] * np.eye(n)


def _fault(x: np.ndarray, name: str) -> str | None:
  """Why x is not SPD in the precision of the run, or None."""
  try:
    spd.check_spd(x.astype(jnp.result_type(float)), name=name)
  except ValueError as error:
    return str(error)
  return None


def all_splits(config, items: Items) -> list[splits.Split]:
  """The splits of the config's protocol; UserError when the data have none."""
  if config.protocol == "per_class":
    return [
      splits.per_class(
        items.labels, config.train_per_class, seed=seed, names=items.classes
      )
      for seed in range(config.seed, config.seed + config.num_splits)
    ]
  if config.protocol == "groups":
    if items.groups is None:
      raise UserError(f"protocol 'groups', but {config.data} has no groups.")
    chosen = splits.groups_of(items.groups, config.group_size)
    count = min(config.max_groups or len(chosen), len(chosen))
    chosen = [chosen[k * len(chosen) // count] for k in range(count)]
    return [splits.by_group(items.groups, names) for names in chosen]
  if items.train is None:
    raise UserError(
      f"protocol {config.protocol!r}, but {config.data} has no split of "
      "its own."
    )
  return [splits.given(items.train)]


def _path(config):
  if not config.path:
    raise UserError(f"data {config.data!r} needs --config.path=PATH.")
  return config.path


def _npz(config) -> Items:
  own = matrices.load(_path(config))
  names = [f"{config.path}: X[{i}]" for i in range(len(own.x))]
  return _matrices(own, names)


def _uav51(config) -> Items:
  own = sets.uav51(sets.folder(config.data_dir))
  return _matrices(own, [f"matrix {i}" for i in range(len(own.x))])


def _matrices(own: matrices.Matrices, names: list[str]) -> Items:
  # Files of float32 are symmetric to float32's rounding only.
  x = (own.x + own.x.mT) / 2
  classes = [str(c) for c in own.classes]
  return Items(x, own.labels, classes, names, own.groups, own.train)


def _hdm05(config) -> Items:
  turned = config.facing == "turned"
  own = sets.hdm05(sets.folder(config.data_dir), turned=turned)
  x = np.stack([_covariance(o) for o in own.observations])
  classes = [str(c) for c in own.classes]
  return Items(x, own.labels, classes, list(own.names), own.subjects)


def _covariance(observations: np.ndarray) -> np.ndarray:
  # In numpy: every sequence has a length of its own, a compilation each in JAX.
  return np.cov(observations, rowvar=False, bias=True)


def _kth(config) -> Items:
  root = sets.folder(config.data_dir)
  return _pictures(config, sets.kth(root, skip_bad=config.skip_bad))


def _images(config) -> Items:
  own = images.load(_path(config), skip_bad=config.skip_bad)
  return _pictures(config, own)


def _pictures(config, own: images.Images) -> Items:
  x = _region_covariances(config, own.images)
  names = [str(path) for path in own.paths]
  return Items(x, own.labels, own.classes, names, skipped=tuple(own.skipped))


def _demo(config) -> Items:
  own = bundled.load(size=48, limit=24)
  x = _region_covariances(config, own.images)
  names = [f"patch {i} of {own.classes[k]}" for i, k in enumerate(own.labels)]
  return Items(x, own.labels, own.classes, names, train=own.train)


def _region_covariances(config, pictures) -> np.ndarray:
  x = features.image_covariances(
    pictures,
    kind=config.features,
    position=config.position,
    dtype=config.dtype,
    cache=config.cache,
  )
  return x.astype(np.float64)


LOADERS = {
  "demo": _demo,
  "kth": _kth,
  "hdm05": _hdm05,
  "uav51": _uav51,
  "npz": _npz,
  "images": _images,
}
