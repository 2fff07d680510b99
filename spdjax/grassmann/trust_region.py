"""Riemannian Newton with a trust region; Absil, Baker and Gallivan (2007).

`init`, `update`, `run` and `trace` share one body. The cost is fun(w, *args)
and must be twice differentiable.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from spdjax.grassmann import manifold
from spdjax.grassmann.cost import (
  bind,
  first_order,
  freeze,
  inner,
  report,
  rounding,
  small,
)


class State(NamedTuple):
  """What the next step needs."""

  w: jax.Array  # [n, m] orthonormal; its cost is the lowest so far
  value: jax.Array  # [] the cost at w
  grad: jax.Array  # [n, m] Riemannian gradient at w
  radius: jax.Array  # [] longest step trusted, radians
  steps: jax.Array  # [] int32, steps tried
  evaluations: jax.Array  # [] int32, of the gradient and of Hessian products
  done: jax.Array  # [] bool, further updates change nothing
  converged: jax.Array  # [] bool


class _Inner(NamedTuple):
  eta: jax.Array  # [n, m] the step so far
  image: jax.Array  # [n, m] the Hessian's image of eta
  residual: jax.Array  # [n, m] grad + image
  direction: jax.Array  # [n, m]
  count: jax.Array  # [] int32, Hessian products made
  edge: jax.Array  # [] bool, eta is on the edge of the region
  done: jax.Array  # [] bool


def hessian(cost, w):
  """x -> H x = (I - w w') D grad(w)[x] - x w' grad(w), both [n, m] tangent.

  D grad is the derivative of the ambient gradient, linearised once for all x
  (Edelman, Arias and Smith, 1998, eq. 2.71).
  """
  ambient, push = jax.linearize(jax.grad(cost), w)
  bend = jnp.matmul(w.T, ambient, precision="highest")
  return lambda x: (
    manifold.tangent(w, push(x)) - jnp.matmul(x, bend, precision="highest")
  )


def init(fun, w, *args, tol=None):
  """State at the start w [n, m]; arguments as in `conjugate_gradient.init`."""
  value, grad = first_order(bind(fun, args), w)
  still = small(grad, value, tol)
  done = still | ~jnp.isfinite(value)
  zero = jnp.int32(0)
  return State(w, value, grad, _widest(w) / 8, zero, zero + 1, done, still)


def update(fun, state, *args, tol=None, max_inner=None):
  """One trust-region step by truncated conjugate gradient (Steihaug, 1983).

  The step minimises <grad, x> + <x, H x> / 2 within the radius, by at most
  max_inner Hessian products (default: the dimension m (n - m)). The point moves
  only if the cost does not rise and at least a tenth of the model's decrease is
  met. A step inside the region with a model decrease below rounding ends
  the solve as converged; a collapsed radius ends it as not converged. After
  that the state comes back unchanged. Returns (State, Info).
  """
  cost = bind(fun, args)
  solved = _truncated(hessian(cost, state.w), state, max_inner)
  geo = manifold.geodesic(state.w, solved.eta)
  w = manifold.point(geo, jnp.ones((), state.value.dtype))
  w = manifold.retract(w, jnp.zeros_like(w))
  value, grad = first_order(cost, w)
  model = -inner(state.grad, solved.eta) - inner(solved.eta, solved.image) / 2
  ratio = _agreement(state.value, value, model)
  moved = (ratio > 0.1) & (value <= state.value)
  radius = _radius(state, ratio, solved.edge)
  w, value, grad = freeze(
    ~moved, (state.w, state.value, state.grad), (w, value, grad)
  )
  near = small(grad, value, tol)
  # On the edge the model falls little because the radius is short.
  flat = (model <= rounding(value)) & jnp.isfinite(model) & ~solved.edge
  collapsed = radius < jnp.finfo(value.dtype).eps
  spent = state.evaluations + solved.count + 2
  done, still = near | flat | collapsed, near | flat
  new = State(w, value, grad, radius, state.steps + 1, spent, done, still)
  state = freeze(state.done, state, new)
  return state, report(state)


@functools.partial(jax.jit, static_argnums=0)
def run(fun, w, *args, max_steps=200, tol=None, max_inner=None):
  """Minimise fun(w, *args) from w [n, m] by at most max_steps updates.

  fun is static: pass the same function object and let data travel in args.
  Returns (w, Info). Raises ValueError as `init` does.
  """
  state = jax.lax.while_loop(
    lambda s: ~s.done & (s.steps < max_steps),
    lambda s: update(fun, s, *args, tol=tol, max_inner=max_inner)[0],
    init(fun, w, *args, tol=tol),
  )
  return state.w, report(state)


@functools.partial(jax.jit, static_argnums=0, static_argnames="num_steps")
def trace(fun, w, *args, num_steps, tol=None, max_inner=None):
  """As `run`, num_steps updates long: (State, Info [num_steps])."""
  return jax.lax.scan(
    lambda s, _: update(fun, s, *args, tol=tol, max_inner=max_inner),
    init(fun, w, *args, tol=tol),
    length=num_steps,
  )


def _widest(w):
  """The diameter of the manifold, sqrt(min(m, n - m)) pi/2 [], radians."""
  n, m = w.shape
  return jnp.asarray(min(m, n - m) ** 0.5 * jnp.pi / 2, w.dtype)


def _agreement(value, new, model):
  """Decrease met over decrease promised, 1 where both drown in rounding."""
  floor = 250 * rounding(jnp.maximum(1, jnp.abs(value)))
  return (value - new + floor) / (model + floor)


def _radius(state, ratio, edge):
  """A quarter after a poor step, twice after a good one on the edge."""
  grown = jnp.minimum(2 * state.radius, _widest(state.w))
  radius = jnp.where((ratio > 0.75) & edge, grown, state.radius)
  return jnp.where(ratio >= 0.25, radius, state.radius / 4)


def _truncated(apply, state, max_inner):
  """Steihaug's conjugate gradient on the model at the state's point."""
  grad = state.grad
  n, m = grad.shape
  limit = m * (n - m) if max_inner is None else max_inner
  norm = jnp.linalg.norm(grad)
  # Superlinear: the closer to the optimum, the more exact the Newton step.
  scale = jnp.maximum(1, jnp.abs(state.value))
  goal = norm * jnp.minimum(0.1, norm / scale)

  def advance(s):
    image, square = apply(s.direction), inner(s.residual, s.residual)
    bend = inner(s.direction, image)
    positive = bend > 0
    step = square / jnp.where(positive, bend, 1)
    longer = jnp.linalg.norm(s.eta + step * s.direction) >= state.radius
    edge = ~positive | longer
    step = jnp.where(edge, _to_edge(s.eta, s.direction, state.radius), step)
    residual = manifold.tangent(state.w, s.residual + step * image)
    after = inner(residual, residual)
    return _Inner(
      s.eta + step * s.direction,
      s.image + step * image,
      residual,
      after / square * s.direction - residual,
      s.count + 1,
      edge,
      edge | ~(after > goal**2),
    )

  zero, false = jnp.zeros_like(grad), jnp.zeros((), bool)
  start = _Inner(zero, zero, grad, -grad, jnp.int32(0), false, state.done)
  more = lambda s: ~s.done & (s.count < limit)
  return jax.lax.while_loop(more, advance, start)


def _to_edge(eta, direction, radius):
  """Positive t [] with norm(eta + t direction) = radius."""
  a, b = inner(direction, direction), inner(eta, direction)
  c = jnp.maximum(radius**2 - inner(eta, eta), 0)
  return (jnp.sqrt(b**2 + a * c) - b) / a
