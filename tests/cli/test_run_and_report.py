"""``plab run``, ``plab report`` and ``plab check``, from the command line to the files."""

from __future__ import annotations

import csv
import json
import re
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from pydantic.dataclasses import dataclass

from perceptron_lab import list_names, show
from perceptron_lab.algorithms.base import State
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.cli.main import main
from perceptron_lab.core import registry
from perceptron_lab.core.refusals import STRICT
from perceptron_lab.core.registry import register
from perceptron_lab.experiments.configuration.catalogue import gallery
from perceptron_lab.experiments.running.progress_lines import ProgressLines
from perceptron_lab.systems import ConicSystem
from tests.repetitions import repeated

pytestmark = pytest.mark.slow

CONFIG = """\
experiment: small
title: A small experiment
problems:
  - dataset: maxcut
    instances: [random-8-12, torus-3x4]
algorithms:
  - {name: ellipsoid, label: EA}
  - {name: perceptron, label: P}
report: {tables: [table_6_1]}
"""
DRAWN = CONFIG.replace("tables: [table_6_1]", "tables: [table_6_1], figures: [table_6_1]")
"""With a figure, which takes longer than all else."""


@dataclass(frozen=True, config=STRICT)
class Failing(Perceptron):
    """A perceptron that ends on systems of more than nine unknowns."""

    def start(self, system: ConicSystem, rng: np.random.Generator) -> State:
        if system.dimension > 9:
            raise RuntimeError("broken")
        return super().start(system, rng)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.yaml").write_text(CONFIG)


@pytest.fixture
def output(capsys: pytest.CaptureFixture[str]) -> Any:
    return lambda: capsys.readouterr().out


def rows(folder: str = "results/small") -> list[dict[str, str]]:
    with Path(folder, "runs.csv").open(newline="") as file:
        return list(csv.DictReader(file))


NAMED = ["-s", "experiment=named"]
"""Results in a folder that is known beforehand, whatever is overridden."""
WRITTEN = ["runs.csv", "environment.json", "table_6_1.csv", "table_6_1.tex"]
WRITTEN += ["table_6_1.html", "table_6_1.md"]
FIGURES = ["table_6_1.png", "table_6_1.pdf", "table_6_1.svg"]


def test_several_configurations_run_and_a_folder_of_results_stands_for_all(output: Any) -> None:
    Path("other.yaml").write_text(CONFIG.replace("experiment: small", "experiment: other"))
    assert main(["run", "small.yaml", "other.yaml", "-q"]) == 0
    assert len(rows()) == len(rows("results/other")) == 4
    written = [Path("results", name, "table_6_1.csv") for name in ("other", "small")]
    before = [path.read_bytes() for path in written]
    for path in written:
        path.unlink()
    assert main(["report", "results"]) == 0
    assert [path.read_bytes() for path in written] == before
    printed = output()
    assert all(str(path) in printed for path in written)


def test_a_run_ends_with_a_table_and_the_paths(capsys: pytest.CaptureFixture[str]) -> None:
    Path("small.yaml").write_text(DRAWN)
    assert main(["run", "small.yaml"]) == 0
    printed = capsys.readouterr()
    assert printed.err.splitlines()[0].startswith("[1/4]  random-8-12  EA  seed 0  FEASIBLE  ")
    assert len(printed.err.splitlines()) == 4
    lines = printed.out.splitlines()
    assert lines[0] == "A small experiment"
    assert any("random-8-12" in line and "yes" in line for line in lines)
    assert lines[-9:] == [f"results/small/{name}" for name in WRITTEN + FIGURES]
    assert all(Path(line).is_file() for line in lines[-9:])
    assert [row["status"] for row in rows()] == ["FEASIBLE"] * 4


