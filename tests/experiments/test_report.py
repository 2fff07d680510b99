import re

import numpy as np
import pytest
from PIL import Image

from experiments import figures, method_table, records, report
from experiments.cost_figure import cost
from experiments.errors import UserError

pytestmark = pytest.mark.slow

NAMES = ["bark", "<b>wood</b> & $x$", "a class with quite a long name, as some"]
METRICS = ("log_euclidean", "airm", "stein")


def log_data(workdir, names=NAMES):
  records.log(
    workdir, "data", name="toy <set>", items=30, n=6, classes=names, seconds=1
  )


def log_accuracies(workdir, splits=2):
  for split in range(splits):
    for i, metric in enumerate(METRICS):
      row = {"split": split, "metric": metric, "seconds": 0.5}
      records.log(
        workdir, "baseline", method="full 1-NN", dim=None, accuracy=0.5, **row
      )
      for dim in (2, 4):
        score = 0.6 + 0.02 * dim - 0.05 * i + 0.1 * split
        row |= {"dim": dim, "accuracy": score, "warning": None}
        records.log(workdir, "reduced", log_nn=0.4, log_svm=0.3, **row)


def log_choices(workdir, splits=2):
  for split in range(splits):
    records.log(
      workdir,
      "choice",
      split=split,
      family="reduced 1-NN",
      metric="airm",
      dim=4,
      accuracy=0.6 + 0.1 * split,
    )


def log_traces(workdir, costs=(5.0, 0.5, 0.25), solvers=("cg", "eigen")):
  seconds = [0.1 * (i + 1) for i in range(len(costs))]
  for metric in METRICS:
    for solver in solvers if metric == "log_euclidean" else ("cg",):
      records.log(
        workdir,
        "trace",
        metric=metric,
        solver=solver,
        cost=costs,
        seconds=seconds,
      )


def save_arrays(workdir, rng, classes=3):
  labels = np.arange(10 * classes) % classes
  records.save_arrays(
    workdir,
    w=np.eye(6, 4),
    confusion=rng.integers(0, 9, (classes, classes)),
    view=rng.normal(size=(len(labels), 2)),
    full_view=rng.normal(size=(len(labels), 2)),
    view_labels=labels,
  )


@pytest.fixture
def workdir(tmp_path, rng):
  """The whole record of a small run."""
  records.start(tmp_path, {"dims": [2, 4], "note": "</pre><script>"})
  log_data(tmp_path)
  log_accuracies(tmp_path)
  log_choices(tmp_path)
  log_traces(tmp_path)
  save_arrays(tmp_path, rng)
  table = [
    {"method": "low", "metric": None, "dim": None, "mean": 0.1, "std": 0.0},
    {"method": "reduced 1-NN", "metric": "airm", "dim": 4, "mean": 0.9},
    {"method": "reduced 1-NN", "metric": "airm", "dim": 2, "mean": 0.5},
  ]
  records.log(tmp_path, "result", accuracy=0.654, std=0.05, table=table)
  return tmp_path


def test_page_is_one_file_with_every_figure(workdir):
  path = report.report(workdir)
  text = path.read_text(encoding="utf-8")
  sources = re.findall(r'(?:src|href)="([^"]{0,30})', text)
  assert len(sources) == 4
  assert all(s.startswith("data:image/png;base64,") for s in sources)
  assert not re.search(r"https?:|<script|@import|url\(", text)
  pngs = sorted((workdir / "figures").glob("*.png"))
  assert [p.stem for p in pngs] == ["accuracy", "confusion", "cost", "view"]
  for png in pngs:
    assert np.asarray(Image.open(png).convert("L")).std() > 5  # not blank


def test_page_tells_where_its_numbers_come_from(workdir):
  start = records.read_metrics(workdir)[0]
  text = report.report(workdir).read_text(encoding="utf-8")
  assert "65.4 ± 5.0 %" in text
  assert "toy &lt;set&gt;" in text and "&lt;/pre&gt;" in text
  assert start["time"] in text and start["jax"] in text
  assert "10 s over" in text  # 1 + 6 baselines and 12 fits of 0.5 s each


def test_table_is_sorted_and_marks_the_choice(workdir):
  record = records.read(workdir)
  found = method_table.table(record)
  assert [row["mean"] for row in found] == [0.9, 0.5, 0.1]
  chosen = [method_table.is_chosen(record, row) for row in found]
  assert chosen == [True, False, False]


