"""Geometry and optimisation on the Grassmann manifold of subspaces of R^n."""

from spdjax import threads  # noqa: F401
from spdjax.grassmann import conjugate_gradient, trust_region
from spdjax.grassmann.cost import Info
from spdjax.grassmann.linesearch import Search, backtrack
from spdjax.grassmann.manifold import (
  Geodesic,
  angles,
  distance,
  geodesic,
  log,
  point,
  random,
  retract,
  tangent,
  transport,
)
from spdjax.grassmann.solve import minimize

__all__ = [
  "Geodesic",
  "Info",
  "Search",
  "angles",
  "backtrack",
  "conjugate_gradient",
  "distance",
  "geodesic",
  "log",
  "minimize",
  "point",
  "random",
  "retract",
  "tangent",
  "transport",
  "trust_region",
]
