"""Checks of a config's fields that every experiment shares."""

from experiments.errors import UserError


def check(config, *, choices, floors, may_be_empty=()) -> None:
  """UserError unless each field has a value with a meaning.

  Args:
    choices: the known values of a field, or of each in its list.
    floors: the lowest value of a number, or of each in a list.
    may_be_empty: lists that may have no entry.
  """
  for name, known in choices.items():
    for value in each(config, name, may_be_empty):
      if value not in known:
        raise UserError(
          f"--config.{name}: unknown {value!r}; expected one of "
          f"{', '.join(known)}."
        )
  for name, floor in floors.items():
    for value in each(config, name, may_be_empty):
      if not (value is None or value >= floor):
        raise UserError(f"--config.{name}: {value}; expected {floor} or more.")


def each(config, name, may_be_empty=()):
  """The values of a field: of a list, all of them."""
  value = getattr(config, name)
  if not isinstance(value, tuple):
    return (value,)
  if not value and name not in may_be_empty:
    raise UserError(f"--config.{name}=(): expected one value or more.")
  return value
