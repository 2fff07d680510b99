"""Encoders against their parts, and images that are padded or empty."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.decomposition import PCA

from spdjax import gaussians
from tests.gaussians.cases import assert_close, cast

pytestmark = pytest.mark.slow

WIDE, COMPONENTS, NUM = 6, 4, 300
D = 3  # of the mixtures: three axes, or one and the place
SIZES = {"lag": 2, "rlag": 1, "klvec": 1, "fisher": 2}
VECTORS = tuple(SIZES)


@pytest.fixture
def descriptors(rng):
  """[NUM, WIDE] in groups, far from the origin, of decreasing spread."""
  turn = np.linalg.qr(rng.normal(size=(WIDE, WIDE)))[0]
  own = 2.0 ** -np.arange(WIDE) * rng.normal(size=(NUM, WIDE))
  return 7 + (own + 2 * rng.normal(size=(4, WIDE))[np.arange(NUM) % 4]) @ turn


@pytest.fixture
def centres(rng):
  return rng.random((NUM, 2))


@pytest.fixture
def cells(centres):
  x, y = centres.T
  left, top = x < 0.5, y < 0.5
  return np.stack(
    [np.ones(NUM, bool), left & top, left & ~top, ~left, np.zeros(NUM, bool)]
  )


def fit(key, descriptors, centres=None, **args):
  args = {"num_components": COMPONENTS, "max_steps": 100, "tol": 1e-5} | args
  dim = D if centres is None else D - 2
  return gaussians.fit_encoder(
    key, descriptors, dim=dim, centres=centres, **args
  )


@pytest.fixture
def encoder(key, descriptors, centres):
  return fit(key, descriptors, centres)[0]


def test_axes_are_sklearns(key, descriptors):
  encoder, info = fit(key, descriptors)
  assert encoder.mixture.mean.shape == (COMPONENTS, D) and info.steps > 0
  right = PCA(D).fit(descriptors)
  np.testing.assert_allclose(encoder.mean, right.mean_, rtol=1e-12)
  sign = np.sign((np.asarray(encoder.basis) * right.components_.T).sum(0))
  np.testing.assert_allclose(
    encoder.basis * sign[None], right.components_.T, atol=1e-9
  )
  largest = np.abs(encoder.basis).argmax(0)
  assert (np.asarray(encoder.basis)[largest, range(D)] > 0).all()
  got = gaussians.project(encoder, descriptors)
  np.testing.assert_allclose(
    got * sign[None], right.transform(descriptors), atol=1e-9
  )


def test_the_model_is_ems_of_the_coordinates(key, descriptors, centres):
  encoder, info = fit(key, descriptors, centres)
  x = gaussians.project(encoder, descriptors, centres)
  np.testing.assert_array_equal(x[:, 1:], centres)
  args = {"num_components": COMPONENTS, "tol": 1e-5}
  right, other = gaussians.em(key, x, **args)
  assert_close(encoder.mixture, right, rtol=1e-9)
  assert info.steps == other.steps


def test_weights_are_repetitions_and_0_removes_anything(
  key, descriptors, centres
):
  half = NUM // 2
  weights = np.repeat([2.0, 0], half)
  dirty = np.concatenate([descriptors[:half], np.full((half, WIDE), np.nan)])
  got, _ = fit(key, dirty, centres, weights=weights)
  twice = (np.repeat(a[:half], 2, axis=0) for a in (descriptors, centres))
  right, _ = fit(key, *twice)
  np.testing.assert_allclose(got.basis, right.basis, atol=1e-9)
  assert_close(got.mixture, right.mixture, rtol=1e-6)


def test_float32_axes_far_from_the_origin(key, descriptors):
  x = (descriptors + 1e3).astype(np.float32)
  encoder, _ = fit(key, x)
  assert {a.dtype for a in jax.tree.leaves(encoder)} == {jnp.dtype("float32")}
  right = PCA(D).fit(x.astype(float)).components_.T
  cosines = np.abs((np.asarray(encoder.basis, float) * right).sum(0))
  np.testing.assert_allclose(cosines, 1, atol=1e-5)


def by_hand(encoder, descriptors, centres, cell, vector, relevance):
  """One cell's vector, from its own descriptors alone."""
  base = encoder.mixture
  x = gaussians.project(encoder, descriptors, centres)
  own = gaussians.statistics(base, x, cell)
  if vector == "fisher":
    return gaussians.fisher(own, base)
  image = gaussians.adapt(base, own, relevance=relevance)
  return getattr(gaussians, vector)(image, base)


