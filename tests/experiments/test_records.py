import dataclasses
import json
import subprocess
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from experiments import records
from experiments.errors import UserError


@dataclasses.dataclass
class Config:
  dim: int = 3
  dims: tuple[int, ...] = (1, 2)
  limit: float | None = None


def test_a_run_reads_back_as_written(tmp_path):
  records.start(tmp_path, Config(dim=5))
  records.log(tmp_path, "step", cost=jnp.float32(0.5), count=np.int64(3))
  records.log(tmp_path, "result", accuracy=0.75)
  records.save_arrays(tmp_path, w=jnp.eye(2), names=np.array(["a", "b"]))
  got = records.read(tmp_path)
  assert got.config == {"dim": 5, "dims": [1, 2], "limit": None}
  assert [row["event"] for row in got.metrics] == ["start", "step", "result"]
  assert got.metrics[1] == {"event": "step", "cost": 0.5, "count": 3}
  np.testing.assert_array_equal(got.arrays["w"], np.eye(2))
  assert got.arrays["names"].tolist() == ["a", "b"]


def test_every_line_is_on_disk_at_once(tmp_path):
  records.start(tmp_path, Config())
  for i in range(3):
    records.log(tmp_path, "step", i=i)
    last = (tmp_path / "metrics.jsonl").read_text().splitlines()[-1]
    assert json.loads(last)["i"] == i


def test_not_finite_is_null_and_paths_are_text(tmp_path):
  records.start(tmp_path, Config(limit=float("nan")))
  values = [float("nan"), float("inf"), jnp.array([1.0, jnp.nan])]
  records.log(tmp_path, "odd", values=values, path=Path("a") / "b")
  text = (tmp_path / "metrics.jsonl").read_text()
  assert "NaN" not in text and "Infinity" not in text
  row = records.read(tmp_path).metrics[-1]
  assert row["values"] == [None, None, [1.0, None]]
  assert row["path"] == str(Path("a") / "b")


def test_same_config_adds_and_latest_run_is_read(tmp_path):
  for accuracy in (0.5, 0.75):
    records.start(tmp_path, Config())
    records.log(tmp_path, "result", accuracy=accuracy)
  assert len(records.read_metrics(tmp_path)) == 4
  assert [r.get("accuracy") for r in records.read(tmp_path).metrics] == [
    None,
    0.75,
  ]


def test_another_config_is_refused_and_nothing_changes(tmp_path):
  records.start(tmp_path, Config())
  records.log(tmp_path, "result", accuracy=0.5)
  before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
  with pytest.raises(UserError, match=r"another config \(different: dim\)"):
    records.start(tmp_path, Config(dim=4))
  assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_records_set_aside_are_kept(tmp_path):
  for i in range(11):  # past 9: numbers, not text, are compared
    records.start(tmp_path, Config(dim=i))
    assert records.set_aside(tmp_path) == tmp_path / f"previous-{i + 1}"
  for i in range(11):
    assert records.read(tmp_path / f"previous-{i + 1}").config["dim"] == i
  assert records.set_aside(tmp_path) is None


def test_torn_line_costs_that_line_only(tmp_path):
  records.start(tmp_path, Config())
  with (tmp_path / "metrics.jsonl").open("a") as file:
    file.write('{"event": "step", "cos')
  assert len(records.read_metrics(tmp_path)) == 1
  records.log(tmp_path, "step", cost=1)
  assert [r["event"] for r in records.read_metrics(tmp_path)] == [
    "start",
    "step",
  ]


def test_failed_save_keeps_the_arrays_of_before(tmp_path, monkeypatch):
  records.save_arrays(tmp_path, w=np.ones(2))

  def fail(file, **arrays):
    file.write(b"half")
    raise OSError("disk full")

  monkeypatch.setattr(np, "savez", fail)
  with pytest.raises(OSError, match="disk full"):
    records.save_arrays(tmp_path, w=np.zeros(2))
  np.testing.assert_array_equal(records.read_arrays(tmp_path)["w"], np.ones(2))


def test_objects_are_refused(tmp_path):
  with pytest.raises(ValueError, match=r"arrays\['w'\]"):
    records.save_arrays(tmp_path, w=np.array([None, "a"], object))
  with pytest.raises(TypeError, match="cannot be recorded"):
    records.log(tmp_path, "step", value=object())


@pytest.mark.parametrize("reader", [records.read, records.read_config])
def test_a_folder_without_records_is_named(tmp_path, reader):
  with pytest.raises(UserError, match=str(tmp_path)):
    reader(tmp_path)


def test_broken_config_is_named(tmp_path):
  (tmp_path / "config.json").write_text("{")
  with pytest.raises(UserError, match=r"config\.json: no valid JSON"):
    records.start(tmp_path, Config())


def test_workdir_that_is_a_file_is_refused(tmp_path):
  (tmp_path / "taken").write_text("mine")
  with pytest.raises(UserError, match="taken"):
    records.start(tmp_path / "taken", Config())


def test_start_names_versions_and_device(tmp_path):
  records.start(tmp_path, Config())
  row = records.read(tmp_path).metrics[0]
  assert all(row[k] for k in ("python", "jax", "numpy", "spdjax", "device"))
  assert {"revision", "dirty", "platform"} <= row.keys()


def test_revision_of_a_checkout_and_of_none(tmp_path, monkeypatch):
  assert records.revision(tmp_path) == {"revision": None, "dirty": None}
  git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", tmp_path]
  try:
    subprocess.run([*git, "init", "-q"], check=True)
  except FileNotFoundError:
    pytest.skip("git is not installed")
  commit = [*git, "commit", "-q", "--allow-empty", "-m", "first"]
  subprocess.run(commit, check=True)
  clean = records.revision(tmp_path)
  assert len(clean["revision"]) == 40 and clean["dirty"] is False
  (tmp_path / "inner").mkdir()
  (tmp_path / "inner" / "new").write_text("")
  assert records.revision(tmp_path)["dirty"] is True
  inner = records.revision(tmp_path / "inner")
  assert inner == {"revision": None, "dirty": None}
  monkeypatch.setenv("PATH", "")  # a machine without git
  assert records.revision(tmp_path) == {"revision": None, "dirty": None}
