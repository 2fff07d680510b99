"""Every refusal names the item and the reason; good matrices pass untouched."""

import jax
import numpy as np
import pytest

from spdjax.spd.checks import check_samples, check_spd

ASYMMETRIC = np.array([[2.0, 1], [0.9, 2]])
INDEFINITE = np.array([[1.0, 2], [2, 1]])
SINGULAR = np.array([[1.0, 1], [1, 1]])
BAD = {
  "not symmetric": ASYMMETRIC,
  "not positive definite: smallest eigenvalue -1, rank 1 of 2": INDEFINITE,
  "not positive definite.*rank 1 of 2": SINGULAR,
  "not finite": np.array([[1, np.nan], [np.nan, 1]]),
  "not positive definite.*rank 0 of 2": np.zeros((2, 2)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("lead", [(), (4,), (2, 3)], ids=str)
@pytest.mark.parametrize("said", BAD)
def test_the_first_bad_index_and_why(said, lead, dtype):
  x = np.broadcast_to(np.eye(2), (*lead, 2, 2)).astype(dtype)
  index = tuple(n - 1 for n in lead)
  x[index] = BAD[said]
  where = rf"x\[{', '.join(map(str, index))}\]" if lead else "x"
  with pytest.raises(ValueError, match=f"^{where} is {said}"):
    check_spd(x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
  "x",
  [
    np.diag([1e-4, 1e4]),
    np.diag([1e-15, 1.0, 1e15]),
    np.array([[1, 1 - 1e-4], [1 - 1e-4, 1]]),
    np.eye(3)[None, None],
    1e-20 * np.eye(4),
  ],
  ids=["spread", "wider", "correlated", "batch", "small"],
)
def test_good_matrices_come_back_themselves(x, dtype):
  x = x.astype(dtype)
  assert check_spd(x) is x


def test_rounding_of_symmetry_passes():
  a = np.random.default_rng(0).normal(size=(90, 90))
  check_spd(np.linalg.inv(a @ a.T + np.eye(90)))


@pytest.mark.parametrize("shape", [(3,), (2, 3), (0, 0), ()], ids=str)
def test_wrong_shape(shape):
  with pytest.raises(ValueError, match="trials must be"):
    check_spd(np.zeros(shape), name="trials")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_covariances_of_too_few_samples_are_refused(dtype):
  o = np.random.default_rng(1).normal(size=(5, 2, 3)).astype(dtype)
  x = np.stack([np.cov(a.T, bias=True) for a in o]).astype(dtype)
  with pytest.raises(ValueError, match=r"x\[0\].*rank 1 of 3"):
    check_spd(x)


@pytest.mark.parametrize(
  ("make", "rank"),
  [
    (lambda o: o[..., :3, :], 2),
    (lambda o: np.concatenate([o, o[..., :1]], -1), 3),
    (lambda o: np.concatenate([o, np.full_like(o[..., :1], 0.1)], -1), 3),
    (lambda o: np.repeat(o[..., :2, :], 5, -2), 1),
  ],
  ids=["r = n", "copied column", "constant column", "copied rows"],
)
def test_samples_that_cannot_give_an_spd_covariance(make, rank):
  o = np.random.default_rng(2).normal(size=(2, 8, 3))
  assert check_samples(o) is o
  with pytest.raises(ValueError, match=rf"^o\[0\] has .*rank {rank}:"):
    check_samples(make(o), name="o")


def test_samples_refuse_nan_and_shape():
  o = np.zeros((2, 5, 2))
  o[1, 0, 0] = np.nan
  with pytest.raises(ValueError, match=r"features\[1\] is not finite"):
    check_samples(o)
  with pytest.raises(ValueError, match="features must be"):
    check_samples(np.zeros(3))


def test_float64_without_x64_is_said():
  with jax.enable_x64(False):
    with pytest.warns(UserWarning, match="becomes float32"):
      check_spd(np.eye(2))
    check_spd(np.eye(2, dtype=np.float32))
    # SPD in float64, singular as the float32 that would be computed with.
    x = np.array([[1, 1 - 1e-9], [1 - 1e-9, 1]])
    with pytest.warns(UserWarning), pytest.raises(ValueError, match="rank 1"):
      check_spd(x)
