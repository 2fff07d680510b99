"""Nuisance attribute projection: directions in which a class varies, removed.

With items in rows about their mean, X, and P the projection [N, N] that puts
the mean of its class in place of an item,

  S_w - b S_b = X' K X,  K = I - (1 + b) P,

where the scatters are sums, S_w = sum_i (x_i - m_yi)(x_i - m_yi)' and
S_b = sum_c n_c (m_c - m)(m_c - m)'. K is symmetric but indefinite, and the
small matrix K X X' is not symmetric at all. But B = X' Q diag(l)^-1/2, of the
Gram matrix X X' = Q diag(l) Q', is orthonormal, and the symmetric
B' X' K X B = diag(l)^1/2 Q' K Q diag(l)^1/2 has the same eigenvalues: a cost
of N^2 D and not of D^2.

Source: Vogt, Kajarekar & Sridharan, "Discriminant NAP for SVM Speaker
Recognition" (2008); Solomonoff, Campbell & Boardman (ICASSP 2005) for b = 0.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from spdjax.classify.values import floats, labels, nonnegative


def nuisance(x, y, *, rank, between=0.0):
  """Top eigenvectors of S_w - between S_b, [D, rank], orthonormal.

  The largest eigenvalue comes first, so that u[:, :r] is the answer for each
  smaller rank r. Only directions of positive eigenvalue, above rounding, are
  nuisances: there are at most N - C of them for C classes.

  Args:
    x: [N, D], any real dtype; integers are widened.
    y: [N] integer labels, of any values; may be traced.
    rank: number of directions; 0 gives [D, 0].
    between: how much the scatter between classes is spared, >= 0.

  Raises:
    ValueError: on wrong shapes, and on a rank above what exists. Where values
      are traced, a direction that does not exist is a column of zeros, which
      removes nothing.
  """
  x = floats(x)
  if x.ndim != 2 or 0 in x.shape:
    raise ValueError(f"x must be [N, D], not empty, got shape {x.shape}")
  y = labels(y, len(x))
  _check_rank(rank, min(x.shape[1], _most(y)))
  between = jnp.asarray(nonnegative(between, "between"), x.dtype)
  u, values = _nuisance(x, y, between, rank=rank)
  _check_values(values, rank)
  return u


def remove(x, u):
  """Rows without their part in span(u): x - (x u) u', [..., D].

  Args:
    x: [..., D], any real dtype; integers are widened.
    u: [D, r] orthonormal, as `nuisance` gives it, of the dtype of x.

  Raises:
    ValueError: on shapes that do not fit.
  """
  x, u = jnp.asarray(x), jnp.asarray(u)
  if not jnp.issubdtype(x.dtype, jnp.floating):
    x = x.astype(u.dtype)
  if u.ndim != 2 or x.shape[-1:] != u.shape[:1]:
    raise ValueError(
      f"x and u must be [..., D] and [D, r], got shapes {x.shape} and {u.shape}"
    )
  return x - _product(_product(x, u), u.T)


def nuisance_distances(gram, y, train, *, ranks, num_classes, between=0.0):
  """Squared distances to class centroids after projection, [R, N, C].

      norm((I - U U') (x_i - m_c))^2,  U = nuisance(x[train], y[train], rank=r)

  with m_c the mean of the training items of class c, for each rank r, by inner
  products alone: for choosing the rank by cross-validation, where one Gram
  matrix and, a fold, one small eigenproblem serve all ranks.
  `nearest_neighbour(distances[k], arange(C))` gives the labels.

  Args:
    gram: [N, N], x x' of all items, those to be tested too.
    y: [N] integer labels in 0..C-1; those outside of `train` are never used.
    train: [n] indices of the training items, or bool [N], not traced.
    ranks: R numbers of directions, in any order.
    num_classes: C.
    between: as for `nuisance`.

  Returns:
    [R, N, C], >= 0; NaN for a class without training items. Rounding is about
    eps times norm(x_i - m_c)^2, and directions around a rank mix where their
    eigenvalues differ by less than eps times the largest.

  Raises:
    ValueError: on wrong shapes, indices outside of 0..N-1, and ranks above what
      exists, as for `nuisance`; where values are traced, such a rank removes
      all there is.
  """
  gram = floats(gram, "gram")
  if gram.ndim != 2 or gram.shape[0] != gram.shape[1] or not gram.size:
    raise ValueError(f"gram must be [N, N], not empty, got shape {gram.shape}")
  train = _indices(train, len(gram))
  y = labels(labels(y, len(gram))[train], len(train), num_classes)
  ranks = tuple(int(rank) for rank in ranks)
  if not ranks:
    raise ValueError("ranks must not be empty")
  for rank in ranks:
    _check_rank(rank, _most(y))
  between = jnp.asarray(nonnegative(between, "between"), gram.dtype)
  distances, values = _distances(
    gram, y, train, between, ranks=ranks, num_classes=num_classes
  )
  _check_values(values, max(ranks))
  return distances


def _indices(train, num):
  train = np.asarray(train)
  if train.dtype == bool and train.shape == (num,):
    train = np.flatnonzero(train)
  if train.ndim != 1 or train.dtype.kind not in "iu" or not len(train):
    raise ValueError(
      f"train must be indices [n] or bool [{num}], not empty, got "
      f"{train.dtype} of shape {train.shape}"
    )
  if train.min() < 0 or train.max() >= num:
    raise ValueError(f"train must be in 0..{num - 1}")
  return train.astype(np.int32)


def _most(y):
  """How many directions N labels can have at most."""
  traced = isinstance(y, jax.core.Tracer)
  return len(y) - (1 if traced else len(np.unique(np.asarray(y))))


def _check_rank(rank, limit):
  if not 0 <= rank <= limit:
    raise ValueError(f"rank must be in 0..{limit}, got {rank}")


def _check_values(values, rank):
  if not isinstance(values, jax.core.Tracer):
    _check_rank(rank, int((np.asarray(values) > 0).sum()))


@functools.partial(jax.jit, static_argnames="rank")
def _nuisance(x, y, between, *, rank):
  mean = x.mean(0, keepdims=True)
  x = x - mean
  # Again: the first mean carries the rounding of a large offset.
  x = x - x.mean(0, keepdims=True)
  # What that rounding leaves of items that are all the same is no direction.
  noise = len(x) * jnp.square(4 * jnp.finfo(x.dtype).eps * mean).sum()
  weights, values = _directions(_product(x, x.T), y, between, rank, noise)
  # Rows are directions: XLA's products on CPUs are slow with a long x turned.
  return _orthonormal(_product(weights.T, x)).T, values


@functools.partial(jax.jit, static_argnames=("ranks", "num_classes"))
def _distances(gram, y, train, between, *, ranks, num_classes):
  noise = _floor(jnp.diag(gram)[train].max(), len(train))
  # About the mean of the training items, on both sides.
  gram = gram - gram[train].mean(0)[None]
  gram = gram - gram[:, train].mean(1)[:, None]
  rank = max(ranks)
  weights, values = _directions(gram[train][:, train], y, between, rank, noise)
  classes = jnp.arange(num_classes, dtype=y.dtype)
  member = (y[:, None] == classes[None]).astype(gram.dtype)
  count = member.sum(0)
  means = member / jnp.maximum(count, 1)[None]
  own = _product(gram[:, train], weights)
  centre = _product(means.T, own[train])
  squares = _squares(gram, train, means)
  removed = [_between(own[:, :r], centre[:, :r]) for r in ranks]
  left = [jnp.maximum(squares - part, 0) for part in removed]
  # A maximum need not hand a NaN on: classes without items are set at the end.
  return jnp.where(count > 0, jnp.stack(left), jnp.nan), values


def _squares(gram, train, means):
  """norm(x_i - m_c)^2 by inner products, [N, C]."""
  inner = _product(gram[:, train], means)
  own = (means * inner[train]).sum(0)
  return jnp.diag(gram)[:, None] - 2 * inner + own[None]


def _between(x, z):
  """norm(x_i - z_c)^2 [N, C] of rows."""
  squares = [jnp.square(part).sum(1) for part in (x, z)]
  return squares[0][:, None] - 2 * _product(x, z.T) + squares[1][None]


def _directions(gram, y, between, rank, noise):
  """Eigenvectors of X' K X from the Gram matrix X X' of centred items.

  Returns:
    Weights [N, rank], for directions X' weights; and all eigenvalues [N],
    falling. Those that are no more than rounding or `noise` are 0, with weights
    of 0.
  """
  same = (y[:, None] == y[None, :]).astype(gram.dtype)
  share = same / same.sum(1, keepdims=True)
  kept = lambda z: z - (1 + between) * _product(share, z)
  values, q = jnp.linalg.eigh(gram)
  floor = jnp.maximum(_floor(values[-1], len(gram)), noise)
  some = values > floor
  root = jnp.sqrt(jnp.where(some, values, 1))
  basis = jnp.where(some[None], q * root[None], 0)
  small = _product(basis.T, kept(basis))
  values, v = jnp.linalg.eigh((small + small.T) / 2)
  values, v = values[::-1], v[:, ::-1][:, :rank]
  values = jnp.where(values > floor, values, 0)
  weights = _product(jnp.where(some, 1 / root, 0)[None] * q, v)
  return jnp.where(values[None, :rank] > 0, weights, 0), values


def _floor(largest, num):
  """What rounding leaves of an eigenvalue 0 of `num` beside the largest."""
  eps = jnp.finfo(largest.dtype).eps
  return 4 * num**0.5 * eps * jnp.maximum(largest, 0)


def _orthonormal(u):
  """Rows [r, D], nearly orthonormal or 0, made so in order, by Cholesky.

  Division by small eigenvalues leaves parts along the rows before.
  """
  gram = _product(u, u.T)
  none = jnp.diag(gram) <= 0.5
  factor = jnp.linalg.cholesky(gram + jnp.diag(none.astype(u.dtype)))
  eye = jnp.eye(len(u), dtype=u.dtype)
  turn = jax.scipy.linalg.solve_triangular(factor, eye, lower=True)
  return _product(turn, u)


def _product(x, z):
  return jnp.matmul(x, z, precision="highest")
