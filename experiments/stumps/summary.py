"""The table that a run of `stump_kernel` prints."""


def text(lines) -> str:
  """A line for each tested method."""
  rows = [_HEAD, *filter(None, map(_row, lines))]
  return "\n".join(rows)


_HEAD = (
  f"{'method':<34}{'drawn':>7}{'kept':>7}{'accuracy':>10}{'train s':>9}"
  f"{'us each':>9}"
)


def _row(line) -> str | None:
  if line["event"] in ("size", "selection"):
    name = f"{line['kind']} {line['draw']} c={line['c']:g}"
    if line["event"] == "selection":
      name = f"{line['selection']}: {name}"
    drawn, kept = line["num_stumps"], line["kept"]
  elif line["event"] == "baseline":
    name, drawn, kept = line["method"], "", ""
  else:
    return None
  return (
    f"{name:<34}{drawn:>7}{kept:>7}{100 * line['accuracy']:>10.2f}"
    f"{line['seconds']:>9.1f}{line['microseconds']:>9.1f}"
  )
