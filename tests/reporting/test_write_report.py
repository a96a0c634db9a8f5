"""Writing a report: all of it or none, the same bytes each time, nothing left beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure
from pydantic import ValidationError

from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError, DataError, StoreError
from perceptron_lab.experiments.configuration.config import ExperimentConfig, ReportEntry
from perceptron_lab.experiments.configuration.rows import Row
from perceptron_lab.experiments.run import Results
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.reporting import Evidence, check_report, make_report, rebuilt, write_report
from perceptron_lab.reporting.printing.columns import counts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.report import report
from tests.reporting.artificial_runs import CONFIG, rows_of, write_folder

REPORT = {"tables": ["table_6_1"], "figures": ["table_6_1"]}
EXPERIMENT = ExperimentConfig.model_validate(CONFIG | {"report": REPORT})


@pytest.fixture
def folder(runs: pd.DataFrame, tmp_path: Path) -> Path:
    write_folder(tmp_path, rows_of(runs))
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_the_files_written_are_returned(folder: Path) -> None:
    paths = write_report(folder, REPORT, "A title")
    names = [f"table_6_1.{suffix}" for suffix in ("csv", "tex", "html", "md", "png", "pdf", "svg")]
    assert paths == [folder / name for name in names]
    assert set(contents(folder)) == {"runs.sqlite", ".lock", *names}


def test_the_csv_has_full_precision_and_spells_truth_as_the_runs_do(
    runs: pd.DataFrame, tmp_path: Path
) -> None:
    runs["seconds"] = [0.1 + 0.2, 1 / 3, 1e-9, 12345.678901234567]
    write_folder(tmp_path, rows_of(runs))
    write_report(tmp_path, {"tables": ["table_6_1"]}, "t")
    text = (tmp_path / "table_6_1.csv").read_text()
    written = pd.read_csv(tmp_path / "table_6_1.csv", dtype=str)
    assert written["PRA seconds"].map(float).tolist() == [0.1 + 0.2, 1e-9]
    assert written["EA seconds"].map(float).tolist() == [1 / 3, 12345.678901234567]
    assert [line.rsplit(",", 1)[1] for line in text.splitlines()] == ["proved", "true", "true"]


def test_writing_twice_gives_the_same_bytes(folder: Path) -> None:
    """The tables; figures are drawn twice in test_figure_6_1.py."""
    entry = {"tables": ["table_6_1"]}
    write_report(folder, entry, "A title")
    first = contents(folder)
    write_report(folder, entry, "A title")
    assert contents(folder) == first


def test_the_rows_are_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    rows = Reader.rows

    def counted(reader: Reader) -> list[Row]:
        read.append(reader.folder)
        return rows(reader)

    monkeypatch.setattr(Reader, "rows", counted)
    (folder / "runs.csv").write_text("cell\nmine\n")
    (report,) = rebuilt([folder], folder.parent)
    assert "differs from the store in the cell 'mine'" in report.edited
    assert list(report.tables) == ["summary"]
    assert read == [folder]


def test_results_have_their_rows_and_read_no_store(runs: pd.DataFrame, tmp_path: Path) -> None:
    results = Results(tmp_path, rows_of(runs))
    assert results.table("table_6_1")["problem"].tolist() == ["mcp100", "mcp124-1"]
    drawn = results.figure("table_6_1")
    assert drawn.axes
    assert drawn._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("report", [{}, {"tables": [], "figures": []}])
def test_an_empty_report_is_the_summary(folder: Path, report: Mapping[str, list[str]]) -> None:
    paths = write_report(folder, report, "t")
    assert paths == [folder / f"summary.{kind}" for kind in ("csv", "tex", "html", "md")]


def break_figure(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def broken(evidence: Evidence) -> None:
        raise error

    drawn = registry.load("figure", "table_6_1")
    monkeypatch.setattr(f"{drawn.__module__}.{drawn.__name__}", broken)


@pytest.mark.slow
def test_a_figure_that_fails_keeps_its_earlier_files_and_no_other_from_being_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = {"tables": ["table_6_1"], "figures": ["table_6_1", "profile"]}
    write_report(folder, REPORT, "A title")
    before = contents(folder)
    break_figure(monkeypatch, DataError("table_6_1: the figure cannot be drawn"))
    report = make_report(folder, entry, "Another title")
    assert report.failed == (
        "figure table_6_1: the figure cannot be drawn; its earlier files are unchanged",
    )
    suffixes = [f"table_6_1.{kind}" for kind in ("csv", "tex", "html", "md")]
    drawn = [f"profile.{kind}" for kind in ("png", "pdf", "svg")]
    assert [path.name for path in report.files] == [*suffixes, *drawn]
    after = contents(folder)
    assert after["table_6_1.png"] == before["table_6_1.png"]
    assert after["table_6_1.tex"] != before["table_6_1.tex"]


def test_a_bug_of_a_figure_is_raised_once_the_others_are_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_figure(monkeypatch, KeyError("a bug"))
    with pytest.raises(KeyError, match="a bug"):
        write_report(folder, REPORT, "A title")
    assert (folder / "table_6_1.csv").is_file()


def test_report_in_python_raises_once_the_others_are_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_figure(monkeypatch, DataError("the figure cannot be drawn"))
    monkeypatch.setattr("perceptron_lab.reporting.report.read_config_of", lambda _: EXPERIMENT)
    with pytest.raises(DataError, match=r"figure table_6_1: .*be drawn\nwritten: 4 files of"):
        report(folder)
    assert (folder / "table_6_1.csv").is_file()


def test_a_failed_write_leaves_the_earlier_file_only(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = {"tables": ["table_6_1"]}
    write_report(folder, entry, "A title")
    before = contents(folder)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StoreError, match=r"table_6_1\.csv cannot be written \(No space left"):
        write_report(folder, entry, "Another title")
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("report", "message"),
    [
        ({"tables": ["table6_1"]}, r"unknown table 'table6_1' \(did you mean 'table_6_1'\?\)"),
        ({"figures": ["fig"]}, "unknown figure 'fig'; known: table_6_1"),
        ({"figure": ["table_6_1"]}, r"'figure' \(did you mean 'figures'\?\)"),
    ],
)
def test_unknown_names_are_refused_before_anything_is_read(
    tmp_path: Path, report: Mapping[str, list[str]], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        check_report(report)
    with pytest.raises(ConfigError, match=message):
        write_report(tmp_path, report, "t")


def test_missing_runs_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no results there"):
        write_report(tmp_path, REPORT, "t")


def test_configurations_may_list_exactly_the_available_reports(
    folder: Path, user_registrations: None
) -> None:
    with pytest.raises(ValidationError, match=r"allowed: summary, .*rare_categories"):
        ReportEntry(tables=["mine"])
    registry.register("table", "mine", user_table)
    registry.register("figure", "mine", f"{__name__}:drawn")
    entry = ReportEntry(tables=["mine"], figures=["mine"])
    paths = write_report(folder, entry.model_dump(), "My own & best")
    suffixes = ("csv", "tex", "html", "md", "png", "pdf", "svg")
    assert paths == [folder / f"mine.{suffix}" for suffix in suffixes]
    assert (folder / "mine.csv").read_text() == "rows\n4\n"
    assert "\\caption{My own \\& best}" in (folder / "mine.tex").read_text()


def user_table(evidence: Evidence) -> Table:
    return Table("mine", [counts("rows", [len(evidence.frame)])])


def drawn(evidence: Evidence) -> Figure:
    return Figure()


@pytest.mark.slow
def test_several_processes_write_the_reports_of_a_single_one(
    runs: pd.DataFrame, tmp_path: Path
) -> None:
    """An error is raised in its place, here the third."""
    for name in "abcd":
        write_folder(tmp_path / name, rows_of(runs))
    (tmp_path / "c" / "summary.csv").mkdir()
    reports = rebuilt([tmp_path], tmp_path, processes=2)
    reports_read = [next(reports), next(reports)]
    with pytest.raises(StoreError, match=r"c/summary.csv cannot be written"):
        next(reports)
    (tmp_path / "c" / "summary.csv").rmdir()
    by_two = [(path, path.read_bytes()) for report in reports_read for path in report.files]
    (tmp_path / "a" / "summary.csv").unlink()
    again = list(rebuilt([tmp_path], tmp_path))
    assert [report.folder.name for report in again] == list("abcd")
    assert reports_read == again[:2]
    assert by_two == [(path, path.read_bytes()) for report in again[:2] for path in report.files]
