"""Nearest neighbours from a matrix of distances."""

import jax
import jax.numpy as jnp
import numpy as np


def nearest_neighbour(distances, labels, *, k=1):
  """Label of the majority among the k nearest of M items, for N queries.

  Ties are broken towards the lowest label, both between equal distances and
  between equal votes, so the answer does not depend on the order of the items.
  A NaN distance never wins against a number and never votes beside one; in a
  row of NaN alone all items count as equally far.

  Args:
    distances: [N, M], squared or not: only their order counts.
    labels: [M] integers, traced or not; or any other numpy labels (strings,
      booleans) outside of jit, which come back as a numpy array.
    k: number of voters, 1 <= k <= M.

  Returns:
    [N] labels, as given.

  Raises:
    ValueError: on a wrong rank or length, on k outside 1..M, and on labels that
      are not integers with distances that are traced.
  """
  distances = _check(distances, labels, k)
  if isinstance(labels, jax.Array) or np.asarray(labels).dtype.kind in "iu":
    return _vote(distances, jnp.asarray(labels), k)
  if isinstance(distances, jax.core.Tracer):
    raise ValueError("labels must be integers where distances are traced")
  classes, codes = np.unique(np.asarray(labels), return_inverse=True)
  return classes[np.asarray(_vote(distances, jnp.asarray(codes), k))]


def _check(distances, labels, k):
  distances = jnp.asarray(distances)
  if distances.ndim != 2 or distances.shape[1] == 0:
    raise ValueError(
      f"distances must be [N, M] with M > 0, got shape {distances.shape}"
    )
  if np.shape(labels) != distances.shape[1:]:
    raise ValueError(
      f"labels must be [{distances.shape[1]}], one a column of distances, "
      f"got shape {np.shape(labels)}"
    )
  if not 1 <= k <= distances.shape[1]:
    raise ValueError(f"k must be in 1..{distances.shape[1]}, got {k}")
  if not jnp.issubdtype(distances.dtype, jnp.floating):
    distances = distances.astype(jnp.result_type(float))
  return distances


def _vote(distances, labels, k):
  labels = jnp.broadcast_to(labels[None], distances.shape)
  missing = jnp.isnan(distances)
  distances = jnp.where(missing, 0, distances)
  # A row of NaN alone votes all the same, so that it gets a defined label.
  missing &= ~missing.all(1, keepdims=True)
  if k == 1:
    # No sort: this is the whole cost of a large matrix.
    nearest = jnp.where(missing, jnp.inf, distances).min(1, keepdims=True)
    return _lowest(labels, ~missing & (distances == nearest))
  keys = (missing, distances, labels)
  missing, _, labels = jax.lax.sort(keys, num_keys=3)
  return _majority(labels[:, :k], ~missing[:, :k])


def _majority(labels, valid):
  """Most frequent of the valid labels [N, k], the lowest of several."""
  same = labels[:, :, None] == labels[:, None, :]
  votes = (same & valid[:, None, :]).sum(-1)
  return _lowest(labels, valid & (votes == votes.max(1, keepdims=True)))


def _lowest(labels, chosen):
  top = labels.max(1, keepdims=True)  # never below a chosen one, any dtype
  return jnp.where(chosen, labels, top).min(1)
