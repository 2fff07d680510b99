"""Drawing random mappings."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from spdjax.classify import values
from spdjax.stumps.mappings import And, Projections, Stumps, Xor

KINDS = ("stump", "xor", "and", "projection", "xor_projection")
THRESHOLDS = ("uniform", "value", "midpoint")
DRAWS = ("uniform", "spread", "local")


class _Features(NamedTuple):
  """What drawing needs of the training items."""

  x: jax.Array  # [N, D]
  low: jax.Array  # [D]
  high: jax.Array  # [D]
  weight: jax.Array  # [D] of a feature's draw, 0 for a constant one


def sample(
  key,
  x,
  num,
  *,
  thresholds="midpoint",
  kind="stump",
  draw="uniform",
  grid=None,
  radius=4,
):
  """Draws `num` random mappings for items like x [N, D].

  Constant features are never drawn. NaN entries are passed over: they count
  neither in a range nor as a threshold.

  Args:
    key: consumed.
    x: [N, D], the training items.
    num: K.
    thresholds: "uniform" in the training range of the value that is compared;
      "value", that of a random training item; "midpoint", half way between
      those of two, which leaves the fewest mappings that never change.
    kind: "stump"; "xor" or "and" of two stumps; "projection", x_i + x_j or
      x_i - x_j beyond a threshold; "xor_projection", the xor of two of those.
    draw: of features: "uniform"; "spread", in proportion to their standard
      deviation; "local", which needs `grid`: the first by spread, the others
      of the same mapping within `radius` of it on the grid.
    grid: (rows, columns) of pixels, D of them, row by row.
    radius: in pixels, along rows and along columns.

  Returns:
    `Stumps`, `Projections`, or `Xor` or `And` of them.

  Raises:
    ValueError: an unknown name, a wrong shape or grid, or constant x.
  """
  x = values.floats(x)
  _check(x, thresholds, kind, draw, grid)
  values.key(key)
  num = values.whole(num, "num", 1)
  if draw == "local":
    radius = min(values.whole(radius, "radius", 1), max(grid))
  _check_values(x)
  own = _features(x, draw)
  own_key, place_key = jax.random.split(key)
  count = {"stump": 1, "xor_projection": 4}.get(kind, 2)
  place = _places(place_key, own.weight, num, count, draw, grid, radius)
  return _build(own_key, own, place, thresholds=thresholds, kind=kind)


def _check(x, thresholds, kind, draw, grid):
  for name, value, known in (
    ("thresholds", thresholds, THRESHOLDS),
    ("kind", kind, KINDS),
    ("draw", draw, DRAWS),
  ):
    if value not in known:
      raise ValueError(
        f"{name} must be one of {', '.join(known)}, got {value!r}"
      )
  if x.ndim != 2 or 0 in x.shape:
    raise ValueError(f"x must be [N, D], not empty, got shape {x.shape}")
  if draw != "local":
    return
  sides = grid if isinstance(grid, tuple | list) and len(grid) == 2 else (0, 0)
  whole = all(isinstance(n, int | np.integer) and n > 0 for n in sides)
  if not whole or sides[0] * sides[1] != x.shape[1]:
    raise ValueError(
      f"draw 'local' needs a grid of {x.shape[1]} pixels, got {grid}"
    )


def _check_values(x):
  if values.traced(x):
    return
  with jax.ensure_compile_time_eval():
    infinite = jnp.isinf(x)
    if infinite.any():
      row, column = np.argwhere(np.asarray(infinite))[0]
      raise ValueError(f"x[{row}, {column}] is infinite")
    if not (_spread(x) > 0).any():
      raise ValueError("all features of x are constant")


@jax.jit
def _spread(x):
  """Standard deviations [D], 0 exactly for constant features."""
  wide = x.astype(jnp.float32) if jnp.finfo(x.dtype).bits < 32 else x
  low, high = jnp.nanmin(wide, 0), jnp.nanmax(wide, 0)
  # Of the values over their range: the squares of small ones would vanish.
  half = high / 2 - low / 2
  unit = (wide / 2 - low[None] / 2) / jnp.where(half > 0, half, 1)[None]
  spread = 2 * half * jnp.nanstd(unit, 0)
  tiny = jnp.finfo(wide.dtype).tiny
  return jnp.where(high > low, jnp.maximum(jnp.nan_to_num(spread), tiny), 0)


@functools.partial(jax.jit, static_argnames="draw")
def _features(x, draw):
  spread = _spread(x)
  weight = (spread > 0).astype(spread.dtype) if draw == "uniform" else spread
  return _Features(x, jnp.nanmin(x, 0), jnp.nanmax(x, 0), weight)


def _places(key, weight, num, count, draw, grid, radius):
  """Features [num, count] of the mappings."""
  log_weight = jnp.log(weight)
  if draw != "local":
    return jax.random.categorical(key, log_weight, shape=(num, count))
  first_key, other_key = jax.random.split(key)
  first = jax.random.categorical(first_key, log_weight, shape=(num, 1))
  row, column = first // grid[1], first % grid[1]
  pixels = jnp.arange(grid[0] * grid[1], dtype=first.dtype)
  rows, columns = pixels // grid[1], pixels % grid[1]
  near = (jnp.abs(rows[None] - row) <= radius) & (
    jnp.abs(columns[None] - column) <= radius
  )
  near &= (weight > 0)[None]
  # Another pixel than the first, unless none near it ever varies.
  alone = near.sum(1, keepdims=True) == 1
  near &= (pixels[None] != first) | alone
  allowed = jnp.where(near, 0, -jnp.inf)
  others = jax.random.categorical(
    other_key, allowed[:, None], shape=(num, count - 1)
  )
  return jnp.concatenate([first, others], 1)


@functools.partial(jax.jit, static_argnames=("thresholds", "kind"))
def _build(key, own, place, *, thresholds, kind):
  place = place.astype(jnp.int32)
  keys = jax.random.split(key, 2)
  if kind == "stump":
    return _stumps(keys[0], own, place[:, 0], thresholds)
  if kind in ("xor", "and"):
    both = [_stumps(keys[k], own, place[:, k], thresholds) for k in (0, 1)]
    return Xor(*both) if kind == "xor" else And(*both)
  if kind == "projection":
    return _projections(keys[0], own, place, thresholds)
  return Xor(
    _projections(keys[0], own, place[:, :2], thresholds),
    _projections(keys[1], own, place[:, 2:], thresholds),
  )


def _stumps(key, own, feature, thresholds):
  low, high = own.low[feature], own.high[feature]
  values = lambda items: own.x[items, feature]
  return Stumps(
    feature, _thresholds(key, thresholds, values, low, high, len(own.x))
  )


def _projections(key, own, feature, thresholds):
  sign_key, key = jax.random.split(key)
  signs = jax.random.rademacher(sign_key, feature.shape, own.x.dtype)
  # The first sign is free: turning all of a mapping's signs only swaps bits.
  weight = signs.at[:, 0].set(1)
  low, high = weight * own.low[feature], weight * own.high[feature]
  ends = jnp.minimum(low, high).sum(1), jnp.maximum(low, high).sum(1)
  values = lambda items: (weight * own.x[items[:, None], feature]).sum(1)
  return Projections(
    feature, weight, _thresholds(key, thresholds, values, *ends, len(own.x))
  )


def _thresholds(key, rule, values, low, high, num_items):
  """Thresholds [K]; values(items [K]) are those of one item a mapping."""
  uniform_key, item_key = jax.random.split(key)
  part = jax.random.uniform(uniform_key, low.shape, low.dtype)
  # Within [low, high) even where the difference would overflow.
  uniform = low * (1 - part) + high * part
  if rule == "uniform":
    return uniform
  items = jax.random.randint(item_key, (2, len(low)), 0, num_items)
  first, second = values(items[0]), values(items[1])
  drawn = first if rule == "value" else first / 2 + second / 2
  return jnp.where(jnp.isnan(drawn), uniform, drawn)
