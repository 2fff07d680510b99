"""Nuisance projection by inner products alone.

For choosing its rank, and for vectors so long that they are never held as one
matrix. The equations are those of `spdjax.classify.nuisance`.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from spdjax.classify.values import labels, nonnegative, single


def nuisance_weights(gram, y, *, rank, between=0.0):
  """Nuisance directions as sums of the items: weights and eigenvalues.

  With U = X' weights, U is `nuisance(x, y, rank=rank)`, so that what is left of
  an item, x - x U U', has its inner products by those with the items X alone.
  Columns sum to 0: it is the same whether X is centred or not.

  Args:
    gram: [N, N], x x'.
    y: [N] integer labels, of any values; may be traced.
    rank: r, number of directions.
    between: as for `nuisance`.

  Returns:
    (weights [N, r], eigenvalues [r] of S_w - between S_b, falling). A direction
    that does not exist has weights and an eigenvalue of 0.

  Raises:
    ValueError: on wrong shapes and a rank above N - C for C classes.
  """
  gram = _square(gram)
  y = labels(y, len(gram))
  check_rank(rank, most(y))
  between = jnp.asarray(nonnegative(between, "between"), gram.dtype)
  return _weights(gram, y, between, rank=rank)


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
  gram = _square(gram)
  train = _indices(train, len(gram))
  y = labels(labels(y, len(gram))[train], len(train), num_classes)
  ranks = tuple(int(rank) for rank in ranks)
  if not ranks:
    raise ValueError("ranks must not be empty")
  for rank in ranks:
    check_rank(rank, most(y))
  between = jnp.asarray(nonnegative(between, "between"), gram.dtype)
  distances, values = _distances(
    gram, y, train, between, ranks=ranks, num_classes=num_classes
  )
  check_values(values, max(ranks))
  return distances


def _square(gram):
  gram = single(gram, "gram")
  if gram.ndim != 2 or gram.shape[0] != gram.shape[1] or not gram.size:
    raise ValueError(f"gram must be [N, N], not empty, got shape {gram.shape}")
  return gram


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


def most(y):
  """How many directions N labels can have at most."""
  traced = isinstance(y, jax.core.Tracer)
  return len(y) - (1 if traced else len(np.unique(np.asarray(y))))


def check_rank(rank, limit):
  if not 0 <= rank <= limit:
    raise ValueError(f"rank must be in 0..{limit}, got {rank}")


def check_values(values, rank):
  if not isinstance(values, jax.core.Tracer):
    check_rank(rank, int((np.asarray(values) > 0).sum()))


@functools.partial(jax.jit, static_argnames="rank")
def _weights(gram, y, between, *, rank):
  noise = floor(jnp.diag(gram).max(), len(gram))
  gram = gram - gram.mean(0)[None]
  gram = gram - gram.mean(1)[:, None]
  weights, values = directions(gram, y, between, rank, noise)
  return weights - weights.mean(0)[None], values[:rank]


@functools.partial(jax.jit, static_argnames=("ranks", "num_classes"))
def _distances(gram, y, train, between, *, ranks, num_classes):
  noise = floor(jnp.diag(gram)[train].max(), len(train))
  # About the mean of the training items, on both sides.
  gram = gram - gram[train].mean(0)[None]
  gram = gram - gram[:, train].mean(1)[:, None]
  rank = max(ranks)
  weights, values = directions(gram[train][:, train], y, between, rank, noise)
  classes = jnp.arange(num_classes, dtype=y.dtype)
  member = (y[:, None] == classes[None]).astype(gram.dtype)
  count = member.sum(0)
  means = member / jnp.maximum(count, 1)[None]
  own = product(gram[:, train], weights)
  centre = product(means.T, own[train])
  squares = _squares(gram, train, means)
  removed = [_between(own[:, :r], centre[:, :r]) for r in ranks]
  left = [jnp.maximum(squares - part, 0) for part in removed]
  # A maximum need not hand a NaN on: classes without items are set at the end.
  return jnp.where(count > 0, jnp.stack(left), jnp.nan), values


def _squares(gram, train, means):
  """norm(x_i - m_c)^2 by inner products, [N, C]."""
  inner = product(gram[:, train], means)
  own = (means * inner[train]).sum(0)
  return jnp.diag(gram)[:, None] - 2 * inner + own[None]


def _between(x, z):
  """norm(x_i - z_c)^2 [N, C] of rows."""
  squares = [jnp.square(part).sum(1) for part in (x, z)]
  return squares[0][:, None] - 2 * product(x, z.T) + squares[1][None]


def directions(gram, y, between, rank, noise):
  """Eigenvectors of X' K X from the Gram matrix X X' of centred items.

  Returns:
    Weights [N, rank], for directions X' weights; and all eigenvalues [N],
    falling. Those that are no more than rounding or `noise` are 0, with weights
    of 0.
  """
  same = (y[:, None] == y[None, :]).astype(gram.dtype)
  share = same / same.sum(1, keepdims=True)
  kept = lambda z: z - (1 + between) * product(share, z)
  values, q = jnp.linalg.eigh(gram)
  least = jnp.maximum(floor(values[-1], len(gram)), noise)
  some = values > least
  root = jnp.sqrt(jnp.where(some, values, 1))
  basis = jnp.where(some[None], q * root[None], 0)
  small = product(basis.T, kept(basis))
  values, v = jnp.linalg.eigh((small + small.T) / 2)
  values, v = values[::-1], v[:, ::-1][:, :rank]
  values = jnp.where(values > least, values, 0)
  weights = product(jnp.where(some, 1 / root, 0)[None] * q, v)
  return jnp.where(values[None, :rank] > 0, weights, 0), values


def floor(largest, num):
  """What rounding leaves of an eigenvalue 0 of `num` beside the largest."""
  eps = jnp.finfo(largest.dtype).eps
  return 4 * num**0.5 * eps * jnp.maximum(largest, 0)


def product(x, z):
  return jnp.matmul(x, z, precision="highest")
