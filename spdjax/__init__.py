"""Learning on symmetric positive definite matrices, in JAX.

The subpackages are modules of pure functions on arrays: `spdjax.spd` for the
geometry of SPD matrices, `spdjax.grassmann` for subspaces and the solvers on
them, `spdjax.reduction` for dimensionality reduction, `spdjax.images` for
features of images, `spdjax.classify` for classifiers. Import the one that is
needed; nothing is loaded here.
"""

__version__ = "0.1.0"
