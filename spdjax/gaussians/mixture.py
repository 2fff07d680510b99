"""Mixtures of Gaussians with diagonal covariances: densities and statistics.

Everything is one product with the features [1, y, y^2] of an item, where y is
the item from a centre amid the means: the log densities of all components, and
with the posteriors the sums over all items. Items come in blocks of rows.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from spdjax.gaussians import checks

_ENTRIES = 1 << 18  # of a block's posteriors: they stay in cache
_ROUNDING = 32  # eps: what a sum of squares from the centre may be wrong by


class Mixture(NamedTuple):
  """p(x) = sum_k weight_k N(x; mean_k, diag(var_k)).

  A component of weight exactly 0 is as good as absent, whatever its mean and
  variance. Reference: Gong, Chen & Hu, eq. 1.
  """

  weight: jax.Array  # [K] >= 0, of sum 1
  mean: jax.Array  # [K, D]
  var: jax.Array  # [K, D] > 0


class Statistics(NamedTuple):
  """Sums over items t, p_tk the posterior of component k times t's weight.

  Centred on the means of the mixture that the posteriors are of. Those of the
  parts of a set add up to those of the whole. Reference: Gong, Chen & Hu,
  eqs. 5-8, the moments from the means in place of 0.
  """

  n: jax.Array  # [K] sum_t p_tk
  first: jax.Array  # [K, D] sum_t p_tk (x_t - mean_k)
  second: jax.Array  # [K, D] sum_t p_tk (x_t - mean_k)^2


class Terms(NamedTuple):
  """log weight_k + log N(x; k) = table_k'[1, x - centre, (x - centre)^2]."""

  table: jax.Array  # [K, 1 + 2 D], hugely negative where the weight is 0
  centre: jax.Array  # [D]
  mean: jax.Array  # [K, D] from the centre


class Posteriors(NamedTuple):
  """Those of B items, joint / total, with what their sums are taken of."""

  joint: jax.Array  # [K, B], as multiples of the largest of an item
  total: jax.Array  # [B]
  log_likelihood: jax.Array  # [B]
  features: jax.Array  # [B, 1 + 2 D]


def log_joint(mix, x):
  """log weight_k + log N(x_t; mean_k, diag(var_k)), [T, D] -> [T, K].

  Two sums in one product; both are taken from the weighted mean of the means,
  so that the error is a few eps times max |x - centre|^2 / var, whatever the
  offset of the data. -inf where the weight is 0.

  Raises:
    ValueError: the shapes of mix and x do not belong together.
  """
  mix, x, _ = checks.checked(mix, x)
  own = terms(mix)
  features = _features(x - own.centre[None])
  out = jnp.matmul(features, own.table.T, precision="highest")
  return jnp.where(mix.weight[None] > 0, out, -jnp.inf)


def log_likelihood(mix, x, mask=None):
  """log p(x_t) of the items x [T, D], times the mask, [T].

  Args:
    mix: `Mixture`.
    x: [T, D].
    mask: [T], 0 for items that do not count and 1 for others; or weights >= 0,
      so that the sum is that of a set with repeated items.

  Raises:
    ValueError: the shapes do not belong together.
  """
  return _log_likelihood(*checks.checked(mix, x, mask))


def statistics(mix, x, mask=None):
  """`Statistics` of the items x [T, D], without the [T, K] posteriors.

  Arguments and exceptions as for `log_likelihood`; an item with mask 0 may be
  NaN. A second moment that the dtype cannot tell from 0, beside the distance of
  its component from the others, is 0.
  """
  return weighted(*checks.checked(mix, x, mask))[0]


@jax.jit
def _log_likelihood(mix, x, mask):
  own = terms(mix)

  def body(part, weight, first, out):
    values = posteriors(own, part).log_likelihood * weight
    new = jax.lax.dynamic_slice_in_dim(out, first, len(part)) + values
    return jax.lax.dynamic_update_slice_in_dim(out, new, first, 0)

  return over_blocks(own, x, mask, body, mask * 0)


