"""A step to the Fréchet mean, in coordinates whitened at the current point.

From items seen [N, n, n], where the point is I, and weights [N] of sum 1: the
step [n, n], a symmetric matrix whose exponential is the next point, and the
norm of the gradient.
"""

import jax
import jax.numpy as jnp

from spdjax.spd.spectral import LOG, apply_all, dot, logm, sym

_RESIDUAL = 1e-3  # of the gradient's norm, that Newton's step leaves
_PRODUCTS = 30  # with the Hessian, at most


def airm(seen, weights, tol):
  """Newton's step and the gradient sum w log X~, in whitened coordinates.

  In the eigenbasis of X~ with logarithms l the Hessian of d^2 / 2 multiplies
  entries by t coth t, t = (l_i - l_j) / 2 (Rentmeesters & Absil, 2011).
  """
  (w, v), logs = apply_all(seen, LOG)
  vt = jnp.swapaxes(v, -1, -2)
  t = jnp.log(w[:, :, None] / w[:, None, :]) / 2
  near = jnp.abs(t) < jnp.finfo(t.dtype).eps ** 0.25
  curved = jnp.where(near, 1 + t * t / 3, t / jnp.tanh(jnp.where(near, 1, t)))
  curved *= weights[:, None, None]
  # Two large products and two small ones an item.
  count, n, _ = v.shape
  wide = v.swapaxes(0, 1).reshape(n, count * n)

  def hessian(e):
    right = dot(e, wide).reshape(n, count, n).swapaxes(0, 1)
    inner = dot(v, curved * dot(vt, right))
    return sym(dot(inner.swapaxes(0, 1).reshape(n, count * n), wide.T))

  gradient = (weights[:, None, None] * logs).sum(0)
  size = jnp.linalg.norm(gradient)
  enough = jnp.maximum(_RESIDUAL * size, tol / 4)
  return _solved(hessian, gradient, enough), size


def _solved(operator, b, enough):
  """x with norm(b - A x) <= enough by conjugate gradients, A >= 1."""

  def more(state):
    _, residual, _, _, steps = state
    return (jnp.linalg.norm(residual) > enough) & (steps < _PRODUCTS)

  def body(state):
    x, residual, p, square, steps = state
    image = operator(p)
    along = square / (p * image).sum()
    residual = residual - along * image
    new = (residual**2).sum()
    p_new = residual + new / square * p
    return x + along * p, residual, p_new, new, steps + 1

  first = jnp.zeros_like(b), b, b, (b**2).sum(), jnp.zeros((), jnp.int32)
  return jax.lax.while_loop(more, body, first)[0]


def stein(seen, weights, tol):
  """-s log Z, Z = sum w ((X~ + I)/2)^-1, s the step for its curvature."""
  del tol
  w, v = jnp.linalg.eigh(seen)
  share = w / (1 + w)
  scaled = v * (weights[:, None] * (2 - 2 * share))[:, None, :]
  z = dot(scaled, jnp.swapaxes(v, 1, 2)).sum(0)
  # In X~'s eigenbasis the Hessian's entries are s_i (1 - s_k) + s_k (1 - s_i).
  low, high = share[:, 0], share[:, -1]
  ends = 2 * jnp.stack([low * (1 - low), high * (1 - high)])
  cross = low * (1 - high) + high * (1 - low)
  top = jnp.where((low < 0.5) & (high > 0.5), jnp.maximum(cross, 0.5), cross)
  top = jnp.maximum(top, ends.max(0))
  bottom = jnp.minimum(ends.min(0), cross)
  step = 2 / ((weights * top).sum() + (weights * bottom).sum())
  gradient = -logm(z)
  return step * gradient, jnp.linalg.norm(gradient)
