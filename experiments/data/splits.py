"""Which items train and which test; numpy's generator, so that a seed means
the same split everywhere."""

import itertools
from typing import NamedTuple

import numpy as np

from experiments.errors import UserError


class Split(NamedTuple):
  """Indices into the items; disjoint, each ascending."""

  train: np.ndarray  # int
  test: np.ndarray  # int


def given(train: np.ndarray) -> Split:
  """The split of a mask [N], True for training; UserError for an empty part."""
  split = Split(np.flatnonzero(train), np.flatnonzero(~np.asarray(train)))
  for part, indices in split._asdict().items():
    if not len(indices):
      raise UserError(f"the given split leaves nothing to {part}.")
  return split


def per_class(labels, k: int, *, seed: int, names=None) -> Split:
  """k random items of each class to train, the rest to test.

  UserError names a class, by `names` where given, of no more than k items.
  """
  labels = np.asarray(labels)
  if k < 1:
    raise UserError(f"{k} items a class to train; expected 1 or more.")
  rng = np.random.default_rng(seed)
  train = np.zeros(len(labels), bool)
  for label in np.unique(labels):
    items = np.flatnonzero(labels == label)
    if len(items) <= k:
      raise UserError(
        f"class {label if names is None else repr(names[label])} has "
        f"{len(items)} items; with {k} a class to train, "
        f"expected at least {k + 1}."
      )
    train[rng.permutation(items)[:k]] = True
  return given(train)


def by_group(groups, train) -> Split:
  """Items of the groups named in `train` train, all others test."""
  groups = np.asarray(groups)
  known = np.unique(groups)
  for name in train:
    if name not in known:
      raise UserError(
        f"no group {name!r}; there are {', '.join(map(str, known))}."
      )
  return given(np.isin(groups, list(train)))


def groups_of(groups, size: int) -> list[tuple]:
  """Every choice of `size` groups to train on, in sorted order."""
  known = np.unique(groups).tolist()
  if not 0 < size < len(known):
    raise UserError(
      f"{size} of {len(known)} groups to train on; expected 1 to "
      f"{len(known) - 1}."
    )
  return list(itertools.combinations(known, size))


def folds(labels, num_folds: int, *, seed: int, names=None) -> list[Split]:
  """Stratified folds: a class's items are dealt out evenly, at random.

  UserError where a class, by `names` where given, has a single item, which
  could not both train and test.
  """
  labels = np.asarray(labels)
  if not 2 <= num_folds <= len(labels):
    raise UserError(
      f"{num_folds} folds of {len(labels)} items; expected 2 to {len(labels)}."
    )
  classes, counts = np.unique(labels, return_counts=True)
  if counts.min() < 2:
    alone = classes[counts.argmin()]
    raise UserError(
      f"class {alone if names is None else repr(str(names[alone]))} has a "
      "single item in the part that is dealt into folds; expected 2 or more."
    )
  rng = np.random.default_rng(seed)
  fold = np.empty(len(labels), int)
  dealt = 0  # goes on from class to class, so that the folds are of one size
  for label in np.unique(labels):
    items = rng.permutation(np.flatnonzero(labels == label))
    fold[items] = (dealt + np.arange(len(items))) % num_folds
    dealt += len(items)
  return [given(fold != i) for i in range(num_folds)]


def leave_one_group_out(groups) -> list[Split]:
  """One split for each group: it tests, the others train."""
  groups = np.asarray(groups)
  if len(np.unique(groups)) < 2:
    raise UserError("one group only; leaving it out leaves nothing to train.")
  return [given(groups != name) for name in np.unique(groups)]
