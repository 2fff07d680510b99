"""From a command line to `experiment(config, workdir)`.

Flags live in objects of their own, made when `main` is called: importing an
experiment, in a notebook or twice, defines and reads none.
"""

import dataclasses
import importlib
import importlib.util
import inspect
import re
import sys
import typing
from pathlib import Path

import jax
from absl import flags

import configs
from experiments import overrides, programs, records
from experiments.errors import UserError

USAGE = """\
usage: python -m experiments.NAME --config=configs/NAME.py[:VARIANT]
         [--config.FIELD=VALUE ...] --workdir=DIR [--overwrite]

  --config        the config file and, after a colon, its variant
  --config.FIELD  overrides one field; fields are listed when --config is given;
                  several values as a,b or "('a','b')", no value as none
  --workdir       the folder that receives the records
  --overwrite     sets records already in that folder aside, in previous-K
"""


def main(experiment, argv: list[str] | None = None) -> None:
  """Runs `experiment(config, workdir)` as the command line asks.

  A user's mistake ends in one sentence on stderr and exit status 2.
  """
  argv = sys.argv if argv is None else argv
  try:
    if {"--help", "-h"} & set(argv):
      print(usage([a for a in argv if a not in ("--help", "-h")]))
      return
    config, workdir, overwrite = parse(argv)
    set_up(config)
    if overwrite:
      records.set_aside(workdir)
    experiment(config, workdir)
  except OSError as error:
    # A missing file, a folder in its place, no right to write, a full disk.
    if error.filename is None:
      raise
    _stop(f"{error.filename}: {error.strerror}.")
  except UserError as error:
    _stop(error)


def parse(argv: list[str]):
  """(config, workdir, overwrite) from a command line; UserError if unclear."""
  known, rest = _split(argv)
  if not known.workdir:
    raise UserError("--workdir=DIR is missing: where do the records go?")
  config = overrides.apply(load_config(known.config), rest)
  return config, Path(known.workdir), known.overwrite


def usage(argv: list[str]) -> str:
  """The flags and, when --config is given, the config's fields."""
  known, _ = _split(argv)
  if not known.config:
    return USAGE
  config = load_config(known.config)
  said = _comments(type(config))
  lines = [
    f"  --config.{f.name}={getattr(config, f.name)!r}  "
    f"({overrides.spell(f.type)}){said.get(f.name, '')}"
    for f in dataclasses.fields(config)
  ]
  return "\n".join([USAGE, f"fields of {known.config}:", *lines])


def _comments(kind) -> dict:
  """What stands behind the fields of a dataclass in its source."""
  try:
    source = inspect.getsource(kind)
  except OSError:
    return {}
  return dict(re.findall(r"(?m)^ +(\w+): [^#\n]*?( +#.*)$", source))


def load_config(spec: str | None):
  """The dataclass behind `PATH[:VARIANT]`.

  PATH is a file, or failing that the name of a config that ships with the
  package. UserError names a path or a variant that does not exist.
  """
  if not spec:
    raise UserError("--config=configs/NAME.py[:VARIANT] is missing.")
  path, _, variant = spec.partition(":")
  module = _load_module(path)
  variants = getattr(module, "VARIANTS", None)
  if variant and variants is not None and variant not in variants:
    raise UserError(
      f"--config={spec}: {path} has no variant {variant!r}; it has "
      f"{', '.join(variants)}."
    )
  try:
    return module.get_config(variant) if variant else module.get_config()
  except ValueError as error:
    raise UserError(f"--config={spec}: {error}") from error


def set_up(config) -> None:
  """Sets JAX's precision from `config.dtype`, before any array is made."""
  dtype = getattr(config, "dtype", "float32")
  if dtype not in ("float32", "float64"):
    raise UserError(f"--config.dtype={dtype}: expected float32 or float64.")
  jax.config.update("jax_enable_x64", dtype == "float64")
  programs.keep()
  # On recent GPUs the default rounds products to TF32 and Gram matrices come
  # out indefinite.
  jax.config.update("jax_default_matmul_precision", "highest")
  try:
    devices = jax.devices()
  except RuntimeError as error:
    raise UserError(f"JAX finds no device: {error}") from error
  print(f"{dtype} on {len(devices)} x {devices[0].device_kind}", flush=True)


def _stop(sentence) -> typing.NoReturn:
  print(f"error: {sentence}", file=sys.stderr)
  sys.exit(2)


def _split(argv: list[str]):
  """The launcher's own flags, and the arguments that are left."""
  values = flags.FlagValues()
  values.set_gnu_getopt(True)
  for name in ("config", "workdir"):
    flags.DEFINE_string(name, None, "", flag_values=values)
  flags.DEFINE_bool("overwrite", False, "", flag_values=values)
  try:
    return values, values(argv, known_only=True)[1:]
  except flags.Error as error:
    raise UserError(f"{error}; see --help.") from error


def _load_module(path: str):
  packaged = Path(configs.__file__).parent
  file = Path(path)
  if not file.is_file():
    file = packaged / f"{file.stem}.py"
  if not file.is_file() or file.stem == "__init__":
    names = sorted(p.name for p in packaged.glob("[!_]*.py"))
    raise UserError(
      f"--config={path}: no such file, and no packaged config has that name; "
      f"there are {', '.join(names)}."
    )
  if file.resolve().parent == packaged.resolve():
    return importlib.import_module(f"configs.{file.stem}")
  spec = importlib.util.spec_from_file_location(f"_config_{file.stem}", file)
  module = importlib.util.module_from_spec(spec)
  sys.modules[spec.name] = module
  spec.loader.exec_module(module)
  return module
