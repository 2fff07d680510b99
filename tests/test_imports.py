"""The shape of the tree: who imports whom, and how large a file grows."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# What each part of the library may import of the others.
ALLOWED = {
  "threads": set(),
  "spd": {"threads"},
  "grassmann": {"threads"},
  "classify": set(),
  "gaussians": set(),
  "images": set(),
  "stumps": {"classify"},
  "reduction": {"grassmann", "spd"},
}
FOREIGN = {
  *("experiments", "configs", "absl", "matplotlib", "PIL", "optuna"),
  *("ml_collections", "tqdm", "skimage", "sklearn", "pyriemann", "pymanopt"),
}
NAMELESS = {"utils", "helpers", "common", "misc"}


def files(*folders):
  return [p for f in folders for p in sorted((ROOT / f).rglob("*.py"))]


def imported(tree):
  """Dotted names of everything that a module imports, at any depth."""
  for node in ast.walk(tree):
    if isinstance(node, ast.Import):
      yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
      assert node.level == 0, f"relative import on line {node.lineno}"
      yield from (f"{node.module}.{alias.name}" for alias in node.names)


def faults(part, text):
  """Imports that a file of `part` of the library must not have."""
  for name in imported(ast.parse(text)):
    top, *rest = name.split(".")
    if top in FOREIGN and not (part == "estimators" and top == "sklearn"):
      yield name
    elif top == "spdjax" and rest and part in ALLOWED:
      reached = rest[0]
      if reached != part and reached not in ALLOWED[part]:
        yield name


def part_of(path):
  return path.relative_to(ROOT / "spdjax").parts[0].removesuffix(".py")


def relative(path):
  return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", files("spdjax"), ids=relative)
def test_library_imports_in_one_direction(path):
  part = part_of(path)
  assert part in {*ALLOWED, "__init__", "estimators"}, "a part unknown here"
  assert not list(faults(part, path.read_text()))


@pytest.mark.parametrize("path", files("configs"), ids=relative)
def test_configs_import_dataclasses_only(path):
  assert {n.split(".")[0] for n in imported(ast.parse(path.read_text()))} <= {
    "dataclasses"
  }


@pytest.mark.parametrize(
  ("part", "text", "found"),
  [
    ("spd", "import spdjax.grassmann", 1),
    ("spd", "from spdjax import grassmann, spd", 1),
    ("reduction", "from spdjax import grassmann, spd", 0),
    ("classify", "def f():\n  import sklearn.svm", 1),
    ("estimators", "import sklearn.base\nfrom spdjax import spd", 0),
    ("estimators", "from absl import flags", 1),
  ],
)
def test_the_check_itself_sees_faults(part, text, found):
  assert len(list(faults(part, text))) == found


@pytest.mark.parametrize("path", files("spdjax"), ids=relative)
def test_library_makes_no_key_and_sets_nothing(path):
  calls = [n for n in ast.walk(ast.parse(path.read_text())) if _is_call(n)]
  names = {ast.unparse(call.func) for call in calls}
  assert not {
    name
    for name in names
    if name == "print"
    or name.endswith(("config.update", "random.key", "PRNGKey"))
  }


def _is_call(node):
  return isinstance(node, ast.Call)


@pytest.mark.parametrize(
  "path", files("spdjax", "experiments", "configs"), ids=relative
)
def test_files_are_short_and_named(path):
  assert path.stem not in NAMELESS
  assert len(path.read_text().splitlines()) <= 250
