"""Instances whose data are not there: refused, or skipped and run as soon as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.core.errors import DataError
from perceptron_lab.experiments.running.runner import ExperimentRows, run_cells
from tests.experiments.conftest import Configure

# F_0 = -I: x = 0 is strictly feasible
PROGRAM = "1\n1\n2\n1.0\n0 1 1 1 -1.0\n0 1 2 2 -1.0\n1 1 1 2 0.5\n"


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def problem(**changes: Any) -> dict[str, Any]:
    return {"dataset": "sdpa", "files": ["here.dat-s", "gone.dat-s"]} | changes


def statuses(results: ExperimentRows) -> dict[str, str]:
    return {row["problem"]: str(row["status"]) for row in results.rows}


def test_an_instance_without_data_is_skipped_and_run_once_it_is_there(
    tmp_path: Path, configure: Configure
) -> None:
    config = configure(problems=[problem(missing="skip")], algorithms=[{"name": "auto"}])
    (tmp_path / "here.dat-s").write_text(PROGRAM)

    def run() -> ExperimentRows:
        return run_cells(config, output=tmp_path / "results")

    results = run()
    assert statuses(results) == {"here": "FEASIBLE", "gone": "SKIPPED"}
    (skipped,) = [row for row in results.rows if row["status"] == "SKIPPED"]
    assert "gone.dat-s: no such file" in skipped["message"]
    assert skipped["constraints"] is skipped["dimension"] is None
    assert not results.failed
    assert statuses(run()) == statuses(results)
    (tmp_path / "gone.dat-s").write_text(PROGRAM.replace("-1.0", "-2.0"))
    assert statuses(run()) == {"here": "FEASIBLE", "gone": "FEASIBLE"}


def test_missing_data_are_an_error_unless_skipping_is_allowed(
    tmp_path: Path, configure: Configure
) -> None:
    config = configure(problems=[problem()], algorithms=[{"name": "auto"}])
    (tmp_path / "here.dat-s").write_text(PROGRAM)
    with pytest.raises(DataError, match=r"problem gone: .*no such file"):
        run_cells(config, output=tmp_path / "results")
    assert not list(tmp_path.glob("results/*/runs.csv"))


def test_data_that_are_damaged_are_never_skipped(tmp_path: Path, configure: Configure) -> None:
    config = configure(problems=[problem(missing="skip")], algorithms=[{"name": "auto"}])
    (tmp_path / "here.dat-s").write_text(PROGRAM)
    (tmp_path / "gone.dat-s").write_text(PROGRAM[:9])
    with pytest.raises(DataError, match="problem gone: "):
        run_cells(config, output=tmp_path / "results")
