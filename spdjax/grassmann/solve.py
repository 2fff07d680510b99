"""One door to the solvers on the Grassmann manifold."""

from spdjax.grassmann import conjugate_gradient, trust_region

SOLVERS = {"cg": conjugate_gradient.run, "tr": trust_region.run}


def minimize(fun, w, *args, solver="cg", max_steps=200, tol=None):
  """argmin of fun(w, *args) over span(w), from the start w [n, m].

  Args:
    fun: (w [n, m], *args) -> [], a function of span(w) only. Compiled once per
      function object and shapes: keep the object, let data travel in args.
    solver: "cg", conjugate gradient (seed paper, Algorithm 1), or "tr", a trust
      region on second derivatives (Absil, Baker and Gallivan, 2007).
    tol: stop at norm(grad) <= tol max(1, abs(value)); default sqrt(eps).

  Returns (w [n, m], Info). The cost at w is never above that at the start, and
  where fun is not finite is out of bounds. Raises ValueError for an unknown
  solver, a w that is not [n, m] with 0 < m < n, or a fun that is not scalar.
  """
  if solver not in SOLVERS:
    raise ValueError(f"solver must be one of {tuple(SOLVERS)}, got {solver!r}")
  return SOLVERS[solver](fun, w, *args, max_steps=max_steps, tol=tol)
