"""Linear SVMs with a squared norm, solved to a stated gap."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from spdjax.classify import lanes, responses, targets, values


class Info(NamedTuple):
  """How far a solver came; per-class fields are [] for one problem."""

  steps: jax.Array  # [] Newton steps, of the slowest problem
  products: jax.Array  # [] Hessian products in them, of the slowest
  objective: jax.Array  # [C] at the returned point
  gap: jax.Array  # [C] the objective exceeds its minimum by no more
  converged: jax.Array  # [] whether gap <= tol * objective for all


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
      class, against the rest; or [N, C] of -1 and 1. Traced floats [N] are
      taken as -1 and 1.
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
    ValueError: a wrong shape or loss; features that are not finite; y, c or a
      weight out of range. Traced values are not looked at.
  """
  features = responses.checked(features)
  kind = responses.dtype(features)
  rows, num = responses.shape(features)
  goals = targets.signs(y, (rows, num), num_classes, kind)
  cost = targets.costs(c, sample_weight, rows, kind)
  targets.check_loss(loss)
  last = targets.scale(bias, kind)
  columns = targets.columns(column_scale, num, kind)
  tol = targets.tolerance(tol, kind)
  max_steps = values.whole(max_steps, "max_steps", 0)
  problems = goals.y.shape[1]
  first = jnp.zeros((problems, num + 1), kind)
  if init is not None:
    if not isinstance(init, tuple | list) or len(init) != 2:
      raise ValueError(f"init must be (w, b), got {type(init).__name__}")
    w, b = (values.finite(part, "init").astype(kind) for part in init)
    if w.shape[-1:] != (num,) or w.size != problems * num or b.size != problems:
      raise ValueError(
        f"init must be (w, b) of {problems} x {num} and {problems} numbers, "
        f"got shapes {w.shape} and {b.shape}"
      )
    v = jnp.where(last > 0, b / jnp.where(last > 0, last, 1), 0)
    first = jnp.concatenate([w.reshape(-1, num), v.reshape(-1, 1)], 1)
  found = _solve(
    features,
    lanes.Lanes(
      y=goals.y.T,
      cost=jnp.broadcast_to(cost.T, (problems, len(cost))),
      columns=jnp.broadcast_to(columns, (problems, num)),
      last=jnp.broadcast_to(last, problems),
      first=first,
      tol=jnp.broadcast_to(tol, problems),
    ),
    loss=loss,
    max_steps=max_steps,
  )
  targets.check_solved(found.w)
  w, b = found.w[:, :-1], last * found.w[:, -1]
  info = Info(
    found.steps.max(),
    found.products.max(),
    found.objective,
    found.gap,
    (found.gap <= tol * found.objective).all(),
  )
  if goals.single:
    info = info._replace(objective=info.objective[0], gap=info.gap[0])
    return w[0], b[0], info
  return w, b, info


@functools.partial(jax.jit, static_argnames=("loss", "max_steps"))
def _solve(features, problems, *, loss, max_steps):
  return lanes.solver(loss, max_steps)(features, problems)
