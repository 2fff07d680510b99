"""What a run leaves in its folder: config.json, metrics.jsonl, arrays.npz.

`config.json` is the config alone. `metrics.jsonl` has one JSON object a line,
each on disk before the run goes on; a run opens with `"event": "start"` (the
versions, the device, the revision) and closes with `"event": "result"`.
"""

import dataclasses
import datetime
import importlib.metadata
import json
import math
import os
import platform
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

import spdjax
from experiments.errors import UserError
from experiments.whole_files import write_bytes, write_npz

CONFIG, METRICS, ARRAYS = "config.json", "metrics.jsonl", "arrays.npz"
# What a run may save besides.
MODELS = "model.npz", "lag.npz", "lag.json", "spd.npz"
STAGES = "stages"  # what is done of a run that goes on where it was killed


class Records(NamedTuple):
  """The records of the latest run in a folder."""

  config: dict[str, Any]
  metrics: list[dict[str, Any]]  # from the latest "start" on
  arrays: dict[str, np.ndarray]  # empty while the run has saved none


def start(workdir, config, may_change=()) -> Path:
  """Opens `workdir` for a run of `config` and logs its "start" line.

  Records of the same config are added to; UserError when the folder holds
  records of another one, but for fields that may change, or cannot be written.
  """
  workdir = Path(workdir)
  try:
    workdir.mkdir(parents=True, exist_ok=True)
  except OSError as error:
    raise UserError(
      f"--workdir={workdir}: {error.strerror}; name a folder to write to."
    ) from error
  config = plain(config)
  old = read_config(workdir) if _holds_records(workdir) else None
  changed = [] if old is None else _changed(old, config)
  if not set(changed) <= set(may_change):
    raise UserError(
      f"--workdir={workdir} holds records of another config (different: "
      f"{', '.join(changed)}); name another folder, or give --overwrite to "
      "set them aside."
    )
  if old is None or changed:
    write_bytes(workdir / CONFIG, json.dumps(config, indent=2).encode() + b"\n")
  log(workdir, "start", **provenance())
  return workdir


def set_aside(workdir) -> Path | None:
  """Moves the records in `workdir` into a fresh `previous-K` folder in it."""
  workdir = Path(workdir)
  if not _holds_records(workdir):
    return None
  taken = [int(p.name[9:]) for p in workdir.glob("previous-[0-9]*")]
  aside = workdir / f"previous-{max(taken, default=0) + 1}"
  aside.mkdir()
  for name in (CONFIG, METRICS, ARRAYS, STAGES, *MODELS):
    if (workdir / name).exists():
      (workdir / name).rename(aside / name)
  return aside


def log(workdir, event: str, **fields) -> None:
  """Appends one line, {"event": event, **fields}; NaN and inf become null."""
  line = json.dumps(plain({"event": event, **fields}), allow_nan=False)
  path = Path(workdir) / METRICS
  with path.open("ab+") as file:
    # A run that died in the middle of a line left it without its end.
    torn = file.tell() and file.seek(-1, os.SEEK_END) and file.read(1) != b"\n"
    file.write(b"\n" * bool(torn) + line.encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())


def save_arrays(workdir, **arrays) -> None:
  """Writes arrays.npz whole or not at all; ValueError names a non-array."""
  arrays = {name: np.asarray(value) for name, value in arrays.items()}
  for name, value in arrays.items():
    if value.dtype == object:
      raise ValueError(f"arrays[{name!r}] is no array of numbers or strings.")
  write_npz(Path(workdir) / ARRAYS, arrays)


def read(workdir) -> Records:
  """The records of the latest run; UserError when there are none."""
  metrics = read_metrics(workdir)
  starts = [i for i, row in enumerate(metrics) if row.get("event") == "start"]
  return Records(
    config=read_config(workdir),
    metrics=metrics[starts[-1] if starts else 0 :],
    arrays=read_arrays(workdir),
  )


