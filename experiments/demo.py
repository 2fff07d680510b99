"""One small run from data to report, with nothing to download.

python -m experiments.demo --workdir=runs/demo
"""

import importlib.util
import sys

from experiments import launch, spd_reduction

CONFIG = "--config=configs/spd_reduction.py:demo"


def demo(config, workdir) -> None:
  """Runs the config, then the report, and tells where it lies."""
  result = spd_reduction.experiment(config, workdir)
  print(f"chosen by validation: {100 * result['accuracy']:.1f} % right")
  if importlib.util.find_spec("experiments.report"):
    from experiments import report

    print(f"report: {report.report(workdir)}")


def main(argv: list[str] | None = None) -> None:
  """As `launch.main`, with the demo's config and fresh records by default."""
  prog, *args = sys.argv if argv is None else argv
  launch.main(demo, [prog, CONFIG, "--overwrite", *args])


if __name__ == "__main__":
  main()
