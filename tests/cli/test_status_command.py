"""``plab status``, from the command line to what is printed."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.experiments.storage.certificate_files import path_of
from perceptron_lab.experiments.storage.reader import Reader

CONFIG = """\
experiment: small
problems:
  - dataset: maxcut
    instances: [random-8-12, torus-3x4]
algorithms:
  - {name: ellipsoid, label: EA}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.yaml").write_text(CONFIG)


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    return lambda: capsys.readouterr().out.splitlines()


@pytest.fixture(scope="module")
def run_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of the configuration."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "small.yaml").write_text(CONFIG)
    with contextlib.chdir(folder):
        assert main(["run", "-q", "small.yaml"]) == 0
    return folder


@pytest.fixture
def finished_cells(run_once: Path) -> None:
    shutil.copytree(run_once / "results", "results")


def test_before_the_first_run_everything_is_missing(printed: Any) -> None:
    assert main(["status", "small.yaml"]) == 0
    assert printed() == [
        "results/small: 2 missing of 2 cells",
        "  missing  random-8-12  EA  seed 0  its data were not loaded yet",
        "  missing  torus-3x4  EA  seed 0  its data were not loaded yet",
    ]


@pytest.mark.usefixtures("finished_cells")
@pytest.mark.parametrize("target", [["small.yaml"], ["results/small"], []])
def test_finished_cells_are_only_counted(printed: Any, target: list[str]) -> None:
    assert main(["status", *target]) == 0
    assert printed() == ["results/small: 2 done of 2 cells"]
    assert main(["status", "-v", *target]) == 0
    assert printed()[1:] == [
        "  done  random-8-12  EA  seed 0  FEASIBLE",
        "  done  torus-3x4  EA  seed 0  FEASIBLE",
    ]


@pytest.mark.usefixtures("finished_cells")
def test_status_states_what_the_next_run_would_do_and_why(printed: Any) -> None:
    assert main(["status", "small.yaml", "-s", "goal=budget"]) == 0
    lines = printed()
    assert re.fullmatch(r"results/small--[0-9a-f]{8}: 2 missing of 2 cells", lines[0])
    assert lines[1] == "  missing  random-8-12  EA  seed 0  its data were not loaded yet"


def test_cells_that_share_state_and_reason_are_one_line(printed: Any) -> None:
    more = CONFIG + "  - {name: perceptron, label: P}\nseeds: [0, 1]\n"
    Path("small.yaml").write_text(more)
    assert main(["status", "small.yaml"]) == 0
    assert printed() == [
        "results/small: 8 missing of 8 cells",
        "  missing  8 cells of 2 problems (EA, P)  its data were not loaded yet",
        "-v lists every cell",
    ]
    assert main(["status", "-v", "small.yaml"]) == 0
    lines = printed()
    assert len(lines) == 9
    assert lines[-1] == "  missing  torus-3x4  P  seed 1  its data were not loaded yet"


@pytest.mark.usefixtures("finished_cells")
def test_json_holds_everything(capsys: pytest.CaptureFixture[str]) -> None:
    with Reader.open(Path("results/small")) as reader:
        cells = [planned.cell for planned in reader.plan()]
    path_of(Path("results/small"), cells[1]).unlink()
    assert main(["status", "--json", "results/small"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)
    assert [cell["cell"] for cell in answer["cells"]] == cells
    assert [cell["state"] for cell in answer["cells"]] == ["done", "missing"]
    assert [cell["due"] for cell in answer["cells"]] == [False, True]
    assert (answer["experiment"], answer["running"], answer["process"]) == ("small", False, None)
    assert answer["counts"] == {"done": 1, "running": 0, "failed": 0, "stale": 0, "missing": 1}


@pytest.mark.usefixtures("finished_cells")
def test_a_run_that_is_alive_is_named(printed: Any) -> None:
    hold = (
        "import sys; from pathlib import Path; "
        "from perceptron_lab.experiments.storage.results_folder import StoreLock\n"
        "with StoreLock(Path('results/small')): print(flush=True); sys.stdin.read()"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", hold], stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert main(["status"]) == 0
        process.kill()
    message = f"results/small: 2 done of 2 cells (process {process.pid} writes there now)"
    assert printed() == [message]


@pytest.mark.usefixtures("finished_cells")
@pytest.mark.parametrize("command", ["status", "report", "verify", "compare"])
def test_a_missing_folder_is_reported_with_the_existing_ones(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    twice = ["results/small"] if command == "compare" else []
    assert main([command, "results/smal", *twice]) == 2
    error_output = capsys.readouterr().err
    assert "results/smal: no" in error_output
    if command != "compare":
        assert "(did you mean 'small'?); results in results: small" in error_output
    if command == "report":  # it makes those of all folders
        return
    assert main([command, "results", *twice]) == 2
    assert "no results there, but in its folders; name one: small" in capsys.readouterr().err


@pytest.mark.usefixtures("finished_cells")
@pytest.mark.parametrize("command", ["status", "report"])
def test_a_name_of_results_that_is_no_configuration_leads_to_the_folder(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "small"]) == 2
    expected = "small: no configuration; its results are in results/small: name that"
    assert expected in capsys.readouterr().err


def test_without_results_status_is_empty(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status"]) == 2
    assert "results: no results there; `plab run CONFIG` makes them" in capsys.readouterr().err
    Path("results").mkdir()
    assert main(["status", "results"]) == 2
    assert main(["status", "absent"]) == 2
    assert "no such file or shipped configuration" in capsys.readouterr().err