def test_a_dry_run_prints_the_cells_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "small.yaml", "--dry-run", "-s", "seeds=[4, 5]", *NAMED]) == 0
    printed = capsys.readouterr()
    assert "named: 8 cells" in printed.out
    cells = [line.split() for line in printed.out.splitlines() if "random-8-12" in line]
    assert [(cell[1], cell[-1]) for cell in cells] == [
        ("EA", "4"),
        ("P", "4"),
        ("EA", "5"),
        ("P", "5"),
    ]
    assert not Path("results").exists()
    assert not printed.err


def test_quiet_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "small.yaml", "-q"]) == 0
    assert capsys.readouterr() == ("", "")
    assert len(rows()) == 4


def test_verbose_adds_messages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "small.yaml", "-v"]) == 0
    lines = capsys.readouterr().err.splitlines()
    messages = sorted(row["message"] for row in rows())
    assert sorted(line.rpartition("s  ")[2] for line in lines) == messages


@pytest.mark.usefixtures("user_registrations")
def test_a_failed_cell_is_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    register("algorithm", "failing", Failing)  # each cell of a run imports this module for it
    assert main(["run", "small.yaml", "-q", "-s", "algorithms.1.name=failing", *NAMED]) == 1
    assert capsys.readouterr().err.startswith(
        "failed: torus-3x4  P  seed 0  ERROR: RuntimeError: broken"
    )
    assert [row["status"] for row in rows("results/named")] == ["FEASIBLE"] * 3 + ["ERROR"]


def test_a_limit_is_no_failure() -> None:
    assert main(["run", "small.yaml", "-q", "-s", "budget.updates=2", *NAMED]) == 0
    assert {row["status"] for row in rows("results/named")} == {"UPDATE_LIMIT"}


