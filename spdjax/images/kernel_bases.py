"""The bases of kernel descriptors and their kernel principal components.

A joint kernel here is a product of kernels exp(-gamma norm(x - p)^2), one a
factor: of what a pixel shows (in one to three factors) and of its row and its
column in the patch. Its basis is the product of the factors' bases, so its Gram
matrix G is a Kronecker product and has the products of the factors' eigenpairs
(d_j, q_j). Centring, H G H with H = I - w w' and w = 1/sqrt(n), touches only
those with w'q_j != 0, of equal eigenvalues one combination: among them a small
eigenproblem is left, and all others are components as they stand. So a
component reads few products of functions of one factor, e_j(z) = sum_i q_ij
k(z, p_i) / sqrt(d_j): a descriptor never meets the whole basis.

Nothing is cut off: the components are those of the whole Gram matrix.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

_NEAR = 1e-9  # eigenvalues closer than this, relatively, count as equal
_SMALLEST = 1e-8  # of the eigenvalues kept, over the largest


class Factor(NamedTuple):
  """A kernel exp(-gamma norm(x - p)^2) on its basis."""

  points: np.ndarray  # [n, k] the basis
  gamma: float
  values: np.ndarray  # [n] eigenvalues of its Gram matrix
  vectors: np.ndarray  # [n, n] eigenvectors, in columns
  binary: bool = False  # all patterns of bits, which is all a pixel can show


class Pixel(NamedTuple):
  """The functions of one factor at a pixel: exp(-gamma norm(x - p)^2) modes."""

  points: np.ndarray  # [n, k]
  gamma: np.ndarray  # []
  modes: np.ndarray  # [n, n] eigenvectors over the roots of the eigenvalues


class Bits(NamedTuple):
  """The same of bits, sqrt(d_j) q_j: products of the signs in pattern j."""

  scale: np.ndarray  # [n]


class Basis(NamedTuple):
  """What a descriptor of d components reads, step by step."""

  pixel: tuple[Pixel | Bits, ...]  # what a pixel shows, a factor each
  places: np.ndarray  # [R, patch] functions of a row or column of the patch
  down: np.ndarray  # [1 + factors, V] function of the row, mode of each factor
  across: np.ndarray  # [2, F] function of the column, place in `down`
  projection: np.ndarray  # [F, d] components by these F products


class Component(NamedTuple):
  """A component sum_j weights_j e_j, of unit norm in feature space."""

  value: float  # its eigenvalue
  products: np.ndarray  # [p] indices j
  weights: np.ndarray  # [p]


def _line(gamma):
  """Five points from 0 to 1."""
  points = np.linspace(0, 1, 5)[:, None]
  values, vectors = np.linalg.eigh(np.exp(-gamma * (points - points.T) ** 2))
  return Factor(points, gamma, values[::-1], vectors[:, ::-1])


def _circle(gamma, num=25):
  """(sin, cos) of `num` angles, an odd number; the modes are harmonics."""
  angles = 2 * np.pi * np.arange(num) / num
  row = np.exp(2 * gamma * (np.cos(angles) - 1))
  orders = np.repeat(np.arange(num // 2 + 1), 2)[1:]
  waves = angles[:, None] * orders[None]
  vectors = np.where(np.arange(num) % 2, np.cos(waves), np.sin(waves))
  vectors[:, 0] = 1
  values = np.fft.fft(row).real[orders]
  points = np.stack([np.sin(angles), np.cos(angles)], 1)
  return Factor(
    points, gamma, values, vectors / np.linalg.norm(vectors, axis=0)
  )


def _cube(gamma, num=4):
  """All patterns of `num` bits; the modes are their signed products."""
  points = np.array(list(np.ndindex((2,) * num)), float)
  near, far = 1 + np.exp(-gamma), 1 - np.exp(-gamma)
  order = points.sum(1)
  vectors = 1 - 2 * (points @ points.T % 2)
  values = near ** (num - order) * far**order
  return Factor(points, gamma, values, vectors / np.sqrt(len(points)), True)


POSITION = _line(3.0)
FACTORS = {
  "gradient": (_circle(5.0),),
  "shape": (_cube(2.0), _cube(2.0)),  # 8 bits, four a factor
  "colour": (_line(4.0),) * 3,
}


@functools.lru_cache
def basis(kind, patch, dim) -> Basis:
  """The basis for patches of `patch` pixels a side, in float64.

  A pixel's place is its centre, (k + 1/2) / patch.

  Raises:
    ValueError: on a number of components that the Gram matrix does not have.
  """
  factors = (*FACTORS[kind], POSITION, POSITION)
  products, projection = components(kind, dim)
  *modes, row, column = np.unravel_index(products, _shape(factors))
  down, place = np.unique([row, *modes], axis=1, return_inverse=True)
  centres = (np.arange(patch)[:, None] + 0.5) / patch
  distances = np.square(centres - POSITION.points.T)
  places = np.exp(-POSITION.gamma * distances) @ _modes(POSITION)
  return Basis(
    tuple(map(_pixel, FACTORS[kind])),
    places.T,
    down,
    np.stack([column, place.ravel()]),
    projection,
  )


def _pixel(factor):
  if factor.binary:
    return Bits(np.sqrt(factor.values / len(factor.points)))
  return Pixel(factor.points, np.array(factor.gamma), _modes(factor))


def components(kind, dim):
  """The largest `dim` components: products j [F] and weights [F, dim].

  Among equal eigenvalues the lower product comes first. Each has the sign that
  makes the largest of its coefficients on the basis (the first of several)
  positive.
  """
  factors = (*FACTORS[kind], POSITION, POSITION)
  values = _outer([f.values for f in factors])
  ones = _outer([f.vectors.sum(0) / np.sqrt(len(f.values)) for f in factors])
  found = _principal(values, ones)
  if not 1 <= dim <= len(found):
    raise ValueError(f"dim must be in 1..{len(found)} for {kind}, got {dim}")
  found = found[:dim]
  products = np.unique(np.concatenate([c.products for c in found]))
  weights = np.zeros((len(products), dim))
  for t, component in enumerate(found):
    weights[np.searchsorted(products, component.products), t] = (
      component.weights
    )
  signs = _signs(_on_points(factors, products, weights))
  return products, weights * signs[None]


def coefficients(kind, dim):
  """alpha [n, dim]: the components are sum_i alpha_i k(., p_i).

  The points p_i of the joint basis in order of the factors, the last one's
  running fastest: what a pixel shows, the row, the column.
  """
  factors = (*FACTORS[kind], POSITION, POSITION)
  return _on_points(factors, *components(kind, dim))


def _on_points(factors, products, weights):
  parts = np.unravel_index(products, _shape(factors))
  alpha = np.ones((1, len(products)))
  for factor, part in zip(factors, parts, strict=True):
    own = _modes(factor)[:, part]
    alpha = (alpha[:, None] * own[None]).reshape(-1, len(products))
  return alpha @ weights


def _shape(factors):
  return tuple(len(f.values) for f in factors)


def _modes(factor):
  return factor.vectors / np.sqrt(factor.values)[None]


def _outer(parts):
  return functools.reduce(np.multiply.outer, parts).ravel()


def _signs(alpha):
  size = np.abs(alpha)
  first = np.argmax(size >= (1 - 1e-6) * size.max(0), 0)
  return np.sign(alpha[first, np.arange(alpha.shape[1])])


def _principal(values, ones) -> list[Component]:
  """Eigenpairs of H diag(values) H, the largest first; H = I - ones ones'."""
  groups = _groups(values)
  found, coupled = [], []
  for group in groups:
    moved = group[np.abs(ones[group]) > _NEAR]
    still = np.setdiff1d(group, moved)
    found += [Component(values[j], np.array([j]), np.ones(1)) for j in still]
    if len(moved):
      turn = _reflection(ones[moved])
      coupled.append(Component(values[moved].mean(), moved, turn[:, 0]))
      found += [
        Component(values[moved].mean(), moved, w) for w in turn[:, 1:].T
      ]
  found += _centred(coupled, ones)
  floor = _SMALLEST * max(c.value for c in found)
  found = [c for c in found if c.value > floor]
  key = lambda c: (-round(math.log(c.value) / _NEAR / 10), c.products[0])
  return sorted(found, key=key)


