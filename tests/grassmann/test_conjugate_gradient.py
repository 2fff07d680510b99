"""What is particular to conjugate gradient: drift, rules, speed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax import grassmann
from spdjax.grassmann import conjugate_gradient

BUDGET = 100


def spread(w, a):
  return -jnp.sum(w * jnp.matmul(a, w, precision="highest"))


def logdet(x):
  roots = jnp.diagonal(jnp.linalg.cholesky(x), axis1=-2, axis2=-1)
  return 2 * jnp.sum(jnp.log(roots), axis=-1)


def supervised(w, x, i, j, a):
  """sum a_ij stein(w'x_iw, w'x_jw): within classes +, between them -."""
  y = jnp.einsum("pn,kpq,qm->knm", w, x, w, precision="highest")
  single = logdet(y)
  return jnp.sum(a * (2 * logdet((y[i] + y[j]) / 2) - single[i] - single[j]))


def labelled_spd(seed, n=40, items=18, classes=3):
  """Items of each class share a random factor; all pairs are edges."""
  rng = np.random.default_rng(seed)
  y = np.arange(items) % classes
  shared = np.eye(n) + 0.4 * rng.standard_normal((classes, n, n))
  own = 0.3 / n**0.5 * rng.standard_normal((items, n, n))
  factor = shared[y] + own
  x = factor @ factor.transpose(0, 2, 1) / n + 0.05 * np.eye(n)
  i, j = np.triu_indices(items, 1)
  a = np.where(y[i] == y[j], 1, -0.44)
  return tuple(jnp.asarray(z) for z in (x, i, j, a))


def wave(w, phase):
  """A cost that never settles: moving its phase keeps the solver walking."""
  return jnp.sum(jnp.sin(9 * (w @ w.T) + phase))


@pytest.mark.parametrize(
  "dtype, bound", [(jnp.float32, 2e-6), (jnp.float64, 1e-14)]
)
def test_no_drift_over_200_steps(dtype, bound):
  w = grassmann.random(jax.random.key(0), 12, 3, dtype=dtype)
  phases = jnp.linspace(0, 20, 200, dtype=dtype)[:, None, None]

  def advance(w, phase):
    end, info = conjugate_gradient.run(wave, w, phase, max_steps=1, tol=0.0)
    return end, info.steps

  w, steps = jax.lax.scan(advance, w, phases)
  assert jnp.sum(steps) == 200
  assert jnp.max(jnp.abs(w.T @ w - jnp.eye(3, dtype=dtype))) < bound


@pytest.mark.parametrize("rule", conjugate_gradient.RULES)
def test_conjugacy_beats_steepest_descent(rule):
  """On a spread spectrum, at equal evaluations; max_steps=1 restarts."""
  a = jnp.diag(jnp.asarray(np.geomspace(1, 1e-3, 30)))
  w = grassmann.random(jax.random.key(1), 30, 3)
  _, info = conjugate_gradient.run(spread, w, a, rule=rule, max_steps=300)
  assert info.converged
  steepest = w
  spent = 0
  while spent < info.evaluations:
    steepest, one = conjugate_gradient.run(spread, steepest, a, max_steps=1)
    spent += int(one.evaluations)
  best = -np.sum(np.geomspace(1, 1e-3, 30)[:3])
  assert info.value - best < 1e-3 * (spread(steepest, a) - best)


def test_unknown_rule():
  w = grassmann.random(jax.random.key(1), 5, 2)
  with pytest.raises(ValueError, match="rule must be one of"):
    conjugate_gradient.run(spread, w, jnp.eye(5), rule="fletcher_reeves")


def test_state_stays_tangent_and_downhill():
  a = jnp.diag(jnp.arange(1.0, 10.0))
  w = grassmann.random(jax.random.key(2), 9, 3)
  state = conjugate_gradient.init(spread, w, a)
  advance = jax.jit(lambda s: conjugate_gradient.update(spread, s, a)[0])
  for _ in range(10):
    state = advance(state)
    flat = jnp.zeros((3, 3))
    np.testing.assert_allclose(state.w.T @ state.grad, flat, atol=1e-13)
    np.testing.assert_allclose(state.w.T @ state.direction, flat, atol=1e-13)
    assert jnp.sum(state.grad * state.direction) < 0
    ambient = jax.grad(spread)(state.w, a)
    right = grassmann.tangent(state.w, ambient)
    np.testing.assert_allclose(state.grad, right, atol=1e-13)


def test_gradient_is_the_finite_difference():
  x = labelled_spd(0, n=8, items=6)
  w = grassmann.random(jax.random.key(3), 8, 2)
  grad = conjugate_gradient.init(supervised, w, *x).grad
  h = grassmann.tangent(w, jax.random.normal(jax.random.key(4), (8, 2)))
  geo, step = grassmann.geodesic(w, h), 1e-5
  up, down = (supervised(grassmann.point(geo, t), *x) for t in (step, -step))
  np.testing.assert_allclose(
    jnp.sum(grad * h), (up - down) / (2 * step), rtol=1e-7
  )


class Spent(Exception):
  """The peer has used up its evaluations."""


def peer_value(fun, args, w):
  """Lowest cost of pymanopt's Hestenes-Stiefel in BUDGET cost evaluations."""
  pymanopt = pytest.importorskip("pymanopt")
  manifold = pymanopt.manifolds.Grassmann(*w.shape)
  evaluate = jax.jit(jax.value_and_grad(fun))
  seen = []

  @pymanopt.function.numpy(manifold)
  def cost(w):
    if len(seen) == BUDGET:
      raise Spent
    seen.append(float(evaluate(w, *args)[0]))
    return seen[-1]

  @pymanopt.function.numpy(manifold)
  def gradient(w):
    return np.asarray(evaluate(w, *args)[1])

  problem = pymanopt.Problem(manifold, cost, euclidean_gradient=gradient)
  solver = pymanopt.optimizers.ConjugateGradient(
    beta_rule="HestenesStiefel",
    verbosity=0,
    min_gradient_norm=0,
    min_step_size=0,
  )
  with pytest.raises(Spent):
    solver.run(problem, initial_point=np.asarray(w))
  return min(seen)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", ["spread", "supervised"])
def test_lower_than_pymanopt_at_equal_evaluations(name, seed):
  """Ours: each trial brings its gradient; the peer's gradients are free."""
  if name == "spread":
    x = np.random.default_rng(seed).standard_normal((40, 40))
    fun, args = spread, (jnp.asarray(x @ x.T / 40),)
  else:
    fun, args = supervised, labelled_spd(seed)
  w = grassmann.random(jax.random.key(seed), 40, 8)
  _, infos = conjugate_gradient.trace(fun, w, *args, num_steps=BUDGET, tol=0.0)
  ours = infos.value[infos.evaluations <= BUDGET][-1]
  assert ours <= peer_value(fun, args, w) + 1e-10
