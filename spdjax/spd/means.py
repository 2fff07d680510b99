"""Fréchet means: the minimiser of the weighted sum of squared distances."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from spdjax.spd.divergences import metric_name, whiten
from spdjax.spd.spectral import dot, expm, logm, powm, sqrtm, sym


class Info(NamedTuple):
  """How a mean was found; every field has the batch's leading axes."""

  steps: jax.Array  # [] iterations; 0 for a closed form
  converged: jax.Array  # [] bool; False too where the result is not finite
  gradient: jax.Array  # [] norm of the last step's direction, in log units
  condition: jax.Array  # [] largest condition number of the matrices averaged;
  # past 1 / (n eps) the mean of airm, stein and jeffrey is not to be trusted


class _State(NamedTuple):
  mean: jax.Array  # [n, n] the best point
  direction: jax.Array  # [n, n] whitened descent direction there
  size: jax.Array  # [] the step that suits its curvature
  norm: jax.Array  # [] norm of direction
  damp: jax.Array  # [] factor in (0, 1] on that step
  steps: jax.Array  # []


def mean(x, weights=None, *, metric="airm", tol=None, max_steps=50):
  """Weighted Fréchet mean argmin_M sum_i w_i d^2(X_i, M), eq. 22.

  Euclidean, log-Euclidean and Jeffrey (eqs. 23-25) are closed forms. AIRM
  iterates M <- L exp(s sum_i w_i log(L^-1 X_i L^-T)) L', Stein M <- L Z^-s L'
  with Z = L' (sum_i w_i ((X_i + M)/2)^-1) L, each with the step s that the
  spread of the data calls for (Bini & Iannazzo, 2013), damped where the
  gradient grows, from the Jeffrey mean.

  Args:
    x: SPD [..., N, n, n].
    weights: [..., N], at least 0, of any positive sum; None: equal. A zero
      weight removes its item, whatever that holds.
    metric: a name in `METRICS`, or pyRiemann's spelling of it.
    tol: on the gradient's norm, in log units; None: eps^(3/4).
    max_steps: iterations at most.

  Returns:
    The mean [..., n, n], symmetric bit for bit, and `Info`.

  Raises:
    ValueError: a wrong shape, an unknown metric, or concrete weights that are
      negative, not finite or all 0. Traced weights of these kinds give NaN.
  """
  name = metric_name(metric)
  if x.ndim < 3 or x.shape[-1] != x.shape[-2] or x.shape[-3] == 0:
    raise ValueError(
      f"x must be at least one square matrix [..., N, n, n], not {x.shape}"
    )
  weights = _checked_weights(x, weights)
  if tol is None:
    tol = float(jnp.finfo(x.dtype).eps) ** 0.75
  return _mean(x, weights, tol, name, max_steps)


def _checked_weights(x, weights):
  if weights is None:
    return jnp.ones(x.shape[:-2], x.dtype)
  weights = jnp.asarray(weights, x.dtype)
  if weights.shape[-1:] != x.shape[-3:-2]:
    raise ValueError(
      f"weights {weights.shape} must match the items of x {x.shape}"
    )
  if not isinstance(weights, jax.core.Tracer):
    values = np.asarray(weights)
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
      where = tuple(int(k) for k in np.argwhere(bad)[0])
      raise ValueError(
        f"weights must be finite and at least 0, not {values[where]} at "
        f"index {where}"
      )
    if not (values.sum(-1) > 0).all():
      raise ValueError("weights must not all be 0")
  return jnp.broadcast_to(weights, x.shape[:-2])


@functools.partial(jax.jit, static_argnames=("name", "max_steps"))
def _mean(x, weights, tol, name, max_steps):
  solve = lambda x, w: _mean_of_set(x, w, tol, name, max_steps)
  for _ in x.shape[:-3]:
    solve = jax.vmap(solve)
  return solve(x, weights)


def _mean_of_set(x, weights, tol, name, max_steps):
  eye = jnp.eye(x.shape[-1], dtype=x.dtype)
  x = jnp.where((weights > 0)[:, None, None], sym(x), eye[None])
  weights = weights / weights.sum()
  weights = jnp.where((weights >= 0).all(), weights, jnp.nan)
  if name in _DIRECTIONS:
    out, info = _iterate(_DIRECTIONS[name], x, weights, tol, max_steps)
  else:
    out = sym(_CLOSED[name](x, weights))
    info = (jnp.zeros((), jnp.int32), True, jnp.zeros((), x.dtype))
  steps, converged, norm = info
  finite = jnp.isfinite(out).all()
  return out, Info(steps, converged & finite, norm, _spread(x))


