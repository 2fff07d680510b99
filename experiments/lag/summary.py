"""The table that a run of `lag_scenes` prints."""

import numpy as np


def result(lines) -> dict:
  """Mean and standard deviation over splits; the first row is the main one."""
  found = {}
  for line in lines:
    if line["event"] == "accuracy":
      key = line["components"], line["vector"], line["classifier"]
      found.setdefault(key, []).append(line["accuracy"])
  table = [
    {
      "components": components,
      "vector": vector,
      "classifier": classifier,
      "accuracy": float(np.mean(values)),
      "std": float(np.std(values)),
      "splits": len(values),
    }
    for (components, vector, classifier), values in found.items()
  ]
  main = next(row for row in table if row["classifier"] == "centroid")
  return {
    "accuracy": main["accuracy"],
    "std": main["std"],
    "table": table,
    "splits": _spent(lines),
  }


def of_split(number, rows) -> str:
  """One line: what the main combination reaches on a split."""
  main = next(row for row in rows if row["classifier"] == "centroid")
  return (
    f"split {number}: {100 * main['accuracy']:.2f} % by the nearest centroid, "
    f"{main['vector']}, K = {main['components']}"
  )


def _spent(lines) -> list[dict]:
  """Seconds of the stages of each split that this process ran, and its peak."""
  found = {}
  for line in lines:
    if line["event"] == "stage":
      own = found.setdefault(line["split"], {"split": line["split"]})
      own[line["stage"]] = own.get(line["stage"], 0) + line["seconds"]
      own["peak_gib"] = line["peak_gib"]
  return list(found.values())


def text(table) -> str:
  """A line for each combination."""
  head = f"{'K':>5} {'vector':<8}{'classifier':<30}{'accuracy':>10}{'std':>7}"
  return "\n".join([head, *map(_row, table)])


def _row(row) -> str:
  return (
    f"{row['components']:>5} {row['vector']:<8}{row['classifier']:<30}"
    f"{100 * row['accuracy']:>10.2f}{100 * row['std']:>7.2f}"
  )
