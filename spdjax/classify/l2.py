"""Linear SVMs with a squared norm, solved to a stated gap."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from spdjax.classify import hinge, newton, responses, targets

_FORCING = 0.1  # of the conjugate gradient, as in TRON
_PRODUCTS = 50  # of one step at most, where there are fewer columns
_GROWTH = 1.5  # of sigma, each time that the multipliers move
_INNER = 0.5  # of the smoothing: what a smoothed problem is solved to


class Info(NamedTuple):
  """How far a solver came; per-class fields are [] for one problem."""

  steps: jax.Array  # [] Newton steps
  products: jax.Array  # [] conjugate gradient steps in all of them
  objective: jax.Array  # [C] at the returned point
  gap: jax.Array  # [C] the objective exceeds its minimum by no more
  converged: jax.Array  # [] whether gap <= tol * objective for all


class _State(NamedTuple):
  w: jax.Array  # [C, K + 1], the last column of the appended constant
  f: jax.Array  # [N, C] scores
  loss: hinge.Loss
  gradient: jax.Array  # [C, K + 1]
  objective: jax.Array  # [C]
  gap: jax.Array  # [C]
  steps: jax.Array
  products: jax.Array


def l2_svm(
  features,
  y,
  *,
  c=1.0,
  loss="squared_hinge",
  bias=1.0,
  column_scale=None,
  sample_weight=None,
  num_classes=None,
  init=None,
  tol=None,
  max_steps=100,
):
  """Minimises norm([w, v])^2 / 2 + c sum_i s_i loss(y_i (w't_i + bias v)).

  LIBLINEAR's objective with its appended constant of scale `bias`. The squared
  hinge max(0, 1 - z)^2 by Newton steps with conjugate gradients and an exact
  line search (Lin, Weng and Keerthi, 2008); the hinge max(0, 1 - z) by the
  augmented Lagrangian method on the same steps. Everything is one compiled
  program, which `jax.vmap` batches over c.

  Args:
    features: [N, K] floats; or responses of +-1 as int8, booleans (True for
      +1) or `Packed`, which are never widened as a whole.
    y: [N] of -1 and 1, for one problem; [N] of 0 .. C - 1, for one problem a
      class, against the rest; or [N, C] of -1 and 1.
    c: > 0.
    loss: "squared_hinge" or "hinge".
    bias: > 0, or None for no constant.
    column_scale: [K], multiplies the features column by column without a
      copy; w is that of the scaled features. None: ones.
    sample_weight: s [N] >= 0, or None for ones.
    num_classes: C, needed where integer y is traced.
    init: (w, b) to start from, as returned; or None for zeros.
    tol: of the gap, relative to the objective; None: the root of the dtype's
      eps.
    max_steps: Newton steps at most.

  Returns:
    (w [K], b [], Info) for one problem, (w [C, K], b [C], Info) for classes;
    the score of an item t is w't + b, with b = bias v.

  Raises:
    ValueError: a wrong shape or loss; y or c or a weight out of range, where
      they are not traced.
  """
  kind = responses.dtype(features)
  goals = targets.signs(y, responses.shape(features), num_classes, kind)
  cost = targets.costs(c, sample_weight, len(goals.y), kind)
  targets.check_loss(loss)
  num = responses.shape(features)[1]
  last = targets.scale(bias, kind)
  scale = targets.columns(column_scale, num, kind), last
  first = jnp.zeros((goals.y.shape[1], num + 1), kind)
  if init is not None:
    w, b = (jnp.asarray(part, kind) for part in init)
    v = jnp.where(last > 0, b / jnp.where(last > 0, last, 1), 0)
    first = jnp.concatenate([w.reshape(-1, num), v.reshape(-1, 1)], 1)
  tol = jnp.asarray(jnp.finfo(kind).eps ** 0.5 if tol is None else tol, kind)
  w, info = _solve(
    features, goals.y, cost, scale, first, tol, loss=loss, max_steps=max_steps
  )
  w, b = w[:, :-1], last * w[:, -1]
  if goals.single:
    info = info._replace(objective=info.objective[0], gap=info.gap[0])
    return w[0], b[0], info
  return w, b, info


@functools.partial(jax.jit, static_argnames=("loss", "max_steps"))
def _solve(features, y, cost, scale, first, tol, *, loss, max_steps):
  begin = hinge.STARTS[loss](y, cost)
  f = _scores(features, scale, first)
  zero = jnp.zeros((), jnp.int32)
  state = _seen(features, scale, first, f, begin, zero, zero)

  def more(state):
    return (_open(state, tol)).any() & (state.steps < max_steps)

  def step(state):
    return _step(features, scale, state, tol)

  state = jax.lax.while_loop(more, step, state)
  done = ~_open(state, tol).any()
  return state.w, Info(
    state.steps, state.products, state.objective, state.gap, done
  )


def _open(state, tol):
  # A problem without cost has the objective 0.
  return ~(state.gap <= tol * state.objective)


def _step(features, scale, state, tol):
  """One Newton step in the problems that are open.

  Where the smoothed problem is solved well enough, its multipliers move
  instead.
  """
  inner = newton.dot(state.gradient, state.gradient) / 2
  smoothing = hinge.exact(state.loss, state.f) - hinge.value(
    state.loss, state.f
  )
  square = jnp.isinf(state.loss.upper).all(0)
  moves = _open(state, tol) & ~square & (inner <= _INNER * smoothing)
  steps = _open(state, tol) & ~moves
  gradient = jnp.where(steps[:, None], state.gradient, 0)
  bend = hinge.curvature(state.loss, state.f)

  def hessian(p):
    v, shift = _unscaled(p, scale)
    image, back = responses.curvature(features, bend, v, shift)
    return image, p + _scaled(back, (bend * image).sum(0), scale)

  d, image, products = newton.solve(
    hessian,
    gradient,
    jnp.zeros_like(state.f),
    tolerance=jnp.full_like(inner, _FORCING),
    max_steps=max(_PRODUCTS, state.w.shape[1]),
  )
  t = newton.search(_line(state, d, image), inner)
  t = jnp.where(steps, t, 0)
  return _seen(
    features,
    scale,
    state.w + t[:, None] * d,
    state.f + t[None] * image,
    hinge.tightened(state.loss, state.f, moves, _GROWTH),
    state.steps + 1,
    state.products + products,
  )


def _line(state, d, image):
  """The slope of the smoothed objective along d."""
  rise = newton.dot(d, d)
  start = newton.dot(state.w, d)
  pulls = hinge.along(state.loss, state.f, image)

  def slopes(t):
    pull, bend = pulls(t)
    return start + t * rise - pull, rise + bend

  return slopes


def _unscaled(w, scale):
  """(v [C, K], b [C]) with T v + b the score, from w [C, K + 1]."""
  columns, last = scale
  return w[:, :-1] * columns[None], last * w[:, -1]


def _scaled(back, total, scale):
  """The transposed map: from T'r [C, K] and sum r [C] to [C, K + 1]."""
  columns, last = scale
  return jnp.concatenate([back * columns[None], (last * total)[:, None]], 1)


def _scores(features, scale, w):
  v, b = _unscaled(w, scale)
  return responses.forward(features, v) + b[None]


def _seen(features, scale, w, f, loss, steps, products):
  """The state at w with scores f: gradient, objective and gap."""
  alpha = hinge.multipliers(loss, f)
  pull = loss.y * alpha
  back = responses.backward(features, pull)
  back = _scaled(back, pull.sum(0), scale)
  gradient = w - back
  objective = newton.dot(w, w) / 2 + hinge.exact(loss, f)
  # For the squared hinge the duality gap is norm(gradient)^2 / 2 exactly, as
  # both halves of w'gradient cancel; the difference of values would round.
  square = newton.dot(gradient, gradient) / 2
  dual = hinge.conjugate(loss, 1, alpha) - newton.dot(back, back) / 2
  gap = jnp.where(jnp.isinf(loss.upper).all(0), square, objective - dual)
  return _State(w, f, loss, gradient, objective, gap, steps, products)
