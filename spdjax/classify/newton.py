"""Conjugate gradient steps and exact line searches for C problems at once."""

import jax
import jax.numpy as jnp

_SEARCH = 40  # trials on a line at most
_FLAT = 0.01  # of the slope at 0: flat enough
_SHRINK = 16.0  # of a step with no lower bound but 0


def solve(hessian, gradient, images, *, tolerance, max_steps):
  """d with H d = -gradient to a relative residual, and what H makes of it.

  Args:
    hessian: p [C, M] -> (an image of p [N, C], H p [C, M]); H SPD.
    gradient: [C, M].
    images: zeros [N, C].
    tolerance: [C], relative to the gradient's norm.
    max_steps: products at most.

  Returns:
    (d [C, M], its image [N, C], products []).
  """
  goal = tolerance * norm(gradient)

  def more(carry):
    _, _, residual, _, count = carry
    return (norm(residual) > goal).any() & (count < max_steps)

  def step(carry):
    d, image, residual, p, count = carry
    open_ = norm(residual) > goal
    seen, product = hessian(p)
    old = dot(residual, residual)
    bend = dot(p, product)
    size = jnp.where(open_ & (bend > 0), old / jnp.where(bend > 0, bend, 1), 0)
    residual -= size[:, None] * product
    ratio = dot(residual, residual) / jnp.where(old > 0, old, 1)
    ahead = jnp.where(open_[:, None], residual + ratio[:, None] * p, p)
    d += size[:, None] * p
    return d, image + size[None] * seen, residual, ahead, count + 1

  zero = jnp.zeros_like(gradient)
  first = (zero, images, -gradient, -gradient, jnp.zeros((), jnp.int32))
  d, image, _, _, count = jax.lax.while_loop(more, step, first)
  return d, image, count


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
