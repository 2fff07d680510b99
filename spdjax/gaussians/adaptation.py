"""Adapting a mixture of many images to the items of one."""

import jax
import jax.numpy as jnp
import numpy as np

from spdjax.gaussians import checks, mixture
from spdjax.gaussians.mixture import Mixture


def adapt(
  mix, statistics, *, relevance=16.0, means=True, variances=True, weights=True
):
  """One maximum a posteriori step from a universal background model.

  With alpha_k = n_k / (n_k + relevance), T = sum n and the moments f = first /
  n and s = second / n about the model's means,

    weight = [alpha n / T + (1 - alpha) weight] gamma, gamma so that they sum
      to 1,
    mean = mean + alpha f,
    var = alpha (s - f^2) + (1 - alpha) (var + alpha f^2),

  which are the paper's equations without its differences of squares. Then var
  is at least (1 - alpha) times the model's; it never falls below eps times it.

  Args:
    mix: the model, `Mixture`.
    statistics: `Statistics` of the image's items under it. A component that has
      none keeps its mean and variance; an image without items keeps all.
    relevance: r >= 0, in items; with 0 the items alone decide.
    means, variances, weights: what is adapted; the rest stays the model's.

  Raises:
    ValueError: wrong shapes, or a negative relevance.

  Reference: Gong, Chen & Hu, eqs. 2-4 and 9.
  """
  mix, statistics = checks.with_statistics(mix, statistics)
  check_relevance(relevance)
  n, first, second = statistics
  some, total = n > 0, n.sum()
  count = jnp.where(some, n, 1)
  alpha = jnp.where(some, count / (count + jnp.asarray(relevance, n.dtype)), 0)
  share = jnp.where(total > 0, n / jnp.where(total > 0, total, 1), 0)
  weight = alpha * share + (1 - alpha) * mix.weight
  alpha, count = alpha[:, None], count[:, None]
  move = first / count if means else jnp.zeros_like(first)
  own = jnp.maximum(second / count - move**2, 0)
  var = alpha * own + (1 - alpha) * (mix.var + alpha * move**2)
  least = jnp.finfo(var.dtype).eps * mix.var
  return Mixture(
    weight / weight.sum() if weights else mix.weight,
    mix.mean + alpha * move,
    jnp.maximum(var, least) if variances else mix.var,
  )


def adapt_images(mix, x, mask=None, *, relevance=16.0):
  """`adapt` to each of B images, as a `Mixture` with leading axes [B].

  Args:
    mix: the model, `Mixture`.
    x: [B, T, D], the images' items, padded to equally many.
    mask: [B, T], 1 for items and 0 for padding, which may be anything; or
      weights >= 0. None: ones.
    relevance: as in `adapt`.

  Raises:
    ValueError: the shapes do not belong together, or a negative relevance.
  """
  if np.ndim(x) != 3:
    raise ValueError(f"x must be [B, T, D], got shape {np.shape(x)}")
  if mask is None:
    mask = np.ones(np.shape(x)[:2], bool)
  if np.shape(mask) != np.shape(x)[:2]:
    raise ValueError(
      f"mask must be {list(np.shape(x)[:2])}, got shape {np.shape(mask)}"
    )
  check_relevance(relevance)
  return _adapt_images(mix, jnp.asarray(x), jnp.asarray(mask), relevance)


@jax.jit
def _adapt_images(mix, x, mask, relevance):
  def of_image(x, mask):
    own, x, mask = checks.checked(mix, x, mask)
    statistics, _ = mixture.weighted(own, x, mask)
    return adapt(own, statistics, relevance=relevance)

  return jax.vmap(of_image)(x, mask)


def check_relevance(relevance):
  """Raises ValueError unless it is >= 0."""
  if isinstance(relevance, jax.core.Tracer):
    return
  if not 0 <= float(relevance) < np.inf:
    raise ValueError(
      f"relevance must be at least 0 and finite, got {relevance}"
    )
