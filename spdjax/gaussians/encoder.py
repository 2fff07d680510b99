"""From the local descriptors of an image to one vector a cell."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from spdjax.gaussians import checks, starts
from spdjax.gaussians.adaptation import adapt, check_relevance
from spdjax.gaussians.cells import cell_statistics
from spdjax.gaussians.em import checked, em
from spdjax.gaussians.mixture import Mixture
from spdjax.gaussians.vectors import fisher, klvec, lag, rlag

_OF_ADAPTED = {"lag": lag, "rlag": rlag, "klvec": klvec}
VECTORS = (*_OF_ADAPTED, "fisher")


class Encoder(NamedTuple):
  """Principal axes of descriptors, and a mixture in their coordinates."""

  mean: jax.Array  # [d]
  basis: jax.Array  # [d, q] orthonormal
  mixture: Mixture  # of D = q dimensions, or q + 2 with the place in the image


def fit_encoder(
  key,
  descriptors,
  *,
  num_components,
  dim,
  centres=None,
  weights=None,
  max_steps=20,
  tol=1e-3,
  floor=1e-3,
  start="kmeans++",
):
  """Fits principal axes and the universal background model to descriptors.

  Args:
    key: consumed.
    descriptors: [T, d] of many images; about 100 of each do.
    num_components: K.
    dim: q <= d, how many principal components are kept.
    centres: [T, 2], x and y of the patches as parts of their image, in [0, 1].
      They become two more dimensions of the mixture, as they are: a diagonal
      mixture, its start and floor, and `lag`, `rlag` and `fisher` are the same
      for any scale of a dimension. None: the mixture does not see them.
    weights: [T] >= 0, 0 for padding; None: ones.
    max_steps, tol, floor, start: as in `em`.

  Returns:
    (`Encoder`, the `Info` of `em`).

  Raises:
    ValueError: a wrong shape, name or range; descriptors that are not finite.
  """
  x, weights = checked(descriptors, weights, "descriptors")
  if not 1 <= dim <= x.shape[1]:
    raise ValueError(f"dim must be in 1..{x.shape[1]}, got {dim}")
  mean, basis = _principal(x, weights, dim=dim)
  items = _placed(_coordinates(x, mean, basis), centres)
  mix, info = em(
    key,
    items,
    num_components=num_components,
    weights=weights,
    max_steps=max_steps,
    tol=tol,
    floor=floor,
    start=start,
  )
  return Encoder(mean, basis, mix), info


def project(encoder, descriptors, centres=None):
  """Items of the encoder's mixture, [T, D], from descriptors [T, d].

  Raises:
    ValueError: the shapes do not belong together, or centres [T, 2] are missing
      where the mixture was fitted with them.
  """
  checks.check_mixture(encoder.mixture, "encoder.mixture")
  d, q = encoder.basis.shape
  if np.ndim(descriptors) != 2 or np.shape(descriptors)[1] != d:
    raise ValueError(
      f"descriptors must be [T, {d}], got shape {np.shape(descriptors)}"
    )
  kind = encoder.basis.dtype
  items = jnp.asarray(descriptors, kind)
  items = _coordinates(items, encoder.mean, encoder.basis)
  if encoder.mixture.mean.shape[1] == q:
    return items
  if centres is None:
    raise ValueError("centres are needed: the encoder was fitted with them")
  return _placed(items, centres)


def encode(
  encoder,
  descriptors,
  centres,
  cells,
  mask=None,
  *,
  vector="lag",
  relevance=16.0,
  signed_root=False,
  normalise=True,
):
  """One vector of L numbers for each of S cells of an image, [S, L].

  Posteriors are taken once for all cells. A cell without descriptors has the
  vector of the model itself: zeros, but for "klvec". Everything works under
  `jax.vmap` over images that are padded to one T.

  Args:
    encoder: `Encoder`.
    descriptors: [T, d].
    centres: [T, 2] as in `fit_encoder`; not used if that had none.
    cells: bool [S, T], whether a descriptor belongs to a cell. See
      `cell_statistics`: it is best not traced.
    mask: [T], 0 for padding, which may be anything; None: ones.
    vector: "lag", L = 2 K D; "rlag" or "klvec", L = K D; "fisher", L = 2 K D.
      Several names, in a tuple, give a dict of their vectors, at little more
      than the cost of one.
    relevance: of `adapt`, in descriptors; "fisher" has none.
    signed_root: whether v becomes sign(v) sqrt(abs(v)).
    normalise: whether the vector of a cell then gets length 1; zeros stay.

  Raises:
    ValueError: a wrong shape or name, or a negative relevance.

  Reference: Gong, Chen & Hu, sections 3.1, 3.4 and 5.
  """
  names = (vector,) if isinstance(vector, str) else tuple(vector)
  if not names:
    raise ValueError("vector must name one vector or more")
  for name in names:
    if name not in VECTORS:
      raise ValueError(
        f"vector must be one of {', '.join(VECTORS)}, got {name!r}"
      )
  check_relevance(relevance)
  items = project(encoder, descriptors, centres)
  found = _vectors(
    encoder.mixture,
    cell_statistics(encoder.mixture, items, cells, mask),
    relevance,
    names=names,
    signed_root=signed_root,
    normalise=normalise,
  )
  return found[vector] if isinstance(vector, str) else found


@functools.partial(
  jax.jit, static_argnames=("names", "signed_root", "normalise")
)
def _vectors(base, statistics, relevance, *, names, signed_root, normalise):
  """{name: [S, L]}."""

  def of_cell(own):
    adapted = adapt(base, own, relevance=relevance)
    return {
      name: fisher(own, base)
      if name == "fisher"
      else _OF_ADAPTED[name](adapted, base)
      for name in names
    }

  form = functools.partial(
    _formed, signed_root=signed_root, normalise=normalise
  )
  return jax.tree.map(form, jax.vmap(of_cell)(statistics))


def _formed(out, *, signed_root, normalise):
  """Vectors [S, L] with the roots and of the length that are asked for."""
  if signed_root:
    out = jnp.sign(out) * _root(jnp.abs(out))
  if normalise:
    length = _root(jnp.square(out).sum(1, keepdims=True))
    out = out / jnp.where(length > 0, length, 1)
  return out


def _root(a):
  """sqrt with derivative 0 at 0."""
  return jnp.where(a > 0, jnp.sqrt(jnp.where(a > 0, a, 1)), 0)


def _coordinates(x, mean, basis):
  return jnp.matmul(x - mean[None], basis, precision="highest")


def _placed(items, centres):
  if centres is None:
    return items
  if np.shape(centres) != (len(items), 2):
    raise ValueError(
      f"centres must be [{len(items)}, 2], got shape {np.shape(centres)}"
    )
  return jnp.concatenate([items, jnp.asarray(centres, items.dtype)], 1)


@functools.partial(jax.jit, static_argnames="dim")
def _principal(x, weights, *, dim):
  """(mean [d], basis [d, dim]), the leading axes first."""
  mean, _ = starts.moments(x, weights)
  x = jnp.where(weights[:, None] > 0, x, mean[None]) - mean[None]
  scatter = jnp.matmul((weights[:, None] * x).T, x, precision="highest")
  _, axes = jnp.linalg.eigh(scatter / weights.sum())
  basis = axes[:, ::-1][:, :dim]
  # The sign of an axis is free: its largest entry is positive.
  largest = jnp.argmax(jnp.abs(basis), 0)
  sign = jnp.sign(jnp.take_along_axis(basis, largest[None], 0))
  return mean, basis * sign
