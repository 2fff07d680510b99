"""Importing, and the demo with a cold and a warm cache of programs."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks import harness


def _seconds(*command, **env):
  begin = time.perf_counter()
  subprocess.run(
    [sys.executable, *command],
    check=True,
    env=os.environ | env,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
  )
  return time.perf_counter() - begin


def importing(repeats=7):
  pairs = [
    (_seconds("-c", "import spdjax"), _seconds("-c", "import jax"))
    for _ in range(repeats + 1)
  ][1:]
  own, other = np.median(np.array(pairs), 0)
  yield harness.told(
    {"work": "import spdjax", "peer": "import jax", "goal": 1 / 1.3,
     "seconds": own, "peer_seconds": other, "ratio": other / own,
     "spread": [min(b / a for a, b in pairs), max(b / a for a, b in pairs)]}
  )  # fmt: skip


def demo():
  with tempfile.TemporaryDirectory() as folder:
    command = ("-m", "experiments.demo", f"--workdir={Path(folder) / 'demo'}")
    cache = str(Path(folder) / "programs")
    cold, warm = (
      _seconds(*command, JAX_COMPILATION_CACHE_DIR=cache) for _ in range(2)
    )
  yield harness.told(
    {"work": "the demo, programs cached", "peer": "the same, cold", "goal": 2,
     "seconds": warm, "peer_seconds": cold, "ratio": cold / warm,
     "spread": [cold / warm] * 2}
  )  # fmt: skip


def rows():
  yield from importing()
  yield from demo()
