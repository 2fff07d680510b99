"""The kernel, its feature map, and models on it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spdjax import stumps
from spdjax.stumps import theta as thetas


def blobs(rng, num=150, classes=3, dim=6):
  y = rng.integers(0, classes, num)
  x = rng.normal(size=(num, dim)) + 2.5 * rng.normal(size=(classes, dim))[y]
  return x, y


@pytest.mark.parametrize("kind", ["stump", "xor", "projection"])
def test_feature_map_spans_the_kernel(kind, key, rng):
  x, z = jnp.asarray(rng.normal(size=(8, 5))), jnp.asarray(rng.random((6, 5)))
  drawn = stumps.sample(key, x, 20, kind=kind)
  theta = jnp.asarray(rng.random(20))
  k = stumps.kernel(drawn, theta, x, z)
  left, right = (stumps.evaluate(drawn, v) for v in (x, z))
  agree = np.asarray(left)[:, None] == np.asarray(right)[None]
  np.testing.assert_allclose(k, (agree * np.asarray(theta)).sum(-1), rtol=1e-12)
  phi = [stumps.feature_map(drawn, theta, v) for v in (x, z)]
  assert phi[0].shape == (8, 40)
  np.testing.assert_allclose(phi[0] @ phi[1].T, k, rtol=1e-12)
  own = np.linalg.eigvalsh(stumps.kernel(drawn, theta, x, x))
  assert own.min() > -1e-12  # a Mercer kernel


def test_uniform_kernel_tends_to_the_city_block_distance(key, rng):
  """P(t between x and z) = |x_f - z_f| / range_f, averaged over f."""
  x = rng.random((40, 3))
  x[0], x[1] = 0, 1  # the range of every feature
  num = 200_000
  drawn = stumps.sample(key, x, num, thresholds="uniform")
  k = stumps.kernel(drawn, jnp.full(num, 1 / num), jnp.asarray(x[:9]), x[:9])
  distance = np.abs(x[:9, None] - x[None, :9]).sum(-1)
  np.testing.assert_allclose(k, 1 - distance / 3, atol=5 * num**-0.5)


@pytest.mark.slow
@pytest.mark.parametrize("selection", thetas.SELECTIONS)
def test_fit_learns_and_prunes(selection, key, rng):
  x, y = blobs(rng)
  args = {"num_stumps": 40, "selection": selection, "c": 5.0, "c_theta": 0.5}
  if selection != "none":
    args["keep"] = 10
  model, info = stumps.fit(key, x, y, **args)
  assert info.converged and float(info.gap) >= 0
  kept = len(model.theta)
  assert kept == 40 if selection == "none" else kept <= 10
  assert (model.theta > 0).all()
  np.testing.assert_allclose(model.theta.sum(), 1, rtol=1e-6)
  assert model.weights.shape == (3, kept) and info.theta.shape == (40,)
  scores = stumps.decision(model, x)
  right = np.where(stumps.evaluate(model.stumps, jnp.asarray(x)), 1.0, -1.0)
  right = right @ np.asarray(model.weights).T + np.asarray(model.bias)
  np.testing.assert_allclose(scores, right, atol=1e-10)
  # Ten stumps do not tell all; a third would be chance.
  assert (stumps.predict(model, x) == y).mean() > 0.8


def test_l1_selection_is_sparse_by_itself(key, rng):
  x, y = blobs(rng)
  model, _ = stumps.fit(key, x, y, num_stumps=40, c_theta=0.02)
  assert 0 < len(model.theta) < 30


@pytest.mark.parametrize(
  "name",
  [
    np.array(["oak", "ash", "elm"]),
    np.array([3, 7, -2]),
    np.array([0.5, 1.5, 2.5]),
  ],
  ids=["strings", "integers", "floats"],
)
def test_labels_come_back_as_given(name, key, rng):
  x, y = blobs(rng)
  order = np.argsort(name)
  args = {"num_stumps": 40, "selection": "none"}
  plain, _ = stumps.fit(key, x, np.argsort(order)[y], **args)
  model, _ = stumps.fit(key, x, name[y], **args)
  np.testing.assert_array_equal(model.weights, plain.weights)
  np.testing.assert_array_equal(
    stumps.predict(model, x), name[order][stumps.predict(plain, x)]
  )


@pytest.mark.parametrize("labels", [[-1, 1], [False, True], [0, 1]], ids=str)
def test_two_classes_are_one_problem(labels, key, rng):
  x, y = blobs(rng, classes=2)
  model, _ = stumps.fit(
    key, x, np.array(labels)[y], num_stumps=40, selection="none"
  )
  np.testing.assert_array_equal(model.weights[0], -model.weights[1])
  assert (stumps.predict(model, x) == np.array(labels)[y]).mean() > 0.9


@pytest.mark.slow
def test_weights_are_repeated_items(key, rng):
  x, y = blobs(rng, 60)
  times = rng.integers(1, 3, 60)
  args = {"num_stumps": 40, "selection": "none", "tol": 1e-10}
  # Ranges, not items: the draw must not see the repetition.
  args["thresholds"] = "uniform"
  one, _ = stumps.fit(key, x, y, sample_weight=times, **args)
  rows = np.repeat(np.arange(60), times)
  two, _ = stumps.fit(key, x[rows], y[rows], **args)
  np.testing.assert_allclose(one.weights, two.weights, atol=1e-6)
  weight = np.array([1.0, 2.0, 3.0])
  by_class, _ = stumps.fit(key, x, y, class_weight=weight, **args)
  by_item, _ = stumps.fit(key, x, y, sample_weight=weight[y], **args)
  np.testing.assert_array_equal(by_class.weights, by_item.weights)


def test_negatives_of_step_one_are_balanced_pairs(key, rng):
  y = jnp.asarray(np.repeat([0, 1, 2], [80, 15, 5]))
  bits = rng.random((100, 7)) < 0.5
  sign = jnp.asarray(rng.integers(-1, 2, (3, 7)), jnp.int8)
  s, ends, items = thetas.two_class(
    key, stumps.pack(bits), y, sign, negatives=6000
  )
  assert s.dtype == jnp.int8 and s.shape == (6100, 7)
  signed = np.where(bits, 1, -1)
  right = np.asarray(sign)[y] * signed
  np.testing.assert_array_equal(s[:100], right)
  assert (np.asarray(ends) == np.repeat([1, -1], [100, 6000])).all()
  target = np.arange(6000) % 3
  drawn = np.asarray(items)[100:]
  np.testing.assert_array_equal(
    s[100:], np.asarray(sign)[target] * signed[drawn]
  )
  for c in range(3):
    others = np.bincount(np.asarray(y)[drawn[target == c]], minlength=3)
    assert others[c] == 0
    assert np.abs(np.delete(others, c) / 2000 - 0.5).max() < 0.05


def test_float32_and_jit_agree_with_float64(key, rng):
  x, y = blobs(rng)
  model, _ = stumps.fit(
    key, x.astype(np.float32), y, num_stumps=40, selection="none"
  )
  right = stumps.decision(model, x.astype(np.float32))
  jitted = jax.jit(lambda v: stumps.decision(model, v))(x.astype(np.float32))
  np.testing.assert_allclose(jitted, right, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
  ("change", "message"),
  [
    ({"y": np.zeros(20, int)}, "y has the one class 0"),
    ({"y": np.zeros(3, int)}, "one label for each of 20 items"),
    ({"x": np.full((20, 4), np.nan)}, r"x\[0, 0\] is not finite"),
    ({"x": np.ones((20, 4))}, "all features of x are constant"),
    ({"x": np.ones((0, 4))}, "x must be"),
    ({"selection": "best"}, "selection must be one of"),
    ({"c": -1.0}, "c must be above 0"),
    ({"class_weight": [1.0]}, r"class_weight must be \[2\]"),
    ({"class_weight": [1.0, 0]}, "fewer than two classes above 0"),
    ({"sample_weight": np.zeros(20)}, "fewer than two classes above 0"),
    ({"sample_weight": np.full(20, -1)}, r"sample_weight\[0\] is -1"),
    ({"x": np.ones((20, 4)) * 1j}, "x must be real numbers, got complex128"),
    ({"y": np.arange(20) % 2 * 1j}, "y must be integers, strings or booleans"),
    ({"key": 0}, "key must be made by jax.random.key, got 0"),
    ({"c": 1e300, "selection": "none"}, "no finite solution"),
    ({"keep": 2.5}, "keep must be at least 1 and whole, got 2.5"),
    ({"c": "a"}, "c must be above 0 and finite, got 'a'"),
    ({"c_theta": 0}, "c_theta must be above 0"),
    ({"rule": "median", "selection": "none"}, "rule must be one of"),
    ({"keep": 0}, "keep must be at least 1"),
    ({"negatives": 0}, "negatives must be at least 1"),
  ],
)
def test_wrong_inputs_are_named(change, message, key, rng):
  args = {"x": rng.normal(size=(20, 4)), "y": np.arange(20) % 2} | change
  positional = args.pop("key", key), args.pop("x"), args.pop("y")
  with pytest.raises(ValueError, match=message):
    stumps.fit(*positional, num_stumps=8, **args)


def test_labels_of_a_data_frame_are_taken(key, rng):
  x, y = blobs(rng)
  names = np.array(["ash", "elm", "oak"])[y]
  args = {"num_stumps": 40, "selection": "none"}
  model, _ = stumps.fit(key, x, names.astype(object), **args)
  right, _ = stumps.fit(key, x, names, **args)
  np.testing.assert_array_equal(model.classes, right.classes)
  with pytest.raises(ValueError, match="labels of <U3 cannot be traced"):
    jax.jit(lambda v: stumps.predict(model, v))(x)
  with pytest.raises(ValueError, match="model must be a Model"):
    stumps.predict((model, None), x)


@pytest.mark.parametrize(
  ("theta", "message"),
  [
    (np.ones(7), r"theta must be \[8\]"),
    (np.full(8, -1.0), r"theta\[0\] is -1"),
    (np.full(8, np.nan), r"theta\[0\] is nan"),
  ],
)
def test_a_wrong_theta_is_named(theta, message, key, rng):
  x = rng.normal(size=(9, 3))
  drawn = stumps.sample(key, x, 8)
  with pytest.raises(ValueError, match=message):
    stumps.kernel(drawn, theta, x, x)
  with pytest.raises(ValueError, match=message):
    stumps.feature_map(drawn, theta, x)


def test_reweighting_outlasts_a_tiny_cost(key, rng):
  x, y = blobs(rng)
  model, _ = stumps.fit(
    key, x.astype(np.float32), y, num_stumps=40, selection="reweight", c=1e-30
  )
  assert len(model.theta) == 10
  np.testing.assert_allclose(model.theta.sum(), 1, rtol=1e-5)


def test_no_rows_have_no_labels(key, rng):
  x, y = blobs(rng)
  model, _ = stumps.fit(key, x, y, num_stumps=40, selection="none")
  assert stumps.decision(model, x[:0]).shape == (0, 3)
  assert stumps.predict(model, x[:0]).shape == (0,)


def test_a_missing_feature_is_named(key, rng):
  x, y = blobs(rng)
  model, _ = stumps.fit(key, x, y, num_stumps=40, selection="none")
  for call in (stumps.decision, stumps.predict):
    with pytest.raises(ValueError, match="x has 1 features; the mappings look"):
      call(model, x[:, :1])
  with pytest.raises(ValueError, match="x has 1 features"):
    stumps.evaluate(model.stumps, x[:, :1])
