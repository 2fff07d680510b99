"""A model of stumps in one .npz, without pickle."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np

from experiments import precision, whole_files
from experiments.data.matrices import read_npz
from experiments.errors import UserError
from spdjax import stumps

NAME = "model.npz"
_LEAVES = {
  "stumps": (stumps.Stumps, ("feature", "threshold")),
  "projections": (stumps.Projections, ("feature", "weight", "threshold")),
}
_PAIRS = {"xor": stumps.Xor, "and": stumps.And}
_ARRAYS = ("theta", "weights", "bias", "classes")


def save(path, model: stumps.Model, *, classes, num_features: int) -> int:
  """Writes the model, with its labels as given; returns the file's bytes."""
  arrays = {name: np.asarray(getattr(model, name)) for name in _ARRAYS}
  arrays["classes"] = np.asarray(classes)
  arrays["num_features"] = np.asarray(num_features)
  arrays |= _spelled(model.stumps, "mapping")
  whole_files.write_npz(path, arrays)
  return Path(path).stat().st_size


def load(path) -> tuple[stumps.Model, int]:
  """(model, number of features) from a file of `save`.

  UserError when it is none.
  """
  arrays = read_npz(path, required=(*_ARRAYS, "num_features"))
  _check(arrays, path)
  precision.at_least(arrays["weights"].dtype.name)
  named = {name: jnp.asarray(arrays[name]) for name in _ARRAYS[:-1]}
  model = stumps.Model(
    stumps=_read(arrays, "mapping", path), classes=arrays["classes"], **named
  )
  return model, int(arrays["num_features"])


def _check(arrays, path) -> None:
  """UserError unless the arrays can belong to one model."""
  weights = arrays["weights"]
  right = weights.ndim == 2 and weights.dtype.kind == "f"
  if right:
    num_classes, kept = weights.shape
    sizes = {"theta": kept, "bias": num_classes, "classes": num_classes}
    right = all(arrays[name].shape == (n,) for name, n in sizes.items())
    own = [v for k, v in arrays.items() if k.startswith("mapping")]
    right &= all(v.ndim == 0 or len(v) == kept for v in own)
    right &= all(
      np.isfinite(arrays[name]).all()
      for name in ("theta", "weights", "bias")
      if arrays[name].dtype.kind == "f"
    )
    right &= arrays["num_features"].dtype.kind in "iu"
  if not right:
    raise UserError(f"{path}: no model of stumps: its arrays do not fit.")


def predict(path, x) -> np.ndarray:
  """Labels of rows x [N, D] by a saved model; UserError for another D."""
  return scored(path, x)[0]


def scored(path, x):
  """(labels [N], the scores of those labels [N]) by a saved model."""
  model, num = load(path)
  if np.ndim(x) != 2 or np.shape(x)[1] != num:
    raise UserError(
      f"{path}: the model takes {num} features, got shape {np.shape(x)}."
    )
  scores = np.asarray(
    stumps.decision(model, jnp.asarray(x, model.weights.dtype))
  )
  return model.classes[scores.argmax(1)], scores.max(1)


def _spelled(mapping, prefix: str) -> dict:
  for name, (kind, fields) in _LEAVES.items():
    if isinstance(mapping, kind):
      own = {f"{prefix}.{f}": np.asarray(getattr(mapping, f)) for f in fields}
      return {f"{prefix}.kind": np.asarray(name), **own}
  (name,) = (n for n, kind in _PAIRS.items() if isinstance(mapping, kind))
  return {
    f"{prefix}.kind": np.asarray(name),
    **_spelled(mapping.first, f"{prefix}.first"),
    **_spelled(mapping.second, f"{prefix}.second"),
  }


def _read(arrays, prefix: str, path):
  try:
    name = str(arrays[f"{prefix}.kind"])
    if name in _PAIRS:
      both = (_read(arrays, f"{prefix}.{k}", path) for k in ("first", "second"))
      return _PAIRS[name](*both)
    kind, fields = _LEAVES[name]
    return kind(*(jnp.asarray(arrays[f"{prefix}.{f}"]) for f in fields))
  except KeyError as error:
    raise UserError(f"{path}: no model of stumps ({error} missing).") from error
