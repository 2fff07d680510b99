"""Learned subspaces of SPD matrices against what needs no learning.

python -m experiments.spd_reduction --config=configs/spd_reduction.py:VARIANT
  --workdir=DIR
"""

import time

import numpy as np
from tqdm import tqdm

from experiments import launch, records
from experiments.data.images import tell_skipped
from experiments.spd import (
  baselines,
  candidates,
  learned,
  model_file,
  settings,
  summary,
  traces,
  validation,
)
from experiments.spd.items import Items, all_splits, load
from experiments.spd.pool import pool

MAIN = "reduced 1-NN"


def experiment(config, workdir) -> dict:
  """Loads, splits, learns and tests; returns the fields of the result line."""
  settings.check(config)
  begin = time.perf_counter()
  items = load(config)
  tell_skipped(items.skipped)
  settings.check_dims(config, items.x.shape[-1])
  splits = all_splits(config, items)
  parts = [_folds(config, items, split) for split in splits]
  workdir = records.start(workdir, config)
  records.log(
    workdir, "data", **_data(config, items), seconds=time.perf_counter() - begin
  )
  matrices = pool(items.x, items.labels)
  lines, arrays = [], {}

  def log(event, **fields):
    records.log(workdir, event, **fields)
    lines.append({"event": event, **fields})
    if fields.get("warning"):
      tqdm.write(f"warning: {fields['warning']}")

  with tqdm(total=_fits(config, parts), desc="subspaces") as bar:
    for s, (split, own) in enumerate(zip(splits, parts, strict=True)):
      chosen = _split(config, matrices, split, own, s, log, bar)
      full = matrices.logs(config.ridges[0])[split.test]
      arrays = _arrays(arrays, items, split, chosen, full)
      records.save_arrays(workdir, **arrays)
      if s == 0:
        size = model_file.save(workdir, config, items, split.train, chosen)
        log("model", bytes=size)
  result = _result(lines)
  records.log(workdir, "result", **result)
  print(summary.text(result["table"]), flush=True)
  return result


def _folds(config, items: Items, split):
  if config.choose == "fixed":
    return []
  return validation.folds(config, items, split.train)


def _fits(config, parts) -> int:
  """Subspaces to learn; a choice outside the table adds one now and then."""
  metrics = candidates.validated(config)
  grid = len(candidates.reduced(config, metrics, config.dims))
  table = len(config.metrics) * len(config.dims)
  return sum(grid * len(own) + table for own in parts)


def _split(config, matrices, split, folds, s: int, log, bar):
  """Everything of one split; returns the choice of the main family."""
  scores = validation.validate(config, matrices, folds, bar)
  if config.baselines:
    for row in baselines.rows(config, matrices, split, scores):
      log("baseline", split=s, **row)
  learn = learned.fitter(config, matrices, split)
  args = config, matrices, split, scores, learn
  for row in learned.reduced_rows(*args, bar):
    log("reduced", split=s, **row)
  main = None
  for family in candidates.FAMILIES:
    row, chosen = learned.choose(family, *args)
    log("choice", split=s, **row)
    main = chosen if family == MAIN else main
  if config.trace and s == 0:
    for row in traces.rows(config, matrices, split, scores):
      log("trace", **row)
  return main


def _data(config, items: Items) -> dict:
  return {
    "name": config.data,
    "items": len(items.x),
    "n": items.x.shape[-1],
    "classes": items.classes,
    "skipped": len(items.skipped),
    "skipped_items": items.skipped,
  }


def _arrays(old: dict, items: Items, split, chosen, full) -> dict:
  """The arrays so far, and one more split with log-vectors `full` [N, D]."""
  truth = items.labels[split.test]
  counts = summary.confusion(truth, chosen.predicted, len(items.classes))
  views = old or {
    "view": summary.view(chosen.seen.test_logs),
    "view_labels": truth,
    "full_view": summary.view(full),
  }
  return {
    **views,
    "w": chosen.w,
    "confusion": old.get("confusion", np.zeros_like(counts)) + counts,
  }


def _result(lines: list[dict]) -> dict:
  found = [
    line["accuracy"]
    for line in lines
    if line["event"] == "choice" and line["family"] == MAIN
  ]
  return {
    "accuracy": float(np.mean(found)),
    "std": float(np.std(found)),
    "table": summary.table(lines),
  }


if __name__ == "__main__":
  launch.main(experiment)
