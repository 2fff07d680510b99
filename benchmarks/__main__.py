"""Every benchmark in one run: python -m benchmarks [SUITE ...].

Writes runs/benchmarks/<machine>.json, with the rows of all suites that ran;
`python -m benchmarks.show FILE` makes the table and the plots of it.
"""

import importlib
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import jax

from benchmarks import harness
from experiments import records

# In float64 those of the geometry.
SUITES = {
  "spd": "float64",
  "reduction": "float64",
  "gaussians": "float32",
  "images": "float32",
  "svm": "float32",
  "stumps": "float32",
  "setup": "float32",
}
# Comparisons with records of their own, in results/.
STUDIES = {
  "solvers": "float64",
  "eigenvectors": "float64",
  "stump_svm": "float32",
}
PEERS = (
  *("pyriemann", "pymanopt", "scikit-learn", "scikit-image"),
  "liblinear-official",
)
FOLDER = Path("runs/benchmarks")


def main(names):
  known = SUITES | STUDIES
  unknown = [name for name in names if name not in known]
  if unknown:
    sys.exit(f"no benchmark {unknown[0]!r}; there are {', '.join(known)}")
  if len(names) == 1:
    run(names[0])
    return
  if not names:
    (FOLDER / f"{machine()}.json").unlink(missing_ok=True)
  # A process each: how many threads XLA has is settled once.
  for name in names or SUITES:
    done = subprocess.run([sys.executable, "-m", "benchmarks", name])
    if done.returncode:
      sys.exit(done.returncode)


def run(name):
  """Runs one and writes its record."""
  dtype = (SUITES | STUDIES)[name]
  jax.config.update("jax_enable_x64", dtype == "float64")
  FOLDER.mkdir(parents=True, exist_ok=True)
  module = importlib.import_module(f"benchmarks.{name}")
  if name in STUDIES:
    write(FOLDER / f"{name}.json", {"benchmark": name, "rows": module.main()})
    return
  own = {
    "matrix_rate": harness.matrix_rate(dtype),
    "copy_rate": harness.copy_rate(),
    "rows": list(module.rows()),
  }
  print(
    f"{name}: matrix products {own['matrix_rate'] / 1e9:.0f} GFLOP/s in "
    f"{dtype}, copies {own['copy_rate'] / 1e9:.0f} GB/s",
    flush=True,
  )
  file = FOLDER / f"{machine()}.json"
  found = json.loads(file.read_text()) if file.is_file() else {"suites": {}}
  suites = found["suites"] | {name: own}
  write(file, {"machine": machine(), "suites": suites})


def write(file, record):
  versions = {name: _version(name) for name in PEERS}
  threads = {
    name: os.environ.get(name)
    for name in ("NPROC", "OMP_NUM_THREADS", "XLA_FLAGS")
  }
  record = {
    **records.provenance(), "peers": versions, "threads": threads,
    "cores": os.cpu_count(), **record,
  }  # fmt: skip
  file.write_text(json.dumps(records.plain(record), indent=1) + "\n")


def _version(name):
  try:
    return importlib.metadata.version(name)
  except importlib.metadata.PackageNotFoundError:
    return None


def machine() -> str:
  """The device's name, as a file name."""
  device = jax.devices()[0]
  name = device.device_kind
  if device.platform == "cpu":
    name = f"{_processor()} {os.cpu_count()} cores"
  return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _processor() -> str:
  try:
    text = Path("/proc/cpuinfo").read_text()
    return re.search(r"model name\s*:\s*(.+)", text)[1].strip()
  except (OSError, TypeError):
    return platform.machine()


if __name__ == "__main__":
  main(sys.argv[1:])
