"""Vectors of pictures: one for each kind of descriptor, cells side by side."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from experiments.lag import describe, mirror
from spdjax import gaussians
from spdjax.images import pyramid_cells


def levels(config):
  """The pyramid's levels as pairs (rows, columns)."""
  return tuple(tuple(map(int, cell.split("x"))) for cell in config.cells)


def encoded(config, pictures, canvas, indices, encoders, names):
  """{(kind, name): [b, S L] float32} of a batch, for encoders {kind: ...}.

  With mirrored pictures the vector is the sum of both, of length 1 a cell.
  """
  seen = describe.batch(config, pictures, canvas, indices)
  out = _encoded(config, seen, encoders, names)
  if config.mirrored:
    other = {kind: mirror.encoder(kind, own) for kind, own in encoders.items()}
    turned = seen._replace(centres=mirror.centres(seen.centres))
    other = _encoded(config, turned, other, names)
    out = {key: _unit(out[key] + other[key]) for key in out}
  return {
    key: np.asarray(v[: len(indices)].reshape(len(indices), -1))
    for key, v in out.items()
  }


def _encoded(config, seen, encoders, names):
  out = {}
  for kind, encoder in encoders.items():
    found = _of_batch(config, seen, seen.values[kind], encoder, tuple(names))
    out |= {(kind, name): own for name, own in found.items()}
  return out


def _of_batch(config, seen, values, encoder, names):
  """{name: [B, S, L]} of one kind."""
  settings = names, config.relevance, config.signed_root
  cells = np.stack(
    [
      np.asarray(pyramid_cells(centres, levels=levels(config)))
      for centres in (seen.centres[:1] if seen.alike else seen.centres)
    ]
  )
  mask = seen.mask.astype(encoder.basis.dtype)
  if seen.alike:
    # Cells that are known as the program is compiled cost less.
    run = _alike(cells[0].tobytes(), cells[0].shape, *settings)
    return run(encoder, values, seen.centres[0], mask)
  return _mixed(*settings)(encoder, values, seen.centres, cells, mask)


@functools.lru_cache(maxsize=64)
def _alike(cells, shape, *settings):
  """Vectors of a batch whose pictures share their centres and cells."""
  cells = np.frombuffer(cells, bool).reshape(shape)

  @jax.jit
  def run(encoder, values, centres, mask):
    one = lambda own: _encode(encoder, own[0], centres, cells, own[1], settings)
    return jax.lax.map(one, (values, mask))

  return run


@functools.lru_cache(maxsize=64)
def _mixed(*settings):
  """Vectors of a batch of pictures of several sizes."""

  @jax.jit
  def run(encoder, *batch):
    return jax.lax.map(lambda own: _encode(encoder, *own, settings), batch)

  return run


def _encode(encoder, values, centres, cells, mask, settings):
  vector, relevance, signed_root = settings
  return gaussians.encode(
    encoder,
    values,
    centres,
    cells,
    mask,
    vector=vector,
    relevance=relevance,
    signed_root=signed_root,
  )


def _unit(v):
  """Every cell [.., L] of length 1; zeros stay."""
  length = jnp.linalg.norm(v, axis=-1, keepdims=True)
  return v / jnp.where(length > 0, length, 1)
