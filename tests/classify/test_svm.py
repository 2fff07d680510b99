"""The two linear SVMs against closed forms, LIBLINEAR and invariances."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.svm import LinearSVC

from spdjax.classify import Packed, l1_svm, l2_svm, pack, unpack

LOSSES = ["squared_hinge", "hinge"]


def problem(rng, num=120, dim=12):
  x = rng.normal(size=(num, dim))
  y = np.where(x[:, :3].sum(1) + rng.normal(size=num) > 0, 1, -1)
  return x, y


def binary(rng, num=90, dim=20):
  """+-1 features."""
  x, y = problem(rng, num, dim)
  return np.where(x > 0, 1, -1).astype(np.int8), y


def losses(z, loss):
  slack = np.maximum(1 - z, 0)
  return slack if loss == "hinge" else slack**2


def objective(x, y, w, b, c, loss, *, norm, bias=1.0):
  size = np.abs(w).sum() if norm == 1 else (w @ w + (b / bias) ** 2) / 2
  return size + c * losses(y * (x @ w + b), loss).sum()


@pytest.mark.parametrize("c", [0.1, 0.25, 0.3, 1.0, 50.0])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_l1_optimum_in_closed_form(c, nonnegative):
  x, y = np.array([[1.0], [-1.0]]), np.array([1, -1])
  w, info = l1_svm(x, y, c=c, nonnegative=nonnegative, tol=1e-10)
  assert info.converged
  np.testing.assert_allclose(w, [max(0, 1 - 1 / (4 * c))], atol=1e-5)


@pytest.mark.parametrize("c", [0.02, 1.0, 100.0])
def test_l1_objective_is_liblinears(c, rng):
  x, y = problem(rng)
  w, info = l1_svm(x, y, c=c, tol=1e-9)
  peer = LinearSVC(
    C=c, penalty="l1", dual=False, tol=1e-10, max_iter=10**6,
    fit_intercept=False,
  ).fit(x, y)  # fmt: skip
  own = objective(x, y, np.asarray(w), 0, c, "squared_hinge", norm=1)
  best = objective(x, y, peer.coef_[0], 0, c, "squared_hinge", norm=1)
  assert own <= best * (1 + 1e-6)
  np.testing.assert_allclose(info.objective, own, rtol=1e-9)
  assert own - float(info.gap) <= best * (1 + 1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("c", [0.01, 1.0, 30.0])
def test_l2_objective_is_liblinears(loss, c, rng):
  x, y = problem(rng)
  w, b, info = l2_svm(x, y, c=c, loss=loss, bias=2.0, tol=1e-9, max_steps=400)
  peer = LinearSVC(
    C=c, loss=loss, dual=loss == "hinge", tol=1e-10, max_iter=10**7,
    intercept_scaling=2.0, random_state=0,
  ).fit(x, y)  # fmt: skip
  value = lambda w, b: objective(x, y, w, b, c, loss, norm=2, bias=2.0)
  own = value(np.asarray(w), float(b))
  best = value(peer.coef_[0], peer.intercept_[0])
  assert info.converged
  assert own <= best * (1 + 1e-6)
  assert own - float(info.gap) <= best * (1 + 1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("nonnegative", [False, True])
def test_l1_gap_bounds_the_objective(loss, nonnegative, rng):
  x, y = problem(rng, 60, 8)
  args = {"c": 0.5, "loss": loss, "nonnegative": nonnegative}
  _, first = l1_svm(x, y, **args, max_steps=2)
  w, info = l1_svm(x, y, **args, tol=1e-6, max_steps=2000)
  assert info.converged
  assert float(first.objective - info.objective) <= float(first.gap) + 1e-12
  assert float(info.gap) <= 1e-6 * float(info.objective)
  assert not nonnegative or (np.asarray(w) >= 0).all()
  for step in rng.normal(size=(20, 8)) * 1e-2:
    other = np.asarray(w) + step
    other = np.maximum(other, 0) if nonnegative else other
    worse = objective(x, y, other, 0, 0.5, loss, norm=1)
    assert worse >= float(info.objective - info.gap)


@pytest.mark.parametrize("kind", ["float", "int8", "bool", "packed"])
def test_all_kinds_of_features_give_one_answer(kind, rng):
  x, y = binary(rng, num=300, dim=21)
  own = {
    "float": x.astype(float),
    "int8": x,
    "bool": x > 0,
    "packed": pack(x > 0),
  }[kind]
  right, b, _ = l2_svm(x.astype(float), y, tol=1e-9)
  w, own_b, _ = l2_svm(own, y, tol=1e-9)
  np.testing.assert_allclose(w, right, atol=1e-9)
  np.testing.assert_allclose(own_b, b, atol=1e-9)
  right, _ = l1_svm(x.astype(float), y, c=0.3, tol=1e-9)
  w, _ = l1_svm(own, y, c=0.3, tol=1e-9)
  np.testing.assert_allclose(w, right, atol=1e-7)


def both(x, y, **args):
  """Coefficients of the two solvers, in one vector."""
  w, b, _ = l2_svm(x, y, tol=1e-11, **args)
  v, _ = l1_svm(x, y, tol=1e-11, **args)
  return np.concatenate([w, [b], v])


def test_integer_weights_are_repeated_rows(rng):
  x, y = problem(rng, 50, 6)
  times = rng.integers(0, 4, 50)
  rows = np.repeat(np.arange(50), times)
  weighted = both(x, y, c=0.4, sample_weight=times)
  np.testing.assert_allclose(weighted, both(x[rows], y[rows], c=0.4), atol=1e-5)


def test_zero_weight_is_removal(rng):
  x, y = problem(rng, 50, 6)
  weight = (np.arange(50) % 5 > 0).astype(float)
  spoilt = np.where(weight[:, None] > 0, x, 1e6)
  kept = weight > 0
  right = both(x[kept], y[kept], c=0.4)
  np.testing.assert_allclose(
    both(spoilt, y, c=0.4, sample_weight=weight), right, atol=1e-5
  )


def test_classes_are_one_against_the_rest(rng):
  x, _ = problem(rng)
  y = rng.integers(0, 3, len(x))
  w, b, info = l2_svm(x, y, c=0.3, tol=1e-10, num_classes=4)
  assert w.shape == (4, 12) and b.shape == info.gap.shape == (4,)
  for k in range(3):
    own, own_b, _ = l2_svm(x, np.where(y == k, 1, -1), c=0.3, tol=1e-10)
    np.testing.assert_allclose(w[k], own, atol=1e-5)
    np.testing.assert_allclose(b[k], own_b, atol=1e-5)
  # The class without items keeps its row and is never the best.
  assert (np.argmax(x @ np.asarray(w).T + np.asarray(b), 1) < 3).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_vmap_over_c_equals_a_loop(loss, rng):
  x, y = problem(rng, 60, 6)
  many = jnp.array([0.01, 0.1, 1.0])
  solve = lambda c: l2_svm(x, y, c=c, loss=loss, tol=1e-8)[0]
  loop = np.stack([solve(c) for c in many])
  np.testing.assert_allclose(jax.vmap(solve)(many), loop, atol=1e-6)
  solve = lambda c: l1_svm(x, y, c=c, tol=1e-8)[0]
  loop = np.stack([solve(c) for c in many])
  np.testing.assert_allclose(jax.vmap(solve)(many), loop, atol=1e-6)


def test_warm_start_needs_fewer_steps(rng):
  x, y = problem(rng)
  w, b, _ = l2_svm(x, y, c=1.0, tol=1e-8)
  *_, warm = l2_svm(x, y, c=1.1, init=(w, b), tol=1e-8)
  *_, again = l2_svm(x, y, c=1.1, tol=1e-8)
  assert int(warm.products) < int(again.products)
  np.testing.assert_allclose(warm.objective, again.objective, rtol=1e-7)
  v, _ = l1_svm(x, y, c=1.0, tol=1e-8)
  _, info = l1_svm(x, y, c=1.0, init=v, tol=1e-8)
  assert int(info.steps) == 0


def test_column_scale_is_scaled_features(rng):
  x, y = binary(rng)
  scale = rng.random(20)
  right = l2_svm(x * scale, y, tol=1e-10)
  own = l2_svm(x, y, column_scale=scale, tol=1e-10)
  np.testing.assert_allclose(own[0], right[0], atol=1e-7)


def test_float32_meets_its_own_default_gap(rng):
  x, y = problem(rng, 400, 30)
  *_, right = l2_svm(x, y, c=5.0, tol=1e-10)
  w, _, info = l2_svm(x.astype(np.float32), y, c=5.0)
  assert w.dtype == np.float32 and info.converged
  assert float(info.objective) <= float(right.objective) * 1.001


@pytest.mark.parametrize(
  ("change", "message"),
  [
    ({"c": -1.0}, "c must be above 0"),
    ({"c": np.inf}, "c must be above 0"),
    ({"loss": "logistic"}, "loss must be one of"),
    ({"y": np.array([1, -1])}, "y must have a label for each of the 50 rows"),
    ({"y": np.full(50, 0.5)}, "y must be"),
    ({"y": np.array(["a"] * 50)}, "y must be numbers"),
    ({"sample_weight": np.full(50, -1.0)}, r"sample_weight\[0\] is -1"),
    ({"sample_weight": np.ones(3)}, r"sample_weight must be \[50\]"),
    ({"features": np.ones((50, 0))}, "features must be"),
    ({"features": np.diag([1, np.nan] * 25)}, r"features\[1, 1\] is not fin"),
    ({"features": np.ones((50, 4)) * 1j}, "features must be real numbers"),
    ({"features": np.array([["a"]] * 50)}, "features must be real numbers"),
    ({"c": "1"}, "c must be above 0 and finite, got '1'"),
    ({"c": None}, "c must be above 0 and finite, got None"),
    ({"tol": -1e-3}, "tol must be >= 0"),
    ({"max_steps": -1}, "max_steps must be at least 0 and whole"),
    ({"max_steps": 2.5}, "max_steps must be at least 0 and whole"),
    ({"init": np.full(4, np.inf)}, r"init\[0\] is not finite|init must be"),
    ({"init": np.zeros(3)}, "init must be"),
    ({"init": 5}, "init must be"),
    ({"features": np.ones(50)}, r"features must be \[N, K\]"),
    ({"features": [[1], [1, 2]]}, "features must be an array"),
    ({"features": Packed(np.zeros((50, 3), np.uint8), 99)}, "a Packed of 3"),
    ({"c": np.ones(2)}, "c must be above 0|c must be one number"),
    (
      {"c": 1e39, "features": np.ones((50, 4), "f4")},
      "c is 1e.39, beyond float32",
    ),
  ],
)
@pytest.mark.parametrize("solver", [l1_svm, l2_svm])
def test_wrong_inputs_are_named(solver, change, message, rng):
  x, y = problem(rng, 50, 4)
  args = {"features": x, "y": y} | change
  with pytest.raises(ValueError, match=message):
    solver(args.pop("features"), args.pop("y"), **args)


@pytest.mark.parametrize(
  ("change", "message"),
  [
    ({"y": np.zeros(50, int)}, "y has the one class 0"),
    ({"y": np.arange(50) % 3 - 1}, "-1 and 1, or classes from 0 on; entry 0"),
    ({"y": np.arange(50) % 3, "num_classes": 2.5}, "num_classes must be"),
    ({"y": np.arange(50) % 3, "num_classes": 2}, "classes 0 to 1; entry 2"),
    ({"y": np.where(np.arange(50) == 2, np.nan, -1)}, "entry 2 is nan"),
    ({"y": np.zeros((50, 0))}, "y must have a label for each"),
    ({"bias": -1}, "bias must be above 0"),
    ({"sample_weight": np.full(50, 1e300)}, "no finite solution in float64"),
    ({"column_scale": [1, np.nan, 1, 1]}, r"column_scale\[1\] is not finite"),
    ({"column_scale": [1, 1]}, r"column_scale must be \[4\]"),
  ],
)
def test_wrong_inputs_of_l2_are_named(change, message, rng):
  x, y = problem(rng, 50, 4)
  args = {"y": y} | change
  with pytest.raises(ValueError, match=message):
    l2_svm(x, args.pop("y"), **args)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", [l1_svm, l2_svm])
def test_weights_of_nothing_give_nothing(solver, loss, rng):
  x, y = problem(rng, 50, 4)
  w, *_, info = solver(x, y, loss=loss, sample_weight=np.zeros(50))
  np.testing.assert_array_equal(w, 0)
  assert info.converged and float(info.objective) == float(info.gap) == 0


@pytest.mark.parametrize("solver", [l1_svm, l2_svm])
def test_halves_are_widened(solver, rng):
  x, y = problem(rng, 50, 4)
  x = x.astype(np.float16)
  w, *_, info = solver(x, y)
  right, *_ = solver(x.astype(np.float32), y)
  assert info.converged and w.dtype == np.float32
  np.testing.assert_array_equal(w, right)


def test_wide_integers_do_not_wrap(rng):
  x, y = problem(rng, 50, 4)
  weight = np.where(np.arange(50) < 25, 2**40, 1)
  with jax.enable_x64(False):
    args = x.astype("f4"), y
    *_, info = l2_svm(*args, sample_weight=weight, c=1e-12)
    *_, right = l2_svm(*args, sample_weight=weight.astype("f4"), c=1e-12)
    wide = (np.arange(50)[:, None] - 25) * 2**31
    w, *_ = l2_svm(wide, np.where(wide[:, 0] >= 0, 1, -1), column_scale=[1e-9])
  np.testing.assert_array_equal(info.objective, right.objective)
  assert w[0] > 0


def test_a_check_inside_jit_sees_what_is_at_hand(rng):
  x, y = problem(rng, 50, 4)
  x[3, 1] = np.inf
  with pytest.raises(ValueError, match=r"features\[3, 1\] is not finite"):
    jax.jit(lambda c: l2_svm(x, y, c=c)[0])(1.0)


def test_integers_are_packed_by_sign(rng):
  bits = rng.random((5, 11)) < 0.5
  for own in (bits, bits.astype(np.int8), np.where(bits, 1, -1)):
    np.testing.assert_array_equal(unpack(pack(own)), bits)
  with pytest.raises(ValueError, match="bits must be booleans or integers"):
    pack(bits.astype(float))
  with pytest.raises(ValueError, match="a Packed of 2 bytes a row"):
    unpack(Packed(pack(bits).bits, 99))
  # Bytes of 0 and 1 are numbers, not bits that were packed before.
  own = l2_svm(bits.astype(np.uint8), np.array([1, -1, 1, -1, 1]))[0]
  right = l2_svm(bits.astype(float), np.array([1, -1, 1, -1, 1]))[0]
  np.testing.assert_allclose(own, right, atol=1e-6)


@pytest.mark.parametrize(
  "init", [(np.zeros(3), 0.0), (np.zeros((2, 4)), [0, 0])]
)
def test_a_start_of_another_shape_is_named(init, rng):
  x, y = problem(rng, 50, 4)
  with pytest.raises(ValueError, match="init must be"):
    l2_svm(x, y, init=init)
