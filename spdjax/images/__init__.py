"""Local features of images, as pure functions of arrays."""

from spdjax.images.features import KINDS, names, region_features
from spdjax.images.filters import (
  gabor,
  gabor_bank,
  gaussian_derivative,
  laplacian_of_gaussian,
  orientation,
)

__all__ = [
  "KINDS",
  "gabor",
  "gabor_bank",
  "gaussian_derivative",
  "laplacian_of_gaussian",
  "names",
  "orientation",
  "region_features",
]
