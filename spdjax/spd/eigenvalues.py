"""Eigenvalues of symmetric matrices without their vectors, and their sums."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from spdjax.spd import spectral

_LAPACK = {"float32": "lapack_ssyevd_ffi", "float64": "lapack_dsyevd_ffi"}


class Sum(NamedTuple):
  """A sum over eigenvalues, sum_k f(w_k), and its derivative f'."""

  value: Callable  # w -> f(w)
  gradient: spectral.Function  # f', as a matrix function


@functools.cache
def _load_lapack(dtype):
  # Lowering an eigendecomposition is the public way to have LAPACK's addresses
  # looked up; a call before that would jump to a null pointer.
  with jax.ensure_compile_time_eval():
    jax.jit(jnp.linalg.eigh).lower(jax.ShapeDtypeStruct((1, 1), dtype))


def _lapack(x):
  """Values only (LAPACK's jobz = N): about half the time of eigh."""
  _load_lapack(x.dtype.name)
  batch, n = x.shape[:-2], x.shape[-1]
  results = (
    jax.ShapeDtypeStruct(x.shape, x.dtype),
    jax.ShapeDtypeStruct((*batch, n), x.dtype),
    jax.ShapeDtypeStruct(batch, np.int32),
  )
  call = jax.ffi.ffi_call(
    _LAPACK[x.dtype.name],
    results,
    vmap_method="broadcast_all",
    input_output_aliases={0: 0},
  )
  _, w, info = call(x, mode=np.uint8(ord("N")), uplo=np.uint8(ord("L")))
  return jnp.where((info == 0)[..., None], w, jnp.nan)


@jax.custom_jvp
def eigvalsh(x):
  """Eigenvalues [..., n], ascending, of symmetric x [..., n, n].

  On CPUs no eigenvectors are computed until a derivative asks for them.
  """
  x = spectral.sym(x)
  if x.dtype.name not in _LAPACK:
    return jnp.linalg.eigvalsh(x)
  return jax.lax.platform_dependent(x, cpu=_lapack, default=jnp.linalg.eigvalsh)


@eigvalsh.defjvp
def _eigvalsh_jvp(primals, tangents):
  (x,), (dx,) = primals, tangents
  w, v = jnp.linalg.eigh(x)
  dw = jnp.einsum(
    "...ik,...ij,...jk->...k", v, dx, v, precision=jax.lax.Precision.HIGHEST
  )
  return w, dw


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def total(f: Sum, x):
  """sum_k f(w_k) [...] over the eigenvalues of symmetric x [..., n, n].

  The derivative is tr(f'(X) dX), so repeated eigenvalues do no harm.
  """
  return f.value(eigvalsh(x)).sum(-1)


@total.defjvp
def _total_jvp(f, primals, tangents):
  (x,), (dx,) = primals, tangents
  slope = spectral.apply(f.gradient, x)
  return total(f, x), (slope * dx).sum((-2, -1))