@pytest.mark.parametrize("vector", VECTORS)
def test_a_cell_is_encoded_from_its_items(
  vector, encoder, descriptors, centres, cells
):
  got = gaussians.encode(
    encoder, descriptors, centres, cells, vector=vector, normalise=False
  )
  size = SIZES[vector] * COMPONENTS * D
  assert got.shape == (len(cells), size)
  hand = jax.jit(by_hand, static_argnums=4)
  for row, cell in zip(got, cells, strict=True):
    right = hand(encoder, descriptors, centres, cell, vector, 16.0)
    np.testing.assert_allclose(row, right, atol=1e-10)


def test_several_vectors_at_once(encoder, descriptors, centres, cells):
  args = encoder, descriptors, centres, cells
  found = gaussians.encode(*args, vector=VECTORS, signed_root=True)
  assert set(found) == set(VECTORS)
  for name in VECTORS:
    one = gaussians.encode(*args, vector=name, signed_root=True)
    np.testing.assert_allclose(found[name], one, rtol=1e-12, atol=1e-14)


def test_roots_and_lengths(encoder, descriptors, centres, cells):
  args = encoder, descriptors, centres, cells
  for root in (False, True):
    rows = np.asarray(gaussians.encode(*args, normalise=False))
    rows = np.sign(rows) * np.sqrt(np.abs(rows)) if root else rows
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    length[length == 0] = 1
    got = gaussians.encode(*args, signed_root=root)
    np.testing.assert_allclose(got, rows / length, atol=1e-6)
    got = gaussians.encode(*args, signed_root=root, normalise=False)
    np.testing.assert_allclose(got, rows, atol=1e-6)


@pytest.mark.parametrize("vector", VECTORS)
def test_no_descriptors_have_the_models_own_vector(
  vector, encoder, descriptors, centres, cells
):
  own = gaussians.klvec(encoder.mixture, encoder.mixture)
  right = np.asarray(own) / np.linalg.norm(own) if vector == "klvec" else 0
  nothing = np.full_like(descriptors, np.nan)
  none = np.zeros((0, WIDE)), np.zeros((0, 2)), np.zeros((5, 0), bool)
  for given, mask in (
    ((descriptors, centres, cells[-1:]), None),
    ((nothing, centres, cells), np.zeros(NUM)),
    (none, None),
  ):
    got = gaussians.encode(encoder, *given, mask, vector=vector)
    np.testing.assert_allclose(
      got, np.broadcast_to(right, got.shape), rtol=1e-10
    )


def test_padding_and_vmap_over_images(encoder, descriptors, centres, cells):
  images, mask = np.full((2, NUM, WIDE), np.nan), np.zeros((2, NUM), bool)
  for index, num in enumerate((NUM, 170)):
    images[index, :num], mask[index, :num] = descriptors[:num], True
  of_image = lambda x, mask: gaussians.encode(encoder, x, centres, cells, mask)
  got = jax.jit(jax.vmap(of_image))(images, mask)
  right = gaussians.encode(encoder, descriptors, centres, cells)
  np.testing.assert_allclose(got[0], right, atol=1e-10)
  part = descriptors[:170], centres[:170], cells[:, :170]
  right = gaussians.encode(encoder, *part)
  np.testing.assert_allclose(got[1], right, atol=1e-10)
  one = gaussians.encode(encoder, images[1], centres, cells, mask[1])
  np.testing.assert_allclose(one, right, atol=1e-10)


