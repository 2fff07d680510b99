"""Linear SVMs with a sparse weight vector, solved to a stated gap."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from spdjax.classify import duality, hinge, newton, responses, targets, values
from spdjax.classify.l2 import Info

_FORCING = 0.1  # of the conjugate gradient
_GROWTH = 1.5  # of sigma, each time that the multipliers move
_PRODUCTS = 30  # of one step at most
_DAMPING = 1e-8, 1.0  # of a step, lowest and highest
_ENTER = 0.5  # of the largest pull on a weight at zero: those that come in
_HALVINGS = 30  # of a step that would not descend


class _State(NamedTuple):
  w: jax.Array  # [K]
  f: jax.Array  # [N, 1] scores
  loss: hinge.Loss
  gradient: jax.Array  # [K] of the losses alone
  objective: jax.Array
  gap: jax.Array
  damping: jax.Array  # of the Newton step, relative to the mean curvature
  steps: jax.Array
  products: jax.Array


def l1_svm(
  features,
  y,
  *,
  c=1.0,
  loss="squared_hinge",
  nonnegative=False,
  sample_weight=None,
  init=None,
  tol=None,
  max_steps=300,
):
  """Minimises norm(w)_1 + c sum_i s_i loss(y_i w't_i), without a constant.

  LIBLINEAR's objective (its -s 5 for the squared hinge). Newton steps on the
  weights that are free in the present orthant, projected back on it (Bertsekas,
  1982; Andrew and Gao, 2007), with conjugate gradients and an exact line
  search; the hinge by the augmented Lagrangian method on the same steps. One
  compiled program, which `jax.vmap` batches over c.

  Args:
    features, c, loss, sample_weight: as in `l2_svm`.
    y: [N] of -1 and 1.
    nonnegative: minimise over w >= 0.
    init: w [K] to start from, or None for zeros.
    tol: of the duality gap, relative to the objective; None: the root of the
      dtype's eps.
    max_steps: Newton steps at most.

  Returns:
    (w [K], Info).

  Raises:
    ValueError: as in `l2_svm`; y that is not of -1 and 1.
  """
  features = responses.checked(features)
  kind = responses.dtype(features)
  y = values.array(y, "y")
  if y.ndim != 1:
    raise ValueError(f"y must be [N], got shape {y.shape}")
  rows, num = responses.shape(features)
  goals = targets.signs(y.reshape(-1, 1), (rows, num), None, kind)
  cost = targets.costs(c, sample_weight, rows, kind)
  targets.check_loss(loss)
  first = jnp.zeros(num, kind)
  if init is not None:
    first = values.finite(init, "init").astype(kind)
    if first.shape != (num,):
      raise ValueError(f"init must be [{num}], got shape {first.shape}")
  if not isinstance(nonnegative, bool):
    raise ValueError(f"nonnegative must be True or False, got {nonnegative!r}")
  w, info = _solve(
    features,
    goals.y,
    cost,
    first,
    targets.tolerance(tol, kind),
    loss=loss,
    nonnegative=nonnegative,
    max_steps=values.whole(max_steps, "max_steps", 0),
  )
  targets.check_solved(w)
  return w, info


@functools.partial(
  jax.jit, static_argnames=("loss", "nonnegative", "max_steps")
)
def _solve(features, y, cost, first, tol, *, loss, nonnegative, max_steps):
  first = jnp.maximum(first, 0) if nonnegative else first
  f = responses.forward(features, first[None])
  zero = jnp.zeros((), jnp.int32)
  begin = hinge.STARTS[loss](y, cost)
  damping = jnp.asarray(1e-3, first.dtype)
  state = _seen(features, nonnegative, first, f, begin, damping, zero, zero)
  more = lambda s: _open(s, tol) & (s.steps < max_steps)
  step = lambda s: _step(features, nonnegative, s)
  state = jax.lax.while_loop(more, step, state)
  return state.w, Info(
    state.steps,
    state.products,
    state.objective,
    state.gap,
    ~_open(state, tol),
  )


def _open(state, tol):
  return ~(state.gap <= tol * state.objective)


def _step(features, nonnegative, state):
  """One Newton step; or, where the smoothed problem is solved, multipliers."""
  pseudo = _pseudo_gradient(state.w, state.gradient, nonnegative)
  square = jnp.isinf(state.loss.upper).all()
  moves = ~square & duality.solved(
    state.loss, state.f, state.w, -state.gradient, nonnegative
  )
  target, products = _newton_target(features, nonnegative, state, pseudo)
  e = target - state.w
  image = responses.forward(features, e[None])
  t = newton.search(
    _line(state, e, image), jnp.zeros(1, state.w.dtype), top=1.0
  )[0]
  t = jnp.where(moves, 0, t)
  damping = jnp.where(t < 0.5, state.damping * 4, state.damping)
  damping = jnp.where((t == 1) & ~moves, damping / 4, damping)
  # At the full step exactly, so that weights become exactly zero.
  w = jnp.where(t == 1, target, state.w + t * e)
  return _seen(
    features,
    nonnegative,
    w,
    state.f + t * image,
    hinge.tightened(state.loss, state.f, moves[None], _GROWTH),
    jnp.clip(damping, *_DAMPING),
    state.steps + 1,
    state.products + products,
  )


def _pseudo_gradient(w, gradient, nonnegative):
  """The steepest descent's gradient of the losses plus the norm, [K]."""
  at_zero = jnp.minimum(gradient + 1, 0)
  if not nonnegative:
    at_zero += jnp.maximum(gradient - 1, 0)
  return jnp.where(w != 0, gradient + jnp.sign(w), at_zero)


def _newton_target(features, nonnegative, state, pseudo):
  """The end of the step, in the orthant of w and its descent; products."""
  orthant = jnp.where(state.w != 0, jnp.sign(state.w), -jnp.sign(pseudo))
  bend = hinge.curvature(state.loss, state.f)
  # Where all items are far off the hinge's bend, any scale will do.
  sigma = jnp.broadcast_to(state.loss.sigma, bend.shape)
  trace = jnp.maximum(bend.sum(), 1e-3 * sigma.sum())
  near = jnp.minimum(
    jnp.linalg.norm(_projected(state.w - pseudo / trace, orthant) - state.w),
    1e-3 * jnp.abs(state.w).max(),
  )
  leaving = (jnp.abs(state.w) <= near) & (state.w * pseudo > 0)
  # Of the weights at zero only those that pull most come in: let in all at
  # once, most would have to leave again.
  pull = jnp.where(state.w == 0, jnp.abs(pseudo), 0)
  orthant = jnp.where((state.w == 0) & (pull < _ENTER * pull.max()), 0, orthant)
  free = (orthant != 0) & ~leaving
  # The losses alone may be flat along a direction.
  damping = state.damping * trace

  def hessian(p):
    push = lambda image, bend: bend * image
    _, back, _ = responses.through(features, p, p[:, 0] * 0, push, bend)
    return jnp.where(free[None], back, 0) + damping * p

  gradient = jnp.where(free, pseudo, 0)
  d, products = newton.solve(
    hessian, gradient[None], tolerance=_FORCING, max_steps=_PRODUCTS
  )
  d = jnp.where(leaving, -pseudo / trace, d[0])

  def fails(carry):
    t, count = carry
    e = _projected(state.w + t * d, orthant) - state.w
    return ~((pseudo * e).sum() < 0) & (count < _HALVINGS)

  t, _ = jax.lax.while_loop(
    fails,
    lambda carry: (carry[0] / 2, carry[1] + 1),
    (jnp.ones((), d.dtype), jnp.zeros((), jnp.int32)),
  )
  return _projected(state.w + t * d, orthant), products


def _projected(w, orthant):
  return jnp.where(w * orthant > 0, w, 0)


def _line(state, e, image):
  """The slope of the smoothed objective along e, inside one orthant."""
  end = jnp.abs(state.w + e).sum() - jnp.abs(state.w).sum()
  pulls = hinge.along(state.loss, state.f, image)

  def slopes(t):
    pull, bend = pulls(t)
    return end - pull, bend

  return slopes


def _seen(features, nonnegative, w, f, loss, damping, steps, products):
  """The state at w with scores f: gradient, objective and gap."""
  alpha = hinge.multipliers(loss, f)
  back = responses.backward(features, loss.y * alpha)[0]
  objective = jnp.abs(w).sum() + hinge.exact(loss, f)[0]
  gap = objective - duality.dual(loss, alpha, back, nonnegative)
  return _State(w, f, loss, -back, objective, gap, damping, steps, products)
