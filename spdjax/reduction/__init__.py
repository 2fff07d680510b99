"""Learned reduction of SPD matrices to smaller ones."""

from spdjax.reduction.fit import Reduction, fit, fit_eigen
from spdjax.reduction.graph import Edges, affinity, neighbours
from spdjax.reduction.objectives import (
  project,
  project_features,
  supervised,
  unsupervised,
)

__all__ = [
  "Edges",
  "Reduction",
  "affinity",
  "fit",
  "fit_eigen",
  "neighbours",
  "project",
  "project_features",
  "supervised",
  "unsupervised",
]