def test_traced_cells_and_relevance(encoder, descriptors, centres, cells):
  run = jax.jit(
    lambda cells, r: gaussians.encode(
      encoder, descriptors, centres, cells, relevance=r
    )
  )
  for r in (0.0, 4.0):
    right = gaussians.encode(encoder, descriptors, centres, cells, relevance=r)
    np.testing.assert_allclose(run(cells, r), right, atol=1e-10)


def test_the_scale_of_the_places_does_not_matter(
  key, encoder, descriptors, centres, cells
):
  wide = fit(key, descriptors, 100 * centres)[0]
  got = gaussians.encode(wide, descriptors, 100 * centres, cells)
  right = gaussians.encode(encoder, descriptors, centres, cells)
  np.testing.assert_allclose(got, right, atol=1e-7)


def test_without_places(key, descriptors, centres, cells):
  encoder, _ = fit(key, descriptors)
  got = gaussians.encode(encoder, descriptors, None, cells)
  assert got.shape == (len(cells), 2 * COMPONENTS * D)
  other = gaussians.encode(encoder, descriptors, centres, cells)
  np.testing.assert_array_equal(got, other)


def test_float32_is_float64_to_rounding(encoder, descriptors, centres, cells):
  narrow = gaussians.Encoder(
    *(np.asarray(a, np.float32) for a in encoder[:2]),
    cast(encoder.mixture, np.float32),
  )
  # The whole image is what the model was fitted to: its own vector is noise.
  args = descriptors, centres, cells
  got = gaussians.encode(narrow, *args, normalise=False)
  assert got.dtype == np.float32
  right = gaussians.encode(encoder, *args, normalise=False)
  np.testing.assert_allclose(got, right, atol=3e-5)


def test_derivatives_are_finite_with_an_empty_cell(
  encoder, descriptors, centres, cells
):
  def total(encoder, x):
    return gaussians.encode(encoder, x, centres, cells, signed_root=True).sum()

  slopes = jax.jit(jax.grad(total, (0, 1)))(encoder, descriptors)
  assert all(np.isfinite(a).all() for a in jax.tree.leaves(slopes))
  assert all(np.asarray(a).any() for a in jax.tree.leaves(slopes))


@pytest.mark.parametrize(
  ("change", "message"),
  [
    (
      {"descriptors": np.ones((NUM, WIDE + 1))},
      r"descriptors must be \[T, 6\]",
    ),
    ({"descriptors": np.ones(WIDE)}, r"descriptors must be \[T, 6\]"),
    ({"centres": None}, "centres are needed"),
    ({"centres": np.ones((NUM, 3))}, r"centres must be \[300, 2\]"),
    ({"cells": np.ones((2, NUM + 1))}, r"cells must be \[S, 300\]"),
    ({"mask": np.ones(3)}, r"mask must be \[300\]"),
    ({"vector": "vlad"}, "vector must be one of lag, rlag, klvec, fisher"),
    ({"relevance": -1}, "relevance must be at least 0"),
  ],
)
def test_encode_refuses(change, message, encoder, descriptors, centres, cells):
  args = {"descriptors": descriptors, "centres": centres, "cells": cells}
  args |= change
  with pytest.raises(ValueError, match=message):
    gaussians.encode(encoder, **args)


BAD = np.ones((NUM, WIDE))
BAD[3] = np.inf


@pytest.mark.parametrize(
  ("change", "message"),
  [
    ({"descriptors": np.ones(3)}, r"descriptors must be \[N, D\]"),
    ({"descriptors": BAD}, r"descriptors\[3\] is not finite"),
    ({"dim": 0}, r"dim must be in 1\.\.6"),
    ({"dim": 7}, r"dim must be in 1\.\.6"),
    ({"centres": np.ones((3, 2))}, r"centres must be \[300, 2\]"),
    ({"weights": np.zeros(NUM)}, "weights are all 0"),
    ({"num_components": 0}, "num_components must be at least 1"),
    ({"start": "best"}, "start must be one of"),
  ],
)
def test_fit_refuses(change, message, key):
  args = {"descriptors": np.ones((NUM, WIDE)), "num_components": 2, "dim": 2}
  args |= change
  with pytest.raises(ValueError, match=message):
    gaussians.fit_encoder(key, args.pop("descriptors"), **args)
