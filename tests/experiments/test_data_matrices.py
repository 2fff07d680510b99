import numpy as np
import pytest

from experiments.data import matrices
from experiments.errors import UserError

X = np.array([[[2.0, 1], [1, 2]], [[3, 0], [0, 1]], [[1, 0], [0, 1]]])
Y = np.array([7, 3, 7])


@pytest.fixture
def save(tmp_path):
  def save(**arrays):
    np.savez(tmp_path / "set.npz", **arrays)
    return tmp_path / "set.npz"

  return save


@pytest.mark.parametrize(
  ("y", "classes", "codes"),
  [
    (["b", "a", "b"], ["a", "b"], [1, 0, 1]),
    ([7, 3, 7], [3, 7], [1, 0, 1]),
    ([-1, 1, 1], [-1, 1], [0, 1, 1]),
    ([True, False, True], [False, True], [1, 0, 1]),
    ([1.0, 0.0, 1.0], [0.0, 1.0], [1, 0, 1]),
    ([b"b", b"a", b"b"], [b"a", b"b"], [1, 0, 1]),
  ],
)
def test_labels_of_every_plain_type(save, y, classes, codes):
  got = matrices.load(save(X=X, y=np.array(y)))
  assert got.classes.tolist() == classes
  assert got.labels.tolist() == codes
  assert got.classes[got.labels].tolist() == y
  np.testing.assert_array_equal(got.x, X)
  assert got.groups is None and got.train is None


@pytest.mark.parametrize(
  ("extra", "train"),
  [
    ({"split": ["train", "val", "train"]}, [True, False, True]),
    ({"split": [True, False, False]}, [True, False, False]),
    ({"n_train": 2}, [True, True, False]),
  ],
)
def test_given_split_and_groups(save, extra, train):
  got = matrices.load(save(X=X, y=Y, groups=["s", "t", "s"], **extra))
  assert got.train.tolist() == train
  assert got.groups.tolist() == ["s", "t", "s"]


def test_float32_round_off_passes_as_symmetric(save):
  noisy = X.astype(np.float32)
  noisy[0, 0, 1] *= 1 + 2 * np.finfo(np.float32).eps
  assert matrices.load(save(X=noisy, y=Y)).x.dtype == np.float64


def changed(index, value):
  x = X.copy()
  x[index] = value
  return x


@pytest.mark.parametrize(
  ("arrays", "told"),
  [
    ({"y": Y}, "no array 'X'; expected X and y, found y"),
    ({"X": X}, "no array 'y'"),
    ({"x": X, "labels": Y}, "found x, labels"),
    ({"X": X[0], "y": Y}, r"shape \(2, 2\); expected \[N, n, n\]"),
    ({"X": X[:, :1], "y": Y}, r"shape \(3, 1, 2\)"),
    ({"X": X[:0], "y": Y[:0]}, r"shape \(0, 2, 2\)"),
    ({"X": changed((1, 0, 1), np.nan), "y": Y}, r"X\[1, 0, 1\] is nan"),
    ({"X": changed((2, 1, 1), np.inf), "y": Y}, r"X\[2, 1, 1\] is inf"),
    ({"X": changed((1, 0, 1), 0.1), "y": Y}, r"X\[1\] is not symmetric"),
    ({"X": X, "y": Y[:2]}, r"y has shape \(2,\); expected \(3,\)"),
    ({"X": X, "y": Y[:, None]}, r"y has shape \(3, 1\)"),
    ({"X": X, "y": Y, "groups": [1]}, r"groups has shape \(1,\)"),
    ({"X": X, "y": Y, "split": ["train"]}, r"split has shape \(1,\)"),
    ({"X": X, "y": [1, 1, 1]}, "y holds 1 class"),
    ({"X": X, "y": [0.5, 1, 2]}, r"y\[0\] is 0\.5"),
    ({"X": X, "y": [0, np.nan, 2]}, r"y\[1\] is nan"),
    ({"X": X.astype(str), "y": Y}, "X is of type <U"),
    ({"X": X * 1j, "y": Y}, "X is of type complex"),
    ({"X": X, "y": np.array(["a", 1, 2], object)}, "y cannot be read"),
  ],
)
def test_bad_files_name_the_key_or_index(save, arrays, told):
  with pytest.raises(UserError, match=rf"set\.npz.*{told}"):
    matrices.load(save(**arrays))


def test_files_that_are_no_npz(tmp_path, save):
  with pytest.raises(UserError, match=r"nosuch\.npz: no such file"):
    matrices.load(tmp_path / "nosuch.npz")
  with pytest.raises(UserError, match="a folder; expected an"):
    matrices.load(tmp_path)
  np.save(tmp_path / "bare.npy", X)
  with pytest.raises(UserError, match=r"bare\.npy: a single array"):
    matrices.load(tmp_path / "bare.npy")
  data = save(X=X, y=Y).read_bytes()
  for part in (b"", b"text", data[:100], data[:-30], corrupt(data)):
    (tmp_path / "cut.npz").write_bytes(part)
    with pytest.raises(UserError, match=r"cut\.npz"):
      matrices.load(tmp_path / "cut.npz")


def corrupt(data):
  """One bit flipped inside the numbers of X: the checksum tells."""
  at = data.index(X.tobytes()) + 5
  return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def test_table(save):
  got = matrices.load_table(save(X=X[:, 0], y=Y, n_train=1))
  np.testing.assert_array_equal(got.x, X[:, 0])
  assert got.train.tolist() == [True, False, False]
  with pytest.raises(UserError, match=r"expected \[N, D\]"):
    matrices.load_table(save(X=X, y=Y))
  with pytest.raises(UserError, match=r"X\[1, 1\] is nan"):
    matrices.load_table(save(X=[[1, 2], [3, np.nan], [5, 6]], y=Y))
