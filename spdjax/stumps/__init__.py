"""Kernels learned as weighted sums of random binary mappings.

Reference: Roig, Boix & Van Gool, "Random Decision Stumps for Kernel Learning
and Efficient SVM", ACCV 2014.
"""

from spdjax.classify.responses import Packed, pack, unpack
from spdjax.stumps.fit import Info, fit
from spdjax.stumps.kernel import Model, decision, feature_map, kernel, predict
from spdjax.stumps.mappings import (
  And,
  Projections,
  Stumps,
  Xor,
  evaluate,
  packed_responses,
)
from spdjax.stumps.rules import sign_rule, signs
from spdjax.stumps.sampling import sample

__all__ = [
  "And",
  "Info",
  "Model",
  "Packed",
  "Projections",
  "Stumps",
  "Xor",
  "decision",
  "evaluate",
  "feature_map",
  "fit",
  "kernel",
  "pack",
  "packed_responses",
  "predict",
  "sample",
  "sign_rule",
  "signs",
  "unpack",
]
