"""From pictures to classes, end to end on small textures."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from experiments import lag_scenes, predict, records, report, whole_files
from experiments.data import splits
from experiments.lag import cache

pytestmark = pytest.mark.slow

SMALL = (
  "--config.train_per_class=6",
  "--config.num_splits=1",
  "--config.kinds=('gradient',)",
  "--config.patches=(8,)",
  "--config.stride=8",
  "--config.components=(4,)",
  "--config.dim=8",
  "--config.per_image=20",
  "--config.em_steps=3",
  "--config.cells=('1x1','2x1')",
  "--config.ranks=(0.0,0.2)",
  "--config.folds=2",
  "--config.svm_c=(1.0,)",
  "--config.batch=4",
)


@pytest.fixture
def folder(tmp_path, rng):
  """Stripes across, stripes down, and noise; one picture of another size."""
  for name in ("across", "down", "noise"):
    (tmp_path / "own" / name).mkdir(parents=True)
    for k in range(9):
      rows, columns = (40, 48) if k else (44, 40)
      y, x = np.mgrid[:rows, :columns]
      wave = {"across": y, "down": x}.get(name, rng.random((rows, columns)) * 9)
      image = 0.5 + 0.4 * np.sin(wave + rng.random() * 6)
      image += 0.05 * rng.normal(size=image.shape)
      pixels = (255 * image.clip(0, 1)).astype(np.uint8)
      Image.fromarray(pixels).save(tmp_path / "own" / name / f"{k}.png")
  return tmp_path / "own"


@pytest.fixture
def run(launched, folder):
  def run(*args):
    flags = [f"--config.path={folder}", *SMALL, *args]
    return launched(lag_scenes.experiment, "lag_scenes.py:images", flags)

  return run


def accuracies(workdir):
  record = records.read(workdir)
  rows = [r for r in record.metrics if r["event"] == "accuracy"]
  names = ("split", "vector", "classifier")
  return {tuple(r[name] for name in names): r["accuracy"] for r in rows}


def test_pictures_from_end_to_end(run, tmp_path):
  status, out, _ = run("--config.vectors=('lag','fisher')")
  assert status == 0 and "linear SVM" in out
  found = accuracies(tmp_path / "out")
  assert len(found) == 6 and min(found.values()) > 0.8
  record = records.read(tmp_path / "out")
  assert record.metrics[-1]["event"] == "result"
  confusion = record.arrays["confusion.lag.4"]
  assert confusion.sum() == 9 and confusion.shape == (3, 3)
  assert record.arrays["adapted.means"].shape == (18, 3, 2)
  page = report.report(tmp_path / "out").read_text()
  assert "Lie-algebrized Gaussians on images" in page
  wrong = len(record.arrays["wrong.images"]) > 0
  assert page.count("data:image/png") == 3 + wrong


def test_a_killed_run_goes_on_to_the_same_end(run, tmp_path, monkeypatch):
  assert run()[0] == 0
  right = accuracies(tmp_path / "out")
  (tmp_path / "out").rename(tmp_path / "first")
  written = []

  def torn(file, arrays):
    write(file, arrays)
    written.append(file)
    if len(written) == 3:
      raise KeyboardInterrupt

  write = whole_files.write_npz
  with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
    patch.setattr(whole_files, "write_npz", torn)
    run()
  seen = [file.stat().st_mtime_ns for file in written]
  assert run("--config.cache=" + str(tmp_path / "kept"))[0] == 2
  assert run()[0] == 0
  assert accuracies(tmp_path / "out") == right
  # Nothing that was finished was done again.
  assert len(seen) == 3 and len(set(written)) == 3


def test_killed_outright_at_any_stage(run, folder, tmp_path):
  assert run("--config.num_splits=2")[0] == 0
  right = accuracies(tmp_path / "out")
  again = tmp_path / "again"
  command = [
    *(sys.executable, "-m", "experiments.lag_scenes"),
    *("--config=lag_scenes.py:images", f"--workdir={again}"),
    *(f"--config.path={folder}", *SMALL, "--config.num_splits=2"),
  ]
  root = Path(lag_scenes.__file__).parents[1]
  # After the encoders, a training batch, a test batch, and the first split.
  for stage in ("encoders", "k4/train-00001", "k4/test", "done", None):
    process = subprocess.Popen(
      command, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    files = f"stages/*/split?/{stage}*"
    while process.poll() is None and not any(again.glob(files)):
      time.sleep(0.02)
    if stage:
      process.send_signal(signal.SIGKILL)
    assert process.wait() == (-signal.SIGKILL if stage else 0)
  assert accuracies(again) == right


def test_finished_splits_are_kept_and_other_configs_are_not(
  run, tmp_path, monkeypatch
):
  assert run("--config.num_splits=2")[0] == 0
  right = accuracies(tmp_path / "out")
  with monkeypatch.context() as patch:
    patch.setattr(lag_scenes, "_run", None)  # nothing is left to do
    assert run("--config.num_splits=2")[0] == 0
    assert accuracies(tmp_path / "out") == right
    # Fewer, and then again more, go on in the same folder.
    assert run("--config.num_splits=1")[0] == 0
    first = {key: own for key, own in right.items() if key[0] == 0}
    assert len(first) < len(right) and accuracies(tmp_path / "out") == first
    assert (tmp_path / "out/lag.npz").is_file()
  done = next((tmp_path / "out").glob("stages/*/split0/done.json"))
  done.write_text("{")  # half of it is none of it
  assert run("--config.num_splits=2")[0] == 0
  assert accuracies(tmp_path / "out") == right
  # Stages of another config in the same folder are not taken for these.
  other = "--config.components=(3,)"
  assert run("--config.num_splits=2", other, "--overwrite")[0] == 0
  arrays = records.read(tmp_path / "out").arrays
  names = [name for name in arrays if name.startswith("confusion")]
  assert names == ["confusion.lag.3"]
  assert not list((tmp_path / "out/stages").glob("*/split0/k4"))
  assert (tmp_path / "out/lag.npz").is_file()


def test_other_pictures_under_the_same_names_are_seen(run, folder, tmp_path):
  assert run()[0] == 0
  right = accuracies(tmp_path / "out")
  for k in range(9):
    (folder / "noise" / f"{k}.png").write_bytes(
      (folder / "down" / f"{k}.png").read_bytes()
    )
  assert run()[0] == 0
  assert accuracies(tmp_path / "out") != right


def test_cached_descriptors_change_nothing(run, tmp_path):
  kept = f"--config.cache={tmp_path / 'kept'}"
  assert run(kept)[0] == 0
  right = accuracies(tmp_path / "out")
  files = list((tmp_path / "kept").iterdir())
  assert files
  assert run(kept, "--overwrite")[0] == 0
  assert accuracies(tmp_path / "out") == right
  files[0].write_bytes(b"torn")
  assert run(kept, "--overwrite")[0] == 0
  assert accuracies(tmp_path / "out") == right


@pytest.mark.parametrize(
  ("flags", "words"),
  [
    (("--config.path=/nowhere",), ("/nowhere", "no such folder")),
    (("--config.train_per_class=9",), ("'across'", "9 items", "per_class=9")),
    (("--config.folds=40",), ("folds=40",)),
    (("--config.dim=201",), ("dim=201", "200")),
    (("--config.relevance=inf",), ("relevance",)),
    (("--config.cells=1x1000000",), ("cells", "256")),
    (("--config.components=(4,4)",), ("components", "twice")),
    (("--config.svm_c=(1e400,)",), ("svm_c",)),
    (("--config.max_side=6",), ("0.png", "44 x 40", "max_side")),
    (("--config.patches=(64,)",), ("0.png", "64")),
    (("--config.kinds=('sift',)",), ("kinds", "sift")),
    (("--config.cells=('2',)",), ("cells", "rows x columns")),
    (("--config.components=(4000,)",), ("components", "4000")),
    (("--config.ranks=(3.0,)",), ("ranks",)),
    (("--config.svm_c=(-1.0,)",), ("svm_c",)),
  ],
)
def test_mistakes_are_named(run, flags, words):
  status, _, err = run(*flags)
  told = [line for line in err.splitlines() if line.startswith("error: ")]
  assert status == 2 and len(told) == 1 and "Traceback" not in err
  for word in words:
    assert word in told[0]


def test_bad_pictures_are_named_or_left_out(run, folder, tmp_path):
  (folder / "noise" / "bad.png").write_bytes(b"not a picture")
  (folder / "noise" / "1.heic").write_bytes(b"of another kind")
  status, _, err = run()
  assert status == 2 and "bad.png" in err
  status, _, err = run("--config.skip_bad")
  assert status == 0 and "left out: " in err and "bad.png" in err
  (data,) = [
    r for r in records.read(tmp_path / "out").metrics if r["event"] == "data"
  ]
  assert len(data["skipped"]) == 1 and data["images"] == 27
  assert data["passed_over"] == 1 and "note: 1 files" in err


def predicted(capsys, *args):
  with pytest.raises(SystemExit) as ended:
    predict.main([*map(str, args)])
  out, err = capsys.readouterr()
  return ended.value.code, [line.split("\t") for line in out.splitlines()], err


@pytest.mark.parametrize(
  "flag", ["--config.metric=cosine", "--config.mirrored"]
)
def test_a_saved_model_labels_as_the_run_did(
  flag, run, folder, tmp_path, capsys
):
  assert run(flag, "--config.num_splits=1")[0] == 0
  files = sorted(folder.glob("*/*.png"))
  labels = np.repeat([0, 1, 2], 9)
  test = splits.per_class(labels, 6, seed=0).test
  status, lines, _ = predicted(
    capsys, f"--model={tmp_path / 'out'}", *(files[i] for i in test)
  )
  assert status == 0 and [line[0] for line in lines] == [
    str(files[i]) for i in test
  ]
  own = [["across", "down", "noise"].index(line[1]) for line in lines]
  counts = np.zeros((3, 3), int)
  np.add.at(counts, (labels[test], own), 1)
  confusion = records.read(tmp_path / "out").arrays["confusion.lag.4"]
  np.testing.assert_array_equal(counts, confusion)


def test_prediction_names_what_is_wrong(run, folder, tmp_path, capsys):
  assert run()[0] == 0
  model = f"--model={tmp_path / 'out'}"
  (folder / "bad.png").write_bytes(b"no picture")
  good = folder / "down" / "1.png"
  # The good one is labelled all the same.
  status, lines, err = predicted(capsys, model, folder / "bad.png", good)
  assert (
    status == 2 and "bad.png" in err and lines[0][:2] == [str(good), "down"]
  )
  Image.new("L", (6, 6)).save(folder / "small.png")
  status, _, err = predicted(capsys, model, folder / "small.png")
  assert status == 2 and "6 x 6" in err
  status, _, err = predicted(capsys, f"--model={folder}", good)
  assert status == 2 and "no lag.npz" in err
  settings = tmp_path / "out" / "lag.json"
  for text in ("{}", settings.read_text().replace('"lag"', '"foo"')):
    settings.write_text(text)
    status, _, err = predicted(capsys, model, good)
    assert status == 2 and "lag.json" in err and "Traceback" not in err


def test_colour_alpha_and_16_bits_are_told(run, folder, tmp_path, rng):
  pixels = rng.integers(0, 256, (40, 48, 3), dtype=np.uint8)
  Image.fromarray(pixels).save(folder / "noise" / "1.png")
  grey = np.full((40, 48), 255, np.uint8)
  Image.fromarray(np.dstack([pixels[..., 0], grey])).save(
    folder / "noise" / "2.png"
  )
  deep = rng.integers(0, 2**16, (40, 48)).astype(np.uint16)
  Image.fromarray(deep).save(folder / "noise" / "3.png")
  status, _, err = run()
  assert status == 0
  (data,) = [
    r for r in records.read(tmp_path / "out").metrics if r["event"] == "data"
  ]
  assert data["remarks"] == {"in colour": 1, "with alpha": 1, "of 16 bits": 1}
  assert "note: 1 of 27 pictures in colour, as" in err and "1.png" in err
  # Described in colour, grey ones are three times the same.
  (tmp_path / "out").rename(tmp_path / "grey")
  assert run("--config.kinds=('colour',)", "--config.svm_c=()")[0] == 0


def test_the_cache_keeps_to_its_bound(tmp_path):
  one = np.zeros(1000, np.uint8)
  file = lambda name: tmp_path / "kept" / f"{32 * name}.npy"
  size = lambda: sum(p.stat().st_size for p in (tmp_path / "kept").glob("*y"))
  (tmp_path / "kept").mkdir()
  thesis = tmp_path / "kept" / "thesis.pdf"
  thesis.write_bytes(bytes(4000))
  os.utime(thesis, (1, 1))
  for name in "abc":
    cache.write(file(name), one, 3500)
  for age, name in enumerate("bca"):  # b is the longest unused
    os.utime(file(name), (age, age))
  cache.write(file("d"), one, 3500)
  assert not file("b").exists() and size() <= 3500 + 3 * 128
  np.testing.assert_array_equal(cache.read(file("d")), one)
  assert cache.read(file("b")) is None
  # What this process has used stays: the new one is not kept.
  for name in "ca":
    assert cache.read(file(name)) is not None
  cache.write(file("e"), one, 3500)
  assert not file("e").exists() and file("c").exists()
  assert thesis.exists()  # a user's own, neither counted nor removed
