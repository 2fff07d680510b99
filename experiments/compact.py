"""The compact record of a run, to be committed beside the figure it backs.

python -m experiments.compact --workdir=runs/kth --out=results/spd_kth.json
"""

import argparse
import json
import shlex
import sys
from pathlib import Path

from experiments import records
from experiments.errors import UserError

_KEPT = ("time", "revision", "dirty", "python", "jax", "jaxlib", "numpy",
         "spdjax", "device")  # fmt: skip
# Of stump_kernel, and of the splits of lag_scenes.
_ROWS = ("candidate", "size", "selection", "model", "accuracy")
_LOCAL = ("cache", "data_dir", "path")  # places on the machine of the run


def compact(workdir) -> dict:
  """Command, versions, config, choices and table of a finished run."""
  record = records.read(workdir)
  start, result = record.metrics[0], record.metrics[-1]
  if result["event"] != "result":
    raise UserError(f"{workdir}: the run has no result line; it did not end.")
  words = shlex.split(start["command"])
  local = tuple(f"--config.{name}=" for name in _LOCAL)
  words = [_portable(word) for word in words if not word.startswith(local)]
  return {
    "command": shlex.join(words),
    **{k: start.get(k) for k in _KEPT},
    "config": {k: v for k, v in record.config.items() if k not in _LOCAL},
    "result": result,
    "choices": [m for m in record.metrics if m["event"] == "choice"],
    "rows": [m for m in record.metrics if m["event"] in _ROWS],
  }


def _portable(word: str) -> str:
  """A workdir anywhere becomes one under runs/."""
  name, _, value = word.partition("=")
  return f"{name}=runs/{Path(value).name}" if name == "--workdir" else word


def main(argv: list[str] | None = None) -> None:
  parser = argparse.ArgumentParser("experiments.compact", description=__doc__)
  parser.add_argument("--workdir", required=True, help="a run's records")
  parser.add_argument("--out", required=True, help="the .json to write")
  known = parser.parse_args(argv)
  try:
    text = json.dumps(compact(known.workdir), indent=1)
  except UserError as error:
    print(f"error: {error}", file=sys.stderr)
    sys.exit(2)
  Path(known.out).write_text(text + "\n")
  print(known.out)


if __name__ == "__main__":
  main()
