"""Squared distances and divergences between SPD matrices.

With l_k the logarithms of the generalised eigenvalues of (X, Y):

  airm           sum l_k^2
  stein          sum log cosh(l_k / 2)
  jeffrey        sum (cosh l_k - 1)
  log_euclidean  ||log X - log Y||_F^2
  euclidean      ||X - Y||_F^2

The first three do not change under X -> A X A' and under inversion, and near
equality stein = airm / 8 and jeffrey = airm / 2. All five are computed without
cancellation when X and Y nearly agree.
"""

import functools

import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular

from spdjax.spd import eigenvalues, spectral
from spdjax.spd.spectral import dot, logm

_pair = functools.partial(jnp.vectorize, signature="(n,n),(n,n)->()")
solve_lower = functools.partial(solve_triangular, lower=True)

# Where ||S||_F is below this, eight terms of log det(I + S) are exact to the
# accuracy at which the Cholesky form takes over.
_SERIES_RADIUS = 0.05
_SERIES_TERMS = 8


def whiten(x, factor):
  """Congruence L^-1 X L^-T of symmetric x [n, n], by lower factor [n, n]."""
  return spectral.sym(solve_lower(factor, solve_lower(factor, x).T))


def logdet(x):
  """log det X of SPD x [n, n] by Cholesky: no under- or overflow."""
  return 2 * jnp.log(jnp.diagonal(jnp.linalg.cholesky(x))).sum()


def _log1p_slope(a, b):
  # Divided difference of log(w) / w at w = 1 + a and w = 1 + b.
  return spectral.log_slope(a, b, offset=1.0) / (1 + a) - jnp.log1p(b) / (
    (1 + a) * (1 + b)
  )


_SQUARED_LOG1P = eigenvalues.Sum(
  lambda w: jnp.log1p(w) ** 2,
  spectral.Function(
    lambda w: 2 * jnp.log1p(w) / (1 + w),
    lambda a, b: 2 * _log1p_slope(a, b),
    lambda w: (2 * jnp.log1p(w) - 3) / (1 + w) ** 3,
    positive=False,
  ),
)


@_pair
def airm(x, y):
  """Squared affine-invariant distance ||log(X^-1/2 Y X^-1/2)||_F^2, eq. 1.

  Args:
    x, y: SPD matrices [..., n, n]; leading axes broadcast.

  Returns:
    [...], in squared natural-log units; NaN where an input is not SPD.

  Reference: Pennec, Fillard & Ayache, 2006; Harandi et al., 2017.
  """
  lower_x, lower_y = jnp.linalg.cholesky(x), jnp.linalg.cholesky(y)
  # The base is the smaller matrix: eigenvalues of L^-1 (Y - X) L^-T are then
  # not close to -1, and log1p of them is accurate for near and far pairs alike.
  swap = (solve_lower(lower_x, lower_y) ** 2).sum() < 1
  base = jnp.where(swap, lower_y, lower_x)
  gap = whiten(jnp.where(swap, x - y, y - x), base)
  return eigenvalues.total(_SQUARED_LOG1P, gap)


@_pair
def stein(x, y):
  """Squared Stein divergence log det((X + Y) / 2) - log det(X Y) / 2, def. 3.

  Args:
    x, y: SPD matrices [..., n, n]; leading axes broadcast.

  Returns:
    [...], at least 0; NaN where an input is not SPD.

  Reference: Sra, 2012; Harandi et al., 2017.
  """
  # With G = Lx^-1 (Y - X) Ly^-T the divergence is log det(I + GG'/4) / 2.
  g = _difference(x, y) / 2
  s = dot(g, g.T)
  near = (s**2).sum() < _SERIES_RADIUS**2
  close = _logdet_series(jnp.where(near, s, 0.0)) / 2
  apart = logdet((x + y) / 2) - (logdet(x) + logdet(y)) / 2
  return jnp.where(near, close, apart)


def _logdet_series(s):
  """log det(I + S) of small symmetric s [n, n], relative accuracy."""
  eye = jnp.eye(s.shape[0], dtype=s.dtype)
  acc = eye / _SERIES_TERMS
  for k in range(_SERIES_TERMS - 1, 0, -1):
    acc = eye / k - dot(s, acc)
  return (s * acc).sum()


def _difference(x, y):
  """Lx^-1 (Y - X) Ly^-T [n, n]; singular values 2 |sinh(l_k / 2)|."""
  half = solve_lower(jnp.linalg.cholesky(x), y - x)
  return solve_lower(jnp.linalg.cholesky(y), half.T).T


@_pair
def jeffrey(x, y):
  """Squared Jeffrey divergence tr(X^-1 Y + Y^-1 X) / 2 - n, def. 4.

  Computed as ||Lx^-1 (Y - X) Ly^-T||_F^2 / 2, the same number without the
  subtraction of n.

  Args:
    x, y: SPD matrices [..., n, n]; leading axes broadcast.

  Returns:
    [...], at least 0; NaN where an input is not SPD.

  Reference: Harandi et al., 2017.
  """
  return (_difference(x, y) ** 2).sum() / 2


@_pair
def log_euclidean(x, y):
  """Squared log-Euclidean distance ||log X - log Y||_F^2, eq. 30.

  Args:
    x, y: SPD matrices [..., n, n]; leading axes broadcast.

  Returns:
    [...], at least 0; NaN where an input is not SPD.

  Reference: Arsigny et al., 2006; Harandi et al., 2017.
  """
  return ((logm(x) - logm(y)) ** 2).sum()


@_pair
def euclidean(x, y):
  """Squared Euclidean distance ||X - Y||_F^2 of x, y [..., n, n] -> [...].

  Twice the Bregman divergence of ||X||_F^2 / 2 (Harandi et al., 2017).
  """
  return ((x - y) ** 2).sum()


METRICS = {
  "airm": airm,
  "stein": stein,
  "jeffrey": jeffrey,
  "log_euclidean": log_euclidean,
  "euclidean": euclidean,
}

# The spellings of pyRiemann, for those who come from there.
_ALIASES = {
  "riemann": "airm",
  "logdet": "stein",
  "kullback_sym": "jeffrey",
  "logeuclid": "log_euclidean",
  "euclid": "euclidean",
}


def metric_name(metric):
  """The name in `METRICS` of a metric or of its other spelling.

  Raises:
    ValueError: the metric is unknown.
  """
  name = _ALIASES.get(metric, metric)
  if name not in METRICS:
    known = ", ".join([*METRICS, *_ALIASES])
    raise ValueError(f"unknown metric {metric!r}; the metrics are {known}")
  return name


def distance(x, y, *, metric="airm"):
  """Distance sqrt(d^2(X, Y)) of x, y [..., n, n] -> [...].

  Its derivative at X = Y, where the root has none, is 0.

  Raises:
    ValueError: the metric is unknown.
  """
  squared = METRICS[metric_name(metric)](x, y)
  same = squared <= 0
  return jnp.where(same, 0.0, jnp.sqrt(jnp.where(same, 1.0, squared)))