def read_config(workdir) -> dict[str, Any]:
  """config.json as a dict; UserError when it is absent or no JSON."""
  path = Path(workdir) / CONFIG
  try:
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
      raise ValueError("no object")
    return found
  except FileNotFoundError as error:
    raise UserError(
      f"{path}: no such file; name the --workdir of a run."
    ) from error
  except ValueError as error:
    raise UserError(f"{path}: no valid JSON ({error}).") from error


def read_metrics(workdir) -> list[dict[str, Any]]:
  """Every whole line of metrics.jsonl, all runs; a torn line is left out."""
  path = Path(workdir) / METRICS
  if not path.exists():
    raise UserError(f"{path}: no such file; name the --workdir of a run.")
  lines = path.read_text(encoding="utf-8").splitlines()
  return [row for line in lines if (row := _parse(line)) is not None]


def read_arrays(workdir) -> dict[str, np.ndarray]:
  """arrays.npz as a dict; empty when the run saved none."""
  path = Path(workdir) / ARRAYS
  if not path.exists():
    return {}
  with np.load(path, allow_pickle=False) as file:
    return dict(file)


def plain(value) -> Any:
  """`value` in JSON's terms: dataclasses to dicts, arrays to lists, NaN null.

  TypeError for what has no such form.
  """
  if dataclasses.is_dataclass(value) and not isinstance(value, type):
    value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
  if isinstance(value, np.ndarray | np.generic | jax.Array):
    value = np.asarray(value).tolist()
  if isinstance(value, dict):
    return {str(k): plain(v) for k, v in value.items()}
  if isinstance(value, list | tuple):
    return [plain(v) for v in value]
  if isinstance(value, float) and not math.isfinite(value):
    return None
  if value is None or isinstance(value, bool | int | float | str):
    return value
  if isinstance(value, os.PathLike):
    return os.fspath(value)
  raise TypeError(f"{value!r} of {type(value)} cannot be recorded as JSON.")


def provenance() -> dict[str, Any]:
  """What a number depends on besides the config: code, versions, device."""
  device = jax.devices()[0]
  return {
    "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    "command": shlex.join(["python", *sys.orig_argv[1:]]),
    "python": platform.python_version(),
    "jax": jax.__version__,
    "jaxlib": importlib.metadata.version("jaxlib"),
    "numpy": np.__version__,
    "spdjax": spdjax.__version__,
    "platform": platform.platform(),
    "device": device.device_kind,
    "num_devices": jax.device_count(),
    **revision(),
  }


def revision(root=None) -> dict[str, Any]:
  """{"revision", "dirty"} of the checkout at `root`; null where there is none.

  root defaults to the folder that holds this package. Only a checkout whose
  top is `root` counts: an installed copy may lie inside a foreign one.
  """
  root = Path(root or Path(__file__).parents[1]).resolve()
  top = _git(root, "rev-parse", "--show-toplevel")
  if top is None or Path(top).resolve() != root:
    return {"revision": None, "dirty": None}
  status = _git(root, "status", "--porcelain")
  return {
    "revision": _git(root, "rev-parse", "HEAD"),
    "dirty": None if status is None else bool(status),
  }


def _git(root, *args) -> str | None:
  try:
    done = subprocess.run(
      ["git", "-C", root, *args], capture_output=True, text=True, check=True
    )
  except (OSError, subprocess.CalledProcessError):
    return None
  return done.stdout.strip()


def _holds_records(workdir: Path) -> bool:
  return any((workdir / name).exists() for name in (CONFIG, METRICS, ARRAYS))


def _changed(old: dict, new: dict) -> list[str]:
  """Names of the fields in which two configs differ."""
  missing = object()
  keys = [*new, *(k for k in old if k not in new)]
  return [k for k in keys if old.get(k, missing) != new.get(k, missing)]


def _parse(line: str) -> dict[str, Any] | None:
  try:
    found = json.loads(line)
  except ValueError:
    return None
  return found if isinstance(found, dict) else None
