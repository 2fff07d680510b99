"""Conjugate gradient steps and exact line searches for C problems at once."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

_SEARCH = 40  # trials on a line at most
_FLAT = 0.1  # of the slope at 0: flat enough
_SHRINK = 16.0  # of a step with no lower bound but 0


class Inner(NamedTuple):
  """The state of the conjugate gradients of H d = -gradient."""

  d: jax.Array  # [C, M]
  residual: jax.Array  # [C, M]
  p: jax.Array  # [C, M] the direction whose product comes next
  count: jax.Array  # [C] products


def begin(gradient):
  """The start at d = 0."""
  count = jnp.zeros(len(gradient), jnp.int32)
  return Inner(gradient * 0, -gradient, -gradient, count)


def advance(inner, live, product):
  """(one step of those that are `live`, its length [C]), with H p at hand."""
  old = dot(inner.residual, inner.residual)
  bend = dot(inner.p, product)
  size = jnp.where(live & (bend > 0), old / jnp.where(bend > 0, bend, 1), 0)
  residual = inner.residual - size[:, None] * product
  ratio = dot(residual, residual) / jnp.where(old > 0, old, 1)
  ahead = residual + ratio[:, None] * inner.p
  own = Inner(
    d=inner.d + size[:, None] * inner.p,
    residual=residual,
    p=jnp.where(live[:, None], ahead, inner.p),
    count=inner.count + live.astype(inner.count.dtype),
  )
  return own, size


def solve(hessian, gradient, *, tolerance, max_steps):
  """(d [C, M] with H d = -gradient, the most products of a problem []).

  Args:
    hessian: p [C, M] -> H p [C, M]; H SPD.
    gradient: [C, M].
    tolerance: of the residual, relative to the gradient's norm.
    max_steps: products at most.
  """
  goal = tolerance * norm(gradient)
  live = lambda inner: (norm(inner.residual) > goal) & (inner.count < max_steps)
  step = lambda inner: advance(inner, live(inner), hessian(inner.p))[0]
  inner = jax.lax.while_loop(
    lambda inner: live(inner).any(), step, begin(gradient)
  )
  return inner.d, inner.count.max()


def search(slopes, shape, *, top=jnp.inf):
  """A step t [C] in [0, top] near the minimum of a convex function.

  Args:
    slopes: t [C] -> (slope [C], second derivative [C] >= 0); the slope at 0
      is negative.
    shape: like t.
    top: the largest step, [C] or a number.
  """
  top = jnp.broadcast_to(jnp.asarray(top, shape.dtype), shape.shape)
  goal = _FLAT * jnp.abs(slopes(jnp.zeros_like(shape))[0])

  def seen(t, low, high, count):
    slope, bend = slopes(t)
    # At the largest step with the function still falling, that is the answer.
    done = (jnp.abs(slope) <= goal) | ((slope < 0) & (t >= top))
    low = jnp.where(slope <= 0, t, low)
    high = jnp.where(slope > 0, t, high)
    return t, low, high, slope, bend, done, count

  def step(carry):
    t, low, high, slope, bend, done, count = carry
    new = t - slope / jnp.where(bend > 0, bend, 1)
    far = jnp.where(jnp.isinf(high), 4 * low, (low + high) / 2)
    middle = jnp.where(low > 0, far, high / _SHRINK)
    inside = (bend > 0) & (new > low) & (new < high)
    new = jnp.minimum(jnp.where(inside, new, middle), top)
    return seen(jnp.where(done, t, new), low, high, count + 1)

  more = lambda carry: ~carry[5].all() & (carry[6] < _SEARCH)
  first = jnp.minimum(jnp.ones_like(shape), top)
  begin = seen(first, jnp.zeros_like(shape), jnp.full_like(shape, jnp.inf), 0)
  t, low, _, _, _, done, _ = jax.lax.while_loop(more, step, begin)
  return jnp.where(done, t, low)  # where the function is below its start


def dot(x, y):
  """Inner products of rows, [C, M] x2 -> [C]."""
  return (x * y).sum(-1)


def norm(x):
  """Norms of rows, [C, M] -> [C]."""
  return jnp.sqrt(dot(x, x))
