"""Both steps of the stump machine beside LIBLINEAR; float32.

Each side is timed at the loosest tolerance that brings it to the stated
objective, found beforehand.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from liblinear.liblinearutil import parameter, problem, train

from benchmarks import harness, items
from spdjax import classify, stumps
from spdjax.stumps import mappings

OURS = tuple(10.0**-k for k in range(1, 9))
THEIRS = (0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)


@functools.cache
def responses(rows, num):
  """(name, `Packed` [rows, num] of exclusive ors of two stumps, y)."""
  name, x, y = items.table()
  x, y = jnp.asarray(x[:rows]), y[:rows]
  drawn = stumps.sample(jax.random.key(0), x, num, kind="xor")
  return name, mappings.packed_responses(drawn, x), y


def floats(packed, num):
  """The responses over sqrt(num), float64 for LIBLINEAR."""
  bits = np.asarray(classify.unpack(packed))
  return (2.0 * bits - 1) / np.sqrt(num)


def liblinear(features, y, solver, c, eps):
  """w [K] of one machine without a constant, y of +-1."""
  flags = f"-s {solver} -c {c} -e {eps} -B -1 -q"
  model = train(problem(y, features), parameter(flags))
  w = np.array(model.w[: features.shape[1]])
  return w if model.label[0] == 1 else -w


def l2_objective(w, features, y, c):
  loss = np.maximum(0, 1 - y * (features @ w))
  return w @ w / 2 + c * np.square(loss).sum()


def l1_objective(w, features, y, c):
  loss = np.maximum(0, 1 - y * (features @ w))
  return np.abs(w).sum() + c * np.square(loss).sum()


def loosest(solve, objective, target, tolerances):
  """The first tolerance whose solution is at the target, or None."""
  for tol in tolerances:
    if objective(solve(tol)) <= target:
      return tol
  return None


def against(work, ours, theirs, objective, target, goal, name, repeats=3):
  """A row at the loosest tolerances that reach the target."""
  own = loosest(ours, objective, target, OURS)
  other = loosest(theirs, objective, target, THEIRS)
  if own is None or other is None:
    side = "ours" if own is None else name
    return harness.told(
      {"work": work, "peer": name, "goal": goal,
       "refused": f"{side} does not reach the objective"}
    )  # fmt: skip
  return harness.compare(
    work,
    lambda: ours(own),
    lambda: theirs(other),
    name=name,
    goal=goal,
    # How far above the target each of them is: not at all, or a trifle.
    difference=lambda a, b: max(
      0.0, max(objective(a), objective(b)) / target - 1
    ),
    repeats=repeats,
    peer_repeats=1,
    tolerances=[own, other],
  )


def step_2(rows=10_000, num=1024, c=10.0):
  name, packed, y = responses(rows, num)
  # The constant is a column, as it is for LIBLINEAR's -B 1.
  features = np.pad(floats(packed, num), ((0, 0), (0, 1)), constant_values=1)
  signs = np.where(y[None] == np.arange(10)[:, None], 1.0, -1.0)
  scale = jnp.full(num, num**-0.5, jnp.float32)

  def ours(tol):
    w, b, _ = classify.l2_svm(
      packed, jnp.asarray(y), c=c, column_scale=scale, num_classes=10, tol=tol,
    )  # fmt: skip
    return np.asarray(jnp.concatenate([w, b[:, None]], 1), np.float64)

  def theirs(eps, solver):
    return np.stack([liblinear(features, s, solver, c, eps) for s in signs])

  objective = lambda w: sum(
    l2_objective(own, features, s, c) for own, s in zip(w, signs, strict=True)
  )
  best = objective(ours(1e-9))
  work = f"step 2, ten machines, {rows} x {num} ({name})"
  for solver, kind in ((1, "dual"), (2, "primal")):
    at = objective(theirs(0.1, solver))
    yield against(
      f"{work}, to LIBLINEAR's at .1", ours,
      functools.partial(theirs, solver=solver), objective, max(at, best), 4,
      f"LIBLINEAR -s {solver}, {kind}", repeats=3,
    )  # fmt: skip
    yield against(
      f"{work}, to 1e-6", ours, functools.partial(theirs, solver=solver),
      objective, best * (1 + 1e-6), 10, f"LIBLINEAR -s {solver}, {kind}",
    )  # fmt: skip


def step_1(rows=20_000, num=1024):
  name, packed, y = responses(rows, num)
  features = floats(packed, num) * np.sqrt(num)
  signs = np.where(y % 2 == 0, 1.0, -1.0)
  c = 30 / rows

  def ours(tol):
    w, _ = classify.l1_svm(
      packed, jnp.asarray(signs, jnp.float32), c=c, tol=tol
    )
    return np.asarray(w, np.float64)

  theirs = lambda eps: liblinear(features, signs, 5, c, eps)
  objective = lambda w: l1_objective(w, features, signs, c)
  best = min(objective(ours(1e-8)), objective(theirs(1e-4)))
  for part, goal in ((1e-3, 10), (1e-6, 20)):
    yield against(
      f"step 1, l1, {rows} x {num} ({name}), to {part:.0e}", ours, theirs,
      objective, best * (1 + part), goal, "LIBLINEAR -s 5",
    )  # fmt: skip


def large(rows=60_000, num=4096):
  """Step 2 on all of MNIST: time to a relative gap of 1e-6, and memory."""
  name, packed, y = responses(rows, num)
  scale = jnp.full(num, num**-0.5, jnp.float32)

  def solve(packed):
    w, _, info = classify.l2_svm(
      packed, jnp.asarray(y), c=10.0, column_scale=scale, num_classes=10,
      tol=1e-6,
    )  # fmt: skip
    return w, info

  row = harness.alone(
    f"step 2, ten machines, {rows} x {num} ({name}), gap 1e-6",
    lambda: solve(packed),
    repeats=3,
    goal_seconds=10,
  )
  memory = jax.jit(solve).lower(packed).compile().memory_analysis()
  held = memory.argument_size_in_bytes + memory.temp_size_in_bytes
  row["bytes"] = held + memory.output_size_in_bytes
  row["of_dense_float64"] = row["bytes"] / (8 * rows * num)
  print(
    f"{'':52} {row['bytes'] / 2**20:.0f} MiB, "
    f"1/{1 / row['of_dense_float64']:.0f} of dense float64"
  )
  yield row


def rows():
  yield from step_2()
  yield from step_1()
  yield from large()
