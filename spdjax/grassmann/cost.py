"""A cost on the manifold, fun(w, *args) -> [], seen through its first order.

The cost must depend on span(w) only. Data travel in args, so that one
compilation serves every data set of a shape.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from spdjax.grassmann import manifold


class Info(NamedTuple):
  """What a person needs to know of a solve."""

  steps: jax.Array  # [] int32, line searches or trust-region steps made
  converged: jax.Array  # [] bool; False too when the steps ran out
  value: jax.Array  # [] the cost at the returned point
  grad_norm: jax.Array  # [] norm of the Riemannian gradient there
  evaluations: jax.Array  # [] int32, evaluations of the cost and its gradient


def bind(fun, args):
  """w -> fun(w, *args) in the dtype of w; ValueError unless it is a scalar."""

  def cost(w):
    value = jnp.asarray(fun(w, *args))
    if value.shape != ():
      raise ValueError(f"fun must return a scalar, got shape {value.shape}")
    return value.astype(w.dtype)

  return cost


def evaluate(cost, w):
  """(cost(w) [], ambient derivative [n, m]); the cost is nan if unusable.

  That is, where the cost or any entry of its derivative is not finite: a cost
  of -inf is no minimum, and from a bad derivative there is no way on.
  """
  value, ambient = jax.value_and_grad(cost)(w)
  usable = jnp.isfinite(value) & jnp.all(jnp.isfinite(ambient))
  return jnp.where(usable, value, jnp.nan), ambient


def first_order(cost, w):
  """(cost(w) [], Riemannian gradient [n, m]); seed paper, eq. 28."""
  value, ambient = evaluate(cost, w)
  return value, manifold.tangent(w, ambient)


def small(grad, value, tol):
  """norm(grad) <= tol max(1, abs(value)), with tol = sqrt(eps) if it is None.

  An absolute tolerance is out of reach in float32, where rounding of the value
  leaves a gradient of about sqrt(eps) abs(value).
  """
  tol = jnp.finfo(value.dtype).eps ** 0.5 if tol is None else tol
  return jnp.linalg.norm(grad) <= tol * jnp.maximum(1, jnp.abs(value))


def freeze(done, old, new):
  """The old state where it is done, else the new one; any pytree."""
  return jax.tree.map(lambda a, b: jnp.where(done, a, b), old, new)


def rounding(value):
  """A change of a value [] below this is rounding: 4 eps abs(value)."""
  return 4 * jnp.finfo(value.dtype).eps * jnp.abs(value)


def inner(x, y):
  """<x, y> = tr x'y [] of tangents x, y [n, m]."""
  return jnp.sum(x * y)


def report(state):
  """Info of a solver's state."""
  norm = jnp.linalg.norm(state.grad)
  return Info(
    state.steps, state.converged, state.value, norm, state.evaluations
  )
