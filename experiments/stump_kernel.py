"""Kernels of random stumps and pairs, against what scikit-learn offers.

python -m experiments.stump_kernel --config=configs/stump_kernel.py:VARIANT
  --workdir=DIR
"""

import itertools
import resource
import time

import numpy as np
from sklearn.metrics import confusion_matrix
from tqdm import tqdm

from experiments import launch, records
from experiments.data import tables
from experiments.stumps import baselines, model_file, settings, summary, train
from spdjax import stumps


def experiment(config, workdir) -> dict:
  """Loads, chooses, learns and tests; returns the fields of the result line."""
  settings.check(config)
  begin = time.perf_counter()
  table = tables.load(config)
  settings.check_rows(config, table)
  workdir = records.start(workdir, config)
  lines = []

  def log(event, **fields):
    records.log(workdir, event, **fields)
    lines.append({"event": event, **fields})

  log("data", **_data(table), seconds=time.perf_counter() - begin)
  part = train.chooser(config, table)
  with tqdm(total=_fits(config), desc="kernels") as bar:
    chosen = [
      train.choose(config, table, kinds, part, log, bar)
      for kinds in (("stump",), config.kinds)
      if kinds
    ]
    best = None
    for setting in chosen:
      best = _sizes(config, table, setting, log, bar) or best
    thetas = _selections(config, table, chosen[-1], log, bar)
    for row in baselines.rows(config, table, part):
      log("baseline", **row)
      bar.update()
  _keep(workdir, config, table, best, thetas, log)
  result = _result(lines)
  records.log(workdir, "result", **result)
  print(summary.text(lines), flush=True)
  return result


def _data(table) -> dict:
  num_train, num_test = map(len, table.split)
  return {
    "num_train": num_train,
    "num_test": num_test,
    "num_features": table.x.shape[1],
    "classes": [str(c) for c in table.classes],
  }


def _fits(config) -> int:
  chosen = [("stump",), config.kinds] if config.kinds else [("stump",)]
  looked_at = sum(len(train.candidates(config, kinds)) for kinds in chosen)
  return (
    looked_at
    + len(chosen) * len(config.num_stumps)
    + len(config.selections) * len(config.keep)
    + len(config.baselines)
  )


def _sizes(config, table, setting, log, bar):
  """Accuracy against the number of stumps, all of them kept; the last fit."""
  for num in config.num_stumps:
    own = setting._replace(num_stumps=num)
    fitted = _row("size", config, table, own, log)
    bar.update()
  return own, *fitted


def _selections(config, table, setting, log, bar) -> dict[str, np.ndarray]:
  """The selections at an equal number kept, of one pool; "none" draws so many.

  Theta is learned in "l1" and "reweight", uniform in the others; returned
  sorted, by name, for the last number kept.
  """
  thetas = {}
  for keep, selection in itertools.product(config.keep, config.selections):
    num = keep if selection == "none" else config.pool
    own = setting._replace(selection=selection, num_stumps=num, keep=keep)
    _, info = _row("selection", config, table, own, log)
    thetas[f"theta_{selection}"] = np.sort(np.asarray(info.theta))[::-1]
    bar.update()
  return thetas


def _row(event, config, table, setting, log):
  model, info, seconds = train.fit(config, table, setting, table.split)
  log(
    event,
    **setting._asdict(),
    kept=len(model.theta),
    accuracy=train.accuracy(config, table, model, table.split.test),
    converged=bool(info.converged),
    gap=float(info.gap),
    objective=float(info.objective),
    seconds=seconds,
    microseconds=train.microseconds(config, table, model),
    peak_gib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
  )
  return model, info


def _keep(workdir, config, table, best, thetas, log) -> None:
  """Saves the largest model of the last kind, and what the report draws."""
  setting, model, info = best
  size = model_file.save(
    workdir / model_file.NAME,
    model,
    # A split of the user's may have classes that only the test part has.
    classes=table.classes[model.classes],
    num_features=table.x.shape[1],
  )
  test = table.split.test
  x = table.x[test].astype(config.dtype)
  again = model_file.predict(workdir / model_file.NAME, x)
  codes = stumps.predict(model, x)
  log(
    "model",
    **setting._asdict(),
    bytes=size,
    reloaded_equal=bool((again == table.classes[codes]).all()),
  )
  records.save_arrays(
    workdir,
    **thetas,
    theta=np.sort(np.asarray(info.theta))[::-1],
    features=_use(model.stumps, table.x.shape[1]),
    feature_names=np.array(table.names),
    confusion=confusion_matrix(
      table.labels[test], codes, labels=np.arange(len(table.classes))
    ),
    grid=np.array(table.grid or (0, 0)),
  )


def _use(mapping, num: int) -> np.ndarray:
  """How many of the kept mappings look at each feature, [D]."""
  looks = np.sort(_looks(mapping), 1)
  new = np.diff(looks, axis=1, prepend=-1) > 0  # each feature once a mapping
  return np.bincount(looks[new], minlength=num)


def _looks(mapping) -> np.ndarray:
  """The features of each mapping, [K, J]."""
  if hasattr(mapping, "feature"):
    own = np.asarray(mapping.feature)
    return own.reshape(len(own), -1)
  return np.concatenate([_looks(mapping.first), _looks(mapping.second)], 1)


def _result(lines) -> dict:
  """The figures that the README's table quotes."""
  tested = [r for r in lines if r["event"] in ("size", "selection")]
  table = [
    {
      "method": name,
      "num_stumps": row["num_stumps"],
      "accuracy": row["accuracy"],
    }
    for name, alone in (("stumps", True), ("pairs", False))
    for row in tested
    if row["event"] == "size" and (row["kind"] == "stump") == alone
  ]
  table += [
    {"method": r["method"], "num_stumps": None, "accuracy": r["accuracy"]}
    for r in lines
    if r["event"] == "baseline"
  ]
  sizes = [r for r in tested if r["event"] == "size"]
  return {
    "accuracy": sizes[-1]["accuracy"],
    "table": table,
    "peak_gib": max(r["peak_gib"] for r in tested),
  }


if __name__ == "__main__":
  launch.main(experiment)
