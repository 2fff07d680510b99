"""The stump experiment, end to end on a small table, and users' mistakes."""

import jax
import numpy as np
import pytest

from configs.stump_kernel import Config
from experiments import predict, records, report, stump_kernel
from experiments.data import csv_files, tables
from experiments.errors import UserError
from experiments.stumps import model_file
from spdjax import stumps

pytestmark = pytest.mark.slow

SMALL = (
  "--config.num_stumps=(16,32)",
  "--config.kinds=('xor',)",
  "--config.c=(1.0,)",
  "--config.pool=32",
  "--config.keep=8",
  "--config.choose_stumps=16",
  "--config.baselines=('linear_svm','extra_trees')",
)


def table(rng, num=90, classes=3):
  y = rng.integers(0, classes, num)
  return rng.normal(size=(num, 4)) + 3 * rng.normal(size=(classes, 4))[y], y


@pytest.fixture
def run(launched):
  def run(*args, variant="table"):
    config = f"stump_kernel.py:{variant}"
    return launched(stump_kernel.experiment, config, [*SMALL, *args])

  return run


def refused(result, *words):
  status, _, err = result
  assert status == 2 and "Traceback" not in err
  told = [line for line in err.splitlines() if line.startswith("error: ")]
  assert len(told) == 1
  for word in words:
    assert word in told[0]


def test_a_table_from_end_to_end(run, tmp_path, rng):
  x, y = table(rng)
  name = np.array(["oak", "ash", "elm"])[y]
  np.savez(tmp_path / "own.npz", X=x, y=name, n_train=60)
  status, out, _ = run(f"--config.path={tmp_path / 'own.npz'}")
  assert status == 0 and "reweight: xor" in out
  record = records.read(tmp_path / "out")
  events = [row["event"] for row in record.metrics]
  assert events.count("size") == 4 and events.count("selection") == 4
  assert events.count("baseline") == 2 and events[-1] == "result"
  (data,) = [r for r in record.metrics if r["event"] == "data"]
  assert (data["num_train"], data["num_test"]) == (60, 30)
  (model,) = [r for r in record.metrics if r["event"] == "model"]
  assert model["reloaded_equal"]
  kept = [r["kept"] for r in record.metrics if r["event"] == "selection"]
  assert all(k <= 8 for k in kept)
  assert record.arrays["confusion"].sum() == 30
  # Two for each pair, one where both stumps look at the same.
  assert 32 <= record.arrays["features"].sum() <= 2 * 32
  assert 0.7 < record.metrics[-1]["accuracy"] <= 1
  page = report.report(tmp_path / "out").read_text()
  assert "Stump kernel" in page and page.count("data:image/png") == 4
  labels = model_file.predict(tmp_path / "out" / "model.npz", x[60:])
  assert np.mean(labels == name[60:]) == record.metrics[-1]["accuracy"]


@pytest.mark.parametrize("kind", stumps.sampling.KINDS)
def test_a_saved_model_predicts_bit_for_bit(kind, tmp_path, key, rng):
  x, y = table(rng)
  model, _ = stumps.fit(key, x, y, num_stumps=24, kind=kind, selection="none")
  path = tmp_path / "model.npz"
  size = model_file.save(path, model, classes=model.classes, num_features=4)
  assert size == path.stat().st_size
  again, num = model_file.load(path)
  assert num == 4
  np.testing.assert_array_equal(
    stumps.decision(again, x), stumps.decision(model, x)
  )
  with pytest.raises(UserError, match="takes 4 features, got shape"):
    model_file.predict(path, x[:, :3])
  np.savez(path, **{**np.load(path), "mapping.kind": "tree"})
  with pytest.raises(UserError, match=r"model\.npz: no model of stumps"):
    model_file.load(path)


