"""What is amiss with the rows of an experiment is said wherever they are shown."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.core.outward_rounding import text_above, text_below
from perceptron_lab.experiments.provenance import environment as environments
from perceptron_lab.experiments.provenance.code_digest import CellCode
from perceptron_lab.experiments.run import run
from perceptron_lab.experiments.running import runner
from perceptron_lab.experiments.running.status import CellState, status
from perceptron_lab.reporting import Evidence, cautions
from perceptron_lab.reporting.report import write_report

QUICK: dict[str, Any] = {
    "experiment": "quick",
    "title": "Quick",
    "problems": [{"dataset": "maxcut", "instances": ["random-8-12"]}],
    "algorithms": [{"name": "perceptron"}],
    "seeds": [0, 1],
    "report": {"tables": ["table_6_1"]},
}


def certificate_file(path: Path, **changes: Any) -> Path:
    file = path / "quick.yaml"
    file.write_text(json.dumps(QUICK | changes))
    return file


def test_rows_of_one_run_give_no_warnings(tmp_path: Path) -> None:
    results = run(certificate_file(tmp_path, seeds=[0]), output=tmp_path)
    assert results.cautions == ()
    (row,) = results.rows
    html = results._repr_html_()
    assert f"<td>{text_below(row['margin_lower'])}</td>" in html
    assert f"<td>{text_above(row['margin_upper'])}</td>" in html
    assert "environments" not in (results.folder / "table_6_1.tex").read_text()


@pytest.mark.slow
def test_rows_of_different_environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(certificate_file(tmp_path, seeds=[0]), output=tmp_path)
    there = environments.environment() | {"id": "elsewhere"}
    monkeypatch.setattr(runner, "environment", lambda: there)
    results = run(certificate_file(tmp_path), output=tmp_path)
    (warning,) = results.cautions
    assert warning == "rows of 2 environments: do not compare their seconds"
    assert warning in results._repr_html_()
    assert f"Quick ({warning})" in (results.folder / "table_6_1.tex").read_text()


def test_published_results_without_certificates_are_all_there(tmp_path: Path) -> None:
    folder = run(certificate_file(tmp_path, seeds=[0]), output=tmp_path).folder
    before = (folder / "table_6_1.tex").read_bytes()
    shutil.rmtree(folder / "certificates")
    write_report(folder, QUICK["report"], QUICK["title"])
    assert (folder / "table_6_1.tex").read_bytes() == before
    assert status(folder).counts["missing"] == 1, "a run wants the certificate back"


@pytest.mark.slow
def test_stale_and_missing_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(CellCode, "digest_of", lambda *_: f"cell:{0:064}")
        folder = run(certificate_file(tmp_path, seeds=[0]), output=tmp_path).folder
    results = run(certificate_file(tmp_path), output=tmp_path)
    assert results.cautions == ("1 of 2 rows are of another code version",)
    write_report(folder, {"tables": ["table_6_1"]}, "T")
    assert "T (1 of 2 rows are of another" in (folder / "table_6_1.tex").read_text()
    refreshed = run(certificate_file(tmp_path), output=tmp_path, refresh=True)
    assert refreshed.cautions == ()


def test_cells_without_a_row(tmp_path: Path) -> None:
    class Enough(runner.Progress):
        def finished(self, completed: int, total: int, row: dict[str, Any]) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(certificate_file(tmp_path), output=tmp_path, progress=Enough())
    folder = tmp_path / "quick"
    warnings = cautions(folder, Evidence.of_folder(folder))
    assert warnings == ["1 of 2 cells have no usable row"]


@pytest.mark.slow
def test_a_row_that_serves_no_more_is_counted_once(tmp_path: Path) -> None:
    class Enough(runner.Progress):
        def finished(self, completed: int, total: int, row: dict[str, Any]) -> None:
            raise KeyboardInterrupt

    folder = run(certificate_file(tmp_path, budget={"updates": 0}), output=tmp_path).folder
    with pytest.raises(KeyboardInterrupt):
        run(certificate_file(tmp_path), output=tmp_path, progress=Enough())
    evidence = Evidence.of_folder(folder)
    assert len(evidence.frame) == 2
    assert cautions(folder, evidence) == ["1 of 2 cells have no usable row"]


@pytest.mark.slow
def test_a_row_skipped_for_lack_of_data_is_no_missing_row(tmp_path: Path) -> None:
    """It says why itself; the next run tries it again."""
    program = "1\n1\n2\n1.0\n0 1 1 1 -1.0\n0 1 2 2 -1.0\n1 1 1 2 0.5\n"
    (tmp_path / "here.dat-s").write_text(program)
    problems = [{"dataset": "sdpa", "files": ["here.dat-s", "gone.dat-s"], "missing": "skip"}]
    changes = {"problems": problems, "algorithms": [{"name": "auto"}], "report": {}}
    folder = run(certificate_file(tmp_path, seeds=[0], **changes), output=tmp_path).folder
    evidence = Evidence.of_folder(folder)
    assert sorted(evidence.frame["status"]) == ["FEASIBLE", "SKIPPED"]
    assert status(folder).counts[CellState.MISSING] == 1
    assert cautions(folder, evidence) == []
