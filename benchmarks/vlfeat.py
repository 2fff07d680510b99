"""VLFeat: mixtures and Fisher vectors by ctypes, where it is installed."""

import ctypes
import ctypes.util
import functools
import os

import numpy as np

_FLOAT, _CUSTOM = 1, 2  # VL_TYPE_FLOAT, VlGMMCustom


@functools.cache
def library():
  """libvl, or None. $VLFEAT may name its file."""
  name = os.environ.get("VLFEAT") or ctypes.util.find_library("vl")
  if not name:
    return None
  found = ctypes.CDLL(name)
  size, pointer = ctypes.c_size_t, ctypes.c_void_p
  found.vl_gmm_new.restype = pointer
  found.vl_gmm_new.argtypes = [ctypes.c_uint32, size, size]
  found.vl_gmm_cluster.restype = ctypes.c_double
  found.vl_gmm_cluster.argtypes = [pointer, pointer, size]
  for name in ("means", "covariances", "priors"):
    getattr(found, f"vl_gmm_set_{name}").argtypes = [pointer, pointer]
    getattr(found, f"vl_gmm_get_{name}").argtypes = [pointer]
    getattr(found, f"vl_gmm_get_{name}").restype = pointer
  for name in ("max_num_iterations", "num_repetitions"):
    getattr(found, f"vl_gmm_set_{name}").argtypes = [pointer, size]
  found.vl_gmm_set_initialization.argtypes = [pointer, ctypes.c_int]
  found.vl_gmm_delete.argtypes = [pointer]
  found.vl_fisher_encode.restype = size
  found.vl_fisher_encode.argtypes = [
    pointer, ctypes.c_uint32, pointer, size, size, pointer, pointer, pointer,
    size, ctypes.c_int,
  ]  # fmt: skip
  return found


def _held(a):
  """(array that must stay alive, its address)."""
  a = np.ascontiguousarray(a, np.float32)
  return a, a.ctypes.data


def em(x, mix, steps):
  """(weight, mean, var) after some steps of EM from a mixture."""
  vl, (num, dim) = library(), mix.mean.shape
  held = {
    "means": _held(mix.mean),
    "covariances": _held(mix.var),
    "priors": _held(mix.weight),
  }
  x, items = _held(x)
  model = vl.vl_gmm_new(_FLOAT, dim, num)
  vl.vl_gmm_set_initialization(model, _CUSTOM)
  for name, (_, address) in held.items():
    getattr(vl, f"vl_gmm_set_{name}")(model, address)
  vl.vl_gmm_set_max_num_iterations(model, steps)
  vl.vl_gmm_set_num_repetitions(model, 1)
  vl.vl_gmm_cluster(model, items, len(x))

  def got(name, shape):
    address = getattr(vl, f"vl_gmm_get_{name}")(model)
    source = (ctypes.c_float * int(np.prod(shape))).from_address(address)
    return np.array(source, np.float32).reshape(shape)

  out = (
    got("priors", (num,)),
    got("means", (num, dim)),
    got("covariances", (num, dim)),
  )
  vl.vl_gmm_delete(model)
  return out


def fisher(x, mix):
  """The Fisher vector [2 K D] without normalisation."""
  num, dim = mix.mean.shape
  out = np.zeros(2 * num * dim, np.float32)
  parts = [_held(a) for a in (mix.mean, mix.var, mix.weight, x)]
  means, variances, priors, items = (address for _, address in parts)
  library().vl_fisher_encode(
    out.ctypes.data, _FLOAT, means, dim, num, variances, priors, items, len(x),
    0,
  )  # fmt: skip
  return out