@pytest.mark.parametrize("header", ["a,b,kind\n", ""])
def test_a_csv_with_a_label_column(header, tmp_path, rng):
  x, y = table(rng)
  lines = [f"{a},{b},c{k}" for (a, b, *_), k in zip(x, y, strict=True)]
  path = tmp_path / "own.csv"
  path.write_text(header + "\n".join(lines) + "\n")
  for label in (None, "kind" if header else "2", "-1"):
    got = tables.load(Config(path=str(path), label=label))
    assert got.classes[got.labels].tolist() == [f"c{k}" for k in y]
    np.testing.assert_allclose(got.x, x[:, :2], rtol=1e-6)
    assert got.names == (["a", "b"] if header else ["column 0", "column 1"])
    assert len(np.concatenate(got.split)) == 90
  with pytest.raises(UserError, match=r"own\.csv: no column 'sort'"):
    tables.load(Config(path=str(path), label="sort"))


def test_a_svmlight_file(tmp_path, rng):
  x, y = table(rng)
  lines = [f"{k} 1:{a} 3:{b}" for (a, b, *_), k in zip(x, y, strict=True)]
  path = tmp_path / "own.svm"
  path.write_text("\n".join(lines) + "\n")
  got = tables.load(Config(path=str(path)))
  right = np.stack([x[:, 0], np.zeros(90), x[:, 1]], 1)
  np.testing.assert_allclose(got.x, right, rtol=1e-6)
  assert got.classes[got.labels].tolist() == y.tolist()


@pytest.mark.parametrize(
  ("name", "text", "words"),
  [
    ("a.csv", "", ("a.csv", "empty")),
    ("a.svm", "", ("a.svm", "empty")),
    ("a.csv", "1\n2\n", ("a.csv", "one column")),
    ("a.csv", "x,y\n1,a\n2,b,3\n", ("line 3", "3 entries", "expected 2")),
    ("a.csv", "x,y\n1,a\nfoo,b\n", ("line 3", "'foo'", "no finite number")),
    ("a.csv", "x,y\n1,a\nnan,b\n", ("line 3", "x", "'nan'")),
    ("a.csv", "x,y\n1,a\n2,a\n", ("1 class", "a.csv")),
    ("a.csv", "x,y\n" + "1,a\n1,b\n" * 20, ("constant",)),
    ("a.csv", "x,y\n\n\n1,a\n2,\n", ("line 5", "empty label")),
    ("A.CSV", "x,y\n1,a\nfoo,b\n", ("line 3", "'foo'")),
    ("a.txt", "x,y\n1,a\n2,b\n", ("a.txt", "named .csv")),
    ("a.csv", "x;p,y;q\n1;3,a;4\n", ("one column", "not by ';'")),
    ("a.csv", "x;y\n1;a\n2;b\n", ("one column", "not by ';'")),
    ("a.csv", "x,7,y\n1,2,a\n2,3,b\n", ("line 1", "'x'", "header")),
    ("a.csv", "x,y\n1,a\n" + "2,b\n3,b\n" * 4, ("class 'a'", "single item")),
    ("a.svm", "1 1:2\n0 nonsense\n", ("a.svm", "svmlight")),
    ("a.svm", "1 1:2\n0 1000000000:1\n", ("a.svm", "GiB as a table")),
    ("a.gz", "no gzip", ("a.gz", "svmlight")),
  ],
)
def test_a_wrong_file_is_told_in_one_sentence(name, text, words, run, tmp_path):
  (tmp_path / name).write_text(text)
  refused(run(f"--config.path={tmp_path / name}"), *words)


def test_a_wrong_npz_is_told_in_one_sentence(run, tmp_path, rng):
  x, y = table(rng)
  path = tmp_path / "own.npz"
  flag = f"--config.path={path}"
  refused(run(flag), str(path))
  np.savez(path, X=x, y=y[:-1])
  refused(run(flag), "own.npz")
  np.savez(path, X=np.where(np.arange(4) == 2, np.nan, x), y=y)
  refused(run(flag), "X[0, 2]")
  np.savez(path, X=x, y=np.zeros(90, int))
  refused(run(flag), "class")
  np.savez(path, X=x, y=y * 1j)
  refused(run(flag), "own.npz", "complex128")
  for n_train in ([60, 30], "many", np.nan, 0, 90):
    np.savez(path, X=x, y=y, n_train=n_train)
    refused(run(flag), "n_train", "from 1 to 89")
  refused(run(f"--config.path={tmp_path}"), "a folder")


