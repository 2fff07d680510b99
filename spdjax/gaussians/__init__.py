"""Gaussian mixtures adapted to images, and their Lie-algebrized vectors.

Reference: Gong, Chen & Hu, "Lie Algebrized Gaussians for Image Representation",
2013.
"""

from spdjax.gaussians.adaptation import adapt, adapt_images
from spdjax.gaussians.affine import affine_log
from spdjax.gaussians.cells import cell_statistics
from spdjax.gaussians.em import Info, em, em_step
from spdjax.gaussians.encoder import Encoder, encode, fit_encoder, project
from spdjax.gaussians.mixture import (
  Mixture,
  Statistics,
  log_joint,
  log_likelihood,
  statistics,
)
from spdjax.gaussians.vectors import fisher, klvec, lag, log_map, rlag

__all__ = [
  "Encoder",
  "Info",
  "Mixture",
  "Statistics",
  "adapt",
  "adapt_images",
  "affine_log",
  "cell_statistics",
  "em",
  "em_step",
  "encode",
  "fisher",
  "fit_encoder",
  "klvec",
  "lag",
  "log_joint",
  "log_likelihood",
  "log_map",
  "project",
  "rlag",
  "statistics",
]
