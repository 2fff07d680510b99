import numpy as np
import pytest

from experiments.data import bundled, images, sets
from experiments.errors import UserError


def test_folder_prefers_the_config(tmp_path, monkeypatch):
  monkeypatch.delenv("SPDJAX_DATA", raising=False)
  with pytest.raises(UserError, match=r"--config\.data_dir or.*SPDJAX_DATA"):
    sets.folder()
  with pytest.raises(UserError, match="data_dir=nosuch: no such folder"):
    sets.folder("nosuch")
  monkeypatch.setenv("SPDJAX_DATA", "nosuch")
  with pytest.raises(UserError, match="SPDJAX_DATA=nosuch: no such folder"):
    sets.folder()
  assert sets.folder(str(tmp_path)) == tmp_path
  monkeypatch.setenv("SPDJAX_DATA", str(tmp_path))
  assert sets.folder() == tmp_path


@pytest.mark.parametrize(
  ("load", "name"),
  [(sets.kth, "kth_tips"), (sets.hdm05, "hdm05.npz"), (sets.uav51, "uav51")],
)
def test_absent_set_is_named(tmp_path, load, name):
  with pytest.raises(UserError, match=f"{name}.*: no such"):
    load(tmp_path)


def write_hdm05(folder, offsets):
  frames = np.arange(5 * 31 * 3, dtype=np.float32).reshape(5, 31, 3) ** 2
  np.savez(
    folder / "hdm05.npz",
    frames=frames,
    offsets=offsets,
    labels=[4, 9],
    subjects=["bd", "mm"],
    names=["first", "second"],
    joint_names=["root", *(f"joint{i}" for i in range(30))],
  )
  return frames


def test_joints_are_relative_to_the_root(tmp_path):
  frames = write_hdm05(tmp_path, [0, 2, 5])
  got = sets.hdm05(tmp_path)
  assert [o.shape for o in got.observations] == [(2, 90), (3, 90)]
  assert got.classes[got.labels].tolist() == [4, 9]
  joints = got.observations[1].reshape(3, 30, 3)
  np.testing.assert_array_equal(joints + frames[2:, :1], frames[2:, 1:])


def test_turned_sequences_begin_along_x(tmp_path):
  write_hdm05(tmp_path, [0, 2, 5])
  with pytest.raises(UserError, match="no joint 'lhip"):
    sets.hdm05(tmp_path, turned=True)
  arrays = dict(np.load(tmp_path / "hdm05.npz"))
  arrays["joint_names"] = arrays["joint_names"].astype("U30")
  arrays["joint_names"][[3, 8]] = "lhipjoint_@_lfemur", "rhipjoint_@_rfemur"
  arrays["frames"] = np.random.default_rng(0).normal(size=(5, 31, 3))
  np.savez(tmp_path / "hdm05.npz", **arrays)
  plain, turned = (sets.hdm05(tmp_path, turned=t) for t in (False, True))
  for old, new in zip(plain.observations, turned.observations, strict=True):
    old, new = (x.reshape(len(x), 30, 3) for x in (old, new))
    hips = new[0, 2] - new[0, 7]
    assert hips[0] > 0 and abs(hips[2]) < 1e-12
    np.testing.assert_array_equal(new[..., 1], old[..., 1])
    # One rotation for the whole sequence: all inner products stay.
    gram = lambda x: np.einsum("tjc,skc->tjsk", x, x)
    np.testing.assert_allclose(gram(new), gram(old), atol=1e-12)


@pytest.mark.parametrize("offsets", [[0, 2, 4], [1, 2, 5], [0, 5, 5]])
def test_wrong_offsets_are_refused(tmp_path, offsets):
  write_hdm05(tmp_path, offsets)
  with pytest.raises(UserError, match=r"hdm05\.npz: offsets"):
    sets.hdm05(tmp_path)


