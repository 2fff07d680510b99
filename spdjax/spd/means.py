"""Fréchet means: the minimiser of the weighted sum of squared distances."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from spdjax.spd import mean_steps
from spdjax.spd.divergences import metric_name, whiten
from spdjax.spd.eigenvalues import eigvalsh
from spdjax.spd.spectral import (
  LOG,
  apply_all,
  dot,
  expm,
  power,
  powm,
  sqrtm,
  sym,
)


class Info(NamedTuple):
  """How a mean was found; every field has the batch's leading axes."""

  steps: jax.Array  # [] iterations; 0 for a closed form
  converged: jax.Array  # [] bool; False too where the result is not finite
  gradient: jax.Array  # [] its norm at the mean, in log units
  condition: jax.Array  # [] largest condition number of the matrices averaged;
  # past 1 / (n eps) the mean of airm, stein and jeffrey is not to be trusted


class _State(NamedTuple):
  mean: jax.Array  # [n, n] the best point
  step: jax.Array  # [n, n] whitened, what suits the curvature there
  norm: jax.Array  # [] norm of the gradient
  damp: jax.Array  # [] factor in (0, 1] on that step
  steps: jax.Array  # []


def mean(x, weights=None, *, metric="airm", tol=None, max_steps=50):
  """Weighted Fréchet mean argmin_M sum_i w_i d^2(X_i, M), eq. 22.

  Euclidean, log-Euclidean and Jeffrey (eqs. 23-25) are closed forms. AIRM
  iterates M <- L exp(H^-1 sum_i w_i log(L^-1 X_i L^-T)) L', Newton's method
  with the exact Hessian H, by a few conjugate gradients; Stein M <- L Z^-s L'
  with Z = L' (sum_i w_i ((X_i + M)/2)^-1) L, with the step s that the spread of
  the data calls for (Bini & Iannazzo, 2013). Both are damped where the gradient
  grows, and start from the Jeffrey mean.

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
  # An iteration starts from the Jeffrey mean.
  w, out = _CLOSED.get(name, _jeffrey)(x, weights)
  info = jnp.zeros((), jnp.int32), True, jnp.zeros((), x.dtype)
  if name in _DIRECTIONS:
    out, info = _iterate(
      _DIRECTIONS[name], sym(out), x, weights, tol, max_steps
    )
  out = sym(out)
  steps, converged, norm = info
  finite = jnp.isfinite(out).all()
  return out, Info(steps, converged & finite, norm, _condition(w))


def _condition(w):
  """The largest condition number of matrices with eigenvalues w [N, n]."""
  positive = w[:, 0] > 0
  ratio = w[:, -1] / jnp.where(positive, w[:, 0], 1.0)
  return jnp.where(positive, ratio, jnp.inf).max()


def _average(x, weights):
  return (weights[:, None, None] * x).sum(0)


def _euclidean(x, weights):
  return eigvalsh(x), _average(x, weights)


def _log_euclidean(x, weights):
  (w, _), logs = apply_all(x, LOG)
  return w, expm(_average(logs, weights))


def _jeffrey(x, weights):
  """P^-1/2 (P^1/2 Q P^1/2)^1/2 P^-1/2, P = sum w X^-1, Q = sum w X."""
  (w, _), inverse = apply_all(x, power(-1.0))
  half = powm(_average(inverse, weights), -1.0)
  return w, midpoint(half, _average(x, weights))


def midpoint(x, y):
  """Geometric mean X # Y [n, n] of SPD x, y [n, n]: M X^-1 M = Y."""
  factor = jnp.linalg.cholesky(x)
  return sym(dot(factor, dot(sqrtm(whiten(y, factor)), factor.T)))


def _iterate(direction, start, x, weights, tol, max_steps):
  """Fixed-point iteration in coordinates whitened at the current mean."""

  def look(point):
    factor = jnp.linalg.cholesky(point)
    seen = jax.vmap(lambda z: whiten(z, factor))(x)
    return direction(seen, weights, tol)

  def more(state):
    # At rounding the norm stops falling: damping down to 2^-10 is the end.
    going = (state.norm > tol) & (state.damp > 2.0**-10)
    return going & (state.steps < max_steps)

  def body(state):
    factor = jnp.linalg.cholesky(state.mean)
    move = expm(state.damp * state.step)
    point = sym(dot(factor, dot(move, factor.T)))
    step, norm = look(point)
    better = norm < state.norm
    damp = jnp.where(better, jnp.minimum(1.0, 2 * state.damp), state.damp / 2)
    new = _State(point, step, norm, damp, state.steps + 1)
    old = state._replace(damp=damp, steps=state.steps + 1)
    return jax.tree.map(lambda a, b: jnp.where(better, a, b), new, old)

  one, zero = jnp.ones((), x.dtype), jnp.zeros((), jnp.int32)
  state = jax.lax.while_loop(more, body, _State(start, *look(start), one, zero))
  settled = state.norm <= jnp.maximum(tol, jnp.finfo(x.dtype).eps ** 0.5)
  stalled = state.damp <= 2.0**-10
  converged = (state.norm <= tol) | (stalled & settled)
  return state.mean, (state.steps, converged, state.norm)


_DIRECTIONS = {"airm": mean_steps.airm, "stein": mean_steps.stein}
_CLOSED = {
  "euclidean": _euclidean,
  "log_euclidean": _log_euclidean,
  "jeffrey": _jeffrey,
}
