"""EM and encoding beside scikit-learn, scikit-image and VLFeat; float32."""

import jax
import jax.numpy as jnp
import numpy as np
from skimage.feature import fisher_vector
from sklearn.mixture import GaussianMixture

from benchmarks import harness, vlfeat
from spdjax import gaussians
from spdjax.images import pyramid_cells

D, K = 52, 256


def problem(num, seed=0):
  """Items [num, D] of a mixture, and a start for EM."""
  rng = np.random.default_rng(seed)
  means = 2 * rng.normal(size=(K, D))
  x = (means[rng.integers(0, K, num)] + rng.normal(size=(num, D))).astype(
    np.float32
  )
  start = means + 0.3 * rng.normal(size=means.shape)
  mix = gaussians.Mixture(
    np.full(K, 1 / K, np.float32),
    start.astype(np.float32),
    np.full((K, D), 1.5, np.float32),
  )
  return x, mix


def flops(num):
  """Of the two products of an EM pass, or of an encoding."""
  return 2 * 2 * num * K * (1 + 2 * D)


def peer_mixture(mix):
  """scikit-learn's mixture with our parameters."""
  peer = GaussianMixture(K, covariance_type="diag", reg_covar=0)
  peer.weights_, peer.means_ = mix.weight, mix.mean
  peer.covariances_ = mix.var
  peer.precisions_cholesky_ = 1 / np.sqrt(mix.var)
  return peer


def iteration(num=200_000):
  x, mix = problem(num)
  own = jnp.asarray(x)

  @jax.jit
  def ours(x):
    statistics = gaussians.statistics(gaussians.Mixture(*mix), x)
    return gaussians.em_step(gaussians.Mixture(*mix), statistics, floor=0.0)

  def peer():
    found = peer_mixture(mix)
    _, log = found._e_step(x)
    found._m_step(x, log)
    return found

  def difference(a, b):
    pairs = (
      (a.weight, b.weights_),
      (a.mean, b.means_),
      (a.var, b.covariances_),
    )
    return max(harness.relative(*pair) for pair in pairs)

  work = f"EM iteration, {num} x {D}, K = {K}"
  # Both in float32: sums of 200,000 items agree to that.
  yield harness.compare(
    work, lambda: ours(own), peer, name="scikit-learn", goal=5,
    difference=difference, tol=1e-3, repeats=5, peer_repeats=2,
    flops=flops(num),
  )  # fmt: skip
  yield from _beside_vlfeat(f"2 EM iterations, {num} x {D}, K = {K}", x, mix)


def _beside_vlfeat(work, x, mix):
  """VLFeat ends with a pass for the likelihood, and so do we."""
  if vlfeat.library() is None:
    print(f"{work:52} VLFeat is not installed (Debian: libvlfeat1)")
    return
  own = jnp.asarray(x)

  @jax.jit
  def ours(x):
    now = gaussians.Mixture(*mix)
    for _ in range(2):
      now = gaussians.em_step(now, gaussians.statistics(now, x), floor=0.0)
    return now, gaussians.log_likelihood(now, x).sum()

  yield harness.compare(
    work,
    lambda: ours(own),
    lambda: vlfeat.em(x, mix, steps=2),
    name="VLFeat",
    goal=8,
    difference=lambda a, b: max(
      harness.relative(*pair) for pair in zip(a[0], b, strict=True)
    ),
    tol=1e-3,
    repeats=3,
    peer_repeats=2,
    flops=2.5 * flops(len(x)),
  )


def encoding(num=9_000):
  x, mix = problem(num, seed=1)
  side = int(np.ceil(num**0.5))
  places = np.stack(np.divmod(np.arange(num), side), 1) / side
  cells = np.asarray(
    pyramid_cells(jnp.asarray(places, jnp.float32), levels=((1, 1), (2, 2)))
  )
  own, base = jnp.asarray(x), gaussians.Mixture(*map(jnp.asarray, mix))

  @jax.jit
  def ours(x):
    statistics = gaussians.cell_statistics(base, x, cells)
    adapted = jax.vmap(lambda s: gaussians.adapt(base, s))(statistics)
    return jax.vmap(lambda a: gaussians.lag(a, base))(adapted)

  @jax.jit
  def same(x):
    return gaussians.fisher(gaussians.statistics(base, x), base)

  peer = peer_mixture(mix)
  work = f"LAG of 5 cells, an image of {num} x {D}, K = {K}"

  def difference(_, theirs):
    """The peers' vector is another: our Fisher vector is held against it.

    They differ in order and in the sign of a half.
    """
    mine = np.sort(np.abs(np.ravel(same(own))))
    return harness.relative(mine, np.sort(np.abs(theirs[-len(mine) :])))

  yield harness.compare(
    work, lambda: ours(own), lambda: fisher_vector(x, peer),
    name="scikit-image's Fisher vector, one cell", goal=10,
    difference=difference, tol=1e-3, repeats=15, peer_repeats=3,
    flops=flops(num),
  )  # fmt: skip
  if vlfeat.library() is None:
    print(f"{work:52} VLFeat is not installed (Debian: libvlfeat1)")
    return
  yield harness.compare(
    work,
    lambda: ours(own),
    lambda: vlfeat.fisher(x, mix),
    name="VLFeat's Fisher vector, one cell",
    goal=4,
    difference=difference,
    tol=1e-3,
    repeats=15,
    peer_repeats=5,
    flops=flops(num),
  )


def scaling():
  """Our time against the number of items and of components."""
  for count in (10_000, 30_000, 100_000):
    x, mix = problem(count)
    own = jnp.asarray(x)
    base = gaussians.Mixture(*map(jnp.asarray, mix))
    yield harness.alone(
      f"EM statistics, {count} x {D}, K = {K}",
      lambda o=own, b=base: gaussians.statistics(b, o),
      flops=flops(count), curve="EM statistics", axis="T", at=count,
    )  # fmt: skip


def rows():
  yield from iteration()
  yield from encoding()
  yield from scaling()