def test_unpack_reads_row_by_row():
  x = sets.unpack(np.array([[1, 2, 3, 4, 5, 6.0]]))
  assert x.tolist() == [[[1, 2, 3], [2, 4, 5], [3, 5, 6]]]
  with pytest.raises(UserError, match="4 entries"):
    sets.unpack(np.zeros(4))


def test_kth_as_published(data_dir):
  folder = images.find(data_dir / "kth_tips")
  assert len(folder.classes) == 10
  assert np.bincount(folder.labels).tolist() == [81] * 10
  picture = images.read_grey(folder.paths[0])
  assert picture.ndim == 2 and 0 <= picture.min() < picture.max() <= 1


def test_hdm05_as_published(data_dir):
  got = sets.hdm05(data_dir)
  assert len(got.observations) == len(got.labels) == 288
  assert {o.shape[1] for o in got.observations} == {90}
  assert sum(len(o) for o in got.observations) == 71286
  assert len(got.classes) == 11 and len(set(got.subjects)) == 5
  assert all(o.std(axis=0).min() > 0 for o in got.observations[:5])


def test_uav51_as_published(data_dir):
  got = sets.uav51(data_dir)
  assert got.x.shape == (1883, 51, 51)
  np.testing.assert_array_equal(got.x, got.x.mT)
  assert len(got.classes) == 15 and got.train.sum() == 1504
  # Covariances: no negative eigenvalue beyond the rounding of float32.
  values = np.linalg.eigvalsh(got.x[:50])
  assert (values[:, 0] > -1e-5 * values[:, -1]).all()


def test_bundled_patches():
  got = bundled.load()
  assert len(got.classes) == 16
  assert got.images.shape[1:] == (48, 48)
  assert 0 <= got.images.min() < got.images.max() <= 1
  for half in (got.train, ~got.train):
    assert np.bincount(got.labels[half], minlength=16).min() >= 12


def test_bundled_limit_is_for_each_half():
  got = bundled.load(limit=5)
  assert np.bincount(got.labels[got.train]).tolist() == [5] * 16
  assert np.bincount(got.labels[~got.train]).tolist() == [5] * 16


def test_bundled_halves_share_no_patch():
  got = bundled.load(size=32)
  rows = got.images.reshape(len(got.images), -1)
  textured = rows.std(axis=1) > 0  # saturated patches are all alike
  train, test = rows[got.train & textured], rows[~got.train & textured]
  assert not {r.tobytes() for r in train} & {r.tobytes() for r in test}


@pytest.mark.parametrize("options", [{"size": 300}, {"size": 0}, {"limit": 0}])
def test_bundled_refuses(options):
  with pytest.raises(UserError, match="expected 1"):
    bundled.load(**options)


def test_cut_keeps_pixels_in_place():
  image = np.arange(35).reshape(5, 7)
  got = bundled.cut(image, 2)
  assert got.shape == (6, 2, 2)
  assert got[4].tolist() == [[16, 17], [23, 24]]


def test_missing_scikit_image_is_told(monkeypatch):
  monkeypatch.setattr(bundled.importlib.util, "find_spec", lambda name: None)
  with pytest.raises(UserError, match="scikit-image is not installed"):
    bundled.load()


def test_hdm05_actors_face_two_ways_and_one_when_turned(data_dir):
  """Right to left hip, averaged over each actor's sequences of one action."""
  for turned in (False, True):
    got = sets.hdm05(data_dir, turned=turned)
    for action in (6, 8, 10):
      for actor in ("bd", "bk", "tr", "dg", "mm"):
        mine = (got.classes[got.labels] == action) & (got.subjects == actor)
        own = [
          got.observations[i].reshape(-1, 30, 3) for i in mine.nonzero()[0]
        ]
        x, _, z = np.mean([(o[:, 1] - o[:, 6]).mean(0) for o in own], 0)
        assert (abs(x) > abs(z)) == (turned or actor in ("bd", "bk", "tr"))
        assert x > 0 or not turned
