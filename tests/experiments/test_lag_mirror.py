"""The linear map that mirrors descriptors."""

import jax.numpy as jnp
import numpy as np
import pytest

from experiments.lag import mirror
from spdjax import gaussians, images

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", ["gradient", "shape", "colour"])
def test_mirrored_descriptors_are_a_linear_map(kind):
  assert mirror.left_out(kind) < 1e-5


def test_a_mirrored_picture_has_the_mirrored_coordinates(rng):
  """On a smooth picture, and patches of another size than it was found on."""
  y, x = np.mgrid[:48, :56] / 9
  image = (0.5 + 0.4 * np.sin(x + y**2) * np.cos(x * y / 3)).astype(np.float32)
  args = {"kind": "gradient", "patch": 24, "stride": 8}
  own, centres = images.kernel_descriptors(jnp.asarray(image), **args)
  flipped = jnp.asarray(np.ascontiguousarray(image[:, ::-1]))
  other, _ = images.kernel_descriptors(flipped, **args)
  basis = np.linalg.qr(rng.normal(size=(200, 10)))[0]
  mean = rng.normal(size=200)
  mixture = gaussians.Mixture(np.ones(1), np.zeros((1, 10)), np.ones((1, 10)))
  kind = jnp.float32
  encoder = gaussians.Encoder(
    jnp.asarray(mean, kind), jnp.asarray(basis, kind), mixture
  )
  got = gaussians.project(mirror.encoder("gradient", encoder), own)
  right = np.asarray(gaussians.project(encoder, other))
  right = right.reshape(4, 5, 10)[:, ::-1].reshape(20, 10)
  np.testing.assert_allclose(got, right, atol=2e-3 * np.abs(right).max())
  turned = mirror.centres(np.asarray(centres)).reshape(4, 5, 2)[:, ::-1]
  np.testing.assert_allclose(turned.reshape(20, 2), centres, atol=1e-6)
