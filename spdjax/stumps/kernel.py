"""The learned kernel, its feature map, and the classifier on it."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from spdjax.classify import values
from spdjax.stumps.mappings import check_features, evaluate, num_mappings

_ENTRIES = 1 << 22  # of a block of responses


class Model(NamedTuple):
  """A kernel of K kept stumps, and a linear SVM on its features.

  The score of class c is bias[c] + sum_k weights[c, k] r_k(x), with r_k = 1
  where stump k answers and -1 elsewhere.
  """

  stumps: Any  # mappings
  theta: jax.Array  # [K] >= 0, the weights of the kernel
  weights: jax.Array  # [C, K]
  bias: jax.Array  # [C]
  classes: np.ndarray  # [C] labels as they were given, in order


def kernel(stumps, theta, x, z):
  """K(x, z) = sum_k theta_k [sigma_k(x) = sigma_k(z)], [N, M].

  For items x [N, D] and z [M, D].

  Raises:
    ValueError: theta is not [K] numbers >= 0, or x or z lacks features.

  Reference: Roig, Boix & Van Gool, eq. 3.
  """
  theta = _theta(stumps, theta)
  left, right = (_responses(stumps, items, theta.dtype) for items in (x, z))
  product = jnp.matmul(left * theta[None], right.T, precision="highest")
  return (theta.sum() + product) / 2


def feature_map(stumps, theta, x):
  """phi(x), [N, D] -> [N, 2K], with phi(x)'phi(z) = K(x, z).

  sqrt(theta_k) sigma_k for all k, then sqrt(theta_k) (1 - sigma_k).

  Raises:
    ValueError: theta is not [K] numbers >= 0, or x lacks features.

  Reference: Roig, Boix & Van Gool, eq. 4.
  """
  theta = _theta(stumps, theta)
  bits = evaluate(stumps, x)
  both = jnp.concatenate([bits, ~bits], 1).astype(theta.dtype)
  return both * jnp.sqrt(jnp.concatenate([theta, theta]))[None]


def decision(model, x):
  """Scores [N, C] of items x [N, D], in blocks of rows.

  Raises:
    ValueError: x is not [N, D], or has fewer features than the model looks at.
  """
  if not isinstance(model, Model):
    raise ValueError(
      f"model must be a Model, as fit returns first, got {type(model).__name__}"
    )
  x = values.floats(x)
  if x.ndim != 2:
    raise ValueError(f"x must be [N, D], got shape {x.shape}")
  check_features(model.stumps, x)
  if not len(x):
    return jnp.zeros((0, len(model.weights)), model.weights.dtype)
  return _decision(model.stumps, model.weights, model.bias, x)


@jax.jit
def _decision(stumps, weights, bias, x):
  # w'r = 2 w'sigma - sum w: the bits are used as they come.
  twice, offset = 2 * weights.T, bias - weights.sum(1)
  block = max(1, min(_ENTRIES // max(1, weights.shape[1]), len(x)))
  out = jnp.zeros((len(x), len(weights)), weights.dtype)

  def body(index, out):
    first = jnp.minimum(index * block, len(x) - block)
    own = jax.lax.dynamic_slice_in_dim(x, first, block)
    bits = evaluate(stumps, own).astype(weights.dtype)
    scores = jnp.matmul(bits, twice, precision="highest") + offset[None]
    return jax.lax.dynamic_update_slice(out, scores, (first, 0))

  return jax.lax.fori_loop(0, -(-len(x) // block), body, out)


def predict(model, x):
  """Labels [N] of items x [N, D]; equal scores go to the earlier class.

  Raises:
    ValueError: as `decision`; where x is traced, labels that JAX cannot hold,
      such as strings.
  """
  best = jnp.argmax(decision(model, x), 1)
  classes = np.asarray(model.classes)
  if not isinstance(best, jax.core.Tracer):
    return classes[np.asarray(best)]
  held = classes.dtype.kind in "biuf"
  if held:
    kind = jax.dtypes.canonicalize_dtype(classes.dtype)
    held = (classes.astype(kind) == classes).all()
  if not held:
    raise ValueError(
      f"labels of {classes.dtype} cannot be traced; take jnp.argmax(decision("
      "model, x), 1) inside, and the classes outside"
    )
  return jnp.asarray(classes)[best]


def _theta(stumps, theta):
  return values.weights(theta, num_mappings(stumps), "theta")


def _responses(stumps, x, kind):
  return 2 * evaluate(stumps, x).astype(kind) - 1
