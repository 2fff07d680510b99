"""The functions, spectra and random matrices that the tests of spd share."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from spdjax import spd

FUNCTIONS = {
  "logm": (spd.logm, scipy.linalg.logm),
  "expm": (spd.expm, scipy.linalg.expm),
  "sqrtm": (spd.sqrtm, scipy.linalg.sqrtm),
  "inv_sqrtm": (
    spd.inv_sqrtm,
    lambda x: scipy.linalg.inv(scipy.linalg.sqrtm(x)),
  ),
  "powm_third": (
    lambda x: spd.powm(x, 1 / 3),
    lambda x: scipy.linalg.expm(scipy.linalg.logm(x) / 3),
  ),
  "powm_-1": (lambda x: spd.powm(x, -1), scipy.linalg.inv),
  "powm_2": (lambda x: spd.powm(x, 2), lambda x: x @ x),
  "powm_traced": (
    lambda x: spd.powm(x, jnp.asarray(0.7)),
    lambda x: scipy.linalg.expm(0.7 * scipy.linalg.logm(x)),
  ),
}


FUNCTIONS = {
  name: (jax.jit(ours), theirs) for name, (ours, theirs) in FUNCTIONS.items()
}


SPECTRA = {
  "spread": [0.05, 0.4, 2.0, 6.0],
  "identity": [1.0, 1.0, 1.0, 1.0],
  "repeated": [0.3, 2.0, 2.0, 2.0],
  "cluster": [0.5, 1.0, 1 + 1e-9, 1 + 1e-5],
}


every_function = pytest.mark.parametrize("name", FUNCTIONS)


def symmetric(rng, n=4):
  a = rng.normal(size=(n, n))
  return a + a.T


def with_spectrum(rng, values):
  q = np.linalg.qr(rng.normal(size=(len(values), len(values))))[0]
  x = (q * np.asarray(values)) @ q.T
  return (x + x.T) / 2
