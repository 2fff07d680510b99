"""The one error that is the user's to mend."""


class UserError(ValueError):
  """A mistake in what was asked or given, told in one clear sentence.

  The launcher prints the sentence alone; every other exception is a bug and
  keeps its traceback.
  """
