"""Costs of a subspace: how far apart the reduced matrices of edges lie.

Every item is projected once, and every derivative goes back through its small
matrix, so that the gradient is sum_i X_i W T_i, with T_i [m, m] a sum over
i's edges: O(N n^2 m + E m^3), not O(E n^2 m).
"""

import functools

import jax
import jax.numpy as jnp

from spdjax import spd
from spdjax.reduction import graph, terms


@jax.custom_jvp
def project(x, w):
  """Reduced matrices W'XW [..., m, m] of x [..., n, n] by w [n, m]."""
  return _project(x, w)[0]


def _project(x, w):
  tall = jnp.matmul(x, w, precision="highest")
  return jnp.matmul(w.T, tall, precision="highest"), tall


@project.defjvp
def _project_jvp(primals, tangents):
  # X is symmetric: one tall product XW serves the value and both derivatives.
  (x, w), (dx, dw) = primals, tangents
  out, tall = _project(x, w)
  half = jnp.einsum("...ia,ib->...ab", tall, dw, precision="highest")
  moved, _ = _project(dx, w)
  return out, half + jnp.swapaxes(half, -1, -2) + moved


def project_features(features, w):
  """Covariance [..., m, m] of W'O, without the large covariance.

  Args:
    features: observations [..., r, n], one a row; r may be as small as m.
    w: [n, m].

  Returns:
    W' O J J' O' W, biased, at O(r n m) instead of O(r n^2) (the seed's last
    section; Harandi et al., 2017).
  """
  small = jnp.matmul(features, w, precision="highest")
  return spd.covariance(small)


def supervised(w, x, edges, *, metric):
  """Cost sum_{i != j} a_ij d^2(W'X_iW, W'X_jW), eq. 15: both orders count.

  Args:
    w: subspace basis [n, m].
    x: SPD [N, n, n].
    edges: the affinity graph.
    metric: a name in `spd.METRICS`, or pyRiemann's spelling.

  Returns:
    [], to be minimised; differentiable twice, for every metric.

  Reference: Harandi et al., 2017, eqs. 15-20, and 31 for log-Euclidean.
  """
  sums = terms.SUMS[spd.metric_name(metric)]
  return 2 * sums(spd.sym(project(x, w)), edges)


def unsupervised(w, x, mean, *, metric):
  """Spread sum_i d^2(W'X_iW, W'MW), eq. 21, to be maximised.

  Args:
    w: subspace basis [n, m].
    x: SPD [N, n, n].
    mean: SPD M [n, n], the Fréchet mean of x under the same metric.
    metric: a name in `spd.METRICS`, or pyRiemann's spelling.

  Returns:
    [].
  """
  items, edges = graph.star(x, mean)
  return -supervised(w, items, edges, metric=metric)


@functools.cache
def cost(metric):
  """`supervised` of one metric as one function object: compiled once."""
  return functools.partial(supervised, metric=metric)
