"""Evaluating stumps and predicting with them; float32."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from sklearn.svm import LinearSVC

from benchmarks import harness, items
from spdjax import stumps
from spdjax.stumps import mappings


def evaluation(rows=60_000, num=4096):
  """Bits of single stumps: each value is read once, each bit written."""
  name, x, _ = items.table()
  x = jnp.asarray(x[:rows])
  drawn = stumps.sample(jax.random.key(0), x, num)
  bits = mappings.packed_responses(drawn, x)
  moved = x.nbytes + bits.bits.nbytes
  yield harness.alone(
    f"stumps, {rows} x {x.shape[1]} ({name}), K = {num}, to bits",
    lambda: mappings.packed_responses(drawn, x),
    moved=moved,
    goal_of_copy_rate=0.5,
  )
  for count in (1000, 3000, 10_000, 30_000):
    part = x[:count]
    yield harness.alone(
      f"stumps, {count} x {x.shape[1]}, K = {num}, to bits",
      functools.partial(mappings.packed_responses, drawn, part),
      curve="stump evaluation",
      axis="N",
      at=count,
    )


def prediction(rows=10_000, pool=4096, keep=2048):
  name, x, y = items.table()
  train, some = jnp.asarray(x[:2000]), jnp.asarray(x[:rows])
  dense_of = lambda drawn, x: np.asarray(stumps.evaluate(drawn, x), np.float32)
  for kind in ("stump", "xor"):
    model, _ = stumps.fit(
      jax.random.key(0), train, y[:2000], num_stumps=pool, kind=kind,
      selection="reweight", keep=keep, tol=1e-2,
    )  # fmt: skip
    drawn = stumps.sample(jax.random.key(0), some, keep)
    dense = dense_of(drawn, some)
    peer = LinearSVC(max_iter=20).fit(dense[:500], y[:500])
    row = harness.compare(
      f"prediction, {keep} {kind} kept, {rows} rows ({name})",
      lambda: stumps.decision(model, some),  # noqa: B023
      lambda: peer.decision_function(dense),  # noqa: B023
      name="scikit-learn's linear SVM on dense features",
      goal=0.5,
      difference=lambda a, b: 0.0,  # other features: only the time is compared
      repeats=9,
    )
    row["microseconds_a_sample"] = 1e6 * row["seconds"] / rows
    print(f"{'':52} {row['microseconds_a_sample']:.2f} microseconds a sample")
    yield row


def rows():
  yield from evaluation()
  yield from prediction()