@pytest.mark.parametrize(
  ("flags", "words"),
  [
    (("--config.kinds=('tree',)",), ("kinds", "'tree'", "xor")),
    (("--config.draws=('local',)",), ("local", "grid")),
    (("--config.c=(-1.0,)",), ("config.c", "-1")),
    (("--config.c_theta=-1.0",), ("c_theta", "-1")),
    (("--config.keep=64",), ("keep", "pool")),
    (("--config.seed=-1",), ("seed",)),
    (("--config.c_theta=inf",), ("c_theta",)),
    (("--config.num_stumps=()",), ("num_stumps",)),
    (("--config.num_stump=(8,)",), ("num_stump",)),
    (("--config.selections=('best',)",), ("selections", "'best'")),
    (("--config.baselines=('lda',)",), ("baselines", "'lda'")),
    (("--config.test_folds=1",), ("test_folds", "2 or more")),
    (("--config.test_folds=99",), ("test_folds=99", "90 rows")),
    (("--config.num_stumps=(True,)",), ("num_stumps", "int")),
    (("--config.c=(1e39,)",), ("c = 1e+39", "beyond float32")),
    (("--config.label=y",), ("--config.label", "own.npz")),
  ],
)
def test_a_wrong_flag_is_told_in_one_sentence(flags, words, run, tmp_path, rng):
  x, y = table(rng)
  np.savez(tmp_path / "own.npz", X=x, y=y)
  refused(run(f"--config.path={tmp_path / 'own.npz'}", *flags), *words)


def test_rows_of_a_file_are_labelled(run, tmp_path, rng, capsys):
  x, y = table(rng)
  np.savez(tmp_path / "own.npz", X=x, y=y, n_train=60)
  assert run(f"--config.path={tmp_path / 'own.npz'}")[0] == 0
  right = model_file.predict(tmp_path / "out" / "model.npz", x[:5])
  np.savetxt(tmp_path / "new.csv", x[:5], delimiter=",")
  np.savez(tmp_path / "new.npz", X=x[:5])
  for name in ("new.csv", "new.npz"):
    with pytest.raises(SystemExit) as ended:
      predict.main([f"--model={tmp_path / 'out'}", str(tmp_path / name)])
    lines = capsys.readouterr().out.splitlines()
    assert ended.value.code == 0
    assert [int(line.split("\t")[1]) for line in lines] == right.tolist()
  files = {
    "bad.csv": "1,2,3,4\n1,x,3,4\n",
    "nan.csv": "1,2,3,nan\n1,2,3,4\n",
    "wide.csv": "1,2,3,4,oak\n",
    "empty.csv": "\n\n",
    "few.svm": "0 1:1 9:2\n",
    "good.svm": "0 1:1 4:2\n",
  }
  for name, text in files.items():
    (tmp_path / name).write_text(text)
  np.savez(tmp_path / "nan.npz", X=np.where(x[:2] > 0, x[:2], np.nan))
  named = [str(tmp_path / name) for name in (*files, "nan.npz")]
  with pytest.raises(SystemExit) as ended:
    predict.main([f"--model={tmp_path / 'out'}", *named])
  out, err = capsys.readouterr()
  assert ended.value.code == 2 and "Traceback" not in err
  told = dict(zip((*list(files)[:5], "nan.npz"), err.splitlines(), strict=True))
  assert "line 2, column 1: 'x'" in told["bad.csv"]
  assert "line 1, column 3: 'nan'" in told["nan.csv"]
  assert "'oak'" in told["wide.csv"]
  assert "expected rows of 4" in told["empty.csv"]
  assert "few.svm" in told["few.svm"] and "X[" in told["nan.npz"]
  assert out.startswith(str(tmp_path / "good.svm"))


