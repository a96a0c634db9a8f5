"""``plab compare`` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perceptron_lab.cli.main import main
from tests.reporting.artificial_stores import make_store, row_of_run


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    first = [row_of_run(problem) for problem in "pqr"] + [row_of_run("lonely")]
    second = [row_of_run(problem, seconds=2.0) for problem in "pq"]
    second.append(row_of_run("r", status="UPDATE_LIMIT", proved=False))
    a = make_store(tmp_path / "a", first)
    other = {"cpu": "another", "id": "22222222"}
    b = make_store(tmp_path / "b", second, config={"seeds": [0, 4]}, environment=other)
    return ["compare", str(a), str(b)]


def test_tables(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    printed = capsys.readouterr()
    lines = [line.split() for line in printed.out.splitlines()]
    assert f"seconds, B / A: A = {arguments[1]}, B = {arguments[2]}" in printed.out
    assert ["EA", "2", "2", "2", "2", "2"] in lines
    assert "3 pairs: 1 with different statuses" in printed.out
    assert ["r", "EA", "0", "FEASIBLE", "UPDATE_LIMIT"] in lines
    assert ["lonely", "EA", "0"] in lines
    assert ["seeds.1", "(absent)", "4"] in lines
    assert ["cpu", '"one"', '"another"'] in lines
    assert "Warning: the environments differ (see above): do not compare times" in printed.err


def test_json(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*arguments, "--metric", "queries", "--json"]) == 0
    printed = capsys.readouterr()
    data = json.loads(printed.out)
    assert data["metric"] == "queries"
    assert [(ratio["label"], ratio["ratio"]) for ratio in data["ratios"]] == [("EA", 1.0)]
    assert not data["times_compare"]
    assert not printed.err


def test_experiments_without_common_cells_are_refused(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--metric", "hours"]) == 2
    assert "'hours' is not one of 'seconds', 'updates'" in capsys.readouterr().err
    assert main([*arguments[:2], "nowhere"]) == 2
    assert "nowhere: no such file or folder in the current folder" in capsys.readouterr().err
    (tmp_path / "rows.csv").touch()
    assert main(["compare", str(tmp_path / "rows.csv"), arguments[1]]) == 2
    assert "rows.csv: it is a file; give a folder of results" in capsys.readouterr().err
