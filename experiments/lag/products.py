"""Inner products of all pictures' vectors with the training ones.

Training vectors lie in a file each batch, test pictures leave their products;
what a killed run has finished is not done again.
"""

from pathlib import Path

import numpy as np
from tqdm import tqdm

from experiments import whole_files
from experiments.lag import describe, vectors

# Batches whose products are taken at once: each reads all training vectors.
_TOGETHER = 8


def of_split(config, pictures, split, encoders, names, folder: Path):
  """{name: (Gram [n, n], products [m, n])}, the mean over kinds and cells."""
  train, keys = _train(config, pictures, split, encoders, names, folder)
  grams = {key: _gram(train[key]) for key in keys}
  parts = []
  plan = describe.plan(pictures, split.test, config.batch)
  groups = [plan[k : k + _TOGETHER] for k in range(0, len(plan), _TOGETHER)]
  with _bar(len(split.test), "test", folder) as bar:
    for number, group in enumerate(groups):
      indices = np.concatenate([own for _, own in group])

      def make(group=group):
        return _products(
          [
            vectors.encoded(config, pictures, *batch, encoders, names)
            for batch in group
          ],
          train,
        )

      parts.append((indices, _kept(folder / f"test-{number:05}.npz", make)))
      bar.update(len(indices))
  place = np.argsort(np.concatenate([i for i, _ in parts]))
  out = {}
  for name in names:
    own = [k for k in keys if k[1] == name]
    rows = sum(
      np.concatenate([part[_spell(k)] for _, part in parts]) for k in own
    )
    out[name] = (
      scale(config, len(own)) * sum(grams[k] for k in own),
      scale(config, len(own)) * rows[place].astype(np.float64),
    )
  return out


def _products(found, train) -> dict:
  """Inner products of some batches' vectors with the training ones."""
  return {
    _spell(key): np.concatenate([own[key] for own in found]) @ x.T
    for key, x in train.items()
  }


def combined(config, pictures, split, name, coefficients, folder) -> dict:
  """{kind: [S L, C]}: sums of the training vectors by coefficients [n, C].

  They are read where `of_split` has written them, a batch at a time.
  """
  place = {index: row for row, index in enumerate(split.train)}
  out = dict.fromkeys(config.kinds, 0.0)
  plan = describe.plan(pictures, split.train, config.batch)
  for number, (_, indices) in enumerate(plan):
    part = whole_files.read_npz(_train_file(folder, number))
    own = coefficients[[place[i] for i in indices]]
    for kind in config.kinds:
      out[kind] += part[_spell((kind, name))].T @ own
  return out


def _train(config, pictures, split, encoders, names, folder):
  """({(kind, name): [n, S L]} in the order of the split, its keys)."""
  folder.mkdir(parents=True, exist_ok=True)
  keys = [(kind, name) for kind in encoders for name in names]
  place = {index: row for row, index in enumerate(split.train)}
  out = {}
  with _bar(len(split.train), "training", folder) as bar:
    for number, (canvas, indices) in enumerate(
      describe.plan(pictures, split.train, config.batch)
    ):

      def make(canvas=canvas, indices=indices):
        own = vectors.encoded(
          config, pictures, canvas, indices, encoders, names
        )
        return {_spell(k): v for k, v in own.items()}

      part = _kept(_train_file(folder, number), make)
      rows = [place[i] for i in indices]
      for key in keys:
        own = part[_spell(key)]
        if key not in out:
          out[key] = np.empty((len(split.train), own.shape[1]), own.dtype)
        out[key][rows] = own
      bar.update(len(indices))
  return out, keys


def _bar(total, part, folder):
  """A progress bar that names the split and K, as the stage's folder does."""
  name = f"{folder.parent.name} {folder.name}, {part}"
  return tqdm(total=total, desc=name, unit="image")


def _kept(file, make) -> dict:
  """The arrays of a file; where it is absent or torn they are made anew."""
  found = whole_files.read_npz(file)
  if found is None:
    found = make()
    whole_files.write_npz(file, found)
  return found


def _train_file(folder, number) -> Path:
  return folder / f"train-{number:05}.npz"


def _gram(x):
  return (x @ x.T).astype(np.float64)


def scale(config, num_kinds) -> float:
  """Makes inner products the mean over kinds and cells."""
  cells = sum(rows * columns for rows, columns in vectors.levels(config))
  return 1 / (num_kinds * cells)


def _spell(key) -> str:
  return ".".join(key)
