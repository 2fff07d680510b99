"""All-pairs distances beside pyRiemann, 500 matrices of 20 x 20."""

import time

import jax
import jax.numpy as jnp
import numpy as np
from pyriemann.utils.distance import pairwise_distance

from spdjax import spd

PEERS = {
  "airm": "riemann",
  "stein": "logdet",
  "jeffrey": "kullback_sym",
  "log_euclidean": "logeuclid",
}


def _best(fun, repeats=3):
  fun()
  spent = []
  for _ in range(repeats):
    begin = time.perf_counter()
    fun()
    spent.append(time.perf_counter() - begin)
  return min(spent)


def main(count=500, n=20) -> list[dict]:
  rng = np.random.default_rng(0)
  a = rng.normal(size=(count, n, 3 * n))
  x = a @ a.mT / (3 * n)
  rows = []
  for metric, name in PEERS.items():
    mine = _best(
      lambda: jax.block_until_ready(
        spd.pairwise(jnp.asarray(x), metric=metric)  # noqa: B023
      )
    )
    peer = _best(lambda: pairwise_distance(x, metric=name))  # noqa: B023
    rows.append({"metric": metric, "spdjax": mine, "pyriemann": peer})
    print(
      f"pairwise {metric:14} {count} of {n} x {n}: spdjax {mine:.3f} s, "
      f"pyRiemann {peer:.3f} s, {peer / mine:.1f} times",
      flush=True,
    )
  return rows
