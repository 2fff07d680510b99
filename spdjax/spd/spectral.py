"""Matrix functions of symmetric matrices, with exact derivatives.

A matrix function f(X) = V diag(f(w)) V' of X = V diag(w) V' is differentiated
by divided differences (Daleckii & Krein, 1965; Bhatia, "Matrix Analysis",
thm. V.3.3), which stay finite where eigenvalues meet and where the derivative
of an eigendecomposition does not exist:

  Df(X)[E]      = V (f[w_i, w_j] * E~) V',                  E~ = V'EV,
  D^2f(X)[E, F] = V (sum_k f[w_i, w_k, w_j] (E~_ik F~_kj + F~_ik E~_kj)) V'.

Both forms are symmetric under exchange of the cotangent and a direction, so a
single primitive that carries X, its eigendecomposition and up to two
directions is its own transpose, and reverse, forward and mixed modes share one
decomposition. Third derivatives raise.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

dot = functools.partial(jnp.matmul, precision=jax.lax.Precision.HIGHEST)


class Function(NamedTuple):
  """A scalar function and what its matrix derivatives need."""

  value: Callable  # w -> f(w)
  slope: Callable  # (a, b) -> f[a, b], accurate when a meets b
  bend: Callable  # w -> f''(w) / 2
  positive: bool = True  # the domain is w > 0


def sym(x):
  """Symmetric part (X + X') / 2 of x [..., n, n]."""
  return (x + jnp.swapaxes(x, -1, -2)) / 2


def eigh(x, *, positive):
  """Eigenvalues [..., n], ascending, and vectors of symmetric x [..., n, n].

  With `positive`, an eigenvalue that rounding left at or below zero is lifted
  to eps^2 of the largest, so that the logarithm of a matrix singular to working
  precision is finite; one that is clearly negative becomes NaN.
  """
  w, v = jnp.linalg.eigh(x)
  return (_lift(w) if positive else w), v


def _lift(w):
  eps = jnp.finfo(w.dtype).eps
  top = w[..., -1:]
  floor = jnp.maximum(eps**2 * top, jnp.finfo(w.dtype).tiny)
  negative = (w < -w.shape[-1] * eps * top) | (top <= 0)
  return jnp.where(negative, jnp.nan, jnp.maximum(w, floor))


def apply(f: Function, x):
  """f(X) [..., n, n] of symmetric x [..., n, n], for a `Function` f."""
  return apply_all(x, f)[1]


def apply_all(x, *functions):
  """((w, v), f(X), g(X), ...) of one eigendecomposition, that of `eigh`.

  The eigenvalues and vectors come without derivatives.
  """
  positive = any(f.positive for f in functions)
  w, v = eigh(jax.lax.stop_gradient(x), positive=positive)
  return (w, v), *(sym(_spectral_p.bind(x, w, v, f=f)) for f in functions)


def _evaluate(x, w, v, *directions, f):
  """f(X), Df(X)[E] or D^2f(X)[E, F], by the number of directions."""
  del x  # only the handle that derivatives are taken with respect to
  vt = jnp.swapaxes(v, -1, -2)
  inner = [dot(vt, dot(sym(e), v)) for e in directions]
  if not inner:
    return dot(v * f.value(w)[..., None, :], vt)
  if len(inner) == 1:
    return dot(v, dot(_first(f, w) * inner[0], vt))
  e, g = inner
  # k is the summed index: f[w_i, w_k, w_j] as [..., i, k, j].
  terms = e[..., :, :, None] * g[..., None, :, :]
  second = (_second(f, w) * terms).sum(-2)
  return dot(v, dot(second + jnp.swapaxes(second, -1, -2), vt))


def _first(f, w):
  return f.slope(w[..., :, None], w[..., None, :])


def _second(f, w):
  """Second divided differences f[w_i, w_k, w_j], [..., n, n, n]."""
  shape = w.shape + w.shape[-1:] * 2
  triple = [
    jnp.broadcast_to(a, shape)
    for a in (
      w[..., :, None, None],
      w[..., None, :, None],
      w[..., None, None, :],
    )
  ]
  low, mid, high = jnp.moveaxis(jnp.sort(jnp.stack(triple), axis=0), 0, 0)
  gap = high - low
  # The difference loses eps / gap, the Taylor term gap^2: they meet at the cube
  # root of eps.
  scale = jnp.maximum(jnp.abs(low), jnp.abs(high)) if f.positive else 1.0
  near = gap <= jnp.finfo(w.dtype).eps ** (1 / 3) * scale
  safe = jnp.where(near, 1.0, gap)
  far = (f.slope(high, mid) - f.slope(mid, low)) / safe
  return jnp.where(near, f.bend((low + mid + high) / 3), far)


_spectral_p = Primitive("spectral")
_spectral_p.def_impl(jax.jit(_evaluate, static_argnames="f"))
_spectral_p.def_abstract_eval(lambda x, *_, f: x.update(weak_type=False))
mlir.register_lowering(
  _spectral_p, mlir.lower_fun(_evaluate, multiple_results=False)
)


def _jvp(primals, tangents, *, f):
  x, w, v, *directions = primals
  dx, _, _, *moves = tangents
  out = _spectral_p.bind(*primals, f=f)
  terms = []
  if type(dx) is not ad.Zero:
    if len(directions) == 2:
      raise NotImplementedError(
        "third derivatives of matrix functions are not provided"
      )
    terms.append(_spectral_p.bind(x, w, v, *directions, dx, f=f))
  for k, move in enumerate(moves):
    if type(move) is not ad.Zero:
      moved = [*directions[:k], move, *directions[k + 1 :]]
      terms.append(_spectral_p.bind(x, w, v, *moved, f=f))
  if not terms:
    return out, ad.Zero.from_primal_value(out)
  return out, functools.reduce(jnp.add, terms)


def _transpose(cotangent, x, w, v, *directions, f):
  linear = [k for k, e in enumerate(directions) if ad.is_undefined_primal(e)]
  result = [None] * (3 + len(directions))
  for k in linear:
    if type(cotangent) is ad.Zero:
      result[3 + k] = ad.Zero(directions[k].aval)
    else:
      moved = [*directions[:k], cotangent, *directions[k + 1 :]]
      result[3 + k] = _spectral_p.bind(x, w, v, *moved, f=f)
  return result


def _batch(operands, axes, *, f):
  size = next(
    a.shape[d] for a, d in zip(operands, axes, strict=True) if d is not None
  )
  moved = [
    jnp.broadcast_to(a, (size, *a.shape))
    if d is None
    else jnp.moveaxis(a, d, 0)
    for a, d in zip(operands, axes, strict=True)
  ]
  return _spectral_p.bind(*moved, f=f), 0


ad.primitive_jvps[_spectral_p] = _jvp
ad.primitive_transposes[_spectral_p] = _transpose
batching.primitive_batchers[_spectral_p] = _batch


def _ratio(near_value, fun, u):
  """fun(u) / u, and near_value at u = 0."""
  zero = u == 0
  safe = jnp.where(zero, 1.0, u)
  return jnp.where(zero, near_value, fun(safe) / safe)


def log_slope(a, b, offset=0.0):
  """Divided difference of the logarithm at w = offset + a, offset + b."""
  # Through log1p of (a - b) / b, since a - b is exact when they are close.
  low, high = jnp.minimum(a, b), jnp.maximum(a, b)
  return _ratio(1.0, jnp.log1p, (high - low) / (offset + low)) / (offset + low)


def _exp_slope(a, b):
  low, high = jnp.minimum(a, b), jnp.maximum(a, b)
  # From the upper end: exp(high) is the result's scale, and nothing overflows
  # before the result does.
  return jnp.exp(high) * _ratio(1.0, lambda u: -jnp.expm1(-u), high - low)


@functools.cache
def power(t: float) -> Function:
  """The function w -> w^t on w > 0, for a fixed real t."""

  def slope(a, b):
    low, high = jnp.minimum(a, b), jnp.maximum(a, b)
    fall = functools.partial(_fall, t)
    return high ** (t - 1) * _ratio(t, fall, (high - low) / high)

  return Function(
    lambda w: w**t, slope, lambda w: t * (t - 1) / 2 * w ** (t - 2)
  )


def _fall(t, u):
  # 1 - (1 - u)^t for u in (0, 1).
  return -jnp.expm1(t * jnp.log1p(-u))


LOG = Function(jnp.log, log_slope, lambda w: -0.5 / w**2)
EXP = Function(jnp.exp, _exp_slope, lambda w: jnp.exp(w) / 2, positive=False)


def logm(x):
  """Principal logarithm of SPD x [..., n, n].

  A clearly negative eigenvalue gives NaN; one within rounding of zero counts as
  eps^2 of the largest. `check_spd` refuses both beforehand.
  """
  return apply(LOG, x)


def expm(s):
  """Exponential of symmetric s [..., n, n], an SPD matrix."""
  return apply(EXP, s)


def powm(x, t):
  """X^t of SPD x [..., n, n] for a real scalar t, which may be traced."""
  if isinstance(t, int | float | np.number):
    return apply(power(float(t)), x)
  return expm(t * logm(x))


def sqrtm(x):
  """Square root X^(1/2) of SPD x [..., n, n]."""
  return apply(power(0.5), x)


def inv_sqrtm(x):
  """Inverse square root X^(-1/2) of SPD x [..., n, n]."""
  return apply(power(-0.5), x)
