"""Dual bounds of the l1 problems, from multipliers and T'(y alpha)."""

import jax.numpy as jnp

from spdjax.classify import hinge

_INNER = 0.5  # of the smoothing: what a smoothed problem is solved to


def dual(loss, alpha, back, nonnegative):
  """The dual objective at the best feasible multiple of alpha, [].

  Feasible are multipliers with norm(back)_inf <= 1; for w >= 0 with back <= 1.

  Args:
    loss: `hinge.Loss` of one problem.
    alpha: [N, 1] multipliers.
    back: T'(y alpha) [K].
  """
  total = alpha.sum()
  bent = total - hinge.conjugate(loss, 1, alpha)[0]
  best = jnp.where(bent > 0, total / jnp.where(bent > 0, 2 * bent, 1), jnp.inf)
  # Hinges bound the multipliers from above too.
  bound = jnp.where(jnp.isinf(loss.upper).all(), jnp.inf, 1)
  scale = jnp.minimum(jnp.minimum(_top(back, nonnegative), best), bound)
  scale = jnp.where(total > 0, scale, 0)  # no multiplier, no finite multiple
  return hinge.conjugate(loss, scale, alpha)[0]


def solved(loss, f, w, back, nonnegative):
  """Whether the smoothed problem is solved well beside its smoothing, []."""
  alpha = hinge.multipliers(loss, f)
  scale = jnp.minimum(1, _top(back, nonnegative))
  safe = jnp.where(loss.sigma > 0, loss.sigma, 1)
  moved = jnp.square(scale * alpha - loss.start) / (2 * safe)
  bound = scale * alpha.sum() - jnp.where(loss.sigma > 0, moved, 0).sum()
  value = jnp.abs(w).sum() + hinge.value(loss, f)[0]
  smoothing = (hinge.exact(loss, f) - hinge.value(loss, f))[0]
  return value - bound <= _INNER * smoothing


def _top(back, nonnegative):
  """The largest feasible multiple."""
  most = (jnp.maximum(back, 0) if nonnegative else jnp.abs(back)).max()
  return 1 / jnp.maximum(most, jnp.finfo(back.dtype).tiny)