def _groups(values):
  """Indices in runs of equal values."""
  order = np.argsort(-values, kind="stable")
  falls = -np.diff(values[order]) > _NEAR * values[order][:-1]
  runs = np.split(order, np.flatnonzero(falls) + 1)
  return [np.sort(run) for run in runs]


def _reflection(w):
  """Orthogonal [p, p] whose first column is along w."""
  w = w / np.linalg.norm(w)
  sign = 1.0 if w[0] >= 0 else -1.0
  v = w + sign * np.eye(len(w))[0]
  return np.eye(len(w)) - np.outer(v, v) / (1 + sign * w[0])


def _centred(coupled, ones):
  """Components among combinations of distinct values that centring couples."""
  values = np.array([c.value for c in coupled])
  w = np.array([c.weights @ ones[c.products] for c in coupled])
  h = np.eye(len(w)) - np.outer(w, w)
  # Without the smallest, which is 0: the direction of w itself.
  new, vectors = (part[..., 1:] for part in np.linalg.eigh(h * values @ h))
  products = np.concatenate([c.products for c in coupled])
  for value, vector in zip(new, vectors.T, strict=True):
    scaled = np.sqrt(values / value) * vector
    weights = [s * c.weights for s, c in zip(scaled, coupled, strict=True)]
    order = np.argsort(products)
    yield Component(value, products[order], np.concatenate(weights)[order])
