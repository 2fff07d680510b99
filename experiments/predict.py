"""Labels for new files from the model that a run has saved.

python -m experiments.predict --model=DIR FILE...

DIR is the --workdir of a run. Of `lag_scenes`, the files are pictures: one line
a picture, its path, label and score. Of `stump_kernel`, they are tables without
labels (.npz with X [N, D], .csv, or svmlight, whose labels are not used): one
line a row. Of `spd_reduction`, they
are pictures or matrices (.npz with X [N, n, n]), as those that it learned from;
the score is minus the distance to the nearest training item.
"""

import argparse
import sys
from pathlib import Path

from experiments import features
from experiments.data import images, matrices, tables
from experiments.errors import UserError
from experiments.lag import model_file as lag_file
from experiments.lag import pictures
from experiments.spd import model_file as spd_file
from experiments.stumps import model_file as stump_file


def main(argv: list[str] | None = None) -> None:
  """Prints the lines; a mistake ends in one sentence and exit status 2."""
  parser = argparse.ArgumentParser("experiments.predict", description=__doc__)
  parser.formatter_class = argparse.RawDescriptionHelpFormatter
  parser.add_argument("--model", required=True, help="the folder of a run")
  parser.add_argument("files", nargs="+", metavar="FILE")
  known = parser.parse_args(argv)
  failed = False
  try:
    predict = reader(known.model)
  except UserError as error:
    print(f"error: {error}", file=sys.stderr)
    sys.exit(2)
  for file in known.files:
    # One bad file does not lose the labels of the others.
    try:
      for name, label, score in predict(file):
        print(f"{name}\t{label}\t{score:.6g}", flush=True)
    except UserError as error:
      print(f"error: {error}", file=sys.stderr)
      failed = True
  sys.exit(2 if failed else 0)


def reader(folder):
  """file -> (name, label, score)s, by the model in the folder."""
  folder = Path(folder)
  if (folder / lag_file.ARRAYS).is_file():
    return _of_pictures(lag_file.load(folder))
  if (folder / stump_file.NAME).is_file():
    return lambda file: _of_rows(folder / stump_file.NAME, file)
  if (folder / spd_file.NAME).is_file():
    return _of_matrices(spd_file.load(folder))
  raise UserError(
    f"--model={folder}: no {lag_file.ARRAYS}, {stump_file.NAME} or "
    f"{spd_file.NAME} there; name the --workdir of a finished run."
  )


def _of_pictures(model):
  def predict(file):
    image, _ = pictures.read_one(file, model.config)
    alone = pictures.alone(image, file)
    (scores,) = lag_file.scores(model, alone, [0], image.shape[:2])
    best = int(scores.argmax())
    yield file, model.classes[best], scores[best]

  return predict


def _of_rows(model, file):
  _, num = stump_file.load(model)
  labels, scores = stump_file.scored(model, tables.unlabelled(file, num))
  for row, (label, score) in enumerate(zip(labels, scores, strict=True)):
    yield f"{file}:{row}", label, score


def _of_matrices(model):
  def predict(file):
    if model.pictures:
      names = [file]
      x = features.image_covariances(
        [images.read_grey(file)],
        kind=model.features,
        position=model.position,
        dtype=model.dtype,
        progress=False,
      )
    else:
      x = matrices.read_npz(file, required=("X",))["X"]
      names = [f"{file}:{row}" for row in range(len(x))] or [file]
    labels, scores = spd_file.predict(model, x, names)
    yield from zip(names, labels, scores, strict=True)

  return predict


if __name__ == "__main__":
  main()
