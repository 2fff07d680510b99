"""Every benchmark in one run: python -m benchmarks [pairs solvers ...]."""

import json
import sys
from pathlib import Path

import jax

from benchmarks import eigenvectors, pairs, solvers
from experiments.records import provenance

ALL = {"pairs": pairs, "solvers": solvers, "eigenvectors": eigenvectors}


def main(names):
  jax.config.update("jax_enable_x64", True)
  folder = Path("runs/benchmarks")
  folder.mkdir(parents=True, exist_ok=True)
  for name in names or ALL:
    if name not in ALL:
      sys.exit(f"no benchmark {name!r}; there are {', '.join(ALL)}")
    record = {"benchmark": name, **provenance(), "rows": ALL[name].main()}
    (folder / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
  main(sys.argv[1:])
