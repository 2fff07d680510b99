"""What both solvers promise, as a table of solvers and properties."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax import grassmann
from spdjax.grassmann import conjugate_gradient, trust_region

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
@pytest.mark.parametrize("seed", range(4))
def test_trace_maximisation(solver, dtype, seed):
  """diag(1, ..., 6), m = 2: -11, in tens of steps and not in hundreds."""
  a = jnp.diag(jnp.arange(1, 7, dtype=dtype))
  w, info = grassmann.minimize(
    spread, start(seed, 6, 2, dtype), a, solver=solver
  )
  assert info.converged
  assert info.steps < 60
  eps = jnp.finfo(dtype).eps
  np.testing.assert_allclose(info.value, -11, rtol=20 * eps)
  np.testing.assert_allclose(spread(w, a), info.value, rtol=20 * eps)
  assert info.grad_norm <= eps**0.5 * 11 * 2


@each_solver
@pytest.mark.parametrize("n, m", [(7, 1), (7, 3), (7, 6)])
def test_random_spectrum(solver, n, m):
  a = gram(n, n)
  _, info = grassmann.minimize(spread, start(0, n, m), a, solver=solver)
  assert info.converged
  np.testing.assert_allclose(info.value, top(a, m), rtol=1e-12)


@each_solver
@each_dtype
@pytest.mark.parametrize("seed", range(3))
def test_cost_never_rises(solver, dtype, seed):
  a = gram(seed, 8, dtype)
  w = start(seed, 8, 2, dtype)
  state, infos = SOLVERS[solver].trace(spread, w, a, num_steps=60)
  values = np.concatenate([[spread(w, a)], infos.value])
  slack = 4 * jnp.finfo(dtype).eps * abs(values[-1])  # of our own evaluation
  assert values[1] <= values[0] + slack
  assert np.all(np.diff(values[1:]) <= 0)
  # Frozen after convergence: every field repeats to the end.
  ends = np.flatnonzero(infos.converged)
  assert ends.size > 1
  for field in infos:
    assert np.all(field[ends] == field[-1])
  assert int(state.steps) == int(infos.steps[-1]) == ends[0] + 1


@each_solver
def test_run_is_trace_stopped(solver):
  a, w = gram(6, 8), start(6, 8, 2)
  module = SOLVERS[solver]
  end, info = module.run(spread, w, a, max_steps=7, tol=0.0)
  state, infos = module.trace(spread, w, a, num_steps=7, tol=0.0)
  assert info.steps == 7
  assert not info.converged
  np.testing.assert_allclose(end, state.w, atol=1e-12)
  np.testing.assert_allclose(info.value, infos.value[-1], rtol=1e-13)
  by_hand = module.init(spread, w, a, tol=0.0)
  advance = jax.jit(lambda s: module.update(spread, s, a, tol=0.0))
  for _ in range(2):
    by_hand, told = advance(by_hand)
  np.testing.assert_allclose(told.value, infos.value[1], rtol=1e-12)


@each_solver
def test_a_second_solve_is_the_same(solver):
  a, w = gram(7, 8), start(7, 8, 2)
  first = grassmann.minimize(spread, w, a, solver=solver)
  grassmann.minimize(spread, start(8, 8, 2), 100 * a, solver=solver)
  second = grassmann.minimize(spread, w, a, solver=solver)
  jax.tree.map(np.testing.assert_array_equal, first, second)


@each_solver
def test_lanes_equal_a_loop(solver):
  """Over starts and over problems, one of them started at its optimum."""
  w = jnp.stack([start(s, 8, 2) for s in range(3)])
  a = jnp.stack([gram(s, 8) for s in range(3)])
  best = np.linalg.eigh(np.asarray(a[1]))[1][:, -2:]
  w = w.at[1].set(best)
  solve = functools.partial(grassmann.minimize, solver=solver)
  ends, infos = jax.vmap(lambda w, a: solve(spread, w, a))(w, a)
  starts, _ = jax.vmap(lambda w: solve(spread, w, a[0]))(w)
  for i in range(3):
    end, info = solve(spread, w[i], a[i])
    np.testing.assert_allclose(infos.value[i], info.value, rtol=1e-13)
    np.testing.assert_allclose(grassmann.distance(ends[i], end), 0, atol=1e-6)
    assert infos.converged[i]
    other, _ = solve(spread, w[i], a[0])
    np.testing.assert_allclose(
      grassmann.distance(starts[i], other), 0, atol=1e-6
    )
  assert infos.steps[1] == 0
  assert infos.evaluations[1] == 1


@each_solver
def test_one_trace_per_cost_and_shape(solver):
  calls = []

  def counted(w, a):
    calls.append(w.shape)
    return spread(w, a)

  solve = lambda s, n: grassmann.minimize(
    counted, start(s, n, 2), gram(s, n), solver=solver, max_steps=10 + s
  )
  solve(0, 6)
  once = len(calls)
  for seed in range(1, 5):
    solve(seed, 6)
  assert len(calls) == once
  solve(0, 7)
  assert len(calls) == 2 * once


@each_solver
def test_float32_follows_float64(solver):
  a = gram(9, 8)
  values = []
  for dtype in DTYPES:
    w, info = grassmann.minimize(
      spread, start(9, 8, 2).astype(dtype), a.astype(dtype), solver=solver
    )
    assert w.dtype == info.value.dtype == dtype
    values.append(float(info.value))
  np.testing.assert_allclose(values[0], values[1], rtol=2e-6)
