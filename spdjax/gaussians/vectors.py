"""Vectors of a mixture that was adapted from another.

They run component by component. A component of weight 0 gives zeros.
"""

import jax.numpy as jnp

from spdjax.gaussians import checks

_NEAR = 0.25  # |l| below which the series of l / (e^l - 1) is used
# B_2k / (2k)!, k = 1 .. 6; the next term is below 1e-19 of the sum there.
_BERNOULLI = (
  *(1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160),
  -691 / 1307674368000,
)


def log_map(image, base):
  """log(M_base^-1 M_image) of each component and dimension: (scale, shift).

  M = [[s, mu], [0, 1]] with s = sqrt(var). scale = log(s / s_b) and shift =
  (mu - mu_b) (log s - log s_b) / (s - s_b), that is (mu - mu_b) / s_b times
  l / (e^l - 1) of l = scale: (mu - mu_b) / s_b where s = s_b. Both are accurate
  relative to themselves, there and near, and have all derivatives.

  Args:
    image, base: `Mixture`s with the same K and D, var > 0.

  Returns:
    scale [K, D] and shift [K, D], without units.

  Raises:
    ValueError: the shapes differ.

  Reference: Gong, Chen & Hu, eq. 25.
  """
  image, base = _checked(image, base)
  change = (image.var - base.var) / base.var
  near = jnp.abs(change) < 0.5
  # log1p keeps a small change, the log of the ratio one of many magnitudes.
  small = jnp.log1p(jnp.where(near, change, 0))
  large = jnp.log(jnp.where(near, 1, image.var / base.var))
  scale = jnp.where(near, small, large) / 2
  moved = (image.mean - base.mean) / jnp.sqrt(base.var)
  return scale, moved * _over_expm1(scale)


def lag(image, base):
  """Lie-algebrized Gaussians, [2 K D].

  sqrt(weight_k) (scale_k, shift_k) for each component in turn: its D scales of
  `log_map`, then its D shifts; the weights are the image's.

  Reference: Gong, Chen & Hu, eq. 31.
  """
  return _weighted(image, jnp.concatenate(log_map(image, base), 1))


def rlag(image, base):
  """The reduced vector, sqrt(weight_k) (mu_k - mu_base,k) / s_base,k, [K D].

  Reference: Gong, Chen & Hu, eq. 26 in eq. 31.
  """
  image, base = _checked(image, base)
  return _weighted(image, (image.mean - base.mean) / jnp.sqrt(base.var))


def klvec(image, base):
  """sqrt(weight_k) mu_k / s_base,k with the image's weights, [K D].

  Reference: Gong, Chen & Hu, eq. 32.
  """
  image, base = _checked(image, base)
  return _weighted(image, image.mean / jnp.sqrt(base.var))


def fisher(statistics, base):
  """The Fisher vector, [2 K D], zeros for statistics of no items.

  For each component the derivatives of the mean log-likelihood by its means,
  first / (s sqrt(w) T), then by its standard deviations, (second / var - n) /
  (sqrt(2 w) T), both in units of the square root of their approximate Fisher
  information; T = sum n. The improved vector takes signed roots of it and then
  unit length, which `encode` does on request.

  Raises:
    ValueError: the shapes do not belong together.

  Reference: Perronnin, Sánchez & Mensink, "Improving the Fisher Kernel for
  Large-Scale Image Classification", 2010.
  """
  base, statistics = checks.with_statistics(base, statistics, "base")
  n, first, second = statistics
  total = n.sum()
  alive = base.weight > 0
  root = jnp.sqrt(jnp.where(alive, base.weight, 1))
  by_mean = first / jnp.sqrt(base.var)
  by_scale = (second / base.var - n[:, None]) / 2**0.5
  both = jnp.concatenate([by_mean, by_scale], 1)
  both /= (root * jnp.where(total > 0, total, 1))[:, None]
  return jnp.where(alive[:, None], both, 0).ravel()


def _weighted(image, rows):
  alive = image.weight > 0
  root = jnp.sqrt(jnp.where(alive, image.weight, 1))
  return jnp.where(alive[:, None], root[:, None] * rows, 0).ravel()


def _over_expm1(l):
  """l / (e^l - 1), 1 at 0, with accurate derivatives everywhere."""
  near = jnp.abs(l) < _NEAR
  small = jnp.where(near, l, 0)
  square = small**2
  series = jnp.zeros_like(l)
  for term in reversed(_BERNOULLI):
    series = (series + term) * square
  far = jnp.where(near, 1, l)
  return jnp.where(near, 1 - small / 2 + series, far / jnp.expm1(far))


def _checked(image, base):
  """Both in one float dtype."""
  checks.check_mixture(base, "base")
  checks.check_mixture(image, "image")
  if image.mean.shape != base.mean.shape:
    raise ValueError(
      f"image must have means {base.mean.shape} as base has, got "
      f"{image.mean.shape}"
    )
  return checks.as_one_kind(image, base)