def test_an_interrupt_reports_the_saved_cells(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(lines: ProgressLines, completed: int, total: int, row: dict[str, Any]) -> None:
        finished(lines, completed, total, row)
        if completed == 3:
            signal.raise_signal(signal.SIGTERM)

    finished = ProgressLines.finished
    with monkeypatch.context() as during:
        during.setattr(ProgressLines, "finished", interrupted)
        assert main(["run", "small.yaml"]) == 130
    saved = "interrupted; 3 finished cells are in results/small; run the same command to resume"
    assert saved in capsys.readouterr().err.splitlines()
    assert len(rows()) == 3
    assert main(["run", "small.yaml"]) == 0
    assert "3 of 4 rows are there already; 1 cell to run" in capsys.readouterr().err


def test_an_interrupt_before_the_first_row(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(lines: ProgressLines, cell: Any) -> None:
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(ProgressLines, "started", interrupted)
    assert main(["run", "small.yaml"]) == 130
    assert "interrupted; no cell ended; run the same command to resume" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device without room")
def test_an_output_without_room_is_no_bug(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Closing it writes what is left once more.
    with suppress(OSError), Path("/dev/full").open("w") as full, monkeypatch.context() as during:
        during.setattr("sys.stdout", full)
        assert main(["list", "algorithms", "--json"]) == 2
        assert main(["run", "small.yaml"]) == 2
    error_output = capsys.readouterr().err
    assert error_output.count("the output cannot be written (No space left") == 2
    assert len(rows()) == 4


@pytest.mark.long  # tests/experiments/test_runner.py holds it
def test_jobs_give_the_same_rows() -> None:
    assert main(["run", "small.yaml", "-q", "--output", "one"]) == 0
    assert main(["run", "small.yaml", "-q", "--output", "two", "--jobs", "2"]) == 0
    clocks = ("seconds", "proof_seconds", "total_seconds")
    first, second = (
        [{k: v for k, v in row.items() if k not in clocks} for row in rows(f"{folder}/small")]
        for folder in ("one", "two")
    )
    assert first == second


def test_configurations_of_one_name_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.yaml").write_text(CONFIG)
    assert main(["run", "small.yaml", "other.yaml"]) == 2
    assert "small.yaml and other.yaml are both called 'small'" in capsys.readouterr().err
    assert not Path("results").exists()


def test_every_configuration_is_checked_before_the_first_runs() -> None:
    Path("other.yaml").write_text(CONFIG.replace("small", "other").replace("label", "lable"))
    assert main(["run", "small.yaml", "other.yaml"]) == 2
    assert not Path("results").exists()


@pytest.mark.parametrize("targets", repeated([["results/small"], [], ["small.yaml"]], kept=1))
def test_a_report_is_rebuilt_from_the_store(targets: list[str], output: Any) -> None:
    names = WRITTEN[2:] if targets else WRITTEN[2:] + FIGURES
    Path("small.yaml").write_text(CONFIG if targets else DRAWN)
    assert main(["run", "small.yaml", "-q"]) == 0
    contents = {name: Path("results/small", name).read_bytes() for name in WRITTEN[2:]}
    for name in names:
        Path("results/small", name).unlink()
    assert main(["report", *targets]) == 0
    lines = output().splitlines()
    assert lines[0] == "A small experiment"
    assert lines[-len(names) :] == [f"results/small/{name}" for name in names]
    assert {name: Path("results/small", name).read_bytes() for name in contents} == contents


def test_a_report_without_content_is_refused(output: Any) -> None:
    assert main(["report"]) == 2
    assert main(["run", "small.yaml", "-q", "-s", "report={}"]) == 0
    names = [f"results/small/summary.{kind}" for kind in ("csv", "tex", "html", "md")]
    for name in names:
        Path(name).unlink()
    assert main(["report"]) == 0
    assert output().splitlines()[-4:] == names


UNSUITABLE = "report: {tables: [table_6_1, learners], figures: [scaling, table_6_1]}"


def test_failed_tables_are_named_and_the_rest_is_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", "small.yaml", "-q", "-s", UNSUITABLE.replace(": {", "={", 1)]) == 1
    printed = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[0] for line in printed] == ["failed", "failed"]
    assert "table learners: " in printed[0]
    assert "figure scaling: no two problems differ" in printed[1]
    assert "the results are stored" in printed[1]
    assert len(rows()) == 4
    assert Path("results/small/table_6_1.csv").is_file()
    assert Path("results/small/table_6_1.png").is_file()
    assert not Path("results/small/learners.csv").exists()
    assert main(["report", "results/small", "-q"]) == 1
    assert "failed: figure scaling: " in capsys.readouterr().err


def test_check_accepts_and_counts(output: Any) -> None:
    assert main(["check", "small.yaml", "quickstart"]) == 0
    assert output() == "small.yaml: ok, 4 cells\nquickstart: ok, 6 cells\n"
    assert main(["check", "small.yaml", "-q", "-s", "seeds=[1, 2]"]) == 0
    assert output() == ""


def test_check_lists_the_faults_of_every_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("one.yaml").write_text(CONFIG.replace("label", "lable"))
    Path("two.yaml").write_text(CONFIG.replace("title", "tilte"))
    assert main(["check", "one.yaml", "small.yaml", "two.yaml"]) == 2
    printed = capsys.readouterr()
    assert printed.out == "small.yaml: ok, 4 cells\n"
    assert [line.split(":")[1].strip() for line in printed.err.splitlines()] == [
        "one.yaml",
        "one.yaml",
        "two.yaml",
    ]


@pytest.mark.parametrize("name", gallery())
def test_every_shipped_configuration_passes_the_check_offline(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAB_OFFLINE", "1")
    monkeypatch.delenv("PLAB_DATA_MIRROR", raising=False)
    assert main(["check", name]) == 0


def test_list_names_everything(output: Any) -> None:
    assert main(["list", "algorithms"]) == 0
    text = output()
    assert all(name in text for name in registry.names("algorithm"))
    for kind in ("algorithms", "oracles", "datasets", "experiments"):
        assert main(["list", kind, "--json"]) == 0
        items = json.loads(output())
        assert all(item["name"] and item["summary"] for item in items)


def test_list_states_the_systems_of_each_algorithm(output: Any) -> None:
    assert main(["list", "algorithms", "--json"]) == 0
    systems = {item["name"]: item["systems"] for item in json.loads(output())}
    assert set(systems) == set(registry.names("algorithm"))
    assert systems["mirror-prox"]["semidefinite"] == "theorem"
    assert systems["ellipsoid"]["kernel"] == "coordinates: theorem"
    assert main(["list", "algorithms"]) == 0
    lines = [line.split() for line in output().splitlines()]
    kinds = list(systems["perceptron"])
    assert ["name", *kinds] in lines
    assert ["perceptron", *systems["perceptron"].values()] in lines
    assert main(["list", "oracles", "--json"]) == 0
    assert all("systems" not in item for item in json.loads(output()))


def test_show_explains_parameters(output: Any) -> None:
    assert main(["show", "rescaled-perceptron"]) == 0
    text = output()
    assert "algorithm rescaled-perceptron" in text
    assert "\nParameters:\n" in text
    assert "---" not in text
    preset = next(line for line in text.splitlines() if line.strip().startswith("preset  "))
    assert "dunagan-vempala | thesis | practical" in preset
    assert "number > 0 or nothing" in text


@pytest.mark.parametrize("kind", ["algorithm", "learner", "oracle", "dataset", "table", "figure"])
def test_everything_registered_can_be_shown(kind: str, output: Any) -> None:
    for name in registry.names(kind):
        assert main(["show", name]) == 0
        assert f"{kind} {name}\n" in output()


@pytest.mark.parametrize("kind", ["tables", "figures"])
def test_tables_and_figures_are_listed_with_summaries(kind: str, output: Any) -> None:
    assert main(["list", kind, "--json"]) == 0
    listed = json.loads(output())
    assert [entry["name"] for entry in listed] == registry.names(kind.removesuffix("s"))
    assert all(entry["summary"].endswith(".") for entry in listed)


def test_a_table_is_explained_without_parameters(output: Any) -> None:
    assert main(["show", "table_2"]) == 0
    text = output()
    assert text.startswith("table table_2\n\nSeconds in units of Mirror-Prox")
    assert "ratio" in text
    assert "parameters" not in text


def test_a_configuration_named_like_a_table_is_printed_as_yaml(output: Any) -> None:
    assert main(["show", "conic"]) == 0
    text = output()
    assert text.startswith("# table conic\n\n# Costs and proved brackets")
    assert yaml.safe_load(text) == yaml.safe_load(gallery()["conic"].read_text())


@pytest.mark.parametrize("kind", ["table", "figure"])
def test_tables_and_figures_are_explained_in_plain_words(kind: str) -> None:
    for item in list_names(f"{kind}s"):
        texts = [entry["documentation"] for entry in show(item["name"]) if entry["kind"] == kind]
        assert len(item["summary"]) > 20, item
        assert not item["summary"].startswith(("Return", "Draw")), item
        assert not re.search(r":[a-z]+:`", "".join(texts)), item["name"]


@pytest.mark.parametrize("name", registry.names("learner"))
def test_every_parameter_of_a_learner_is_explained(name: str, output: Any) -> None:
    assert main(["show", name, "--json"]) == 0
    (learner,) = (entry for entry in json.loads(output()) if entry["kind"] == "learner")
    _, _, section = learner["documentation"].partition("Parameters\n----------\n")
    entries = re.findall(r"^(\S.*)\n    ", section, re.MULTILINE)
    explained = [key for entry in entries for key in entry.split(", ")]
    names = [entry["parameter"] for entry in learner["parameters"]]
    assert sorted(explained) == sorted(names)


def test_show_prints_a_configuration_as_it_is(output: Any) -> None:
    assert main(["show", "quickstart"]) == 0
    assert output() == gallery()["quickstart"].read_text()


def test_show_prints_every_meaning_of_a_name(output: Any) -> None:
    assert main(["show", "maxcut"]) == 0
    text = output()
    assert "dataset maxcut" in text
    assert "(needed)" in text
    assert "experiment: maxcut" in text
