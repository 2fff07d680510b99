"""Starting subspaces for a reduction."""

import jax
import jax.numpy as jnp
import numpy as np

from spdjax import grassmann, spd

NAMES = ("pca", "between", "random", "identity")


def leading(s, dim):
  """Eigenvectors [n, dim] of the largest eigenvalues of symmetric s [n, n]."""
  return jnp.linalg.eigh(s)[1][:, ::-1][:, :dim]


def between_scatter(x, y):
  """sum_c N_c (mean of log X in c - mean of log X)^2, [n, n]."""
  logs = spd.logm(x)
  labels, index = np.unique(np.asarray(y), return_inverse=True)
  member = jnp.asarray(index[None] == np.arange(len(labels))[:, None], x.dtype)
  count = member.sum(1)
  flat = jnp.matmul(member, logs.reshape(len(x), -1), precision="highest")
  gaps = flat / count[:, None] - logs.mean(0).reshape(1, -1)
  gaps = gaps.reshape(-1, *x.shape[1:])
  return jnp.einsum("c,cij,cjk->ik", count, gaps, gaps, precision="highest")


def make(key, starts, x, y, dim):
  """Orthonormal starts [S, n, dim].

  Args:
    key: for the random ones, or None.
    starts: a name ("pca", the leading eigenvectors of the mean; "between",
      those of the between-class scatter of logs; "random"; "identity", the
      first columns), several of them, their number (one "pca", the others
      random), or an array [n, dim] or [S, n, dim].
    x, y: SPD [N, n, n] and labels [N] or None.

  Raises:
    ValueError: an unknown name, no start, or a wrong shape.
  """
  n = x.shape[-1]
  if isinstance(starts, int):
    starts = ("pca", "random")[: max(0, starts)] + ("random",) * (starts - 2)
  if isinstance(starts, str):
    starts = (starts,)
  if not isinstance(starts, tuple | list):
    given = jnp.asarray(starts, x.dtype).reshape(-1, *starts.shape[-2:])
    if given.shape[1:] != (n, dim):
      raise ValueError(
        f"starts must be [S, {n}, {dim}] or [{n}, {dim}], not {starts.shape}"
      )
    return jnp.linalg.qr(given)[0]
  if not starts:
    raise ValueError("at least one start is needed")
  return jnp.stack(
    [_named(key, k, name, x, y, dim) for k, name in enumerate(starts)]
  )


def _named(key, index, name, x, y, dim):
  if name == "pca":
    return leading(x.mean(0), dim)
  if name == "between":
    if y is None:
      raise ValueError("the start 'between' needs labels y")
    return leading(between_scatter(x, y), dim)
  if name == "random":
    if key is None:
      raise ValueError("the start 'random' needs a key")
    own = jax.random.fold_in(key, index)
    return grassmann.random(own, x.shape[-1], dim).astype(x.dtype)
  if name == "identity":
    return jnp.eye(x.shape[-1], dim, dtype=x.dtype)
  raise ValueError(f"unknown start {name!r}; the starts are {', '.join(NAMES)}")
