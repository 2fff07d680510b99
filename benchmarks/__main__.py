"""Every benchmark in one run: python -m benchmarks [pairs solvers ...]."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import jax

from experiments.records import provenance

GEOMETRY = ("pairs", "solvers", "eigenvectors")  # in float64
ALL = (*GEOMETRY, "stump_svm")


def main(names):
  unknown = [name for name in names if name not in ALL]
  if unknown:
    sys.exit(f"no benchmark {unknown[0]!r}; there are {', '.join(ALL)}")
  if len(names) == 1:
    run(names[0])
    return
  # A process each: how many threads XLA has is settled once.
  for name in names or ALL:
    done = subprocess.run([sys.executable, "-m", "benchmarks", name])
    if done.returncode:
      sys.exit(done.returncode)


def run(name):
  """Runs one and writes its record."""
  jax.config.update("jax_enable_x64", name in GEOMETRY)
  folder = Path("runs/benchmarks")
  folder.mkdir(parents=True, exist_ok=True)
  module = importlib.import_module(f"benchmarks.{name}")
  record = {"benchmark": name, **provenance(), "rows": module.main()}
  (folder / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
  main(sys.argv[1:])