def _spread(x):
  w = jnp.linalg.eigvalsh(x)
  positive = w[:, 0] > 0
  ratio = w[:, -1] / jnp.where(positive, w[:, 0], 1.0)
  return jnp.where(positive, ratio, jnp.inf).max()


def _average(x, weights):
  return (weights[:, None, None] * x).sum(0)


def _log_euclidean(x, weights):
  return expm(_average(logm(x), weights))


def _jeffrey(x, weights):
  """P^-1/2 (P^1/2 Q P^1/2)^1/2 P^-1/2, P = sum w X^-1, Q = sum w X."""
  inverse = jax.vmap(lambda z: powm(z, -1.0))(x)
  return midpoint(powm(_average(inverse, weights), -1.0), _average(x, weights))


def midpoint(x, y):
  """Geometric mean X # Y [n, n] of SPD x, y [n, n]: M X^-1 M = Y."""
  factor = jnp.linalg.cholesky(x)
  return sym(dot(factor, dot(sqrtm(whiten(y, factor)), factor.T)))


def _airm_direction(seen, weights):
  """sum w log X~ and the step for its curvature, in whitened coordinates."""
  logs = logm(seen)
  w = jnp.linalg.eigvalsh(logs)
  half = jnp.maximum((w[:, -1] - w[:, 0]) / 2, jnp.finfo(w.dtype).eps)
  # The Hessian of d^2 / 2 lies between 1 and half coth half.
  curvature = (weights * half / jnp.tanh(half)).sum()
  return _average(logs, weights), 2 / (1 + curvature)


def _stein_direction(seen, weights):
  """-log Z, Z = sum w ((X~ + I)/2)^-1, and the step for its curvature."""
  w, v = jnp.linalg.eigh(seen)
  share = w / (1 + w)
  z = _average(
    dot(v * (2 - 2 * share)[:, None, :], jnp.swapaxes(v, 1, 2)), weights
  )
  # In X~'s eigenbasis the Hessian's entries are s_i (1 - s_k) + s_k (1 - s_i).
  low, high = share[:, 0], share[:, -1]
  ends = 2 * jnp.stack([low * (1 - low), high * (1 - high)])
  cross = low * (1 - high) + high * (1 - low)
  top = jnp.where((low < 0.5) & (high > 0.5), jnp.maximum(cross, 0.5), cross)
  top = jnp.maximum(top, ends.max(0))
  bottom = jnp.minimum(ends.min(0), cross)
  return -logm(z), 2 / ((weights * top).sum() + (weights * bottom).sum())


def _iterate(direction, x, weights, tol, max_steps):
  """Fixed-point iteration in coordinates whitened at the current mean."""

  def look(point):
    factor = jnp.linalg.cholesky(point)
    seen = jax.vmap(lambda z: whiten(z, factor))(x)
    step, size = direction(seen, weights)
    return step, size, jnp.linalg.norm(step)

  def more(state):
    # At rounding the norm stops falling: damping down to 2^-10 is the end.
    going = (state.norm > tol) & (state.damp > 2.0**-10)
    return going & (state.steps < max_steps)

  def body(state):
    factor = jnp.linalg.cholesky(state.mean)
    move = expm(state.damp * state.size * state.direction)
    point = sym(dot(factor, dot(move, factor.T)))
    step, size, norm = look(point)
    better = norm < state.norm
    damp = jnp.where(better, jnp.minimum(1.0, 2 * state.damp), state.damp / 2)
    new = _State(point, step, size, norm, damp, state.steps + 1)
    old = state._replace(damp=damp, steps=state.steps + 1)
    return jax.tree.map(lambda a, b: jnp.where(better, a, b), new, old)

  start = sym(_jeffrey(x, weights))
  one, zero = jnp.ones((), x.dtype), jnp.zeros((), jnp.int32)
  state = jax.lax.while_loop(more, body, _State(start, *look(start), one, zero))
  settled = state.norm <= jnp.maximum(tol, jnp.finfo(x.dtype).eps ** 0.5)
  stalled = state.damp <= 2.0**-10
  converged = (state.norm <= tol) | (stalled & settled)
  return state.mean, (state.steps, converged, state.norm)


_DIRECTIONS = {"airm": _airm_direction, "stein": _stein_direction}
_CLOSED = {
  "euclidean": _average,
  "log_euclidean": _log_euclidean,
  "jeffrey": _jeffrey,
}