def test_a_run_without_its_end_is_summed_up_from_its_rows(tmp_path):
  records.start(tmp_path, {})
  log_accuracies(tmp_path)
  log_choices(tmp_path)
  record = records.read(tmp_path)
  found = {
    (r["method"], r["metric"], r["dim"]): r for r in method_table.table(record)
  }
  row = found["reduced 1-NN", "stein", 2]
  np.testing.assert_allclose([row["mean"], row["std"]], [0.59, 0.05])
  assert row["splits"] == 2 and not method_table.is_chosen(record, row)
  assert method_table.is_chosen(record, found["reduced 1-NN", "airm", 4])
  assert method_table.is_chosen(record, found["reduced 1-NN", None, None])
  assert "no final result" in report.report(tmp_path).read_text("utf-8")


@pytest.mark.parametrize(
  ("write", "drawn"),
  [
    (log_accuracies, {"accuracy"}),
    (log_traces, {"cost"}),
    (log_choices, set()),
    (lambda workdir: log_accuracies(workdir, splits=1), {"accuracy"}),
  ],
)
def test_parts_that_are_not_there_are_left_out(tmp_path, write, drawn):
  records.start(tmp_path, {})
  (tmp_path / "figures").mkdir()
  (tmp_path / "figures" / "view.png").write_bytes(b"of an earlier run")
  write(tmp_path)
  report.report(tmp_path)
  assert {p.stem for p in (tmp_path / "figures").iterdir()} == drawn


@pytest.mark.parametrize(
  ("costs", "scale", "label", "ends"),
  [
    ([3.0, 2.0, 1.5], "linear", "cost", [3.0, 1.5]),
    ([900.0, 2.0, 1.5], "log", "cost", [900.0, 1.5]),
    ([80.0, -19.0, -20.0], "log", "best = −20", [100.01, 0.01]),
    ([-20.0, -20.0], "linear", "cost", [-20.0, -20.0]),
    ([80.0, None, -20.0], "log", "best = −20", [100.01, 0.01]),
    ([-1e9, -1e9 - 1e-6], "log", "best = −1e+09", [1e-5, 1e-5]),
  ],
)
def test_cost_axis_suits_the_costs(tmp_path, costs, scale, label, ends):
  records.start(tmp_path, {})
  log_traces(tmp_path, costs)
  axes = cost(records.read(tmp_path)).subfigs[0].axes
  for ax in axes:
    assert ax.get_yscale() == scale
    y = ax.get_lines()[0].get_ydata()
    np.testing.assert_allclose(y[[0, -1]], ends, rtol=0.2)
    assert (y[np.isfinite(y)] > 0).all() or scale == "linear"
  assert label in axes[0].get_ylabel()
  assert [ax.get_xlabel() for ax in axes] == ["iteration", "time (s)"]


@pytest.mark.parametrize(
  ("seconds", "first"), [([0.0, 0.1, 0.2], 0), ([0.1, 0.2, 0.3], 1), (None, 1)]
)
def test_cost_at_no_time_spent_is_iteration_0(tmp_path, seconds, first):
  records.start(tmp_path, {})
  row = {"metric": "stein", "solver": "cg", "cost": [3, 2, 1]}
  records.log(tmp_path, "trace", seconds=seconds, **row)
  line = cost(records.read(tmp_path)).subfigs[0].axes[0].get_lines()[0]
  np.testing.assert_array_equal(line.get_xdata(), first + np.arange(3))


def test_page_says_where_nothing_was_reduced(tmp_path, rng):
  records.start(tmp_path, {})
  row = {"metric": "stein", "dim": None, "accuracy": 0.5}
  records.log(tmp_path, "choice", split=0, family="reduced 1-NN", **row)
  save_arrays(tmp_path, rng)
  row = {"mean": 0.5, "std": 0.0, "splits": 1, "metric": None, "dim": None}
  records.log(
    tmp_path,
    "result",
    accuracy=0.5,
    std=0.0,
    table=[{"method": "reduced 1-NN", **row}],
  )
  text = report.report(tmp_path).read_text("utf-8")
  assert "not to reduce in 1 of 1 splits" in text
  assert "<td>Stein</td>" in text and "± 0.0" not in text
  panels = figures.view(records.read(tmp_path)).axes
  assert "again not reduced" in panels[1].get_title(loc="left")


