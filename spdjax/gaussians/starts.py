"""First mixtures for EM: seeds among the items, and k-means from them."""

import math

import jax
import jax.numpy as jnp

from spdjax.gaussians import mixture
from spdjax.gaussians.mixture import Mixture

STARTS = ("kmeans++", "random")

_ROWS = 1 << 14  # that seeds are sought among, where there are more
_STEPS = 10  # of k-means


def draw(key, x, weights, *, num, start, floor) -> Mixture:
  """A `Mixture` of num components of equal weight and variance.

  Distances are those of dimensions brought to variance 1.
  """
  rows_key, seeds_key = jax.random.split(key)
  mean, var = moments(x, weights)
  scale = jnp.sqrt(jnp.where(var > 0, var, 1))
  rows, part = _sampled(rows_key, weights, max(_ROWS, 16 * num))
  z = (x[rows] - mean[None]) / scale[None]
  z = jnp.where(part[:, None] > 0, z, 0)
  if start == "random":
    chosen, width = z[_distinct(seeds_key, part, num)], jnp.ones_like(mean)
  else:
    chosen, width = _k_means(z, part, _seeds(seeds_key, z, part, num))
  width = jnp.where(var > 0, jnp.maximum(width, floor), 1)
  return Mixture(
    jnp.full(num, 1 / num, x.dtype),
    mean[None] + scale[None] * chosen,
    jnp.broadcast_to(scale**2 * width, chosen.shape),
  )


def moments(x, weights):
  """Weighted mean and biased variance of items, [N, D] -> [D], [D]."""
  one = jnp.ones(1, x.dtype)
  about = x[jnp.argmax(weights)][None]

  def body(_, carry):
    alone = Mixture(one, carry[0], jnp.ones_like(about))
    (n, first, second), _ = mixture.weighted(alone, x, weights)
    shift = first / n[:, None]
    return carry[0] + shift, second / n[:, None] - shift**2

  # The first pass finds what the second is centred on.
  mean, var = jax.lax.fori_loop(0, 2, body, (about, about * 0))
  return mean[0], jnp.maximum(var[0], 0)


def _sampled(key, weights, most):
  """(rows, their weights) of at most so many items, drawn by weight."""
  if len(weights) <= most:
    return jnp.arange(len(weights)), weights
  order = jnp.log(weights) + jax.random.gumbel(
    key, weights.shape, weights.dtype
  )
  _, rows = jax.lax.top_k(order, most)
  return rows, (weights[rows] > 0).astype(weights.dtype)


def _distinct(key, weights, num):
  """Rows [num] by weight; none comes twice before all have come."""
  order = jnp.log(weights) + jax.random.gumbel(
    key, weights.shape, weights.dtype
  )
  ranked = jnp.argsort(-order)
  turn = jnp.arange(num, dtype=ranked.dtype)
  return ranked[turn % (weights > 0).sum().astype(turn.dtype)]


def _seeds(key, z, weights, num):
  """Rows of z [num, D], drawn by squared distance from those before them.

  Of a few rows drawn so, the one that leaves the least distance is taken.

  Reference: Arthur & Vassilvitskii, "k-means++", 2007, in the greedy form.
  """
  draws = jax.random.uniform(key, (num, 2 + int(math.log(num))), z.dtype)

  def body(index, carry):
    rows, near = carry
    by = jnp.where(jnp.isinf(near), 1, near) * weights
    # Once every distinct item has been drawn, they come again.
    drawn = _by_weight(draws[index], jnp.where(by.max() > 0, by, weights))
    left = jnp.minimum(_distances(z[drawn], z), near[None]) * weights[None]
    row = drawn[jnp.argmin(left.sum(1))]
    away = jnp.square(z - z[row][None]).sum(1)
    return rows.at[index].set(row), jnp.minimum(near, away)

  none = jnp.zeros(num, jnp.int32), jnp.full(len(z), jnp.inf, z.dtype)
  return z[jax.lax.fori_loop(0, num, body, none)[0]]


def _by_weight(draws, weights):
  """Rows in proportion to their weights, by uniform draws of [0, 1)."""
  ends = jnp.cumsum(weights)
  passed = ends[None] <= draws[:, None] * ends[-1]
  return passed.sum(1, dtype=jnp.int32)


def _k_means(z, weights, centres):
  """(centres [K, D], variance within the clusters [D])."""

  def step(_, carry):
    centres, _ = carry
    nearest = jnp.argmin(_distances(centres, z), 0)
    own = jax.nn.one_hot(nearest, len(centres), dtype=z.dtype, axis=0)
    own *= weights[None]
    n = own.sum(1)[:, None]
    means = jnp.matmul(own, z, precision="highest") / jnp.where(n > 0, n, 1)
    within = total - (n * jnp.square(means)).sum(0)
    return jnp.where(n > 0, means, centres), within / weights.sum()

  total = (weights[:, None] * jnp.square(z)).sum(0)
  return jax.lax.fori_loop(0, _STEPS, step, (centres, total))


def _distances(centres, z):
  """Squared, to rounding, [K, D], [M, D] -> [K, M]."""
  squares = [jnp.square(a).sum(1) for a in (centres, z)]
  product = jnp.matmul(centres, z.T, precision="highest")
  return squares[0][:, None] - 2 * product + squares[1][None]
