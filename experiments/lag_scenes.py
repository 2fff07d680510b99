"""Lie-algebrized Gaussians of pictures, and what recognises classes by them.

python -m experiments.lag_scenes --config=configs/lag_scenes.py:VARIANT
  --workdir=DIR
"""

import hashlib
import json
import resource
import shutil
import time
from pathlib import Path

import numpy as np

from experiments import launch, records, whole_files
from experiments.data import images
from experiments.lag import (
  model_file,
  models,
  parts,
  pictures,
  products,
  recognise,
  settings,
  shown,
  summary,
)

_SHOWN, _DONE = "shown.npz", "done.json"  # of a finished split


def experiment(config, workdir) -> dict:
  """Loads, models, encodes and recognises; the fields of the result line."""
  settings.check(config)
  begin = time.perf_counter()
  loaded = pictures.load(config)
  images.tell_skipped(loaded.skipped)
  pictures.tell_remarks(loaded)
  found = parts.of(config, loaded)
  workdir = records.start(workdir, config, may_change=("num_splits",))
  records.log(
    workdir,
    "data",
    images=len(loaded.labels),
    classes=loaded.classes,
    skipped=loaded.skipped,
    remarks={remark: len(own) for remark, own in loaded.remarks.items()},
    passed_over=len(loaded.passed),
    seconds=time.perf_counter() - begin,
  )
  lines = []

  def log(event, **values):
    records.log(workdir, event, **values)
    lines.append({"event": event, **values})

  arrays = {}
  for number, split in enumerate(found):
    _split(config, loaded, split, number, workdir, log, arrays)
    records.save_arrays(workdir, **arrays)
  result = summary.result(lines)
  records.log(workdir, "result", **result)
  print(summary.text(result["table"]), flush=True)
  return result


def _split(config, loaded, split, number, workdir, log, arrays) -> None:
  """Everything of one split; what a killed run has finished is read."""
  folder = _stages(config, loaded.digest, workdir) / f"split{number}"
  finished = _finished(folder, number)
  if finished is None:
    rows, counts, own = _run(
      config, loaded, split, number, workdir, folder, log
    )
    shutil.rmtree(folder)
    folder.mkdir()
    whole_files.write_npz(folder / _SHOWN, own)
    if number == 0:
      model_file.copy(workdir, folder)
    finished = records.plain({"rows": rows, "confusion": counts}), own
    text = json.dumps(finished[0])
    whole_files.write_bytes(folder / _DONE, text.encode())
  elif number == 0:
    model_file.copy(folder, workdir)
  found, own = finished
  for row in found["rows"]:
    log("accuracy", split=number, **row)
  print(summary.of_split(number, found["rows"]), flush=True)
  for name, counts in found["confusion"].items():
    arrays[name] = arrays.get(name, 0) + np.array(counts)
  arrays |= own


def _finished(folder, number):
  """What a finished split has left; None for none, or half of it."""
  try:
    found = json.loads((folder / _DONE).read_text(encoding="utf-8"))
  except (OSError, ValueError):
    return None
  own = whole_files.read_npz(folder / _SHOWN)
  complete = own is not None and (number > 0 or model_file.is_in(folder))
  return (found, own) if complete else None


def _stages(config, digest, workdir) -> Path:
  """The folder of what is under way, one for each config and set of pictures.

  The number of splits does not matter: more may be asked for later.
  """
  kept = records.plain(config) | {"num_splits": None, "pictures": digest}
  text = json.dumps(kept, sort_keys=True)
  return (
    Path(workdir) / "stages" / hashlib.sha256(text.encode()).hexdigest()[:16]
  )


def _run(config, loaded, split, number, workdir, folder, log):
  """The "accuracy" lines, the confusions and what is shown of a split."""
  folder.mkdir(parents=True, exist_ok=True)
  lap = _laps(log, number)
  encoders = _encoders(config, loaded, split, config.seed + number, folder, lap)
  lines, confusion, own_arrays = [], {}, {}
  for num, own in encoders.items():
    found = products.of_split(
      config, loaded, split, own, config.vectors, folder / f"k{num}"
    )
    lap("encode", components=num)
    for name in config.vectors:
      for row in _recognised(config, loaded, split, *found[name]):
        scores, centroids = row.pop("scores"), row.pop("centroids")
        lines.append({"components": num, "vector": name, **row})
        if row["classifier"] != "centroid":
          continue
        counts = _counts(loaded, split, scores.argmax(1))
        confusion[f"confusion.{name}.{num}"] = counts
        main = config.components[0], config.vectors[0]
        if number == 0 and (num, name) == main:
          size = _saved(config, loaded, split, own, centroids, workdir, folder)
          log("model", bytes=size, vector=name, components=num)
          own_arrays = shown.arrays(config, loaded, split, own, scores)
    lap("recognise", components=num)
  return lines, confusion, own_arrays


def _laps(log, number):
  """lap(stage, **more) logs the seconds since the last, and peak memory."""
  begin = time.perf_counter()

  def lap(stage, **more):
    nonlocal begin
    now = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    seconds, begin = now - begin, now
    log(
      "stage", split=number, stage=stage, seconds=seconds, peak_gib=peak, **more
    )

  return lap


def _encoders(config, loaded, split, seed, folder, lap) -> dict:
  """{number of components: {kind: encoder}}, read where a run has left them."""
  files = {num: folder / f"encoders-{num}.npz" for num in config.components}
  kept = {num: whole_files.read_npz(file) for num, file in files.items()}
  if None in kept.values():
    values, centres = models.sampled(config, loaded, split.train, seed)
    lap("sample")
    for num, file in files.items():
      if kept[num] is None:
        models.save(file, models.fit(config, values, centres, num, seed))
        kept[num] = whole_files.read_npz(file)
        lap("fit", components=num)
  return {
    num: models.read(arrays, config.kinds) for num, arrays in kept.items()
  }


def _saved(config, loaded, split, encoders, centroids, workdir, folder) -> int:
  """Saves the main model: the first K and vector of the first split."""
  own = products.combined(
    config, loaded, split, config.vectors[0], centroids.coefficients,
    folder / f"k{config.components[0]}",
  )  # fmt: skip
  return model_file.save(
    workdir, config, encoders, own, centroids.norms, loaded.classes
  )


def _recognised(config, loaded, split, gram, rows):
  """The fields of an "accuracy" line for each classifier, with its scores."""
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
    right = float(np.mean(values.argmax(1) == truth))
    yield {**row, "accuracy": right, "scores": values}


def _counts(loaded, split, predicted) -> np.ndarray:
  """[C, C] test pictures by true and predicted class."""
  num = len(loaded.classes)
  counts = np.zeros((num, num), np.int64)
  np.add.at(counts, (loaded.labels[split.test], predicted), 1)
  return counts


if __name__ == "__main__":
  launch.main(experiment)
