"""Learning on symmetric positive definite matrices, in JAX.

The subpackages are modules of pure functions on arrays: `spdjax.spd` for the
geometry of SPD matrices, `spdjax.grassmann` for subspaces and the solvers on
them, `spdjax.reduction` for dimensionality reduction, `spdjax.images` for
features of images, `spdjax.classify` for classifiers. Import the one that is
needed; nothing is loaded here.
"""

import os
from importlib import metadata

__version__ = "0.1.0"

# Before version 0.12 jaxlib runs a batched LAPACK call by handing chunks to
# XLA's pool of CPU threads and waiting for them on a thread of that same pool.
# As many such calls side by side as there are threads then wait for ever: two
# independent batches of Cholesky factors suffice on two cores. One thread never
# waits for another. XLA sizes the pool by NPROC when its first computation
# starts; a value that the user has set stays.
if (os.cpu_count() or 1) <= 4 and (
  metadata.version("jaxlib").split(".")[:2] < ["0", "12"]
):
  os.environ.setdefault("NPROC", "1")
