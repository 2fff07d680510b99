import numpy as np
import pytest
from PIL import Image

from experiments.data import images
from experiments.errors import UserError

GREY = np.arange(48, dtype=np.uint8).reshape(6, 8) * 5


def save(path, pixels=GREY):
  path.parent.mkdir(parents=True, exist_ok=True)
  if path.suffix == ".npy":
    np.save(path, pixels)
  else:
    Image.fromarray(pixels).save(path)
  return path


@pytest.fixture
def root(tmp_path):
  """Two classes of two good pictures, and files that are to be passed."""
  for name in ("b/1.png", "b/2.png", "a/1.png", "a/2.PNG"):
    save(tmp_path / name)
  for name in ("a/notes.txt", "a/.hidden.png", ".git/x.png", "readme.md"):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("no picture")
  return tmp_path


def test_folder_of_class_folders(root):
  got = images.load(root, same_size=True)
  assert got.classes == ["a", "b"]
  assert got.labels.tolist() == [0, 0, 1, 1]
  assert [p.name for p in got.paths] == ["1.png", "2.PNG", "1.png", "2.png"]
  assert got.skipped == []
  assert {i.dtype.name for i in got.images} == {"float32"}
  np.testing.assert_allclose(got.images[0], GREY / 255, rtol=1e-6)


RGB = np.stack([GREY, GREY[::-1], GREY[:, ::-1]], axis=-1)
LUMA = (RGB / 255) @ np.array([0.299, 0.587, 0.114])
ALPHA = np.full((6, 8, 1), 7, np.uint8)


@pytest.mark.parametrize(
  ("name", "pixels", "expected"),
  [
    ("rgb.png", RGB, LUMA),
    ("rgba.png", np.concatenate([RGB, ALPHA], -1), LUMA),
    ("la.png", np.concatenate([GREY[..., None], ALPHA], -1), GREY / 255),
    ("deep.png", GREY.astype(np.uint16) * 257, GREY / 255),
    ("deep.tif", GREY.astype(np.uint16) * 257, GREY / 255),
    ("wide.tif", GREY.astype(np.int32) * 257, GREY / 255),
    ("float.tif", (GREY / 255).astype(np.float32), GREY / 255),
    ("float.npy", GREY / 255, GREY / 255),
    ("rgb.npy", RGB, LUMA),
    ("one.npy", GREY[..., None], GREY / 255),
    ("bits.png", GREY > 100, GREY > 100),
    ("mask.npy", GREY > 100, GREY > 100),
  ],
)
def test_kinds_of_pixels(tmp_path, name, pixels, expected):
  got = images.read_grey(save(tmp_path / name, pixels))
  assert got.dtype == np.float32
  np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_palette(tmp_path):
  path = tmp_path / "p.gif"
  Image.fromarray(GREY).convert("P").save(path)
  np.testing.assert_allclose(images.read_grey(path), GREY / 255, rtol=1e-6)
  assert images.read_pixels(path).remarks == ()  # nothing is transparent


def test_the_way_up_that_a_camera_noted(tmp_path):
  path = tmp_path / "turned.png"
  tags = Image.Exif()
  tags[0x0112] = 6  # to be turned by a quarter, clockwise
  Image.fromarray(GREY).save(path, exif=tags)
  upright = np.rot90(GREY, -1) / 255
  np.testing.assert_allclose(images.read_grey(path), upright, rtol=1e-6)


def nan_at(row, column):
  pixels = np.full((6, 8), 0.5, np.float32)
  pixels[row, column] = np.nan
  return pixels


@pytest.mark.parametrize(
  ("name", "pixels", "told"),
  [
    ("nan.tif", nan_at(2, 3), "row 2, column 3 is not finite"),
    ("nan.npy", nan_at(5, 0), "row 5, column 0 is not finite"),
    ("inf.npy", np.full((2, 2), np.inf), "not finite"),
    ("bright.npy", np.full((2, 2), 128.0), "run from 128 to 128"),
    ("long.npy", GREY.astype(np.int64), "type int64"),
    ("huge.tif", GREY.astype(np.int32) * 10**6, "type int32"),
    ("flat.npy", GREY.ravel(), r"shape is \(48,\)"),
    ("five.npy", np.zeros((2, 2, 5)), r"shape is \(2, 2, 5\)"),
    ("none.npy", np.zeros((0, 5)), r"shape is \(0, 5\)"),
    ("object.npy", np.array([[None, 1]], object), "not a readable picture"),
  ],
)
def test_bad_pixels_are_named(tmp_path, name, pixels, told):
  path = save(tmp_path / name, pixels)
  with pytest.raises(UserError, match=f"{name}.*{told}"):
    images.read_grey(path)


NOISE = np.random.default_rng(0).integers(0, 256, (64, 64), np.uint8)


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".tif", ".bmp", ".npy"])
@pytest.mark.parametrize("keep", [0.0, 0.01, 0.6])
def test_cut_file_among_good_ones(root, suffix, keep):
  path = save(root / "a" / f"cut{suffix}", NOISE)
  data = path.read_bytes()
  path.write_bytes(data[: int(keep * len(data))])
  with pytest.raises(UserError, match=rf"cut\{suffix}: not a readable"):
    images.load(root)
  got = images.load(root, skip_bad=True)
  assert len(got.images) == len(got.labels) == len(got.paths) == 4
  assert len(got.skipped) == 1 and f"cut{suffix}" in got.skipped[0]


def test_text_under_a_pictures_name(root):
  (root / "b" / "fake.jpg").write_text("no picture")
  with pytest.raises(UserError, match=r"fake\.jpg"):
    images.load(root)


def test_skipping_may_leave_too_few(root):
  (root / "a" / "1.png").write_bytes(b"")
  with pytest.raises(UserError, match=r"/a holds 1 picture"):
    images.load(root, skip_bad=True)
  for path in root.glob("[ab]/*.*"):
    path.write_bytes(b"")
  with pytest.raises(UserError, match=r"/a holds no picture"):
    images.load(root, skip_bad=True)


def test_unequal_sizes(root):
  save(root / "b" / "3.png", GREY[:5])
  assert images.load(root).images[-1].shape == (5, 8)
  with pytest.raises(UserError, match=r"b/3\.png is 5 x 8.*a/1\.png is 6 x 8"):
    images.load(root, same_size=True)


def test_wrong_folders(root, tmp_path):
  with pytest.raises(UserError, match="nosuch: no such folder"):
    images.load(tmp_path / "nosuch")
  with pytest.raises(UserError, match=r"1\.png: no such folder"):
    images.load(root / "a" / "1.png")
  with pytest.raises(UserError, match="a holds no class folder"):
    images.load(root / "a")
  (root / "empty").mkdir()
  with pytest.raises(UserError, match="/empty holds no picture"):
    images.load(root)
  save(root / "empty" / "only.png")
  with pytest.raises(UserError, match="/empty holds 1 picture"):
    images.load(root)


def test_one_class_is_refused(tmp_path):
  save(tmp_path / "a" / "1.png")
  save(tmp_path / "a" / "2.png")
  with pytest.raises(UserError, match="holds 1 class folder"):
    images.load(tmp_path)
