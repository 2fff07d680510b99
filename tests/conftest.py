"""JAX's strictest settings for every test, and the shared fixtures."""

import os
from pathlib import Path

# Nothing is kept from one run of the tests to the next.
os.environ.setdefault("JAX_ENABLE_COMPILATION_CACHE", "false")

import jax
import numpy as np
import pytest

from spdjax import threads  # noqa: F401  before JAX starts

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")


@pytest.fixture
def key():
  return jax.random.key(0)


@pytest.fixture
def rng():
  return np.random.default_rng(0)


@pytest.fixture
def data_dir():
  """The folder of the public sets; skips where it is not to be had."""
  given = os.environ.get("SPDJAX_DATA")
  if not given:
    pytest.skip("SPDJAX_DATA is not set: no folder of public sets")
  if not Path(given).is_dir():
    pytest.skip(f"SPDJAX_DATA={given} is no folder")
  return Path(given)
