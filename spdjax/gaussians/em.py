"""Expectation maximisation of mixtures, in passes over blocks of items."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from spdjax.gaussians import checks, mixture, starts
from spdjax.gaussians.mixture import Mixture

_APART = 0.2  # half the distance of the halves of a split component, in sigmas


class Info(NamedTuple):
  """How far `em` came."""

  steps: jax.Array  # [] maximisation steps
  converged: jax.Array  # [] whether the last one gained no more than tol
  log_likelihood: jax.Array  # [] of the returned mixture, mean, nats an item
  trace: jax.Array  # [max_steps + 1] the same after each step, then NaN


class State(NamedTuple):
  """What a step needs of those before it."""

  mix: Mixture
  trace: jax.Array  # [max_steps + 1] of the mixtures before this one
  steps: jax.Array  # [] that led to it
  settled: jax.Array  # [] whether the last of them revived no component
  converged: jax.Array  # []
  ended: jax.Array  # []


def em(
  key,
  x,
  *,
  num_components,
  weights=None,
  max_steps=100,
  tol=1e-4,
  floor=1e-3,
  start="kmeans++",
):
  """Fits a mixture of num_components diagonal Gaussians to items x [N, D].

  The likelihood never falls, but for a trifle where an empty component is
  revived (see `em_step`). The result follows shifts and scalings of single
  dimensions. Items pass in blocks: [N, K] is never held.

  Args:
    key: consumed.
    x: [N, D].
    num_components: K, which may exceed the number of distinct items.
    weights: [N] >= 0, as if items were repeated; None: ones.
    max_steps: at most.
    tol: ends when a step gains no more, in nats an item; or no more than
      rounding, if that is larger.
    floor: of the variances, as a part of the variance of all items.
    start: "kmeans++", its seeds and ten steps of k-means on at most 16,384
      items or 16 K; or "random", K items with the variance of all.

  Returns:
    (`Mixture`, `Info`).

  Raises:
    ValueError: a wrong shape, name or range; and, where they are not traced, x
      that is not finite and weights that are negative or all 0.
  """
  x, weights = checked(x, weights)
  _check_options(num_components, max_steps, start)
  check_floor(floor)
  return _em(
    key,
    x,
    weights,
    jnp.asarray(tol, x.dtype),
    jnp.asarray(floor, x.dtype),
    num=num_components,
    max_steps=max_steps,
    start=start,
  )


def em_step(mix, statistics, *, floor=1e-3):
  """The mixture that maximises the expected likelihood, one step of EM.

  weight_k = n_k / sum n, mean_k += first_k / n_k, and var_k = second_k / n_k -
  (first_k / n_k)^2, of at least `floor` times the variance of all items. A
  component whose share is below the dtype's eps takes half of a heavy one, the
  i-th such component of the i-th heaviest: their means move .2 standard
  deviations apart along the widest dimension, to either side.

  Args:
    mix: the `Mixture` that the statistics are of.
    statistics: `Statistics`; if they are of no items, mix is returned.
    floor: >= 0. A dimension that never varies counts as one that varies as the
      others do on average, or with variance 1 if none varies.

  Raises:
    ValueError: wrong shapes, or a negative floor.
  """
  mix, statistics = checks.with_statistics(mix, statistics)
  check_floor(floor)
  n, first, second = statistics
  total = n.sum()
  spread = _spread(mix, statistics)
  empty = _is_empty(n)
  count = jnp.where(empty, 1, n)[:, None]
  shift = first / count
  var = jnp.maximum(second / count - shift**2, floor * spread[None])
  keep = empty[:, None]
  new = Mixture(
    jnp.where(empty, 0, n / jnp.where(total > 0, total, 1)),
    jnp.where(keep, mix.mean, mix.mean + shift),
    jnp.where(keep, mix.var, var),
  )
  new = _revived(new, empty, spread)
  return jax.tree.map(lambda a, b: jnp.where(total > 0, a, b), new, mix)


@functools.partial(jax.jit, static_argnames=("num", "max_steps", "start"))
def _em(key, x, weights, tol, floor, *, num, max_steps, start):
  step = functools.partial(judge, x, weights, tol, floor, max_steps)
  first = State(
    starts.draw(key, x, weights, num=num, start=start, floor=floor),
    jnp.full(max_steps + 1, jnp.nan, x.dtype),
    steps=jnp.zeros((), jnp.int32),
    settled=jnp.array(True),
    converged=jnp.array(False),
    ended=jnp.array(False),
  )
  last = jax.lax.while_loop(lambda state: ~state.ended, step, first)
  likelihood = last.trace[last.steps]
  return last.mix, Info(last.steps, last.converged, likelihood, last.trace)


def judge(x, weights, tol, floor, max_steps, state):
  """Judges the mixture, and maximises unless it is good enough."""
  own, likelihood = mixture.weighted(state.mix, x, weights)
  likelihood /= weights.sum()
  before = state.trace[state.steps - 1]  # NaN at first
  slack = 4 * jnp.finfo(x.dtype).eps * jnp.abs(likelihood)
  still = likelihood - before <= jnp.maximum(tol, slack)
  converged = still & state.settled
  ended = converged | (state.steps >= max_steps) | jnp.isnan(likelihood)
  better = em_step(state.mix, own, floor=floor)
  return State(
    jax.tree.map(lambda a, b: jnp.where(ended, a, b), state.mix, better),
    state.trace.at[state.steps].set(likelihood),
    state.steps + jnp.where(ended, 0, 1).astype(state.steps.dtype),
    ~_is_empty(own.n).any(),
    converged,
    ended,
  )


def _is_empty(n):
  return n <= jnp.finfo(n.dtype).eps * n.sum()


def _spread(mix, statistics):
  """The variance of all items [D]; where they do not vary, a usual one."""
  n, first, second = statistics
  part = n / jnp.where(n.sum() > 0, n.sum(), 1)
  count = jnp.where(n > 0, n, 1)[:, None]
  held = jnp.where(n[:, None] > 0, mix.mean, 0)
  centre = (part[:, None] * (held + first / count)).sum(0)
  off = held - centre[None]
  about = second / count + off * (2 * first / count + off)
  var = (part[:, None] * about).sum(0)
  # Means that are equal but for rounding do not make a dimension vary.
  varies = var > (8 * jnp.finfo(var.dtype).eps * jnp.abs(held).max(0)) ** 2
  usual = jnp.where(varies, var, 0).sum() / jnp.maximum(
    varies.sum(dtype=var.dtype), 1
  )
  return jnp.where(varies, var, jnp.where(varies.any(), usual, 1))


def _revived(mix, empty, spread):
  """The mixture with components split in two in the place of empty ones."""
  heaviest = jnp.argsort(-mix.weight, stable=True)
  rank, turn = jnp.argsort(heaviest), jnp.cumsum(empty) - 1
  pairs = jnp.minimum(empty.sum(), (~empty).sum())
  splits, fills = rank < pairs, empty & (turn < pairs)
  own = jnp.arange(len(empty), dtype=heaviest.dtype)
  source = jnp.where(fills, heaviest[turn], own)
  widest = jnp.argmax(mix.var / spread[None], 1)
  axis = jax.nn.one_hot(widest, len(spread), dtype=mix.var.dtype)
  step = _APART * jnp.sqrt(mix.var) * axis
  side = fills.astype(step.dtype) - splits.astype(step.dtype)
  half = jnp.where(splits, mix.weight / 2, mix.weight)
  weight = half[source] / half[source].sum()
  mean = mix.mean[source] + side[:, None] * step[source]
  return Mixture(weight, mean, mix.var[source])


def check_floor(floor):
  """Raises ValueError unless it is >= 0."""
  if not isinstance(floor, jax.core.Tracer) and not 0 <= float(floor) < np.inf:
    raise ValueError(f"floor must be at least 0 and finite, got {floor}")


def _check_options(num_components, max_steps, start):
  if num_components < 1:
    raise ValueError(f"num_components must be at least 1, got {num_components}")
  if max_steps < 0:
    raise ValueError(f"max_steps must be at least 0, got {max_steps}")
  if start not in starts.STARTS:
    raise ValueError(
      f"start must be one of {', '.join(starts.STARTS)}, got {start!r}"
    )


def checked(x, weights, name="x"):
  """(x, weights) as floats, ones where weights is None."""
  if np.ndim(x) != 2 or 0 in np.shape(x):
    raise ValueError(
      f"{name} must be [N, D], not empty, got shape {np.shape(x)}"
    )
  x = jnp.asarray(x, checks.float_kind(x))
  weights = checks.checked_mask(weights, len(x), x.dtype, "weights")
  if isinstance(x, jax.core.Tracer) or isinstance(weights, jax.core.Tracer):
    return x, weights
  own = np.asarray(weights)
  bad = np.flatnonzero(~((own >= 0) & (own < np.inf)))
  if len(bad):
    raise ValueError(f"weights[{bad[0]}] is {own[bad[0]]}; expected >= 0")
  if not own.any():
    raise ValueError("weights are all 0")
  bad = np.flatnonzero((own > 0) & ~np.asarray(jnp.isfinite(x).all(1)))
  if len(bad):
    raise ValueError(f"{name}[{bad[0]}] is not finite")
  return x, weights
