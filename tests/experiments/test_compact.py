"""The compact record of a run."""

import dataclasses
import json

import pytest

from experiments import compact, records


@dataclasses.dataclass
class Config:
  data: str = "toy"
  cache: str = "/somewhere/here"


@pytest.fixture
def workdir(tmp_path, monkeypatch):
  words = ["-m", "a", "--config=a:b", "--config.cache=/x", "--workdir=/y/toy"]
  monkeypatch.setattr("sys.orig_argv", ["python", *words])
  records.start(tmp_path / "run", Config())
  records.log(tmp_path / "run", "choice", split=0, accuracy=0.5)
  return tmp_path / "run"


def test_what_backs_a_figure_is_kept_and_no_place_of_the_machine(workdir):
  records.log(workdir, "result", accuracy=0.5)
  out = workdir.parent / "own.json"
  compact.main([f"--workdir={workdir}", f"--out={out}"])
  kept = json.loads(out.read_text())
  assert kept["result"] == {"event": "result", "accuracy": 0.5}
  assert [row["accuracy"] for row in kept["choices"]] == [0.5]
  assert kept["config"] == {"data": "toy"}
  assert kept["command"].endswith("--config=a:b --workdir=runs/toy")
  assert {"revision", "jax", "time", "device"} < set(kept)


def test_a_run_without_an_end_is_told(workdir, capsys):
  with pytest.raises(SystemExit) as stopped:
    compact.main([f"--workdir={workdir}", "--out=none.json"])
  assert stopped.value.code == 2
  assert "no result line" in capsys.readouterr().err
