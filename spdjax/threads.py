"""How many threads XLA may use on a CPU; imported for its effect, once.

Modules whose programs hold batches of LAPACK calls import it.
"""

import os
from importlib import metadata

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
