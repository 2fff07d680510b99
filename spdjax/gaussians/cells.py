"""Statistics of many cells of one image, with its posteriors taken once."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from spdjax.gaussians import checks, mixture
from spdjax.gaussians.mixture import Statistics

_ROWS = (256, 512, 1024, 2048)  # of a block
_ITS_OWN = 256  # what a block costs besides its rows, in rows


class Plan(NamedTuple):
  """Items in blocks of B, all items of a block in the same cells.

  The sums of a block are taken once and then given to its cells.
  """

  rows: np.ndarray  # [N, B] which items
  used: np.ndarray  # [N, B] bool, False for filling
  member: np.ndarray  # [S, N] bool, whether a block is in a cell


def cell_statistics(mix, x, cells, mask=None) -> Statistics:
  """`Statistics` of the items of each of S cells, with a leading axis [S].

  Where cells is not traced, items that are in the same cells are summed once,
  whatever the number of cells: a pyramid costs little more than its first
  level. Where it is traced, sums are taken for each cell.

  Args:
    mix: `Mixture`.
    x: [T, D].
    cells: bool [S, T], whether an item is in a cell.
    mask: [T], as in `statistics`.

  Raises:
    ValueError: the shapes do not belong together.
  """
  mix, x, mask = checks.checked(mix, x, mask)
  _check(cells, len(x))
  if len(x) == 0:
    zero = jax.tree.map(jnp.zeros_like, Statistics(*mix))
    spread = lambda a: jnp.broadcast_to(a[None], (len(cells), *a.shape))
    return jax.tree.map(spread, zero)
  found = None
  if not isinstance(cells, jax.core.Tracer):
    # Amid a compilation the cells are part of the program.
    found = plan(cells, exact=isinstance(x, jax.core.Tracer))
  if found is None:
    return _by_cell(mix, x, jnp.asarray(cells, bool), mask)
  return _by_block(mix, x, mask, found)


def plan(cells, exact=False):
  """A `Plan` for cells [S, T], or None where it would save nothing.

  Large blocks have quicker products, small ones less filling. The number of
  blocks is what they need if `exact`; else it depends on T, the size chosen
  and, in powers of two, on the number of different columns of cells, so that
  other cells need not compile again.
  """
  cells = np.asarray(cells, bool)
  groups = _groups(cells)
  number = lambda rows: (
    sum(-(-len(group) // rows) for group in groups)
    if exact
    else -(-cells.shape[1] // rows) + (1 << (len(groups) - 1).bit_length())
  )
  size = min(_ROWS, key=lambda rows: number(rows) * (rows + _ITS_OWN))
  blocks = number(size)
  if 2 * blocks * size >= (1 + len(cells)) * cells.shape[1]:
    return None
  rows = np.zeros((blocks, size), np.int32)
  used = np.zeros((blocks, size), bool)
  member = np.zeros((len(cells), blocks), bool)
  parts = (g[i : i + size] for g in groups for i in range(0, len(g), size))
  for index, part in enumerate(parts):
    rows[index, : len(part)], used[index, : len(part)] = part, True
    member[:, index] = cells[:, part[0]]
  return Plan(rows, used, member)


def _groups(cells):
  """Lists of the items that are in the same cells."""
  codes = np.ascontiguousarray(np.packbits(cells, axis=0).T)
  codes = codes.view(f"V{codes.shape[1]}").ravel()
  _, group = np.unique(codes, return_inverse=True)
  order = np.argsort(group, kind="stable")
  return np.split(order, np.cumsum(np.bincount(group))[:-1])


@jax.jit
def _by_block(mix, x, mask, plan):
  own = mixture.terms(mix)
  weight = jnp.where(plan.used, mask[plan.rows], 0)
  parts = jnp.where(weight[..., None] > 0, x[plan.rows], own.centre[None, None])

  def sums(block):
    part, weight = block
    return mixture.weighted_sums(mixture.posteriors(own, part), weight)

  blocks = jax.lax.map(sums, (parts, weight))
  member = plan.member.astype(x.dtype)
  total = jnp.tensordot(member, blocks, 1, precision="highest")
  return jax.vmap(mixture.centred, (None, 0))(own, total)


@jax.jit
def _by_cell(mix, x, cells, mask):
  own = mixture.terms(mix)
  sums = jax.vmap(mixture.weighted_sums, (None, 0))
  weight = jnp.where(cells, mask[None], 0)

  def body(part, new, first, total):
    here = jax.lax.dynamic_slice_in_dim(weight, first, len(part), 1)
    here = jnp.where(new[None] > 0, here, 0)
    return total + sums(mixture.posteriors(own, part), here)

  zero = jnp.zeros((len(cells), *own.table.shape), x.dtype)
  total = mixture.over_blocks(own, x, mask, body, zero)
  return jax.vmap(mixture.centred, (None, 0))(own, total)


def _check(cells, num):
  """Raises ValueError unless cells is [S, num]."""
  if np.ndim(cells) != 2 or np.shape(cells)[1] != num:
    raise ValueError(f"cells must be [S, {num}], got shape {np.shape(cells)}")
