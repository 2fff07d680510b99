import os
import subprocess
import sys
from pathlib import Path

import jax
import pytest

from experiments import launch, overrides, records
from experiments.errors import UserError

CONFIG = """
import dataclasses

VARIANTS = ("small", "large")

@dataclasses.dataclass
class Config:
  dim: int = 3  # of the space
  rate: float = 0.5
  name: str = "a"
  fast: bool = False
  limit: int | None = None
  dims: tuple[int, ...] = (1, 2)
  words: tuple[str, ...] = ("a", "b")
  dtype: str = "float64"

def get_config(variant="small"):
  if variant == "large":
    return Config(dim=30)
  return Config()
"""


@pytest.fixture
def config(tmp_path):
  path = tmp_path / "toy.py"
  path.write_text(CONFIG)
  return str(path)


@pytest.fixture
def run(config, tmp_path, capsys):
  """Runs the launcher in process: (config or None, status, stderr)."""

  def run(*args, experiment=None, spec=config):
    seen = []
    argv = ["prog", f"--config={spec}", f"--workdir={tmp_path / 'out'}", *args]
    try:
      launch.main(experiment or (lambda c, w: seen.append(c)), argv)
      status = 0
    except SystemExit as error:
      status = error.code
    return (seen or [None])[0], status, capsys.readouterr().err

  before = jax.config.jax_enable_x64, jax.config.jax_default_matmul_precision
  yield run
  jax.config.update("jax_enable_x64", before[0])
  jax.config.update("jax_default_matmul_precision", before[1])


@pytest.mark.parametrize(
  ("args", "field", "value"),
  [
    (["--config.dim=7"], "dim", 7),
    (["--config.dim", "7"], "dim", 7),
    (["--config.rate=1"], "rate", 1.0),
    (["--config.name=b"], "name", "b"),
    (["--config.fast"], "fast", True),
    (["--config.fast", "--noconfig.fast"], "fast", False),
    (["--config.limit=4"], "limit", 4),
    (["--config.limit=4", "--config.limit=none"], "limit", None),
    (["--config.name=none"], "name", "none"),
    ([], "limit", None),
    (["--config.dims=(3,4)"], "dims", (3, 4)),
    (["--config.dims=5"], "dims", (5,)),
    (["--config.dims=(3,4)", "--config.dims=5"], "dims", (5,)),
    (["--config.words=c,d"], "words", ("c", "d")),
    (["--config.words=c"], "words", ("c",)),
    (["--config.words=('c','d')"], "words", ("c", "d")),
  ],
)
def test_fields_are_set_and_typed(run, args, field, value):
  got, status, _ = run(*args)
  assert status == 0
  assert getattr(got, field) == value
  assert type(getattr(got, field)) is type(value)


def test_variant_is_passed_on(run, config):
  assert run(spec=f"{config}:large")[0].dim == 30


@pytest.mark.parametrize(
  ("args", "told"),
  [
    (["--config.dimm=7"], "--config.dimm: config has no such field"),
    (["--config.dim.x=7"], "--config.dim.x: config.dim has no such field"),
    (["--config.dim=abc"], "'abc'; expected int"),
    (["--config.dim=1.5"], "'1.5'; expected int"),
    (["--config.rate=fast"], "'fast'; expected float"),
    (["--config.limit=x"], "expected int | None"),
    (["--config.dims=(1,'a')"], "expected tuple[int, ...]"),
    (["--config.dtype=float16"], "expected float32 or float64"),
    (["--workdri=a"], "workdri"),
    (["stray"], "'stray'"),
  ],
)
def test_a_mistake_is_one_sentence(run, args, told):
  _, status, err = run(*args)
  assert status == 2
  assert told in err
  assert err.startswith("error: ") and err.count("\n") == 1


def test_unknown_variant_lists_the_variants(run, config):
  _, status, err = run(spec=f"{config}:nosuch")
  assert status == 2
  assert "no variant 'nosuch'; it has small, large" in err


def test_unknown_config_lists_the_packaged_ones(run):
  _, status, err = run(spec="configs/nosuch.py")
  assert status == 2
  packaged = {p.name for p in Path(launch.configs.__file__).parent.glob("*.py")}
  assert all(name in err for name in packaged - {"__init__.py"})


@pytest.mark.parametrize("argv", [["prog"], ["prog", "--workdir=a"]])
def test_missing_flags_are_named(argv):
  with pytest.raises(UserError, match=r"is missing"):
    launch.parse(argv)


def test_users_mistakes_in_the_experiment(run):
  def no_file(config, workdir):
    (workdir / "nosuch.npz").read_bytes()

  def bad_data(config, workdir):
    raise UserError("X[3] is not symmetric.")

  _, status, err = run(experiment=no_file)
  assert (status, err.count("\n")) == (2, 1) and "nosuch.npz" in err
  assert run(experiment=bad_data)[1:] == (2, "error: X[3] is not symmetric.\n")


def test_a_bug_keeps_its_traceback(run):
  def bug(config, workdir):
    raise ValueError("operands could not be broadcast")

  with pytest.raises(ValueError, match="broadcast"):
    run(experiment=bug)


def test_dtype_sets_the_precision_before_the_experiment(run):
  seen = []

  def look(config, workdir):
    seen.append(jax.numpy.zeros(()).dtype)

  run(experiment=look)
  run("--config.dtype=float32", experiment=look)
  assert [d.name for d in seen] == ["float64", "float32"]


def test_overwrite_sets_the_records_aside(run, tmp_path):
  def experiment(config, workdir):
    records.start(workdir, config)

  assert run(experiment=experiment)[1] == 0
  _, status, err = run("--config.dim=4", experiment=experiment)
  assert status == 2 and "different: dim" in err
  assert run("--config.dim=4", "--overwrite", experiment=experiment)[1] == 0
  out = tmp_path / "out"
  assert records.read(out).config["dim"] == 4
  assert records.read(out / "previous-1").config["dim"] == 3


def test_help_lists_the_fields(config, capsys):
  launch.main(None, ["prog", f"--config={config}", "--help"])
  out = capsys.readouterr().out
  assert "--config.limit=None  (int | None)" in out
  assert "--config.dim=3  (int)  # of the space" in out


def test_config_is_the_callers_own_copy(config):
  first = overrides.apply(launch.load_config(config), ["--config.dim=9"])
  assert first.dim == 9
  assert launch.load_config(config).dim == 3


def test_from_another_folder_as_a_program(config, tmp_path):
  """Importing twice with foreign flags, as a notebook does; then a mistake."""
  program = (
    "import sys, importlib, experiments.launch as launch\n"
    "importlib.reload(launch)\n"
    "sys.argv += sys.argv.pop().split()\n"
    "launch.main(lambda config, workdir: print('dim', config.dim))\n"
  )
  args = f"--config={config} --workdir=out --config.dim="
  root = Path(launch.__file__).parents[1]
  env = os.environ | {"PYTHONPATH": str(root)}

  def start(dim):
    command = [sys.executable, "-c", program, args + dim]
    return subprocess.run(
      command, cwd=tmp_path, env=env, capture_output=True, text=True
    )

  good, bad = start("8"), start("x")
  assert good.returncode == 0, good.stderr
  assert "dim 8" in good.stdout
  assert bad.returncode == 2
  assert bad.stderr.splitlines()[-1].startswith("error: ")
  assert "Traceback" not in bad.stderr
