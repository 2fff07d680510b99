"""Two sides of one problem: first the same answer, then times, in turn.

A row is a dict: what `benchmarks/<machine>.json` holds and tables and plots are
drawn from.
"""

import functools
import time

import jax
import jax.numpy as jnp
import numpy as np


def timed(run):
  """(seconds, what run gave), everything it started being done."""
  begin = time.perf_counter()
  out = jax.block_until_ready(run())
  return time.perf_counter() - begin, out


def compare(
  work,
  ours,
  peer,
  *,
  name,
  goal,
  difference,
  tol=1e-6,
  repeats=5,
  peer_repeats=None,
  flops=None,
  moved=None,
  dtype="float32",
  **more,
):
  """A row of our time and a peer's, in turns A B A B after a warm-up.

  Args:
    work: what is done, with its sizes.
    ours, peer: () -> answer.
    name: the peer's.
    goal: the ratio peer / ours to reach, or None.
    difference: (our answer, the peer's) -> how far they are apart, relatively;
      above `tol` nothing is timed, and the row says so.
    repeats: rounds; a peer that takes long may have fewer.
    flops, moved: floating-point operations and bytes of our side; they become
      parts of the machine's rates.
    dtype: of our side's products.
    more: goes into the row.
  """
  row = {"work": work, "peer": name, "goal": goal, **more}
  first, mine = timed(ours)
  _, other = timed(peer)
  row["difference"] = float(difference(mine, other))
  if not row["difference"] <= tol:
    row["refused"] = (
      f"the answers differ by {row['difference']:.1e}, more than {tol:.0e}"
    )
    return told(row)
  rounds = [
    (timed(ours)[0], timed(peer)[0] if index < (peer_repeats or repeats) else 0)
    for index in range(repeats)
  ]
  own = np.array([a for a, _ in rounds])
  both = np.array([(a, b) for a, b in rounds if b])
  ratios = both[:, 1] / both[:, 0]
  row |= {
    "seconds": float(np.median(own)),
    "peer_seconds": float(np.median(both[:, 1])),
    "ratio": float(np.median(ratios)),
    "spread": [float(ratios.min()), float(ratios.max())],
    "compile_seconds": max(0.0, first - float(np.median(own))),
  }
  row |= parts(row["seconds"], flops, moved, dtype)
  return told(row)


def alone(work, ours, *, repeats=5, flops=None, moved=None, dtype="float32",
          **more):  # fmt: skip
  """A row of our time without a peer."""
  first, _ = timed(ours)
  seconds = float(np.median([timed(ours)[0] for _ in range(repeats)]))
  row = {"work": work, "seconds": seconds, **more}
  row["compile_seconds"] = max(0.0, first - seconds)
  return told(row | parts(seconds, flops, moved, dtype))


def parts(seconds, flops, moved, dtype) -> dict:
  """Achieved rates, and which part of the machine's they are."""
  out = {}
  if flops:
    out["flops_per_second"] = flops / seconds
    out["of_matrix_rate"] = flops / seconds / matrix_rate(dtype)
  if moved:
    out["bytes_per_second"] = moved / seconds
    out["of_copy_rate"] = moved / seconds / copy_rate()
  return out


@functools.cache
def matrix_rate(dtype="float32", size=3000):
  """Floating-point operations a second of a matrix product, the best of 5."""
  a = jnp.ones((size, size), dtype)
  product = jax.jit(lambda a: jnp.matmul(a, a, precision="highest"))
  timed(lambda: product(a))
  best = min(timed(lambda: product(a))[0] for _ in range(5))
  return 2 * size**3 / best


@functools.cache
def copy_rate(megabytes=512):
  """Bytes a second, read and written, of a copy, the best of 5."""
  a = jnp.ones(megabytes << 18, jnp.float32)
  copy = jax.jit(lambda a: a + 1)
  timed(lambda: copy(a))
  best = min(timed(lambda: copy(a))[0] for _ in range(5))
  return 2 * a.nbytes / best


def relative(a, b):
  """max |a - b| over max |b|."""
  a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
  return np.abs(a - b).max() / np.abs(b).max()


def told(row):
  """Prints a row."""
  print(text(row), flush=True)
  return row


def text(row) -> str:
  if "refused" in row:
    return f"{row['work']:52} {row['peer']}: no ratio, {row['refused']}"
  line = f"{row['work']:52} {row['seconds']:9.4f} s"
  if "ratio" in row:
    low, high = row["spread"]
    line += (
      f"  {row['peer']} {row['peer_seconds']:9.4f} s  {row['ratio']:6.2f} x "
      f"({low:.2f} to {high:.2f})"
    )
    if row["goal"]:
      line += f", goal {row['goal']:g}"
  for key, said in (("of_matrix_rate", "matrix"), ("of_copy_rate", "copy")):
    if key in row:
      line += f"  {100 * row[key]:.0f} % of the {said} rate"
  return line
