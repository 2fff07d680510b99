"""Kernel descriptors against their definition, patch by patch."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax.images import (
  kernel_bases,
  kernel_descriptors,
  kernel_descriptors_batch,
)

pytestmark = pytest.mark.slow

KINDS = ("gradient", "shape", "colour")
SHAPE = (19, 26)
GRIDS = {8: 5, 16: 3}  # patch: stride
LINE = np.linspace(0, 1, 5)
PLACES = np.stack(np.meshgrid(LINE, LINE, indexing="ij"), -1).reshape(-1, 2)
ANGLES = 2 * np.pi * np.arange(25) / 25
POINTS = {
  "gradient": np.stack([np.sin(ANGLES), np.cos(ANGLES)], -1),
  "shape": np.array(list(np.ndindex((2,) * 8)), float),
  "colour": np.array(list(np.ndindex((5,) * 3))) / 4,
}
GAMMA = {"gradient": 5.0, "shape": 2.0, "colour": 4.0}


def _image(kind, shape=SHAPE, seed=0):
  last = (3,) if kind == "colour" else ()
  return np.random.default_rng(seed).random(shape + last)


def _kernel(x, z, gamma):
  return np.exp(-gamma * ((x[:, None] - z[None]) ** 2).sum(-1))


def _pixel(kind, image, y, x):
  """The weight and the attribute of a pixel, from the definition."""
  if kind == "colour":
    return 1.0, image[y, x]
  height, width = image.shape
  at = lambda dy, dx: image[
    min(max(y + dy, 0), height - 1), min(max(x + dx, 0), width - 1)
  ]
  if kind == "gradient":
    dy, dx = (at(1, 0) - at(-1, 0)) / 2, (at(0, 1) - at(0, -1)) / 2
    angle = np.arctan2(dy, dx)
    return np.hypot(dy, dx), np.array([np.sin(angle), np.cos(angle)])
  ring = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]
  square = [at(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
  return np.std(square), np.array([at(*o) > at(0, 0) for o in ring], float)


def _patch(kind, image, top, left, patch, alpha):
  """F [dim] of one patch: the sum over its pixels, on the whole basis."""
  places = [(i, j) for i in range(patch) for j in range(patch)]
  pixels = [_pixel(kind, image, top + i, left + j) for i, j in places]
  m = np.array([weight for weight, _ in pixels])
  floor = {"gradient": 0.8, "shape": 0.2}
  if kind in floor:
    m = m / np.sqrt((m**2).sum() + floor[kind])
  shown = _kernel(np.stack([a for _, a in pixels]), POINTS[kind], GAMMA[kind])
  place = _kernel((np.array(places) + 0.5) / patch, PLACES, 3.0)
  return np.einsum("z,zi,zj->ij", m, shown, place).ravel() @ alpha


def _definition(kind, image, patch, stride, alpha):
  corners = [
    (top, left)
    for top in range(0, image.shape[0] - patch + 1, stride)
    for left in range(0, image.shape[1] - patch + 1, stride)
  ]
  values = [_patch(kind, image, *c, patch, alpha) for c in corners]
  return np.stack(values), np.array(corners)


@functools.lru_cache
def _coefficients(kind, dim=200):
  return kernel_bases.coefficients(kind, dim)


def _centred_gram(kind, alpha):
  """H G H alpha, with G the Gram matrix of the joint basis."""
  shown = _kernel(POINTS[kind], POINTS[kind], GAMMA[kind])
  place = _kernel(PLACES, PLACES, 3.0)
  alpha = alpha - alpha.mean(0)
  parts = alpha.reshape(len(shown), 25, -1)
  parts = np.tensordot(shown, parts, 1)
  parts = np.tensordot(parts, place, (1, 0)).swapaxes(1, 2)
  product = parts.reshape(alpha.shape)
  return product - product.mean(0)


@pytest.mark.parametrize("kind", KINDS)
def test_coefficients_are_kernel_principal_components(kind):
  alpha = _coefficients(kind)
  product = _centred_gram(kind, alpha)
  values = 1 / (alpha**2).sum(0)
  np.testing.assert_allclose(product, alpha * values, atol=1e-11)
  np.testing.assert_allclose(alpha.T @ product, np.eye(200), atol=1e-11)
  np.testing.assert_allclose(alpha.sum(0), 0, atol=1e-11)
  # They are the largest: centring interlaces the Gram matrix' eigenvalues.
  shown = np.linalg.eigvalsh(_kernel(POINTS[kind], POINTS[kind], GAMMA[kind]))
  place = np.linalg.eigvalsh(_kernel(PLACES, PLACES, 3.0))
  bounds = np.sort(np.outer(shown, place).ravel())[::-1]
  assert (np.diff(values) <= 1e-9 * values[:-1]).all()
  assert (values <= bounds[:200] * (1 + 1e-9)).all()
  assert (values >= bounds[1:201] * (1 - 1e-9)).all()
  largest = np.abs(alpha).max(0)
  first = np.argmax(np.abs(alpha) > (1 - 1e-6) * largest, 0)
  assert (alpha[first, np.arange(200)] > 0).all()


@pytest.mark.parametrize("patch", GRIDS)
@pytest.mark.parametrize("kind", KINDS)
def test_definition(kind, patch):
  image, stride = _image(kind), GRIDS[patch]
  right, corners = _definition(kind, image, patch, stride, _coefficients(kind))
  values, centres = kernel_descriptors(
    image, kind=kind, patch=patch, stride=stride
  )
  assert values.shape == (len(corners), 200) and values.dtype == np.float64
  scale = np.linalg.norm(right, axis=1).max()
  np.testing.assert_allclose(values, right, atol=1e-11 * scale)
  size = np.array([[SHAPE[1], SHAPE[0]]])
  middle = (corners[:, ::-1] + patch / 2) / size
  np.testing.assert_allclose(centres, middle, atol=1e-15)


def test_inner_products_with_another_solver_of_the_eigenproblem():
  image = _image("gradient")
  shown = _kernel(POINTS["gradient"], POINTS["gradient"], 5.0)
  gram = np.kron(shown, _kernel(PLACES, PLACES, 3.0))
  gram = gram - gram.mean(0) - gram.mean(1)[:, None] + gram.mean()
  values, vectors = np.linalg.eigh(gram)
  values, vectors = values[::-1], vectors[:, ::-1]
  # Up to a place where the eigenvalues fall, so that they span one subspace.
  dim = 150 + int(np.argmin(values[151:200] / values[150:199])) + 1
  assert values[dim] < 0.99 * values[dim - 1]
  alpha = vectors[:, :dim] / np.sqrt(values[:dim])
  right, _ = _definition("gradient", image, 8, 5, alpha)
  found, _ = kernel_descriptors(image, patch=8, stride=5)
  found = np.asarray(found)[:, :dim]
  np.testing.assert_allclose(found @ found.T, right @ right.T, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_single_precision(kind):
  run = functools.partial(kernel_descriptors, kind=kind, patch=8, stride=5)
  image = _image(kind)
  right, _ = run(image)
  values, centres = run(image.astype(np.float32))
  assert values.dtype == centres.dtype == np.float32
  norm = np.linalg.norm(right, axis=1).min()
  np.testing.assert_allclose(values, right, atol=2e-5 * norm)


@pytest.mark.parametrize("kind", KINDS)
def test_padded_is_unpadded(kind):
  sizes = np.array([(19, 26), (15, 8), (8, 21), (16, 25)])
  run = functools.partial(kernel_descriptors, kind=kind, patch=8, stride=5)
  images = np.full((4, *SHAPE, *_image(kind).shape[2:]), np.nan)
  for i, (rows, columns) in enumerate(sizes):
    images[i, :rows, :columns] = _image(kind, (rows, columns), i)
  batch = functools.partial(
    kernel_descriptors_batch, kind=kind, patch=8, stride=5
  )
  found = batch(images, sizes)
  assert found.values.shape == (4, 12, 200) and found.mask.shape == (4, 12)
  for i in range(2):  # a compilation each
    rows, columns = sizes[i]
    values, centres = run(images[i, :rows, :columns])
    mask = np.asarray(found.mask[i])
    assert mask.sum() == len(values)
    scale = np.abs(values).max()
    np.testing.assert_allclose(
      found.values[i][mask], values, atol=1e-13 * scale
    )
    np.testing.assert_allclose(found.centres[i][mask], centres, atol=1e-15)
    np.testing.assert_array_equal(found.values[i][~mask], 0)
  np.testing.assert_array_equal(found.mask.sum(1), [12, 2, 3, 8])


def test_sizes_may_be_traced_and_images_computed_together():
  images = _image("gradient", (4, *SHAPE))
  sizes = np.array([(19, 26), (15, 8), (8, 21), (7, 26)])
  traces = []

  @jax.jit
  def run(images, sizes):
    traces.append(0)
    return kernel_descriptors_batch(images, sizes, patch=8, stride=5, block=2)

  found = run(images, sizes)
  right = kernel_descriptors_batch(images[:3], sizes[:3], patch=8, stride=5)
  for one, other in zip(found, right, strict=True):
    np.testing.assert_allclose(one[:3], other, atol=1e-13)
  assert not found.mask[3].any() and not found.values[3].any()
  run(images, sizes - 1)
  assert len(traces) == 1


def test_traced_image():
  image = _image("gradient")
  run = functools.partial(kernel_descriptors, patch=8, stride=5)
  for one, other in zip(jax.jit(run)(image), run(image), strict=True):
    np.testing.assert_allclose(one, other, atol=1e-14)


def test_turning_upside_down_changes_signs_alone():
  # The basis of angles is symmetric to that, and so are the places.
  image = _image("gradient", (18, 26))
  run = functools.partial(kernel_descriptors, patch=8, stride=5)
  values = np.asarray(run(image)[0]).reshape(3, 4, -1)
  turned = np.asarray(run(image[::-1])[0]).reshape(3, 4, -1)[::-1]
  signs = np.sign((values * turned).sum((0, 1)))
  np.testing.assert_allclose(turned, signs * values, atol=1e-13)
  assert set(signs) == {-1, 1}


def test_slope_of_a_ramp_is_in_the_weight_alone():
  ramp = np.tile(np.arange(26) / 26, (19, 1))
  middle = lambda image: np.asarray(
    kernel_descriptors(image, patch=8, stride=5)[0]
  )[5]
  weight = lambda slope: slope / np.sqrt(64 * slope**2 + 0.8)
  right = middle(ramp) * weight(1 / 52) / weight(1 / 26)
  np.testing.assert_allclose(middle(ramp / 2), right, atol=1e-14)
  np.testing.assert_allclose(middle(ramp / 2 + 0.5), right, atol=1e-13)


@pytest.mark.parametrize("kind", ["gradient", "shape"])
def test_flat_image_is_zeros_with_finite_derivatives(kind):
  fun = lambda image: kernel_descriptors(image, kind=kind, patch=8, stride=5)[
    0
  ].sum()
  value, slope = jax.value_and_grad(fun)(jnp.full(SHAPE, 0.3))
  assert value == 0 and jnp.isfinite(slope).all()


def test_colours_are_made_grey():
  image = _image("colour")
  run = functools.partial(kernel_descriptors, patch=8, stride=5)
  right, _ = run(image @ [0.299, 0.587, 0.114])
  np.testing.assert_allclose(run(image)[0], right, atol=1e-12)


def test_leading_components_are_the_same_for_any_number():
  run = functools.partial(kernel_descriptors, _image("shape"), kind="shape")
  few, _ = run(patch=8, stride=5, dim=20)
  many, _ = run(patch=8, stride=5)
  assert few.shape == (12, 20)
  np.testing.assert_allclose(few, many[:, :20], atol=1e-13)


@pytest.mark.parametrize(
  ("image", "kind", "said"),
  [
    (np.zeros(5), "gradient", "image must be"),
    (np.zeros((9, 9, 4)), "gradient", "image must be"),
    (np.zeros((9, 9)), "colour", r"image must be \[H, W, 3\] for colour"),
    (np.zeros((9, 7)), "shape", "no smaller than a patch of 8"),
    (np.zeros((9, 9), np.uint8), "shape", "image must be floats"),
    (np.full((9, 9), np.nan), "shape", "image must be finite"),
    (np.full((9, 9), np.inf), "gradient", "image must be finite"),
    (np.zeros((9, 9)), "texture", "kind must be one of gradient, shape"),
  ],
)
def test_refuses(image, kind, said):
  with pytest.raises(ValueError, match=said):
    kernel_descriptors(image, kind=kind, patch=8, stride=4)


@pytest.mark.parametrize(
  ("change", "said"),
  [
    ({"patch": 0}, "patch and stride must be"),
    ({"stride": 0}, "patch and stride must be"),
    ({"dim": 0}, r"dim must be in 1\.\.620 for gradient, got 0"),
    ({"dim": 621}, r"dim must be in 1\.\.620"),
  ],
)
def test_refuses_numbers(change, said):
  with pytest.raises(ValueError, match=said):
    kernel_descriptors(np.zeros((9, 9)), **{"patch": 8, "stride": 4, **change})


@pytest.mark.parametrize(
  ("sizes", "said"),
  [
    ([[9, 9]], r"sizes must be \[2, 2\]"),
    ([[9, 9], [9, 7]], r"sizes\[1\] is \[9, 7\]: below the patch"),
    ([[9, 10], [9, 9]], r"sizes\[0\] is \[9, 10\]"),
    ([[8, 9], [9, 9]], "images must be finite; image 1 is not"),
  ],
)
def test_refuses_sizes(sizes, said):
  images = np.zeros((2, 9, 9))
  images[:, 8] = np.nan
  with pytest.raises(ValueError, match=said):
    kernel_descriptors_batch(images, np.array(sizes), patch=8, stride=4)
