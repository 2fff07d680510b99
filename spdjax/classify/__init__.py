"""Classifiers, as pure functions of arrays."""

from spdjax.classify.l1 import l1_svm
from spdjax.classify.l2 import Info, l2_svm
from spdjax.classify.neighbours import nearest_neighbour
from spdjax.classify.responses import Packed, pack, unpack

__all__ = [
  "Info",
  "Packed",
  "l1_svm",
  "l2_svm",
  "nearest_neighbour",
  "pack",
  "unpack",
]
