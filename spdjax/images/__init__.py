"""Local features of images, as pure functions of arrays."""

from spdjax.images.features import KINDS, names, region_features
from spdjax.images.filters import (
  gabor,
  gabor_bank,
  gaussian_derivative,
  laplacian_of_gaussian,
  orientation,
)
from spdjax.images.kernel_descriptors import (
  Descriptors,
  kernel_descriptors,
  kernel_descriptors_batch,
)
from spdjax.images.pyramid import pyramid_cells

__all__ = [
  "KINDS",
  "Descriptors",
  "gabor",
  "gabor_bank",
  "gaussian_derivative",
  "kernel_descriptors",
  "kernel_descriptors_batch",
  "laplacian_of_gaussian",
  "names",
  "orientation",
  "pyramid_cells",
  "region_features",
]
