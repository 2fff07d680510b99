import numpy as np
import pytest

from experiments.data import splits
from experiments.errors import UserError

LABELS = np.repeat([0, 1, 2], [5, 8, 11])
GROUPS = np.array(["c", "a", "b", "a", "c", "b"])


def partition(split, num):
  return sorted([*split.train, *split.test]) == list(range(num))


@pytest.mark.parametrize("seed", range(10))
def test_per_class_takes_k_of_each(seed):
  split = splits.per_class(LABELS, 4, seed=seed)
  assert partition(split, len(LABELS))
  assert np.bincount(LABELS[split.train]).tolist() == [4, 4, 4]


def test_per_class_seeds_differ_and_repeat():
  draws = [splits.per_class(LABELS, 4, seed=s).train for s in (0, 0, 1)]
  np.testing.assert_array_equal(draws[0], draws[1])
  assert not np.array_equal(draws[0], draws[2])


def test_per_class_each_item_is_drawn_as_often():
  counts = sum(
    np.isin(np.arange(5), splits.per_class(LABELS, 2, seed=s).train)
    for s in range(2000)
  )
  # Binomial(2000, 2/5): four standard deviations are 88.
  assert np.abs(counts - 800).max() < 88


@pytest.mark.parametrize(("k", "told"), [(5, "class 0 has 5"), (0, "0 items")])
def test_per_class_refuses(k, told):
  with pytest.raises(UserError, match=told):
    splits.per_class(LABELS, k, seed=0)


def test_by_group():
  split = splits.by_group(GROUPS, ("a", "c"))
  assert split.train.tolist() == [0, 1, 3, 4]
  assert split.test.tolist() == [2, 5]
  with pytest.raises(UserError, match="no group 'z'; there are a, b, c"):
    splits.by_group(GROUPS, ("z",))
  with pytest.raises(UserError, match="nothing to test"):
    splits.by_group(GROUPS, ("a", "b", "c"))


def test_groups_of():
  assert splits.groups_of(GROUPS, 1) == [("a",), ("b",), ("c",)]
  assert splits.groups_of(GROUPS, 2) == [("a", "b"), ("a", "c"), ("b", "c")]
  for size in (0, 3):
    with pytest.raises(UserError, match=f"{size} of 3 groups"):
      splits.groups_of(GROUPS, size)


def test_given():
  split = splits.given([True, False, True])
  assert (split.train.tolist(), split.test.tolist()) == ([0, 2], [1])
  for mask, part in ([False, False], "train"), ([True, True], "test"):
    with pytest.raises(UserError, match=f"nothing to {part}"):
      splits.given(np.array(mask))


@pytest.mark.parametrize("num", [2, 3, 5, 24])
def test_folds_are_stratified_and_cover_once(num):
  got = splits.folds(LABELS, num, seed=0)
  assert len(got) == num
  assert all(partition(split, len(LABELS)) for split in got)
  tested = np.concatenate([split.test for split in got])
  assert sorted(tested) == list(range(len(LABELS)))
  sizes = [len(split.test) for split in got]
  assert max(sizes) - min(sizes) <= 1
  for split in got:
    assert set(LABELS[split.train]) == {0, 1, 2}
    for label, count in enumerate(np.bincount(LABELS)):
      here = (LABELS[split.test] == label).sum()
      assert count // num <= here <= -(-count // num)


@pytest.mark.parametrize("num", [1, 25])
def test_folds_refuse_a_number(num):
  with pytest.raises(UserError, match=f"{num} folds of {len(LABELS)} items"):
    splits.folds(LABELS, num, seed=0)


@pytest.mark.parametrize(
  ("names", "told"), [(None, "1"), (["oak", "ash"], "'ash'")]
)
def test_folds_name_a_class_of_one(names, told):
  with pytest.raises(UserError, match=f"class {told} has a single item"):
    splits.folds([0, 0, 1], 2, seed=0, names=names)


def test_leave_one_group_out():
  got = splits.leave_one_group_out(GROUPS)
  assert [set(GROUPS[s.test]) for s in got] == [{"a"}, {"b"}, {"c"}]
  assert all(partition(split, len(GROUPS)) for split in got)
  with pytest.raises(UserError, match="one group only"):
    splits.leave_one_group_out(["a", "a"])
