"""Symmetric positive definite matrices: functions, metrics, means."""

from spdjax import threads  # noqa: F401
from spdjax.spd.checks import check_samples, check_spd
from spdjax.spd.covariance import condition, covariance, regularise, shrink
from spdjax.spd.divergences import (
  METRICS,
  airm,
  distance,
  euclidean,
  jeffrey,
  log_euclidean,
  logdet,
  metric_name,
  stein,
)
from spdjax.spd.eigenvalues import eigvalsh
from spdjax.spd.geometry import (
  exp,
  geodesic,
  inner,
  log,
  log_vectors,
  transport,
)
from spdjax.spd.means import mean
from spdjax.spd.pairwise import pairwise
from spdjax.spd.regions import region_covariances
from spdjax.spd.spectral import expm, inv_sqrtm, logm, powm, sqrtm, sym

__all__ = [
  "METRICS",
  "airm",
  "check_samples",
  "check_spd",
  "condition",
  "covariance",
  "distance",
  "eigvalsh",
  "euclidean",
  "exp",
  "expm",
  "geodesic",
  "inner",
  "inv_sqrtm",
  "jeffrey",
  "log",
  "log_euclidean",
  "log_vectors",
  "logdet",
  "logm",
  "mean",
  "metric_name",
  "pairwise",
  "powm",
  "region_covariances",
  "regularise",
  "shrink",
  "sqrtm",
  "stein",
  "sym",
  "transport",
]
