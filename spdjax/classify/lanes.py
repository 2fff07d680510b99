"""Many l2 problems on the same features, each at its own pace.

A lane is one problem. A pass over the features gives every open lane what it
waits for: a product of its Hessian, or its gradient. Lanes that are done leave,
so that the passes become narrower.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from spdjax.classify import hinge, newton, responses

_FORCING = 0.1  # of the conjugate gradient, as in TRON
_PRODUCTS = 50  # of one step at most, where there are fewer columns
_GROWTH = 1.5  # of sigma, each time that the multipliers move
_INNER = 0.5  # of the smoothing: what a smoothed problem is solved to
_NARROWING = 2  # of the passes, each time that so few lanes are left
_NARROWEST = 6  # a pass of fewer lanes is hardly quicker


class Lanes(NamedTuple):
  """C problems; their axis leads."""

  y: jax.Array  # [C, N] +-1
  cost: jax.Array  # [C, N], or [C, 1] without weights
  columns: jax.Array  # [C, K] scales of the features
  last: jax.Array  # [C] scale of the appended constant
  first: jax.Array  # [C, K + 1] where to start, the constant last
  tol: jax.Array  # [C] of the gap, relative to the objective


class Solved(NamedTuple):
  """How the lanes ended."""

  w: jax.Array  # [C, K + 1]
  objective: jax.Array  # [C]
  gap: jax.Array  # [C]
  steps: jax.Array  # [C] Newton steps
  products: jax.Array  # [C] of the Hessians


class _Rows(NamedTuple):
  """What belongs to the items; the lanes' axis is the last."""

  loss: hinge.Loss
  f: jax.Array  # [N, C] scores at w
  image: jax.Array  # [N, C] scores of the present step d


class _State(NamedTuple):
  solved: Solved
  columns: jax.Array
  last: jax.Array
  tol: jax.Array
  inner: newton.Inner  # of the present step
  goal: jax.Array  # [C] of its residual
  solving: jax.Array  # [C] waits for a product, not for its gradient
  open: jax.Array  # [C]


@functools.cache
def solver(loss, max_steps):
  """(features, `Lanes`) -> `Solved`; under vmap all problems become lanes."""
  alone = functools.partial(_solve, loss=loss, max_steps=max_steps)
  run = jax.custom_batching.custom_vmap(alone)

  @run.def_vmap
  def rule(size, batched, features, lanes):
    shared, own = batched
    if any(jax.tree.leaves(shared)):
      axes = jax.tree.map(lambda b: 0 if b else None, (shared, own))
      found = jax.vmap(
        functools.partial(alone, narrows=False), in_axes=axes
      )(features, lanes)  # fmt: skip
    else:
      spread = lambda b, a: a if b else jnp.broadcast_to(a, (size, *a.shape))
      lanes = jax.tree.map(spread, own, lanes)
      merged = jax.tree.map(lambda a: a.reshape(-1, *a.shape[2:]), lanes)
      found = run(features, merged)
      found = jax.tree.map(lambda a: a.reshape(size, -1, *a.shape[1:]), found)
    return found, jax.tree.map(lambda _: True, found)

  return run


def _solve(features, lanes, *, loss, max_steps, narrows=True):
  state, rows = _start(lanes, hinge.STARTS[loss])
  widths = _widths(len(lanes.y)) if narrows else [len(lanes.y)]
  step = functools.partial(_step, features, max_steps)
  for width, fewer in zip(widths, [*widths[1:], 0], strict=True):
    state, rows = _narrowed(state, rows, width, step, fewer)
  return state.solved


