"""A config's fields set from a command line."""

import dataclasses
import difflib
import re
import typing

from absl import flags
from ml_collections import config_flags

from experiments.errors import UserError

_NONE = re.compile(r"--?config\.(\w+)=[nN]one")


def apply(config, args: list[str]):
  """A copy of the dataclass with `--config.field=value` arguments applied.

  A number that may be absent is by `none`.
  """
  for name in re.findall(r"(?m)^--?(?:no)?config\.([^=\n]+)", "\n".join(args)):
    _check_field(config, name)
  args = _once(config, args)
  values = flags.FlagValues()
  values.set_gnu_getopt(True)
  absent = [arg for arg in args if _names_none(config, arg)]
  argv = ["", *(arg for arg in args if arg not in absent)]
  try:
    config_flags.DEFINE_config_dataclass(
      "config", config, flag_values=values, sys_argv=argv
    )
    left = values(argv)[1:]
  except flags.Error as error:
    raise UserError(_explain(config, error)) from error
  if left:
    raise UserError(f"{left[0]!r} is no flag; see --help.")
  _check_elements(values.config)
  for arg in absent:
    setattr(values.config, _NONE.fullmatch(arg)[1], None)
  return values.config


def _once(config, args: list[str]) -> list[str]:
  """The last of each field's arguments, with words as a tuple is written.

  absl would join two tuples, and takes --config.names=a,b for one word.
  """
  words = {
    f.name for f in dataclasses.fields(config) if f.type == tuple[str, ...]
  }
  out = {}
  for index, arg in enumerate(args):
    name, equals, value = arg.partition("=")
    field = name.lstrip("-").removeprefix("config.")
    if equals and field in words and value[:1] not in ("(", "[", "'", '"'):
      arg = f"{name}={tuple(filter(None, value.split(',')))}"
    own = field if equals and field != name.lstrip("-") else index
    out.pop(own, None)
    out[own] = arg
  return list(out.values())


def _names_none(config, arg: str) -> bool:
  found = _NONE.fullmatch(arg)
  types = {f.name: f.type for f in dataclasses.fields(config)}
  kinds = typing.get_args(types.get(found[1])) if found else ()
  # A text may be "none" itself.
  return type(None) in kinds and str not in kinds


def _check_field(config, name: str, holder: str = "config") -> None:
  """UserError unless the dotted `name` leads to a field of the dataclass."""
  known = dataclasses.is_dataclass(config)
  names = [f.name for f in dataclasses.fields(config)] if known else []
  head, _, tail = name.partition(".")
  if head not in names:
    close = difflib.get_close_matches(head, names, n=1) or names or ["none"]
    raise UserError(
      f"--{holder}.{head}: {holder} has no such field; there "
      f"{'is' if len(close) == 1 else 'are'} {', '.join(close)}."
    )
  if tail:
    _check_field(getattr(config, head), tail, f"{holder}.{head}")


def _explain(config, error: flags.Error) -> str:
  """absl's sentence, with the type of the field that it is about."""
  found = re.search(r"--config\.(\w+)", str(error))
  types = {f.name: spell(f.type) for f in dataclasses.fields(config)}
  kind = types.get(found[1]) if found else None
  return f"{error}; expected {kind}." if kind else str(error)


def _check_elements(config) -> None:
  """absl takes a tuple of anything where the config says tuple[int, ...]."""
  for field in dataclasses.fields(config):
    if typing.get_origin(field.type) is not tuple:
      continue
    kind = typing.get_args(field.type)[0]
    allowed = (int, float) if kind is float else kind
    value = getattr(config, field.name)
    numbers = kind in (int, float)
    if not all(
      isinstance(v, allowed) and not (numbers and isinstance(v, bool))
      for v in value
    ):
      raise UserError(
        f"--config.{field.name}={value}: expected {spell(field.type)}."
      )


def spell(kind) -> str:
  return kind.__name__ if isinstance(kind, type) else str(kind)
