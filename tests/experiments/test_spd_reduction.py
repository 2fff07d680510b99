import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from experiments import predict, records, spd_reduction

pytestmark = pytest.mark.slow

SMALL = (
  "--config.train_per_class=5",
  "--config.num_splits=2",
  "--config.dims=(2,)",
  "--config.metrics=('log_euclidean',)",
  "--config.neighbours=(3,)",
  "--config.starts=('pca',)",
  "--config.folds=2",
  "--config.max_steps=5",
)


def matrices(rng, *, classes=3, each=9, n=4, rows=40):
  """Covariances whose classes differ in one direction; the rest is noise."""
  y = np.repeat(np.arange(classes), each)
  x = rng.normal(size=(len(y), rows, n))
  x[:, :, 0] *= np.exp(y)[:, None]
  x = x - x.mean(1, keepdims=True)
  return x.mT @ x / rows, np.array(["ant", "bee", "cat", "dog"])[y]


@pytest.fixture
def run(launched):
  """(status, stderr) of a run."""

  def run(*args, variant="npz"):
    config = f"spd_reduction.py:{variant}"
    status, _, err = launched(spd_reduction.experiment, config, args)
    return status, err

  return run


@pytest.fixture
def save(tmp_path):
  """Writes an .npz and returns the flag that names it."""

  def save(x, y, **more):
    np.savez(tmp_path / "own.npz", X=x, y=y, **more)
    return f"--config.path={tmp_path / 'own.npz'}"

  return save


def refused(result, *words):
  """One sentence on the last line of stderr, with every one of the words."""
  status, err = result
  assert status == 2
  assert "Traceback" not in err
  told = [line for line in err.splitlines() if line.startswith("error: ")]
  assert len(told) == 1
  for word in words:
    assert word in told[0]


def of(found, event, **fields):
  return [
    row
    for row in found.metrics
    if row["event"] == event and fields.items() <= row.items()
  ]


def test_own_matrices_end_to_end(run, save, rng, tmp_path):
  status, err = run(save(*matrices(rng)), *SMALL, "--config.trace=True")
  assert status == 0, err
  found = records.read(tmp_path / "out")
  (data,) = of(found, "data")
  assert (data["items"], data["n"]) == (27, 4)
  assert data["classes"] == ["ant", "bee", "cat"]
  for s in range(2):
    methods = {row["method"] for row in of(found, "baseline", split=s)}
    assert methods == {
      "full 1-NN",
      "PCA of logs 1-NN",
      "LDA of logs",
      "linear SVM of logs",
      "truncated identity 1-NN",
      "PCA of mean 1-NN",
    }
    (row,) = of(found, "reduced", split=s)
    assert row["cost"] <= row["start_cost"]
    assert len(of(found, "choice", split=s)) == 2
  traces = of(found, "trace")
  assert [row["solver"] for row in traces] == ["cg", "eigen"]
  for row in traces:
    assert len(row["cost"]) == len(row["seconds"]) > 1
    assert (np.diff(row["cost"]) <= 0).all()
    assert (np.diff(row["seconds"]) >= 0).all()
    assert row["seconds"][0] == 0
  result = found.metrics[-1]
  chosen = of(found, "choice", family="reduced 1-NN")
  assert result["event"] == "result"
  assert result["accuracy"] == np.mean([row["accuracy"] for row in chosen])
  assert result["accuracy"] > 0.7  # chance is 1/3


def test_arrays_fit_the_records(run, save, rng, tmp_path):
  fixed = ("--config.choose=fixed", "--config.baselines=False")
  assert run(save(*matrices(rng)), *SMALL, *fixed)[0] == 0
  found = records.read(tmp_path / "out")
  arrays = found.arrays
  assert arrays["w"].shape == (4, 2)
  counts = arrays["confusion"]
  np.testing.assert_array_equal(counts.sum(1), [8, 8, 8])  # 2 splits x 4
  accuracy = np.trace(counts) / counts.sum()
  np.testing.assert_allclose(accuracy, found.metrics[-1]["accuracy"])
  assert arrays["view"].shape == arrays["full_view"].shape == (12, 2)
  assert arrays["view_labels"].shape == (12,)
  assert not of(found, "baseline")
  assert {row["validation"] for row in of(found, "choice")} == {None}


def labelled(tmp_path, capsys, *files):
  """(status, stderr, [(name, label, score)]) of new files."""
  capsys.readouterr()
  with pytest.raises(SystemExit) as ended:
    predict.main([f"--model={tmp_path / 'out'}", *map(str, files)])
  out, err = capsys.readouterr()
  rows = [line.split("\t") for line in out.splitlines()]
  return ended.value.code, err, [(n, k, float(s)) for n, k, s in rows]