def _widths(num):
  widths = [num]
  while widths[-1] / _NARROWING >= _NARROWEST:
    widths.append(-(-widths[-1] // _NARROWING))
  return widths


def _narrowed(state, rows, width, step, fewer):
  """Steps of `width` lanes, the open ones among them, to `fewer` open ones."""
  more = lambda carry: carry[0].open.sum() > fewer
  if width == len(state.open):
    return jax.lax.while_loop(more, step, (state, rows))
  order = jnp.argsort(~state.open, stable=True)[:width]
  own = (
    jax.tree.map(lambda a: a[order], state),
    jax.tree.map(lambda a: a[:, order], rows),
  )
  own, own_rows = jax.lax.while_loop(more, step, own)
  # Those that are still open go on at the next width, in the midst of a step.
  return (
    jax.tree.map(lambda a, b: a.at[order].set(b), state, own),
    jax.tree.map(lambda a, b: a.at[:, order].set(b), rows, own_rows),
  )


def _start(lanes, start):
  zero = jnp.zeros(len(lanes.y), jnp.int32)
  none = lanes.tol * 0
  flat = jnp.zeros_like(lanes.y.T)
  state = _State(
    solved=Solved(lanes.first, none, none, zero, zero),
    columns=lanes.columns,
    last=lanes.last,
    tol=lanes.tol,
    inner=newton.begin(lanes.first),
    goal=none,
    solving=zero > 0,
    open=zero == 0,
  )
  return state, _Rows(start(lanes.y.T, lanes.cost.T), flat, flat)


def _step(features, max_steps, carry):
  """One pass over the features, and what it lets the open lanes do."""
  state, rows = carry
  at = jnp.where(state.solving[:, None], state.inner.p, state.solved.w)

  def push(image, rows):
    bent = hinge.curvature(rows.loss, rows.f) * image
    pull = rows.loss.y * hinge.multipliers(rows.loss, image)
    return jnp.where(state.solving[None], bent, pull)

  image, back, total = responses.through(
    features,
    at[:, :-1] * state.columns,
    state.last * at[:, -1],
    push,
    rows,
  )
  total = (state.last * total)[:, None]
  back = jnp.concatenate([back * state.columns, total], 1)
  seen, multiplied = (
    state.open & ~state.solving,
    state.open & state.solving,
  )
  state, rows = _if_any(multiplied, _multiplied, state, rows, image, back)
  return _if_any(
    seen, functools.partial(_seen, max_steps), state, rows, image, back
  )


def _if_any(which, then, state, rows, *others):
  return jax.lax.cond(
    which.any(),
    lambda: then(which, state, rows, *others),
    lambda: (state, rows),
  )


def _multiplied(live, state, rows, image, back):
  """A conjugate gradient step; where it was the last one, along the line."""
  inner, size = newton.advance(state.inner, live, state.inner.p + back)
  solved = state.solved
  rows = rows._replace(image=rows.image + size[None] * image)
  most = max(_PRODUCTS, solved.w.shape[1])
  close = (newton.norm(inner.residual) <= state.goal) | (inner.count >= most)
  ends = live & close
  solved = jax.lax.cond(
    ends.any(), lambda: _moved(ends, solved, rows, inner.d), lambda: solved
  )
  products = solved.products + live.astype(solved.products.dtype)
  return state._replace(
    solved=solved._replace(products=products),
    inner=inner,
    solving=state.solving & ~ends,
  ), rows


def _moved(ends, solved, rows, d):
  """To the minimum of the smoothed objective along d."""
  rise, start = newton.dot(d, d), newton.dot(solved.w, d)
  pulls = hinge.along(rows.loss, rows.f, rows.image)

  def slopes(t):
    pull, bend = pulls(t)
    return jnp.where(ends, start + t * rise - pull, 0), rise + bend

  t = jnp.where(ends, newton.search(slopes, rise), 0)
  w = solved.w + t[:, None] * d
  return solved._replace(
    w=w, steps=solved.steps + ends.astype(solved.steps.dtype)
  )


def _seen(max_steps, seen, state, rows, f, back):
  """With the scores and gradients at w: done, new multipliers, or a step."""
  loss, solved = rows.loss, state.solved
  f = jnp.where(seen[None], f, rows.f)
  gradient = solved.w - back
  alpha = hinge.multipliers(loss, f)
  exact = hinge.exact(loss, f)
  objective = newton.dot(solved.w, solved.w) / 2 + exact
  # For the squared hinge the duality gap is norm(gradient)^2 / 2 exactly, as
  # both halves of w'gradient cancel; the difference of values would round.
  inner = newton.dot(gradient, gradient) / 2
  dual = hinge.conjugate(loss, 1, alpha) - newton.dot(back, back) / 2
  square = jnp.isinf(loss.upper).all(0)
  gap = jnp.where(square, inner, objective - dual)
  # A problem without cost has the objective 0.
  goes_on = seen & ~(gap <= state.tol * objective) & (solved.steps < max_steps)
  smoothing = exact - hinge.value(loss, f)
  moves = goes_on & ~square & (inner <= _INNER * smoothing)
  begins = goes_on & ~moves
  fresh = newton.begin(gradient)
  pick = lambda a, b: jnp.where(begins.reshape(-1, *([1] * (a.ndim - 1))), a, b)
  own = state._replace(
    solved=solved._replace(
      objective=jnp.where(seen, objective, solved.objective),
      gap=jnp.where(seen, gap, solved.gap),
      steps=solved.steps + moves.astype(solved.steps.dtype),
    ),
    inner=jax.tree.map(pick, fresh, state.inner),
    goal=jnp.where(begins, _FORCING * newton.norm(gradient), state.goal),
    solving=state.solving | begins,
    open=state.open & (goes_on | ~seen),
  )
  return own, _Rows(
    hinge.tightened(loss, f, moves, _GROWTH),
    f,
    jnp.where(begins[None], 0, rows.image),
  )
