"""The two hinge losses as one piecewise quadratic function of the score.

With a score f, a label y = +-1 and the slack 1 - y f, the multiplier
alpha = clip(alpha0 + sigma (1 - y f), 0, upper) is minus the loss's derivative
in y f. alpha0 = 0, sigma = 2 c, upper = inf is the squared hinge
c max(0, 1 - y f)^2; a finite upper = c is the hinge c max(0, 1 - y f) smoothed
about the multipliers alpha0, as the augmented Lagrangian method has it.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Loss(NamedTuple):
  """The losses of N items and C problems; [1, C] is one value for all items."""

  y: jax.Array  # [N, C] +-1
  start: jax.Array  # [N or 1, C] alpha0
  sigma: jax.Array  # [N or 1, C] >= 0
  upper: jax.Array  # [N or 1, C] >= 0


def squared(y, cost):
  """c max(0, 1 - y f)^2 for y [N, C] and costs c [N or 1, C]."""
  return Loss(y, jnp.zeros_like(cost), 2 * cost, jnp.full_like(cost, jnp.inf))


def smoothed(y, cost):
  """c max(0, 1 - y f), smoothed; `tightened` sharpens it."""
  return Loss(y, jnp.zeros_like(y), cost, cost)


STARTS = {"squared_hinge": squared, "hinge": smoothed}


def along(loss, f, image):
  """t [C] -> (minus the slope, second derivative) of the sum at f + t image."""

  def pulls(t):
    at = f + t[None] * image
    pull = (multipliers(loss, at) * loss.y * image).sum(0)
    return pull, (curvature(loss, at) * image**2).sum(0)

  return pulls


def tightened(loss, f, which, growth):
  """The loss about its own multipliers at f in the problems `which` [C].

  The squared hinge is exact as it is.
  """
  if len(loss.start) < len(f):
    return loss
  start = jnp.where(which[None], multipliers(loss, f), loss.start)
  sigma = jnp.where(which[None], growth * loss.sigma, loss.sigma)
  return loss._replace(start=start, sigma=sigma)


def multipliers(loss, f):
  """alpha [N, C] in [0, upper]."""
  return jnp.clip(_linear(loss, f), 0, loss.upper)


def value(loss, f):
  """The sum of the losses, [C]; smoothed, it never exceeds the hinge's."""
  inside = _linear(loss, f)
  alpha = jnp.clip(inside, 0, loss.upper)
  twice = alpha * (2 * inside - alpha) - loss.start**2
  safe = jnp.where(loss.sigma > 0, loss.sigma, 1)
  return jnp.where(loss.sigma > 0, twice / (2 * safe), 0).sum(0)


def exact(loss, f):
  """The sum of the unsmoothed losses, [C]."""
  slack = jnp.maximum(1 - loss.y * f, 0)
  square = jnp.isinf(loss.upper)
  cost = jnp.where(square, loss.sigma / 2, loss.upper)
  return (cost * jnp.where(square, slack**2, slack)).sum(0)


def conjugate(loss, scale, alpha):
  """What multipliers scale * alpha add to the dual objective, [C]."""
  square = jnp.isinf(loss.upper) & (loss.sigma > 0)
  safe = jnp.where(square, loss.sigma, 1)
  bent = jnp.where(square, alpha**2 / (2 * safe), 0).sum(0)
  return scale * alpha.sum(0) - scale**2 * bent


def curvature(loss, f):
  """Second derivatives in f, [N, C]: sigma where alpha is between its ends."""
  inside = _linear(loss, f)
  return jnp.where((inside > 0) & (inside <= loss.upper), loss.sigma, 0)


def _linear(loss, f):
  return loss.start + loss.sigma * (1 - loss.y * f)
