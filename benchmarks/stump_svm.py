"""A sweep over c as one program, and what a prediction costs.

On the first 10,000 rows of MNIST, or scikit-learn's digits, repeated with
noise, where the public sets are absent. The sweep is beside each of its values
solved alone; the prediction is beside scikit-learn's linear SVM on as many
dense features.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np
from sklearn.svm import LinearSVC

from benchmarks import items
from spdjax import classify, stumps
from spdjax.stumps import mappings
from spdjax.stumps import theta as thetas

_ROWS = 10_000
_VALUES = np.logspace(-1, 2, 8)


def rows():
  """(name, x [N, D], y [N] in 0 .. 9)."""
  name, x, y = items.table()
  return name, jnp.asarray(x[:_ROWS]), jnp.asarray(y[:_ROWS])


def _best(fun, repeats=3):
  jax.block_until_ready(fun())
  seconds = []
  for _ in range(repeats):
    begin = time.perf_counter()
    out = jax.block_until_ready(fun())
    seconds.append(time.perf_counter() - begin)
  return min(seconds), out


def sweep(x, y, num=1024):
  """Rows of (c, seconds, objective) alone, and one of all in one program."""
  drawn = stumps.sample(jax.random.key(0), x, num, kind="xor")
  features = mappings.packed_responses(drawn, x)
  scale = thetas.scale(thetas.uniform(num))

  def solve(c):
    *_, info = classify.l2_svm(
      features, y, c=c, column_scale=scale, num_classes=10, tol=1e-3
    )
    return info

  alone = []
  for c in _VALUES:
    seconds, info = _best(lambda: solve(jnp.asarray(c)))  # noqa: B023
    alone.append(
      {
        "c": float(c),
        "seconds": seconds,
        "objective": float(info.objective.sum()),
        "converged": bool(info.converged),
      }
    )
    print(f"c = {c:8.3g}  {seconds:6.2f} s", flush=True)
  together = jax.jit(jax.vmap(solve))
  seconds, info = _best(lambda: together(jnp.asarray(_VALUES)), 2)
  apart = [row["seconds"] for row in alone]
  out = {
    "seconds": seconds,
    "objectives": np.asarray(info.objective.sum(1)).tolist(),
    "converged": bool(info.converged.all()),
    "over_slowest": seconds / max(apart),
    "over_sum": seconds / sum(apart),
  }
  print(
    f"all eight     {seconds:6.2f} s: {out['over_slowest']:.2f} times the "
    f"slowest, {out['over_sum']:.2f} times their sum",
    flush=True,
  )
  return {"alone": alone, "together": out}


def prediction(x, y):
  """Microseconds a sample against the number kept, of a pool of 4,096."""
  found = []
  for kind in ("stump", "xor"):
    for keep in (256, 512, 1024, 2048, 4096):
      model, _ = stumps.fit(
        jax.random.key(0), x[:2000], y[:2000], num_stumps=4096, kind=kind,
        selection="reweight" if keep < 4096 else "none", keep=keep, tol=1e-2,
      )  # fmt: skip
      own, _ = _best(lambda: stumps.decision(model, x), 5)  # noqa: B023
      found.append(
        {"kind": kind, "kept": keep, "microseconds": 1e6 * own / len(x)}
      )
  for keep in (256, 512, 1024, 2048, 4096):
    drawn = stumps.sample(jax.random.key(0), x, keep)
    dense = np.asarray(stumps.evaluate(drawn, x), np.float32)
    peer = LinearSVC(max_iter=20).fit(dense[:500], np.asarray(y[:500]))
    seconds, _ = _best(lambda: peer.decision_function(dense), 5)  # noqa: B023
    w = jnp.asarray(peer.coef_.T, jnp.float32)
    dense = jnp.asarray(dense)
    product = jax.jit(lambda f, w: f @ w)
    jitted, _ = _best(lambda: product(dense, w), 5)  # noqa: B023
    found += [
      {"kind": "scikit-learn, dense", "kept": keep,
       "microseconds": 1e6 * seconds / len(x)},
      {"kind": "jitted product, dense", "kept": keep,
       "microseconds": 1e6 * jitted / len(x)},
    ]  # fmt: skip
  for row in found:
    print(f"{row['kind']:22} {row['kept']:5} {row['microseconds']:7.2f} us")
  return found


def main():
  name, x, y = rows()
  return {"data": name, "sweep": sweep(x, y), "prediction": prediction(x, y)}
