"""A line search on a scalar function of the step; it knows no manifold."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


class Search(NamedTuple):
  """What a line search found: its lowest finite trial, or step 0."""

  step: jax.Array  # [] the step of the lowest value; 0 when none was lower
  value: jax.Array  # [] phi(step)
  evaluations: jax.Array  # [] int32, calls of phi
  accepted: jax.Array  # [] bool, some trial met the Armijo condition
  finite: jax.Array  # [] bool, every trial was finite
  aux: Any  # what phi returned beside the value at `step`; None without aux


class _Carry(NamedTuple):
  best: Search  # the best point so far
  step: jax.Array  # [] the next trial
  last: jax.Array  # [] bool, no trial follows the next one
  done: jax.Array  # [] bool


def backtrack(
  phi,
  value,
  slope,
  step,
  *,
  aux=None,
  max_step=jnp.inf,
  armijo=1e-4,
  near=0.5,
  shrink=0.1,
  grow=4.0,
  max_trials=12,
):
  """Lowest trial of phi from `step`, guided by the parabola through each trial.

  The parabola has phi(0) = value [], phi'(0) = slope [] < 0 and the trial's
  value. A trial that meets phi(t) <= value + armijo t slope (Armijo, 1966) is
  taken at once when the parabola's minimum t* has abs(t - t*) <= near t*;
  otherwise the minimum is tried too and the lower of the two is kept, since a
  step that is merely acceptable is often far too short. Extrapolation, at most
  `grow` times further per trial, goes on while it pays. After a failed trial
  comes the minimum, clipped to [shrink, 1/2] of the step; after one that is
  not finite, a quarter of the step. No trial is made unless slope < 0.

  Args:
    phi: step [] -> value [], or (value [], aux) when `aux` is given.
    value, slope, step: [], of one floating dtype; step > 0, the first trial.
    aux: what phi would return beside the value at step 0, any pytree.
    max_step: no trial goes beyond it.
    max_trials: bound on the calls of phi: lanes of a vmap wait for the last.

  Nothing is remembered between calls.
  """
  # Near convergence the decrease asked for is below rounding: without slack
  # every search would use up its trials. Not just 4 eps, since the lowest
  # value so far, which is `value`, is also the luckiest in its rounding.
  slack = 16 * jnp.finfo(value.dtype).eps * jnp.abs(value)

  def attempt(carry):
    best, t = carry.best, carry.step
    new, extra = phi(t) if aux is not None else (phi(t), None)
    finite = jnp.isfinite(new)
    enough = finite & (new <= value + armijo * t * slope + slack)
    lower = finite & (new < best.value)
    factor = jnp.clip(_minimum(value, t * slope, new), shrink, grow)
    factor = jnp.where(enough, factor, jnp.minimum(factor, 0.5))
    target = jnp.minimum(t * jnp.where(finite, factor, 0.25), max_step)
    close = jnp.abs(t - target) <= near * target
    # Below rounding the parabola is noise: there is nothing to refine.
    close |= jnp.abs(t * slope) <= slack
    stop = carry.last | (enough & close) | (best.accepted & ~lower)
    found = best._replace(step=t, value=new, aux=extra)
    kept = jax.tree.map(lambda a, b: jnp.where(lower, a, b), found, best)
    kept = kept._replace(
      evaluations=best.evaluations + 1,
      accepted=best.accepted | enough,
      finite=best.finite & finite,
    )
    return _Carry(kept, target, enough & (target < t), stop)

  false = jnp.zeros((), bool)
  start = Search(jnp.zeros_like(step), value, jnp.int32(0), false, ~false, aux)
  return jax.lax.while_loop(
    lambda c: ~c.done & (c.best.evaluations < max_trials),
    attempt,
    _Carry(start, jnp.minimum(step, max_step), false, ~(slope < 0)),
  ).best


def _minimum(value, rise, new):
  """Minimum, in units of the trial, of the parabola through it; inf if none.

  rise [] is the trial's step times the slope at 0.
  """
  bend = (new - value) - rise
  convex = bend > 0
  return jnp.where(convex, -rise / (2 * jnp.where(convex, bend, 1)), jnp.inf)