@jax.jit
def weighted(mix, x, mask):
  """(`Statistics`, the sum of mask * log-likelihood []), all checked."""
  own = terms(mix)

  def body(part, weight, first, carry):
    del first
    found = posteriors(own, part)
    sums = carry[0] + weighted_sums(found, weight)
    return sums, carry[1] + (found.log_likelihood * weight).sum()

  zero = own.table * 0, jnp.zeros((), x.dtype)
  sums, total = over_blocks(own, x, mask, body, zero)
  return centred(own, sums), total


def terms(mix) -> Terms:
  """The log densities as a product."""
  alive = mix.weight > 0
  weight = jnp.where(alive, mix.weight, 0)
  mean = jnp.where(alive[:, None], mix.mean, 0)
  var = jnp.where(alive[:, None], mix.var, 1)
  centre = (weight[:, None] * mean).sum(0) / weight.sum()
  mean = jnp.where(alive[:, None], mean - centre[None], 0)
  log_weight = jnp.log(jnp.where(alive, weight, 1))
  half = jnp.log(2 * jnp.pi * var) / 2 + mean**2 / (2 * var)
  constant = log_weight - half.sum(1)
  # Finite, as -inf times 0 in the derivative of a product is not 0.
  constant = jnp.where(alive, constant, jnp.finfo(var.dtype).min / 4)
  table = [constant[:, None], mean / var, -0.5 / var]
  return Terms(jnp.concatenate(table, 1), centre, mean)


def posteriors(own: Terms, x) -> Posteriors:
  """Of items x [B, D]."""
  features = _features(x - own.centre[None])
  # Components lead: the products of this layout are the quickest on a CPU.
  log = jnp.matmul(own.table, features.T, precision="highest")
  top = jax.lax.stop_gradient(log.max(0))
  joint = jnp.exp(log - top[None])
  total = joint.sum(0)
  return Posteriors(joint, total, top + jnp.log(total), features)


def weighted_sums(found: Posteriors, weight):
  """sum_t weight_t p_tk [1, y_t, y_t^2], [K, 1 + 2 D]."""
  scaled = found.features * (weight / found.total)[:, None]
  return jnp.matmul(found.joint, scaled, precision="highest")


def centred(own: Terms, sums) -> Statistics:
  """From sums [K, 1 + 2 D] about the centre to sums about each mean."""
  dim = own.mean.shape[1]
  n, first, second = sums[:, 0], sums[:, 1 : dim + 1], sums[:, dim + 1 :]
  moved = n[:, None] * own.mean
  about = second - own.mean * (2 * first - moved)
  noise = _ROUNDING * jnp.finfo(sums.dtype).eps
  seen = about > noise * (second + moved * own.mean)
  return Statistics(n, first - moved, jnp.where(seen, about, 0))


def _features(y):
  return jnp.concatenate([jnp.ones_like(y[:, :1]), y, y**2], 1)


def over_blocks(own: Terms, x, mask, body, carry):
  """Folds body(rows [B, D], their mask [B], first row, carry).

  A row that a block before has seen has the mask 0.
  """
  num = len(x)
  rows = min(num, max(128, min(2048, _ENTRIES // len(own.mean))))
  # Items that do not count may be anything.
  clean = lambda part, weight: jnp.where(
    weight[:, None] > 0, part, own.centre[None]
  )
  if rows == num:
    return body(clean(x, mask), mask, 0, carry)

  def step(index, carry):
    # The last block reaches back over rows that the one before has seen.
    first = jnp.minimum(index * rows, num - rows)
    part, weight = (
      jax.lax.dynamic_slice_in_dim(a, first, rows) for a in (x, mask)
    )
    new = first + jnp.arange(rows, dtype=first.dtype) >= index * rows
    part = clean(part, weight)
    return body(part, jnp.where(new, weight, 0), first, carry)

  return jax.lax.fori_loop(0, -(-num // rows), step, carry)
