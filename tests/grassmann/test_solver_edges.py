"""Where solvers go wrong: optima, constants, fences, scales, bad input."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax import grassmann
from spdjax.grassmann import conjugate_gradient, trust_region

pytestmark = pytest.mark.slow

SOLVERS = {"cg": conjugate_gradient, "tr": trust_region}
DTYPES = [jnp.float32, jnp.float64]
each_solver = pytest.mark.parametrize("solver", SOLVERS)
each_dtype = pytest.mark.parametrize("dtype", DTYPES)


def spread(w, a):
  """-tr w'aw: minimal at the leading eigenvectors, minus their eigenvalues."""
  return -jnp.sum(w * jnp.matmul(a, w, precision="highest"))


def start(seed, n, m, dtype=jnp.float64):
  return grassmann.random(jax.random.key(seed), n, m, dtype=dtype)


def gram(seed, n, dtype=jnp.float64):
  x = np.random.default_rng(seed).standard_normal((n, n))
  return jnp.asarray(x @ x.T / n, dtype)


def top(a, m):
  return -np.sum(np.linalg.eigvalsh(np.asarray(a, np.float64))[-m:])


@each_solver
@each_dtype
def test_started_at_the_optimum(solver, dtype):
  a = jnp.diag(jnp.arange(1, 7, dtype=dtype))
  w = jnp.eye(6, dtype=dtype)[:, 4:]
  end, info = grassmann.minimize(spread, w, a, solver=solver)
  assert (info.steps, info.converged, info.value) == (0, True, -11)
  np.testing.assert_array_equal(end, w)


def level(w, constant):
  return constant + 0 * jnp.sum(w)


@each_solver
@pytest.mark.parametrize("constant", [0.0, 3.0, -1e9])
def test_constant_cost(solver, constant):
  w = start(1, 5, 2)
  end, info = grassmann.minimize(level, w, constant, solver=solver)
  assert (info.steps, info.converged, info.value) == (0, True, constant)
  np.testing.assert_array_equal(end, w)


@each_solver
@each_dtype
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5])
def test_scale_of_the_cost(solver, dtype, scale):
  """An absolute gradient tolerance is out of reach for float32 at 1e5."""
  a = gram(2, 8, dtype) * jnp.asarray(scale, dtype)
  _, info = grassmann.minimize(
    spread, start(2, 8, 2, dtype), a, solver=solver, tol=None
  )
  assert info.converged
  assert info.steps < 100
  if scale >= 1:
    np.testing.assert_allclose(
      info.value, top(a, 2), rtol=30 * jnp.finfo(dtype).eps
    )


@each_solver
@each_dtype
def test_zero_tolerance_stops_at_rounding(solver, dtype):
  """No gradient is 0 in floating point: the stagnating cost ends the solve."""
  a = gram(3, 8, dtype)
  _, info = grassmann.minimize(
    spread, start(3, 8, 2, dtype), a, solver=solver, tol=0.0, max_steps=500
  )
  assert info.converged
  assert info.steps < 200
  assert info.evaluations < 1000
  np.testing.assert_allclose(
    info.value, top(a, 2), rtol=30 * jnp.finfo(dtype).eps
  )


def fenced(w, a, fence, bad):
  """`spread`, not finite where the first row of w is longer than the fence."""
  inside = jnp.sum(w[0] ** 2) < fence
  return jnp.where(inside, spread(w, a), bad)


@each_solver
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_cost_not_finite_beyond_a_step(solver, bad):
  """The optimum e1, e2 lies behind the fence: the best point before it."""
  a = jnp.diag(jnp.asarray([5.0, 4.0, 2.0, 1.0, 0.5]))
  w = grassmann.retract(jnp.eye(5)[:, 1:3], 0.3 * jnp.ones((5, 2)))
  first = fenced(w, a, 0.5, bad)
  end, info = grassmann.minimize(fenced, w, a, 0.5, bad, solver=solver)
  assert jnp.isfinite(first)
  assert jnp.isfinite(info.value)
  assert info.value < first
  assert jnp.all(jnp.isfinite(end))
  assert jnp.sum(end[0] ** 2) < 0.5
  assert not info.converged  # the gradient at the fence is not small
  assert info.evaluations < 3000


@each_solver
def test_cost_finite_only_at_the_start(solver):
  """Bounded trials, the start returned, and no claim to have converged."""
  w = start(4, 5, 2)

  def cliff(x, w):
    away = jnp.sum((x @ x.T - w @ w.T) ** 2)
    return jnp.where(away < 1e-28, -jnp.sum(x[0]), jnp.nan)

  end, info = grassmann.minimize(cliff, w, w, solver=solver)
  assert not info.converged
  assert info.steps < 100
  assert grassmann.distance(end, w) < 1e-13
  np.testing.assert_allclose(info.value, cliff(w, w), rtol=1e-13)


@each_solver
def test_bad_start(solver):
  w = start(5, 5, 2)
  end, info = grassmann.minimize(
    lambda w: jnp.nan * jnp.sum(w), w, solver=solver
  )
  assert (info.steps, info.converged) == (0, False)
  np.testing.assert_array_equal(end, w)


@each_solver
def test_without_x64(solver):
  with jax.enable_x64(False):
    a = jnp.diag(jnp.arange(1.0, 7.0))
    w = grassmann.random(jax.random.key(0), 6, 2)
    end, info = grassmann.minimize(spread, w, a, solver=solver)
    assert end.dtype == jnp.float32
    assert info.converged
    np.testing.assert_allclose(np.asarray(info.value), -11, rtol=2e-6)


@each_solver
def test_arguments_are_checked(solver):
  w = start(0, 4, 2)
  with pytest.raises(ValueError, match="scalar"):
    grassmann.minimize(lambda w: w, w, solver=solver)
  with pytest.raises(ValueError, match="0 < m < n"):
    grassmann.minimize(lambda w: jnp.sum(w), jnp.eye(3), solver=solver)
  with pytest.raises(ValueError, match="solver must be one of"):
    grassmann.minimize(lambda w: jnp.sum(w), w, solver="newton")
