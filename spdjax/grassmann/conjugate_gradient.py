"""Conjugate gradient on the Grassmann manifold; seed paper, Algorithm 1.

`init`, `update`, `run` and `trace` share one body. The cost is fun(w, *args).
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from spdjax.grassmann import linesearch, manifold
from spdjax.grassmann.cost import (
  bind,
  first_order,
  freeze,
  inner,
  report,
  rounding,
  small,
)

RULES = ("hestenes_stiefel", "polak_ribiere")


class State(NamedTuple):
  """What the next step needs."""

  w: jax.Array  # [n, m] orthonormal; its cost is the lowest so far
  value: jax.Array  # [] the cost at w
  grad: jax.Array  # [n, m] Riemannian gradient at w
  direction: jax.Array  # [n, m] tangent at w, a direction of descent
  step: jax.Array  # [] first trial of the next line search
  age: jax.Array  # [] int32, steps since the direction was -grad
  steps: jax.Array  # [] int32, line searches made
  evaluations: jax.Array  # [] int32, evaluations of the cost and its gradient
  done: jax.Array  # [] bool, further updates change nothing
  converged: jax.Array  # [] bool


def init(fun, w, *args, tol=None):
  """State at the start w [n, m], headed along steepest descent.

  The start has converged when norm(grad) <= tol max(1, abs(value)); `tol`
  defaults to sqrt(eps) of the dtype. Raises ValueError unless w is [n, m] with
  0 < m < n and fun returns a scalar.
  """
  value, grad = first_order(bind(fun, args), w)
  norm = jnp.linalg.norm(grad)
  still = small(grad, value, tol)
  # A start whose cost is not finite leaves nothing to compare with.
  done = still | ~jnp.isfinite(value)
  step = 1 / jnp.where(norm > 0, norm, 1)  # a turn of one radian
  zero = jnp.int32(0)
  return State(w, value, grad, -grad, step, zero, zero, zero + 1, done, still)


def update(fun, state, *args, tol=None, rule="hestenes_stiefel"):
  """One line search along the geodesic of the direction, then a new direction.

  The direction is -grad + max(beta, 0) transported direction, with beta of
  Hestenes and Stiefel or of Polak and Ribière (`rule`), both on the manifold:
  the old gradient and direction are parallel transported. It restarts at -grad
  when it would not descend, every n m steps, and when the cost stagnates.

  The cost never rises. A steepest descent step that lowers it by no more than
  rounding ends the solve as converged; one that finds no acceptable trial, or
  meets a cost that is not finite, ends it as not converged. After that the
  state comes back unchanged: lanes of a vmap and the tail of a scan freeze.

  Returns (State, Info). Raises ValueError for an unknown rule.
  """
  if rule not in RULES:
    raise ValueError(f"rule must be one of {RULES}, got {rule!r}")
  geo = manifold.geodesic(state.w, state.direction)
  slope = inner(state.grad, state.direction)
  # A slope of 0 makes no trial: a finished lane does not hold up the others.
  slope = jnp.where(state.done, 0, slope)
  search = _search(bind(fun, args), geo, state, slope)
  w, grad = search.aux
  direction, age = _turn(state, geo, search, w, grad, rule)
  stalled = state.value - search.value <= rounding(state.value)
  age = jnp.where(stalled, 0, age)
  direction = jnp.where(age == 0, -grad, direction)
  new = State(
    w,
    search.value,
    grad,
    direction,
    _first_trial(state, search.value, inner(grad, direction)),
    age,
    state.steps + 1,
    state.evaluations + search.evaluations,
    *_verdict(state, search, grad, stalled, tol),
  )
  state = freeze(state.done, state, new)
  return state, report(state)


@functools.partial(jax.jit, static_argnums=0, static_argnames="rule")
def run(fun, w, *args, max_steps=200, tol=None, rule="hestenes_stiefel"):
  """Minimise fun(w, *args) from w [n, m] by at most max_steps updates.

  fun is static: pass the same function object and let data travel in args.
  Returns (w, Info). Raises ValueError as `init` and `update` do.
  """
  state = jax.lax.while_loop(
    lambda s: ~s.done & (s.steps < max_steps),
    lambda s: update(fun, s, *args, tol=tol, rule=rule)[0],
    init(fun, w, *args, tol=tol),
  )
  return state.w, report(state)


@functools.partial(
  jax.jit, static_argnums=0, static_argnames=("num_steps", "rule")
)
def trace(fun, w, *args, num_steps, tol=None, rule="hestenes_stiefel"):
  """As `run`, num_steps updates long: (State, Info [num_steps])."""
  return jax.lax.scan(
    lambda s, _: update(fun, s, *args, tol=tol, rule=rule),
    init(fun, w, *args, tol=tol),
    length=num_steps,
  )


def _search(cost, geo, state, slope):
  """The line search, with (point, Riemannian gradient) as its aux."""

  # The gradient comes with every trial: the accepted one, mostly the first,
  # then needs no second evaluation.
  def phi(t):
    w = manifold.point(geo, t)
    # Without a QR 200 float32 steps drift 3e-2 off the manifold and the cost
    # ends below its true minimum. Before the cost, so that value is fun(w).
    w = manifold.retract(w, jnp.zeros_like(w))
    value, grad = first_order(cost, w)
    return value, (w, grad)

  # Geodesics wind round the manifold: beyond a quarter turn nothing is new.
  quarter = jnp.pi / 2 / jnp.maximum(geo.s[0], jnp.finfo(slope.dtype).tiny)
  return linesearch.backtrack(
    phi,
    state.value,
    slope,
    state.step,
    aux=(state.w, state.grad),
    max_step=quarter,
  )


def _turn(state, geo, search, w, grad, rule):
  """The next conjugate direction [n, m] and its age, 0 for a restart."""

  def carry(x):
    return manifold.tangent(w, manifold.transport(geo, search.step, x))

  old, along = carry(state.grad), carry(state.direction)
  change = grad - old
  scale = inner(old, old)
  if rule == "hestenes_stiefel":
    scale = inner(along, change)
  positive = scale > 0
  beta = inner(grad, change) / jnp.where(positive, scale, 1)
  beta = jnp.where(positive, jnp.maximum(beta, 0), 0)
  direction = beta * along - grad
  ascent = ~(inner(grad, direction) < 0)
  restart = ascent | (state.age + 1 >= grad.size)
  return direction, jnp.where(restart, 0, state.age + 1)


def _first_trial(state, value, slope):
  """The step at which slope promises the last decrease again.

  The minimum of a parabola that falls as far as the last step did (Nocedal and
  Wright, 2006, eq. 3.60); the old step where that is 0/0.
  """
  step = 2 * (value - state.value) / slope
  return jnp.where((step > 0) & jnp.isfinite(step), step, state.step)


def _verdict(state, search, grad, stalled, tol):
  """(done, converged) after a search."""
  near = small(grad, search.value, tol)
  stop = stalled & (state.age == 0)
  # Up against a point where the cost is not finite, steps are short as well.
  level = stop & search.accepted & search.finite
  return near | stop, near | level