def test_new_matrices_are_labelled(run, save, rng, tmp_path, capsys):
  x, y = matrices(rng)
  train = np.arange(len(y)) % 3 > 0
  flag = save(x, y, split=np.where(train, "train", "test"))
  fixed = ("--config.choose=fixed", "--config.baselines=False")
  assert run(flag, *SMALL, *fixed, "--config.protocol=given")[0] == 0
  np.savez(tmp_path / "new.npz", X=x[~train])
  np.savez(tmp_path / "bad.npz", X=x[:2, :3, :3])
  files = (tmp_path / "new.npz", tmp_path / "bad.npz")
  status, err, told = labelled(tmp_path, capsys, *files)
  assert status == 2
  assert "bad.npz:0: shape (2, 3, 3); the model takes [N, 4, 4]" in err
  assert told[0][0].endswith("new.npz:0") and len(told) == (~train).sum()
  right = np.mean([label for _, label, _ in told] == y[~train])
  accuracy = records.read(tmp_path / "out").metrics[-1]["accuracy"]
  np.testing.assert_allclose(right, accuracy)
  assert all(score <= 0 for *_, score in told)


def test_groups_are_left_out_one_at_a_time(run, save, rng, tmp_path):
  x, y = matrices(rng)
  groups = np.tile(["p", "q", "r"], 9)
  flag = save(x, y, groups=groups)
  more = ("--config.protocol=groups", "--config.group_size=2")
  assert run(flag, *SMALL, *more)[0] == 0
  found = records.read(tmp_path / "out")
  assert len(of(found, "reduced")) == 3  # pairs of three groups


def test_the_file_s_own_split(run, save, rng, tmp_path):
  x, y = matrices(rng)
  split = np.where(np.arange(27) % 3 == 0, "test", "train")
  fixed = ("--config.choose=fixed", "--config.protocol=given")
  assert run(save(x, y, split=split), *SMALL, *fixed)[0] == 0
  counts = records.read(tmp_path / "out").arrays["confusion"]
  assert counts.sum() == 9


@pytest.mark.parametrize(
  ("flags", "words"),
  [
    (("--config.metrics=('foo',)",), ("metrics", "'foo'", "airm")),
    (("--config.dims=(4,)",), ("dims", "4 x 4", "1 to 3")),
    (("--config.dims=(0,)",), ("dims", "0")),
    (("--config.dims=()",), ("dims",)),
    (("--config.dim=(2,)",), ("config.dim", "dims")),
    (("--config.dims=two",), ("dims",)),
    (("--config.train_per_class=9",), ("9",)),
    (("--config.train_per_class=1",), ("validate", "choose=fixed")),
    (("--config.protocol=groups",), ("groups",)),
    (("--config.protocol=given",), ("split",)),
    (("--config.choose_metrics=('airm',)",), ("choose_metrics", "airm")),
    (("--config.fixed_dim=3",), ("fixed_dim", "dims")),
    (("--config.ridges=(-1.0,)",), ("ridges", "-1")),
    (("--config.svm_c=(0.0,)",), ("svm_c",)),
    (("--config.starts=('mean',)",), ("starts", "'mean'", "between")),
    (("--config.facing=up",), ("facing", "'up'", "turned")),
    (("--config.facing=turned",), ("facing", "npz")),
  ],
)
def test_a_wrong_flag_is_told_in_one_sentence(flags, words, run, save, rng):
  refused(run(save(*matrices(rng)), *SMALL, *flags), *words)


def test_a_wrong_path(run, tmp_path):
  path = tmp_path / "none.npz"
  refused(run(f"--config.path={path}", *SMALL), str(path))
  refused(run(f"--config.path={path}", variant="images"), str(path))
  refused(run(), "--config.path")


def test_copies_of_one_matrix_run_to_the_end(run, save, rng):
  x, _ = matrices(rng)
  y = np.arange(len(x)) % 2
  assert run(save(np.repeat(x[:1], len(x), 0), y), *SMALL)[0] == 0


def test_one_item_in_a_class(run, save, rng):
  x, y = matrices(rng)
  y = y.astype("U9")
  y[0] = "newt"
  refused(run(save(x, y), *SMALL), "'newt'", "1 item")


def test_a_matrix_that_is_not_definite_is_named(run, save, rng, tmp_path):
  x, y = matrices(rng)
  x[7] = np.diag([1.0, 2.0, -1.0, 1.0])
  refused(run(save(x, y), *SMALL), "X[7]", "positive definite")
  more = ("--config.skip_bad=True", "--config.choose=fixed")
  more += ("--config.train_per_class=4",)
  status, err = run(save(x, y), *SMALL, *more)
  assert status == 0 and "left out: " in err and "own.npz: X[7]" in err
  (data,) = of(records.read(tmp_path / "out"), "data")
  assert (data["items"], data["skipped"]) == (26, 1)
  assert "X[7]" in data["skipped_items"][0]