def test_picks_count_the_splits(tmp_path):
  records.start(tmp_path, {})
  for metric, dim in [("stein", 4), ("airm", 4), ("airm", None)]:
    row = {"family": "f", "metric": metric, "dim": dim}
    records.log(tmp_path, "choice", **row)
  assert method_table.picks(records.read(tmp_path), "f") == (
    "affine-invariant (2×), Stein (1×)",
    "4 (2×), n (1×)",
  )


def test_accuracy_lines_and_dashes_share_a_colour(workdir):
  ax = figures.accuracy(records.read(workdir)).axes[0]
  solid = [l for l in ax.get_lines() if l.get_linestyle() == "-"]
  dashed = [l for l in ax.get_lines() if l.get_linestyle() == "--"]
  assert [l.get_color() for l in solid] == [l.get_color() for l in dashed]
  np.testing.assert_allclose(solid[1].get_ydata(), [64, 68])
  np.testing.assert_allclose(dashed[1].get_ydata(), 50)


@pytest.mark.parametrize("classes", [2, 12, 30])
def test_labels_lie_inside_the_figure(tmp_path, rng, classes):
  records.start(tmp_path, {})
  log_data(tmp_path, [f"{NAMES[i % 3]} {i}" for i in range(classes)])
  log_accuracies(tmp_path)
  log_traces(tmp_path, (80.0, -19.0, -20.0))
  save_arrays(tmp_path, rng, classes)
  drawn = figures.draw(records.read(tmp_path))
  assert len(drawn) == 4
  for figure in drawn.values():
    figure.draw_without_rendering()
    box = figure.get_tightbbox()  # inches
    assert box.x0 > -0.05 and box.y0 > -0.05
    assert box.x1 < figure.get_figwidth() + 0.05
    assert box.y1 < figure.get_figheight() + 0.05


def test_classes_without_names_are_numbered(tmp_path, rng):
  records.start(tmp_path, {})
  save_arrays(tmp_path, rng)
  ax = figures.confusion(records.read(tmp_path)).axes[0]
  assert [t.get_text() for t in ax.get_yticklabels()] == ["0", "1", "2"]


def missing(workdir):
  return workdir / "nowhere"


def empty(workdir):
  records.start(workdir, {})
  (workdir / "metrics.jsonl").write_text("")
  return workdir


def cut(workdir):
  records.start(workdir, {})
  (workdir / "metrics.jsonl").write_text('{"event": "resu')
  return workdir


def begun(workdir):
  return records.start(workdir, {})


def without_metrics(workdir):
  records.start(workdir, {})
  (workdir / "metrics.jsonl").unlink()
  return workdir


def broken_arrays(workdir):
  records.start(workdir, {})
  log_traces(workdir)
  (workdir / "arrays.npz").write_bytes(b"no arrays at all")
  return workdir


@pytest.mark.parametrize(
  "make", [missing, empty, cut, begun, without_metrics, broken_arrays]
)
def test_bad_records_end_in_one_sentence(tmp_path, capsys, make):
  path = make(tmp_path)
  with pytest.raises(SystemExit) as stop:
    report.main([f"--workdir={path}"])
  assert stop.value.code == 2
  out, err = capsys.readouterr()
  assert out == "" and err.startswith("error: ") and err.count("\n") == 1
  assert str(path) in err
  assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize("argv", [[], ["--workdir=a", "--colour=red"], ["a"]])
def test_bad_command_lines_exit_2(argv, capsys):
  with pytest.raises(SystemExit) as stop:
    report.main(argv)
  assert stop.value.code == 2
  assert capsys.readouterr().err.count("\n") == 1


def test_a_line_cut_at_the_end_costs_only_itself(workdir):
  with (workdir / "metrics.jsonl").open("a") as file:
    file.write('{"event": "trace", "cost": [1.')
  assert report.report(workdir).exists()


def test_report_prints_the_page_and_raises_in_notebooks(workdir, capsys):
  report.main([f"--workdir={workdir}"])
  assert capsys.readouterr().out == f"{workdir / 'report.html'}\n"
  with pytest.raises(UserError):
    report.report(workdir / "nowhere")
