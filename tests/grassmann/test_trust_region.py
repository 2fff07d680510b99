"""What is particular to the trust region: its Hessian and its speed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax import grassmann
from spdjax.grassmann import trust_region

pytestmark = pytest.mark.slow


def bowl(w, a):
  """A cost of span(w) that is not quadratic: -logdet of w'aw."""
  return -jnp.linalg.slogdet(w.T @ a @ w)[1] + jnp.linalg.slogdet(w.T @ w)[1]


def problem(seed, n, m):
  keys = jax.random.split(jax.random.key(seed), 3)
  x = jax.random.normal(keys[0], (n, n))
  w = grassmann.random(keys[1], n, m)
  h = grassmann.tangent(w, jax.random.normal(keys[2], (n, m)))
  return x @ x.T + jnp.eye(n), w, h


@pytest.mark.parametrize("n, m", [(5, 1), (7, 3), (5, 4)])
def test_hessian_is_the_second_derivative_along_geodesics(n, m):
  a, w, h = problem(0, n, m)
  geo = grassmann.geodesic(w, h)
  along = lambda t: bowl(grassmann.point(geo, t), a)
  apply = jax.jit(lambda h: trust_region.hessian(lambda w: bowl(w, a), w)(h))
  curvature = jax.jit(jax.grad(jax.grad(along)))(0.0)
  np.testing.assert_allclose(jnp.sum(h * apply(h)), curvature, rtol=1e-10)


def test_hessian_is_symmetric_and_tangent():
  a, w, h = problem(1, 7, 3)
  x = grassmann.tangent(w, a[:, :3])
  apply = trust_region.hessian(lambda w: bowl(w, a), w)
  np.testing.assert_allclose(jnp.sum(x * apply(h)), jnp.sum(h * apply(x)))
  np.testing.assert_allclose(w.T @ apply(h), np.zeros((3, 3)), atol=1e-13)


def test_quadratic_convergence():
  """Near the optimum the error of the cost is squared, and squared again."""
  a, w, _ = problem(2, 7, 3)
  _, infos = trust_region.trace(bowl, w, a, num_steps=30)
  assert infos.converged[-1]
  assert infos.steps[-1] < 20
  right = -np.sum(np.log(np.linalg.eigvalsh(np.asarray(a))[-3:]))
  np.testing.assert_allclose(infos.value[-1], right, rtol=1e-12)


def test_leaves_a_saddle():
  """Other eigenvectors are saddles: negative curvature is followed."""
  a = jnp.diag(jnp.arange(1.0, 8.0))
  saddle = jnp.eye(7)[:, 2:4]
  w = grassmann.retract(saddle, 1e-4 * jnp.ones((7, 2)))
  _, info = trust_region.run(bowl, w, a)
  assert info.converged
  np.testing.assert_allclose(info.value, -np.log(42), rtol=1e-12)


def test_inner_iterations_are_bounded():
  a, w, _ = problem(3, 12, 3)
  _, info = trust_region.run(bowl, w, a, max_inner=2, max_steps=5, tol=0.0)
  assert info.evaluations <= 1 + 5 * (2 + 2)
