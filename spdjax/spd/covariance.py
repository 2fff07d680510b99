"""Covariance matrices of features, and what repairs them."""

import jax
import jax.numpy as jnp
import numpy as np

_HIGHEST = jax.lax.Precision.HIGHEST


def covariance(features, weights=None):
  """C = O J J' O', J = r^(-3/2) (r I - 1 1'), the biased (1/r) covariance.

  O' = `features` holds a sample a row; the covariance is computed from centred
  samples, so a common offset costs no accuracy. It needs r > n to be SPD; see
  `check_samples`.

  Args:
    features: [..., r, n], integers are widened.
    weights: [..., r], not negative; divided by their sum. A sample of weight
      zero is removed, whatever it holds.

  Returns:
    [..., n, n], symmetric bit for bit. NaN where traced weights sum to zero.

  Raises:
    ValueError: on a wrong rank, no samples, and weights of a wrong shape or, if
      they are concrete, negative, not finite or all zero.

  Harandi et al. (2017), section on region covariance descriptors.
  """
  features = real(features)
  if features.ndim < 2 or 0 in features.shape[-2:]:
    raise ValueError(
      f"features must be [..., r, n] with r > 0, got shape {features.shape}"
    )
  if weights is None:
    weights = jnp.ones(features.shape[:-1], features.dtype)
  else:
    weights = _check_weights(weights, features)
  weights = (weights / weights.sum(-1, keepdims=True))[..., None]
  centred = jnp.where(weights == 0, 0, features)
  # Twice: the first mean carries the rounding of the offset, the second does
  # not, since the offset is gone.
  for _ in range(2):
    mean = (weights * centred).sum(-2, keepdims=True)
    centred = jnp.where(weights == 0, 0, centred - mean)
  product = jnp.matmul((weights * centred).mT, centred, precision=_HIGHEST)
  return (product + product.mT) / 2


def real(x):
  x = jnp.asarray(x)
  floating = jnp.issubdtype(x.dtype, jnp.floating)
  return x if floating else x.astype(jnp.result_type(float))


def _check_weights(weights, features):
  if np.ndim(weights) < 1 or np.shape(weights)[-1] != features.shape[-2]:
    raise ValueError(
      f"weights must be [..., {features.shape[-2]}], one a sample, "
      f"got shape {np.shape(weights)}"
    )
  if not isinstance(weights, jax.core.Tracer):
    values = np.asarray(weights)
    if not (np.isfinite(values).all() and (values >= 0).all()):
      raise ValueError("weights must be finite and not negative")
    if not values.any(-1).all():
      raise ValueError("weights must not all be zero")
  weights = jnp.asarray(weights).astype(features.dtype)
  return jnp.broadcast_to(weights, features.shape[:-1])


def shrink(x, amount):
  """(1 - amount) X + amount tr(X)/n I of x [..., n, n], amount in [0, 1].

  The trace is kept (Ledoit & Wolf, 2004). `amount` is a scalar.
  """
  return (1 - amount) * x + _mean_variance(x) * amount


def regularise(x, amount):
  """X + amount tr(X)/n I of x [..., n, n]: a ridge relative to the scale of X.

  `amount` is a scalar, not negative.
  """
  return x + _mean_variance(x) * amount


def _mean_variance(x):
  """tr(X)/n I."""
  n = x.shape[-1]
  trace = jnp.trace(x, axis1=-2, axis2=-1)[..., None, None]
  return trace / n * jnp.broadcast_to(jnp.eye(n, dtype=x.dtype), x.shape)


def condition(x):
  """Largest over smallest eigenvalue of symmetric x [..., n, n] -> [...].

  inf where the smallest is not positive.
  """
  w = jnp.linalg.eigvalsh(x)
  positive = ~(w[..., 0] <= 0)
  ratio = w[..., -1] / jnp.where(positive, w[..., 0], 1)
  return jnp.where(positive, ratio, jnp.inf)
