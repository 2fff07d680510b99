"""Lie-algebrized Gaussians of pictures, and what recognises classes by them.

python -m experiments.lag_scenes --config=configs/lag_scenes.py:VARIANT
  --workdir=DIR
"""

import resource
import shutil
import time
from pathlib import Path

import numpy as np

from experiments import launch, records
from experiments.data import splits
from experiments.lag import (
  model_file,
  models,
  pictures,
  products,
  recognise,
  settings,
  summary,
)


def experiment(config, workdir) -> dict:
  """Loads, models, encodes and recognises; the fields of the result line."""
  settings.check(config)
  begin = time.perf_counter()
  loaded = pictures.load(config)
  pictures.tell_skipped(loaded)
  parts = _splits(config, loaded)
  workdir = records.start(workdir, config)
  records.log(
    workdir,
    "data",
    images=len(loaded.labels),
    classes=loaded.classes,
    skipped=loaded.skipped,
    seconds=time.perf_counter() - begin,
  )
  lines = []

  def log(event, **values):
    records.log(workdir, event, **values)
    lines.append({"event": event, **values})

  confusion = {}
  for number, split in enumerate(parts):
    _split(config, loaded, split, number, workdir, log, confusion)
    records.save_arrays(workdir, **confusion)
  result = summary.result(lines)
  records.log(workdir, "result", **result)
  print(summary.text(result["table"]), flush=True)
  return result


def _splits(config, loaded):
  if loaded.train is not None:
    return [splits.given(loaded.train)]
  return [
    splits.per_class(
      loaded.labels,
      config.train_per_class,
      seed=config.seed + s,
      names=loaded.classes,
    )
    for s in range(config.num_splits)
  ]


def _split(config, loaded, split, number, workdir, log, confusion) -> None:
  """Everything of one split."""
  folder = Path(workdir) / "stages" / f"split{number}"
  folder.mkdir(parents=True, exist_ok=True)
  seed = config.seed + number
  clock = _Clock(log, number)
  encoders = _encoders(config, loaded, split, seed, folder, clock)
  saved = 0
  for num, own in encoders.items():
    found = products.of_split(
      config, loaded, split, own, config.vectors, folder / f"k{num}"
    )
    clock.lap("encode", components=num)
    for name in config.vectors:
      rows = _recognised(config, loaded, split, *found[name])
      for row in rows:
        predicted, centroids = row.pop("predicted"), row.pop("centroids")
        if number == 0 and row["classifier"] == "centroid" and not saved:
          saved = _saved(config, loaded, split, own, centroids, workdir, folder)
          log("model", bytes=saved, vector=name, components=num)
        log("accuracy", split=number, components=num, vector=name, **row)
        if row["classifier"] == "centroid":
          _count(confusion, f"{name}.{num}", loaded, split, predicted)
    clock.lap("recognise", components=num)
  shutil.rmtree(folder)


class _Clock:
  """Seconds of each stage, and the peak of memory so far."""

  def __init__(self, log, split):
    self.log, self.split, self.begin = log, split, time.perf_counter()

  def lap(self, stage, **values):
    now = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    self.log(
      "stage", split=self.split, stage=stage, seconds=now - self.begin,
      peak_gib=peak, **values,
    )  # fmt: skip
    self.begin = now


def _encoders(config, loaded, split, seed, folder, clock) -> dict:
  """{number of components: {kind: encoder}}, read where a run has left them."""
  files = {num: folder / f"encoders-{num}.npz" for num in config.components}
  if not all(file.exists() for file in files.values()):
    values, centres = models.sampled(config, loaded, split.train, seed)
    clock.lap("sample")
    for num, file in files.items():
      if not file.exists():
        models.save(file, models.fit(config, values, centres, num, seed))
        clock.lap("fit", components=num)
  out = {}
  for num, file in files.items():
    with np.load(file, allow_pickle=False) as arrays:
      out[num] = models.read(arrays, config.kinds)
  return out


def _saved(config, loaded, split, encoders, centroids, workdir, folder) -> int:
  """Saves the main model: the first K and vector of the first split."""
  name = config.vectors[0]
  training = products.training_vectors(
    config, loaded, split, encoders, config.vectors,
    folder / f"k{config.components[0]}",
  )  # fmt: skip
  own = {kind: training[kind, name] for kind in encoders}
  return model_file.save(
    workdir, config, encoders, own, centroids, loaded.classes
  )


def _recognised(config, loaded, split, gram, rows):
  """The fields of an "accuracy" line for each classifier, with predictions."""
  y, truth = loaded.labels[split.train], loaded.labels[split.test]
  num = len(loaded.classes)
  part, validation = recognise.choose_rank(config, gram, y, num)
  every = recognise.directions(gram, y, num)
  plain = recognise.centroids(every, 0)
  rank = recognise.rank_of(part, len(y), num)
  projected = recognise.centroids(every, rank)
  found = [
    (
      {"classifier": "centroid without projection", "centroids": plain},
      recognise.scores(plain, rows, config.metric),
    ),
    (
      {"classifier": "centroid", "centroids": projected,
       "rank": rank, "part": part,
       "validation": {str(k): v for k, v in validation.items()}},
      recognise.scores(projected, rows, config.metric),
    ),
  ]  # fmt: skip
  if config.svm_c:
    c, values = recognise.linear_svm(config, gram, rows, y, num)
    row = {"classifier": "linear SVM", "c": c, "centroids": None}
    found.append((row, values))
  for row, values in found:
    predicted = values.argmax(1)
    right = float(np.mean(predicted == truth))
    yield {**row, "accuracy": right, "predicted": predicted}


def _count(confusion, name, loaded, split, predicted) -> None:
  num = len(loaded.classes)
  counts = confusion.setdefault(
    f"confusion.{name}", np.zeros((num, num), np.int64)
  )
  np.add.at(counts, (loaded.labels[split.test], predicted), 1)


if __name__ == "__main__":
  launch.main(experiment)
