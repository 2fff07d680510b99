"""Learning the kernel and the classifier on it."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from spdjax.classify import values
from spdjax.stumps import mappings, rules, sampling
from spdjax.stumps import theta as thetas
from spdjax.stumps.kernel import Model


class Info(NamedTuple):
  """How the solvers of a fit ended."""

  steps: jax.Array  # [] Newton steps of step 2
  converged: jax.Array  # [] of both
  gap: jax.Array  # [] the largest of step 2's classes
  objective: jax.Array  # [] the sum of step 2's classes
  theta: jax.Array  # [num_stumps] before pruning: 0 for what was left out
  theta_gap: jax.Array  # [] of step 1, 0 without one


def fit(
  key,
  x,
  y,
  *,
  num_stumps=2048,
  kind="stump",
  thresholds="midpoint",
  draw="uniform",
  grid=None,
  radius=4,
  selection="l1",
  keep=None,
  rule="balanced",
  c_theta=None,
  negatives=None,
  c=10.0,
  sample_weight=None,
  class_weight=None,
  tol=None,
):
  """Learns a kernel of random stumps and a linear SVM on its features.

  Stumps are drawn, their signs set one by one (Step 0), the kernel's weights
  learned (Step 1), and a one-vs-rest squared hinge SVM fitted on the features
  of the stumps that are kept (Step 2).

  Args:
    key: consumed.
    x: [N, D].
    y: labels [N], integers, strings or booleans, of two classes or more.
    num_stumps: drawn.
    kind, thresholds, draw, grid, radius: as in `sample`.
    selection: "l1", the paper's step; "reweight", theta_k <- sqrt(theta_k)
      norm(w_k) four times; "greedy", uniform weights on those that correlate
      most with what is still wrong; "none", uniform weights on all.
    keep: how many stumps stay at most; None: a quarter of them for "reweight"
      and "greedy", those with theta > 0 for "l1".
    rule: of the signs, "balanced" or "majority".
    c_theta: c of step 1; None: 30 / N.
    negatives: pairs of step 1 with a wrong class; None: N.
    c: of step 2.
    sample_weight: [N] >= 0, or None.
    class_weight: [C] >= 0 in the order of the sorted labels, or None.
    tol: of both solvers; see `l2_svm`.

  Returns:
    (`Model`, `Info`).

  Raises:
    ValueError: wrong shapes or names, NaN labels, a single class, x that is not
      finite.
  """
  values.key(key)
  x = values.finite(x)
  classes, y, weight = _checked(x, y, sample_weight, class_weight)
  if selection not in thetas.SELECTIONS:
    raise ValueError(
      f"selection must be one of {', '.join(thetas.SELECTIONS)}, got "
      f"{selection!r}"
    )
  num_stumps = values.whole(num_stumps, "num_stumps", 1)
  c = values.positive(c, "c")
  c_theta = 30 / len(x) if c_theta is None else c_theta
  c_theta = values.positive(c_theta, "c_theta")
  negatives = len(x) if negatives is None else negatives
  negatives = values.whole(negatives, "negatives", 1)
  if keep is not None:
    keep = values.whole(keep, "keep", 1)
  if rule not in rules.RULES:
    raise ValueError(
      f"rule must be one of {', '.join(rules.RULES)}, got {rule!r}"
    )
  stump_key, theta_key = jax.random.split(key)
  drawn = sampling.sample(
    stump_key,
    x,
    num_stumps,
    thresholds=thresholds,
    kind=kind,
    draw=draw,
    grid=grid,
    radius=radius,
  )
  features = mappings.packed_responses(drawn, x)
  common = {"num_classes": len(classes), "weight": weight, "tol": tol}
  theta, first = _theta(
    theta_key,
    features,
    y,
    selection,
    keep=keep,
    rule=rule,
    c_theta=c_theta,
    negatives=negatives,
    c=c,
    **common,
  )
  kept = jnp.flatnonzero(theta > 0)
  stumps = mappings.take(drawn, kept)
  if len(kept) < num_stumps:
    features = mappings.packed_responses(stumps, x)
  w, b, info = thetas.step_two(features, y, theta[kept], c=c, **common)
  weights = w * thetas.scale(theta[kept])[None]
  return Model(stumps, theta[kept], weights, b, classes), Info(
    steps=info.steps,
    converged=info.converged & (True if first is None else first.converged),
    gap=jnp.max(info.gap),
    objective=jnp.sum(info.objective),
    theta=theta,
    theta_gap=jnp.max(first.gap) if first is not None else jnp.zeros(()),
  )


def _theta(
  key, features, y, selection, *, keep, rule, c_theta, negatives, c, **common
):
  num = features.num
  most = num // 4 if keep is None else min(keep, num)
  if selection == "l1":
    return thetas.l1(
      key,
      features,
      y,
      keep=keep,
      rule=rule,
      c=c_theta,
      negatives=negatives,
      **common,
    )
  if selection == "reweight":
    return thetas.reweight(features, y, keep=max(1, most), c=c, **common)
  if selection == "greedy":
    return thetas.greedy(key, features, y, keep=max(1, most), c=c, **common)
  return thetas.uniform(num), None


def _checked(x, y, sample_weight, class_weight):
  """(classes [C], y [N] in 0 .. C - 1, weights [N] or None)."""
  if x.ndim != 2 or 0 in x.shape:
    raise ValueError(f"x must be [N, D], not empty, got shape {x.shape}")
  if np.shape(y) != (len(x),):
    raise ValueError(
      f"y must have one label for each of {len(x)} items, got {np.shape(y)}"
    )
  y = values.array(y, "y")
  if y.dtype == object:  # as a column of a data frame
    y = np.array(y.tolist())
  if y.dtype.kind not in "biufUST":
    raise ValueError(f"y must be integers, strings or booleans, got {y.dtype}")
  classes, y = np.unique(np.asarray(y), return_inverse=True)
  if len(classes) < 2:
    raise ValueError(f"y has the one class {classes[0]}; expected two")
  if classes.dtype.kind == "f" and np.isnan(classes).any():
    raise ValueError("y has labels that are NaN")
  weight = None
  if sample_weight is not None:
    weight = values.weights(sample_weight, len(x))
  if class_weight is not None:
    own = values.weights(class_weight, len(classes), "class_weight")[y]
    weight = own if weight is None else weight * own
  if weight is not None and len(np.unique(y[np.asarray(weight) > 0])) < 2:
    raise ValueError("the weights leave fewer than two classes above 0")
  return classes, jnp.asarray(y, jnp.int32), weight
