"""Step 1: the weights of the kernel, and which stumps are kept.

Each function returns theta [K] >= 0 that sums to one over what it keeps.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from spdjax.classify import l1_svm, l2_svm, responses
from spdjax.stumps import rules

SELECTIONS = ("l1", "reweight", "greedy", "none")

_ROUNDS = 4  # of reweighting
_GREEDY_ROWS = 30_000  # that the greedy selection looks at
_GROWTH = (
  1.4  # of its choice in one round; doubling brings in more that are alike
)


def uniform(num):
  """theta of no selection."""
  return jnp.full(num, 1 / num, jnp.result_type(float))


@functools.partial(jax.jit, static_argnames="negatives")
def two_class(key, features, y, sign, *, negatives):
  """The one two-class problem of all classes: (s int8 [M, K], +-1 [M], i [M]).

  Positives are s_{y_i}(x_i) of every item. As many random pairs as `negatives`
  says, with c != y_i, give the negatives s_c(x_i): c goes round all classes,
  and the class of i is drawn evenly from the others. The last output names the
  items.

  Reference: Roig, Boix & Van Gool, Step 1.
  """
  num_classes = len(sign)
  target = jnp.arange(negatives, dtype=y.dtype) % num_classes
  class_key, item_key = jax.random.split(key)
  present = jnp.zeros(num_classes, bool).at[y].set(True)
  allowed = present[None] & ~jnp.eye(num_classes, dtype=bool)
  other = jax.random.categorical(
    class_key, jnp.where(allowed[target], 0, -jnp.inf)
  )
  item = _item_of_class(item_key, y, other, num_classes)
  items = jnp.concatenate([jnp.arange(len(y)), item])
  s = _signed(features, items, jnp.concatenate([y, target]), sign)
  ends = jnp.ones(len(y), jnp.int8), -jnp.ones(negatives, jnp.int8)
  return s, jnp.concatenate(ends), items


def _item_of_class(key, y, classes, num_classes):
  """A random item of each of the classes [M]."""
  order = jnp.argsort(y)
  count = jnp.zeros(num_classes, jnp.int32).at[y].add(1)
  first = jnp.cumsum(count) - count
  part = jax.random.uniform(key, classes.shape)
  inside = jnp.floor(part * count[classes].astype(part.dtype))
  inside = inside.astype(jnp.int32)
  return order[first[classes] + jnp.minimum(inside, count[classes] - 1)]


@jax.jit
def _signed(features, items, classes, sign):
  """sign[class] * response of every pair, int8 [M, K]."""
  if isinstance(features, responses.Packed):
    features = responses.Packed(features.bits[items], features.num)
    bits = responses.unpack(features)
  else:
    bits = features[items] > 0
  own = sign[classes]
  return jnp.where(bits, own, -own)


def l1(key, features, y, *, num_classes, keep, c, rule, negatives, weight, tol):
  """theta of the l1 SVM with fixed signs, negative entries set to 0.

  At most the `keep` largest remain, where keep is a number.
  """
  sign = rules.signs(features, y, num_classes=num_classes, rule=rule)
  s, ends, items = two_class(key, features, y, sign, negatives=negatives)
  own = None if weight is None else weight[items]
  theta, info = l1_svm(s, ends, c=c, sample_weight=own, tol=tol)
  theta = jnp.maximum(theta, 0)
  if keep is not None:
    theta = _largest(theta, keep)
  total = theta.sum()
  # Nothing survives where c is too small: then all stumps do.
  return jnp.where(total > 0, theta / total, uniform(len(theta))), info


def reweight(features, y, *, num_classes, keep, c, weight, tol):
  """theta_k <- sqrt(theta_k) norm(w_k) from the SVM of step 2, four rounds.

  The number of positive entries falls to `keep` geometrically.
  """
  num = responses.shape(features)[1]
  theta, init, info = uniform(num), None, None
  for step in range(1, _ROUNDS + 1):
    w, b, info = step_two(
      features, y, theta, num_classes=num_classes, c=c, weight=weight, tol=tol,
      init=init,
    )  # fmt: skip
    init = w, b
    theta = jnp.sqrt(theta) * _norms(w)
    left = round(num * (keep / num) ** (step / _ROUNDS))
    theta = _largest(theta, left)
    theta /= theta.sum()
  return theta, info


def _norms(w):
  """Norms of the columns up to a common factor; ones where all are 0.

  For a tiny c the squares of w would underflow.
  """
  most = jnp.abs(w).max()
  norms = jnp.linalg.norm(w / jnp.where(most > 0, most, 1), axis=0)
  return jnp.where(most > 0, norms, 1)


def greedy(key, features, y, *, num_classes, keep, c, weight, tol):
  """Uniform theta on `keep` stumps, found round by round.

  An SVM on those chosen so far leaves multipliers; those others come in, two
  for every five, whose responses correlate most with them, summed over the
  classes. It looks at a random part of the rows.
  """
  rows, num = responses.shape(features)
  key, first_key = jax.random.split(key)
  if rows > _GREEDY_ROWS:
    part = jax.random.choice(key, rows, (_GREEDY_ROWS,), replace=False)
    features, y = take_rows(features, part), y[part]
    weight = None if weight is None else weight[part]
  chosen = np.asarray(jax.random.permutation(first_key, num))
  chosen = chosen[: max(1, keep // 16)]
  info = None
  while len(chosen) < keep:
    own = take_columns(features, jnp.asarray(chosen))
    w, b, info = step_two(
      own, y, uniform(len(chosen)),
      num_classes=num_classes, c=c, weight=weight, tol=tol,
    )  # fmt: skip
    score = np.array(_correlation(features, own, y, w, b, weight))
    score[chosen] = -np.inf
    more = max(1, round((_GROWTH - 1) * len(chosen)))
    more = min(more, keep - len(chosen))
    best = np.argsort(-score, kind="stable")[:more]
    chosen = np.concatenate([chosen, best])
  theta = np.zeros(num)
  theta[chosen] = 1 / len(chosen)
  return jnp.asarray(theta, jnp.result_type(float)), info


@jax.jit
def _correlation(features, own, y, w, b, weight):
  """sum_c (sum_i alpha_ic y_ic r_k(x_i))^2 of all stumps, [K].

  alpha are the multipliers of the SVM (w, b) on the features `own`.
  """
  v = w * scale(uniform(w.shape[1]))[None]
  f = responses.forward(own, v) + b[None]
  classes = jnp.arange(len(w), dtype=y.dtype)
  goal = jnp.where(y[:, None] == classes[None], 1.0, -1.0).astype(w.dtype)
  alpha = jnp.maximum(1 - goal * f, 0)
  if weight is not None:
    alpha *= weight[:, None]
  return jnp.square(responses.backward(features, alpha * goal)).sum(0)


def step_two(features, y, theta, *, num_classes, c, weight, tol, init=None):
  """The SVM on the features of the kernel: (w [C, K], b [C], Info).

  On [sqrt(theta / 2) r, sqrt(sum(theta) / 2)], which has the inner products of
  `feature_map` in half the columns: w acts on its first part.
  """
  # Its constant column and the appended one count as a single constant.
  solve = functools.partial(
    l2_svm,
    features,
    c=c,
    bias=jnp.sqrt(theta.sum() / 2 + 1),
    column_scale=scale(theta),
    sample_weight=weight,
    tol=tol,
  )
  if num_classes > 2:
    return solve(y, num_classes=num_classes, init=init)
  # One problem serves two classes.
  init = None if init is None else (init[0][1], init[1][1])
  w, b, info = solve(jnp.where(y > 0, 1.0, -1.0), init=init)
  return jnp.stack([-w, w]), jnp.stack([-b, b]), info


def scale(theta):
  """sqrt(theta / 2), which r is multiplied by."""
  return jnp.sqrt(theta / 2)


def take_rows(features, rows):
  """The features of some rows."""
  if isinstance(features, responses.Packed):
    return responses.Packed(features.bits[rows], features.num)
  return features[rows]


@jax.jit
def take_columns(features, columns):
  """The features of some columns [M]."""
  if not isinstance(features, responses.Packed):
    return features[:, columns]
  bits = features.bits[:, columns // 8] >> (columns % 8).astype(jnp.uint8)[None]
  return responses.pack(bits & 1)


@functools.partial(jax.jit, static_argnames="keep")
def _largest(theta, keep):
  """theta with all but its `keep` largest entries set to 0."""
  if keep >= len(theta):
    return theta
  order = jnp.argsort(-theta, stable=True)
  return jnp.zeros_like(theta).at[order[:keep]].set(theta[order[:keep]])