def test_a_class_that_only_the_test_part_has(run, tmp_path, rng):
  x, y = table(rng)
  order = np.argsort(y == 1, kind="stable")  # the class 1 last
  x, y = x[order], y[order]
  path = tmp_path / "own.npz"
  np.savez(path, X=x, y=np.array(["oak", "ash", "elm"])[y], n_train=40)
  assert (y[:40] != 1).all() and (y[40:] == 1).any()
  assert run(f"--config.path={path}")[0] == 0
  labels = model_file.predict(tmp_path / "out" / "model.npz", x[:40])
  right = np.array(["oak", "ash", "elm"])[y[:40]]
  assert np.mean(labels == right) > 0.8
  (model,) = [
    r for r in records.read(tmp_path / "out").metrics if r["event"] == "model"
  ]
  assert model["reloaded_equal"]


def test_a_damaged_model_is_told(run, tmp_path, rng):
  x, y = table(rng)
  model, _ = stumps.fit(jax.random.key(0), x, y, num_stumps=8, selection="none")
  path = tmp_path / "model.npz"
  model_file.save(path, model, classes=model.classes, num_features=4)
  whole = dict(np.load(path))
  for change in (
    {"weights": whole["weights"][:, :5]},
    {"bias": whole["bias"][:2]},
    {"classes": whole["classes"][:1]},
    {"weights": whole["weights"].astype(str)},
    {"weights": whole["weights"] * np.nan},
    {"num_features": np.array("x")},
  ):
    np.savez(path, **whole | change)
    with pytest.raises(UserError, match="its arrays do not fit"):
      model_file.load(path)


def test_a_feature_that_varies_only_in_the_ranking_part(run, tmp_path, rng):
  x = np.ones((60, 3))
  x[7, 0] = 5
  np.savez(tmp_path / "own.npz", X=x, y=rng.integers(0, 2, 60), n_train=50)
  flags = [f"--config.seed={seed}" for seed in range(8)]
  path = f"--config.path={tmp_path / 'own.npz'}"
  found = [run(path, flag, "--overwrite") for flag in flags[:3]]
  assert all("Traceback" not in err for *_, err in found)


def test_labels_as_bytes(run, tmp_path, rng):
  x, y = table(rng)
  path = tmp_path / "own.npz"
  np.savez(path, X=x, y=np.array([b"oak", b"ash", b"elm"])[y], n_train=60)
  assert run(f"--config.path={path}")[0] == 0


def test_a_cell_beyond_the_precision_is_named(run, tmp_path, rng):
  x, y = table(rng)
  x[7, 2] = 1e300
  np.savez(tmp_path / "own.npz", X=x, y=y, n_train=60)
  flag = f"--config.path={tmp_path / 'own.npz'}"
  refused(run(flag), "row 7, feature 2", "float32")


def test_a_header_of_numbers_is_known_by_the_label(tmp_path):
  path = tmp_path / "own.csv"
  path.write_text("2010,2011,kind\n1,2,oak\n3,4,ash\n")
  names, x, y = csv_files.labelled(path, "kind")
  assert names == ["2010", "2011"] and y.tolist() == ["oak", "ash"]
  np.testing.assert_array_equal(x, [[1, 2], [3, 4]])
  for label in ("²", "--1", "9"):
    with pytest.raises(UserError, match="no column"):
      csv_files.labelled(path, label)
  path.write_bytes("a,b\n1,é\n".encode("latin-1"))
  with pytest.raises(UserError, match=r"own\.csv: byte 6 is not UTF-8"):
    csv_files.labelled(path)


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
  path = tmp_path / "own.csv"
  path.write_text("kind,a\noak,1\nash,2\n", encoding="utf-8-sig")
  names, x, y = csv_files.labelled(path, "kind")
  assert names == ["a"] and y.tolist() == ["oak", "ash"]
  np.testing.assert_array_equal(x, [[1], [2]])
