"""Small mixtures, and what they say in plain float64 numpy and scipy."""

import numpy as np
from scipy import special, stats

from spdjax.gaussians import Mixture, Statistics

K, D, T = 4, 3, 300


def random_mixture(rng, k=K, d=D):
  return Mixture(
    rng.dirichlet(np.full(k, 3.0)),
    2 * rng.normal(size=(k, d)),
    0.3 + rng.random((k, d)),
  )


def items(rng, mix, num=T):
  """Items drawn from the mixture, [num, D]."""
  own = rng.choice(len(mix.weight), num, p=mix.weight)
  noise = rng.normal(size=(num, mix.mean.shape[1]))
  return mix.mean[own] + np.sqrt(mix.var)[own] * noise


def joint(mix, x):
  """log weight + log density, [T, K]."""
  normal = stats.norm(mix.mean, np.sqrt(mix.var))
  return np.log(mix.weight) + normal.logpdf(x[:, None]).sum(-1)


def sums(mix, x, weight=None):
  """The statistics, item by item from each mean."""
  log = joint(mix, x)
  p = np.exp(log - special.logsumexp(log, 1, keepdims=True))
  p = p if weight is None else p * weight[:, None]
  away = x[:, None] - mix.mean
  return Statistics(
    p.sum(0),
    (p[..., None] * away).sum(0),
    (p[..., None] * away**2).sum(0),
  )


def cast(tree, kind):
  return type(tree)(*(np.asarray(a, kind) for a in tree))


def pick(tree, index):
  """One of the leading axis of each field."""
  return type(tree)(*(np.asarray(a)[index] for a in tree))


def assert_close(got, right, **limits):
  assert type(got) is type(right)
  for name, a, b in zip(got._fields, got, right, strict=True):
    np.testing.assert_allclose(a, b, err_msg=name, **limits)
