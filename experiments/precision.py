"""The precision of saved models."""

import jax


def at_least(dtype: str) -> None:
  """Lets JAX hold float64 where a model was saved in it; never the reverse."""
  if dtype == "float64":
    jax.config.update("jax_enable_x64", True)