def test_fewer_samples_than_dimensions(run, save, rng):
  x, y = matrices(rng, rows=3)
  refused(run(save(x, y), *SMALL), "X[0]", "rank 2 of 4", "ridge")
  more = ("--config.ridges=(0.01,)", "--config.choose=fixed")
  assert run(save(x, y), *SMALL, *more)[0] == 0


@pytest.fixture
def pictures(tmp_path, rng):
  """A folder of two classes of four small pictures."""
  root = tmp_path / "pictures"
  for name, step in (("rough", 1), ("smooth", 4)):
    (root / name).mkdir(parents=True)
    for k in range(4):
      noise = rng.integers(0, 256, (24 // step, 24 // step), dtype=np.uint8)
      pixels = np.kron(noise, np.ones((step, step), np.uint8))
      Image.fromarray(pixels).save(root / name / f"{k}.png")
  return root


PICTURES = (
  *SMALL,
  "--config.train_per_class=2",
  "--config.features=plain",
  "--config.choose_metrics=('log_euclidean',)",
  "--config.choose=fixed",
)


def test_new_pictures_are_labelled(run, pictures, tmp_path, capsys):
  assert run(f"--config.path={pictures}", *PICTURES, variant="images")[0] == 0
  files = sorted(map(str, pictures.glob("*/*.png")))
  status, _, told = labelled(tmp_path, capsys, *files)
  assert status == 0 and [name for name, *_ in told] == files
  # A training picture is its own nearest one.
  known = [row for row in told if abs(row[2]) < 1e-3]
  assert len(known) >= 4
  assert all(label == Path(name).parent.name for name, label, _ in known)


def test_nan_pixels_and_corrupt_pictures_are_named(run, pictures, tmp_path):
  flag = f"--config.path={pictures}"
  pixels = np.full((24, 24), 0.5)
  pixels[3, 5] = np.nan
  np.save(pictures / "rough" / "n.npy", pixels)
  refused(run(flag, *PICTURES, variant="images"), "n.npy", "row 3", "column 5")
  (pictures / "rough" / "n.npy").unlink()
  (pictures / "smooth" / "bad.png").write_bytes(b"\x89PNG no picture")
  refused(run(flag, *PICTURES, variant="images"), "bad.png")
  more = "--config.skip_bad=True"
  status, err = run(flag, *PICTURES, more, variant="images")
  assert status == 0, err
  found = records.read(tmp_path / "out")
  (data,) = of(found, "data")
  assert (data["items"], data["skipped"]) == (8, 1)
  assert "bad.png" in data["skipped_items"][0]


def test_a_flat_picture_is_named(run, pictures):
  Image.fromarray(np.full((24, 24), 7, np.uint8)).save(
    pictures / "rough" / "flat.png"
  )
  flag = f"--config.path={pictures}"
  refused(run(flag, *PICTURES, variant="images"), "flat.png", "definite")


def test_nothing_already_written_is_lost(run, save, rng, tmp_path):
  x, y = matrices(rng)
  fixed = ("--config.choose=fixed", "--config.baselines=False")
  assert run(save(x, y), *SMALL, *fixed)[0] == 0
  names = ("config.json", "metrics.jsonl", "arrays.npz")
  before = [(tmp_path / "out" / name).read_bytes() for name in names]
  refused(run(save(x, y), *SMALL, *fixed, "--config.seed=1"), "seed")
  x[2] = np.nan
  refused(run(save(x, y), *SMALL, *fixed), "X[2")
  assert before == [(tmp_path / "out" / name).read_bytes() for name in names]


def test_a_failure_keeps_the_splits_that_are_done(
  run, save, rng, tmp_path, monkeypatch
):
  splits = []

  def choose(*args, old=spd_reduction.learned.choose):
    splits.append(args)
    if len(splits) > 2:
      raise RuntimeError("power cut")
    return old(*args)

  monkeypatch.setattr(spd_reduction.learned, "choose", choose)
  fixed = ("--config.choose=fixed", "--config.baselines=False")
  with pytest.raises(RuntimeError, match="power cut"):
    run(save(*matrices(rng)), *SMALL, *fixed)
  lines = (tmp_path / "out" / "metrics.jsonl").read_text().splitlines()
  rows = [json.loads(line) for line in lines]
  assert sum(row["event"] == "choice" for row in rows) == 2
  assert records.read(tmp_path / "out").arrays["confusion"].sum() == 12
