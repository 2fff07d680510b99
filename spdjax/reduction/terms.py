"""Sums of a_e d^2(A_i, A_j) over edges e = (i, j) of small SPD matrices A.

Each with the derivative that costs least and is exact to second order.
"""

import jax
import jax.numpy as jnp

from spdjax import spd
from spdjax.spd import spectral
from spdjax.spd.spectral import dot

# On two cores the dense product of a Laplacian beats gathering the differences
# up to about this many pairs for each edge.
_DENSE_PAIRS_PER_EDGE = 128


def _factor_inverse(a):
  """Inverse lower factors L^-1 [..., m, m] of a = L L', and log det a."""
  lower = jnp.linalg.cholesky(a)
  eye = jnp.broadcast_to(jnp.eye(a.shape[-1], dtype=a.dtype), a.shape)
  inverse = jax.lax.linalg.triangular_solve(
    lower, eye, left_side=True, lower=True
  )
  diagonal = jnp.diagonal(lower, axis1=-2, axis2=-1)
  return inverse, 2 * jnp.log(diagonal).sum(-1)


def _turn(a):
  return jnp.swapaxes(a, -1, -2)


def inverse(a):
  """A^-1 [..., m, m] of SPD a."""
  half, _ = _factor_inverse(a)
  return dot(_turn(half), half)


@jax.custom_jvp
def logdets(a):
  """log det A [...] of SPD a [..., m, m]; d log det A = tr(A^-1 dA)."""
  lower = jnp.linalg.cholesky(a)
  return 2 * jnp.log(jnp.diagonal(lower, axis1=-2, axis2=-1)).sum(-1)


@logdets.defjvp
def _logdets_jvp(primals, tangents):
  (a,), (da,) = primals, tangents
  half, value = _factor_inverse(a)
  return value, (dot(_turn(half), half) * da).sum((-2, -1))


def degrees(edges, count):
  """sum of the weights at each item, [count]."""
  zero = jnp.zeros(count, edges.weight.dtype)
  return zero.at[edges.i].add(edges.weight).at[edges.j].add(edges.weight)


def adjacency(edges, count):
  """Dense symmetric a [count, count]."""
  zero = jnp.zeros((count, count), edges.weight.dtype)
  half = zero.at[edges.i, edges.j].add(edges.weight)
  return half + half.T


def _is_dense(edges, count):
  return count**2 <= _DENSE_PAIRS_PER_EDGE * len(edges.i)


def _vectors(u, edges):
  """sum_e a_e ||u_i - u_j||^2 of u [N, D], a quadratic form of Laplacian."""
  if not _is_dense(edges, len(u)):
    gaps = u[edges.i] - u[edges.j]
    return (edges.weight * (gaps**2).sum(-1)).sum()
  u = u - u.mean(0, keepdims=True)
  pull = degrees(edges, len(u))[:, None] * u
  return (u * (pull - dot(adjacency(edges, len(u)), u))).sum()


def _crossed(u, v, edges):
  """sum_e a_e (<u_i, v_j> + <v_i, u_j>) of u, v [N, D]."""
  if _is_dense(edges, len(u)):
    return (u * dot(adjacency(edges, len(u)), v)).sum()
  i, j = edges.i, edges.j
  pairs = (u[i] * v[j]).sum(-1) + (v[i] * u[j]).sum(-1)
  return (edges.weight * pairs).sum()


def euclidean(a, edges):
  """sum_e a_e ||A_i - A_j||_F^2."""
  return _vectors(a.reshape(len(a), -1), edges)


def log_euclidean(a, edges):
  """sum_e a_e ||log A_i - log A_j||_F^2, exact gradient by Daleckii-Krein."""
  return _vectors(spd.logm(a).reshape(len(a), -1), edges)


def jeffrey(a, edges):
  """sum_e a_e (tr(A_i^-1 A_j) + tr(A_j^-1 A_i) - 2 m) / 2, eq. 19's cost."""
  flat = a.reshape(len(a), -1)
  flat_inverse = inverse(a).reshape(len(a), -1)
  constant = a.shape[-1] * edges.weight.sum()
  return _crossed(flat_inverse, flat, edges) / 2 - constant


def stein(a, edges):
  """sum_e a_e (log det((A_i + A_j)/2) - log det(A_i A_j)/2), eq. 17's cost."""
  middle = logdets((a[edges.i] + a[edges.j]) / 2)
  ends = degrees(edges, len(a)) * logdets(a) / 2
  return (edges.weight * middle).sum() - ends.sum()


_LOG_RATIO = spectral.Function(
  lambda w: jnp.log(w) / w,
  lambda a, b: spectral.log_slope(a, b) / a - jnp.log(b) / (a * b),
  lambda w: (jnp.log(w) - 1.5) / w**3,
)


@jax.custom_jvp
def airm(a, edges):
  """sum_e a_e ||log(A_i A_j^-1)||_F^2, eq. 20's cost."""
  half, _ = _factor_inverse(a)
  values = spd.eigvalsh(_seen(a, half, edges))
  return (edges.weight * (jnp.log(values) ** 2).sum(-1)).sum()


def _seen(a, half, edges):
  """Every A_i whitened at its edge's A_j = L L': L^-1 A_i L^-T [E, m, m]."""
  base = half[edges.j]
  return dot(base, dot(a[edges.i], _turn(base)))


@airm.defjvp
def _airm_jvp(primals, tangents):
  # d = 2 tr(A_i^-1 log(A_i A_j^-1) dA_i) - 2 tr(A_j^-1 log(A_i A_j^-1) dA_j);
  # with M = L^-1 A_i L^-T the two are L^-T (log M / M) L^-1, L^-T log M L^-1.
  (a, edges), (da, moved) = primals, tangents
  half, _ = _factor_inverse(a)
  seen = _seen(a, half, edges)
  (w, _), ratio, logs = spectral.apply_all(seen, _LOG_RATIO, spectral.LOG)
  base = half[edges.j]
  scale = 2 * edges.weight[:, None, None]
  pull = lambda s: dot(_turn(base), dot(scale * s, base))
  zero = jnp.zeros_like(a)
  slope = zero.at[edges.i].add(pull(ratio)).at[edges.j].add(-pull(logs))
  squares = (jnp.log(w) ** 2).sum(-1)
  out = (edges.weight * squares).sum()
  return out, (slope * da).sum() + (moved.weight * squares).sum()


SUMS = {
  "airm": airm,
  "stein": stein,
  "jeffrey": jeffrey,
  "log_euclidean": log_euclidean,
  "euclidean": euclidean,
}
