"""Supervised reduction by repeated eigenvectors (Algorithm 2)."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from spdjax import spd
from spdjax.reduction import terms
from spdjax.reduction.objectives import supervised
from spdjax.spd.spectral import dot


class Info(NamedTuple):
  """How the subspace was found."""

  steps: jax.Array  # [] eigendecompositions
  converged: jax.Array  # [] bool: no further step lowers the surrogate
  gap: jax.Array  # [] last relative decrease of the surrogate
  surrogate: jax.Array  # [] tr(W'F(W)W) at the returned W, eq. 35


class _State(NamedTuple):
  w: jax.Array  # [n, m]
  surrogate: jax.Array  # [] its tr(W'F(W)W)
  matrix: jax.Array  # [n, n] its F(W)
  shift: jax.Array  # [] s of F - s WW'
  gap: jax.Array  # []
  steps: jax.Array  # []
  best: jax.Array  # [n, m] lowest true cost among points below the start
  best_cost: jax.Array  # [] its true cost, eq. 31
  best_surrogate: jax.Array  # []


def flat_coordinates(x, metric):
  """What the eigenvector form calls X: log X, or X itself for Euclidean."""
  if metric not in ("log_euclidean", "euclidean"):
    raise ValueError(
      "eigenvectors solve log_euclidean and euclidean reduction, not "
      f"{metric!r}"
    )
  return spd.logm(x) if metric == "log_euclidean" else x


def scatter(w, flat, edges):
  """F(W) = sum_{i != j} a_ij (L_i - L_j) WW' (L_i - L_j), eq. 34.

  Args:
    w: [n, m].
    flat: L = log X (or X) [N, n, n].
    edges: the affinity graph.

  Returns:
    [n, n], symmetric and in general indefinite, in Laplacian form.
  """
  tall = jnp.matmul(flat, w, precision="highest")
  rows = tall.reshape(len(flat), -1)
  rows = rows - rows.mean(0, keepdims=True)
  pull = terms.degrees(edges, len(flat))[:, None] * rows
  pull = pull - dot(terms.adjacency(edges, len(flat)), rows)
  shape = tall.shape
  return 2 * spd.sym(
    jnp.einsum(
      "iab,icb->ac",
      rows.reshape(shape),
      pull.reshape(shape),
      precision="highest",
    )
  )


@functools.partial(jax.jit, static_argnames="metric")
def solve(w, x, edges, *, metric, max_steps):
  """Algorithm 2 from the start w, safeguarded.

  The plain step, the m lowest eigenvectors of F(W), falls fast and then
  cycles, since F is indefinite. Here F - s WW' is used, s growing until the
  surrogate tr(W'F(W)W) falls. Of the points visited the one of the lowest true
  cost is returned, never one above the start in either cost.

  Returns:
    (w [n, m], its true cost [], Info).
  """
  flat = flat_coordinates(x, metric)
  true_cost = lambda w: supervised(w, x, edges, metric=metric)

  def look(w):
    matrix = scatter(w, flat, edges)
    return matrix, (w * dot(matrix, w)).sum()

  matrix, surrogate = look(w)
  eps = jnp.finfo(x.dtype).eps
  start_cost, start_surrogate = true_cost(w), surrogate

  def more(state):
    scale = jnp.linalg.norm(state.matrix)
    moving = (state.gap > 10 * eps**0.75) & (state.shift < scale / eps**0.5)
    return moving & (state.steps < max_steps)

  def body(state):
    pulled = state.matrix - state.shift * dot(state.w, state.w.T)
    _, vectors = jnp.linalg.eigh(pulled)
    new = vectors[:, : w.shape[1]]
    matrix, surrogate = look(new)
    falls = surrogate < state.surrogate
    scale = jnp.linalg.norm(state.matrix)
    shift = jnp.where(
      falls, state.shift / 4, jnp.maximum(4 * state.shift, 1e-2 * scale)
    )
    gap = (state.surrogate - surrogate) / jnp.maximum(jnp.abs(surrogate), 1.0)
    cost = true_cost(new)
    best = falls & (cost < state.best_cost) & (surrogate <= start_surrogate)
    pick = functools.partial(jnp.where, falls)
    return _State(
      pick(new, state.w),
      pick(surrogate, state.surrogate),
      pick(matrix, state.matrix),
      shift,
      pick(gap, state.gap),
      state.steps + 1,
      jnp.where(best, new, state.best),
      jnp.where(best, cost, state.best_cost),
      jnp.where(best, surrogate, state.best_surrogate),
    )

  zero = jnp.zeros((), x.dtype)
  first = _State(
    w, surrogate, matrix, zero, zero + jnp.inf,
    jnp.zeros((), jnp.int32), w, start_cost, start_surrogate,
  )  # fmt: skip
  last = jax.lax.while_loop(more, body, first)
  info = Info(last.steps, ~more(last) & (last.steps < max_steps), last.gap,
              last.best_surrogate)  # fmt: skip
  return last.best, last.best_cost, info
