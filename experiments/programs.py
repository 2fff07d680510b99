"""Compiled programs, kept in the user's cache for the next run."""

import hashlib
import os
import platform
import re
from pathlib import Path

import jax

from experiments import room

_BYTES = 2**30  # that the folder may hold as a run begins


def keep() -> None:
  """Lets JAX keep what it compiles, unless the user has decided.

  $JAX_COMPILATION_CACHE_DIR names another folder, and
  JAX_ENABLE_COMPILATION_CACHE=false keeps nothing.
  """
  enabled = jax.config.jax_enable_compilation_cache
  if not enabled or jax.config.jax_compilation_cache_dir is not None:
    return
  root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
  folder = Path(root) / "spdjax" / f"programs-{_processor()}"
  try:
    folder.mkdir(parents=True, exist_ok=True)
    room.left(folder, _BYTES, re.compile(".*"))
  except OSError:  # no home to write to: nothing is kept
    return
  jax.config.update("jax_compilation_cache_dir", str(folder))
  jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
  jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)


def _processor() -> str:
  """A home may be shared by machines that cannot run each other's code."""
  try:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
  except OSError:
    lines = []
  told = ("model name", "flags", "Features")
  kinds = {line for line in lines if line.startswith(told)}
  text = "\n".join([platform.machine(), platform.processor(), *sorted(kinds)])
  return hashlib.sha256(text.encode()).hexdigest()[:12]
