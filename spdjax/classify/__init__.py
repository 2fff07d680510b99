"""Classifiers, as pure functions of arrays."""

from spdjax.classify.centroid import centroids, nearest_centroid
from spdjax.classify.l1 import l1_svm
from spdjax.classify.l2 import Info, l2_svm
from spdjax.classify.neighbours import nearest_neighbour
from spdjax.classify.nuisance import nuisance, remove
from spdjax.classify.nuisance_gram import nuisance_distances, nuisance_weights
from spdjax.classify.responses import Packed, pack, unpack

__all__ = [
  "Info",
  "Packed",
  "centroids",
  "l1_svm",
  "l2_svm",
  "nearest_centroid",
  "nearest_neighbour",
  "nuisance",
  "nuisance_distances",
  "nuisance_weights",
  "pack",
  "remove",
  "unpack",
]
