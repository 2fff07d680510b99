"""What the tests of experiments share."""

import jax
import pytest

from experiments import launch


@pytest.fixture
def launched(tmp_path, capsys):
  """Runs an experiment in process: (status, stdout, stderr)."""

  def run(experiment, config, args):
    # Of a flag given twice the last counts; absl would join two tuples.
    flags = {arg.partition("=")[0]: arg for arg in args}
    config = f"--config=configs/{config}"
    argv = ["prog", config, f"--workdir={tmp_path / 'out'}", *flags.values()]
    try:
      launch.main(experiment, argv)
      status = 0
    except SystemExit as error:
      status = error.code
    return status, *capsys.readouterr()

  before = jax.config.jax_enable_x64, jax.config.jax_default_matmul_precision
  yield run
  jax.config.update("jax_enable_x64", before[0])
  jax.config.update("jax_default_matmul_precision", before[1])
