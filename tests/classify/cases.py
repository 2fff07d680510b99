"""Items of classes that vary within and between."""

import numpy as np

N, D, C = 16, 30, 4


def items(num=N, dims=D, dtype="float64"):
  rng = np.random.default_rng(0)
  y = np.concatenate([np.arange(C), rng.integers(0, C, num - C)])
  x = rng.normal(size=(num, dims)) * np.linspace(0.5, 2, dims)
  return (x + 2 * rng.normal(size=(C, dims))[y]).astype(dtype), y
