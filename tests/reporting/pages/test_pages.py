"""Pages of results: valid, whole, in order, without places of the machine, and up to date."""

from __future__ import annotations

import csv
import io
import re
import shutil
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from perceptron_lab.cli.main import main
from perceptron_lab.core.results import Bound
from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.storage import schema
from perceptron_lab.experiments.storage.reader import Reader, read_config_of
from perceptron_lab.reporting.pages import writing
from perceptron_lab.reporting.pages.content import configuration_text, sentences
from perceptron_lab.reporting.pages.reading import read_experiment, without_paths
from perceptron_lab.reporting.pages.writing import pages, written
from tests.reporting.artificial_runs import CONFIG, make_result, make_row, make_trace, write_folder
from tests.reporting.pages.page_parser import ParsedPage

SAMPLES = Path(__file__).parents[3] / "results" / "sample"
PICTURE = r"data:image/png;base64,[\w+/=]+"
REPORT: dict[str, Any] = {"tables": ["table_6_1"], "figures": ["table_6_1"]}


def make_experiment(folder: Path, **changes: Any) -> None:
    """Store two problems by two algorithms: proved, but for one; one has a course."""
    rows = [
        make_row("mcp100", "PRA", updates=12, message="read /srv/me/data/a.csv & <more>"),
        make_row("mcp100", "EA", status="UPDATE_LIMIT", proved=False),
        make_row("mcp124-1", "PRA", seconds=0.125),
        make_row("mcp124-1", "EA"),
    ]
    result = make_result(
        make_trace([0, 1, 4, 12], [-1.0, -0.5, -0.1, 1e-4]), Bound(50.0, "Theorem <1>")
    )
    results = {"mcp100-PRA-0": result}
    config = CONFIG | {"title": "PRA & EA <both>", "report": REPORT} | changes
    write_folder(folder, rows, results, config)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two experiments with their pages; the second one's table cannot be made."""
    folder = tmp_path_factory.mktemp("results")
    make_experiment(folder / "first")
    make_experiment(folder / "second", report={"tables": ["learners", "summary"]})
    pages(folder)
    return folder


@pytest.fixture(scope="module", params=["index.html", "first/index.html", "second/index.html"])
def page(results: Path, request: pytest.FixtureRequest) -> str:
    return (results / request.param).read_text("utf-8")


def test_it_is_valid_and_its_headings_are_in_order(page: str) -> None:
    parsed = ParsedPage(page)
    assert parsed.faults == []
    assert parsed.faults_of_order() == []
    assert len(parsed.ids) == len(set(parsed.ids))
    assert parsed.nameless == []
    assert all(text.strip() for _, text in parsed.headings)


def test_all_lines_of_a_table_have_its_columns(page: str) -> None:
    tables = ParsedPage(page).tables
    assert len(tables) > 2
    for caption, lines in tables.items():
        assert len({len(line) for line in lines}) == 1, caption


def test_it_refers_only_to_files_in_the_folder(page: str) -> None:
    references = [reference.strip("\"'") for reference in ParsedPage(page).references]
    local = re.compile(rf"#\S*|data:,|{PICTURE}|(?:\.\./|\w+/)index\.html")
    assert [reference for reference in references if not local.fullmatch(reference)] == []
    text = re.sub(rf"<script>.*?</script>|{PICTURE}", "", page, flags=re.DOTALL)
    assert not re.search(r"https?:|//[a-z]", text)


def test_references_within_the_page_lead_somewhere(page: str) -> None:
    parsed = ParsedPage(page)
    ids = {
        reference.strip("\"'")[1:] for reference in parsed.references if reference.startswith("#")
    }
    assert ids <= set(parsed.ids)


def test_it_contains_no_paths_and_no_host_names(page: str) -> None:
    text = re.sub(PICTURE, "", page)
    assert "/srv/" not in text
    assert "/tmp/" not in text
    assert socket.gethostname() not in text


def cells_of(page: str) -> list[dict[str, str]]:
    head, *lines = ParsedPage(page).tables["Cells"]
    return [dict(zip(head, line, strict=True)) for line in lines]


def test_each_cell_has_its_numbers_history_guarantee_and_message(results: Path) -> None:
    page = (results / "first" / "index.html").read_text("utf-8")
    first, second, third, _ = cells_of(page)
    assert (first["problem"], first["algorithm"], first["updates"]) == ("mcp100", "PRA", "12")
    assert (first["status"], second["status"]) == ("FEASIBLE", "UPDATE_LIMIT")
    assert (first["solving seconds"], third["solving seconds"]) == ("0.250", "0.125")
    assert (first["margin lower"], first["margin upper"]) == ("0.0001", "0.125")
    assert "50 updates (Theorem <1>)" in first["certificate and parameters"]
    assert "read a.csv & <more>" in first["certificate and parameters"]
    assert 'aria-label="margin -1 to 0.0001, update 0 to 12"' in page
    assert page.count('<svg class="history" role="img"') == 1


def test_the_table_shows_the_papers_values_and_ours(results: Path) -> None:
    parsed = ParsedPage((results / "first" / "index.html").read_text("utf-8"))
    groups, heads, line, *_ = parsed.tables["table_6_1: PRA & EA <both>"]
    assert groups.count("PRA") == 1
    assert "thesis queries" in heads
    assert line[heads.index("thesis queries")] == "313"


def test_ratios_leave_out_the_problem_without_an_answer(results: Path) -> None:
    parsed = ParsedPage((results / "first" / "index.html").read_text("utf-8"))
    head, line = parsed.tables["Ratios of costs over all problems, algorithm / compared with"]
    cells = dict(zip(head, line, strict=True))
    assert (cells["algorithm"], cells["compared with"]) == ("EA", "PRA")
    assert (cells["pairs used"], cells["seconds"]) == ("1 of 2", "4")


def test_the_page_of_all_has_each_experiment_and_opens_without_a_script(results: Path) -> None:
    parsed = ParsedPage((results / "index.html").read_text("utf-8"))
    head, first, second = parsed.tables["All experiments"]
    assert (first[0], second[0]) == ("first", "second")
    assert first[head.index("cells")] == "4"
    assert [text for level, text in parsed.headings if level == 2].count("PRA & EA <both>") == 2
    assert parsed.details >= 2


def test_a_failed_table_is_named_and_sets_the_exit_code(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "Could not be made: table learners" in (results / "second" / "index.html").read_text(
        "utf-8"
    )
    assert main(["report", "--html", str(results)]) == 1
    printed = capsys.readouterr()
    assert "failed: second: table learners" in printed.err
    paths = [line.split(" (")[0] for line in printed.out.splitlines()]
    assert [Path(path) for path in paths] == [
        results / "first" / "index.html",
        results / "second" / "index.html",
        results / "index.html",
    ]


def test_a_page_is_written_again_only_after_a_change(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "first"
    make_experiment(folder, report={"tables": ["summary"]})
    page_before = (folder / "index.html", False)
    (rewritten,) = written([folder], tmp_path)
    assert (rewritten.path, rewritten.unchanged) == page_before
    content = page_before[0].read_bytes()
    assert [page.unchanged for page in written([folder], tmp_path)] == [True]
    (folder / "runs.csv").write_text("cell\nmcp100-PRA-0\n")
    (rewritten,) = written([folder], tmp_path)
    assert not rewritten.unchanged
    assert b"differs from the store" in page_before[0].read_bytes()
    (folder / "runs.csv").unlink()
    (rewritten,) = written([folder], tmp_path)
    assert page_before[0].read_bytes() == content


def test_the_configuration_on_the_page_is_that_of_the_run(results: Path) -> None:
    config = read_config_of(results / "first")
    tree = yaml.safe_load(configuration_text(config))
    assert ExperimentConfig.model_validate(tree) == config
    assert "budget" not in tree


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see /srv/me/x/a.csv: line 3", "see a.csv: line 3"),
        (r"C:\Users\me\b.csv is absent", "b.csv is absent"),
        ("1/2 of https://a.org/b/c and /one", "1/2 of https://a.org/b/c and /one"),
        ("results/made/runs.csv", "results/made/runs.csv"),
    ],
)
def test_paths_are_removed_from_texts(text: str, expected: str) -> None:
    assert without_paths(text) == expected
    assert without_paths({"a": [text, 1]}) == {"a": [expected, 1]}


def test_the_first_sentence_says_that_rows_are_from_two_machines(tmp_path: Path) -> None:
    make_experiment(tmp_path)
    experiment = read_experiment(tmp_path, read_config_of(tmp_path))
    first, *others = experiment.cells
    moved = replace(first, stored=replace(first.stored, environment="b"))
    cpus = {name: {"cpu": name} for name in ("b", others[0].stored.environment)}
    told = [
        next(sentences(replace(experiment, cells=[cell, *others], environments=cpus), []))
        for cell in (first, moved)
    ]
    assert (
        told[1] == f"{told[0]} The runs were made on 2 machines, so compare these times with care."
    )


SAMPLE = "figure_6_1"


@pytest.mark.slow
def test_every_cell_of_a_sample_is_on_its_page_with_its_counts(tmp_path: Path) -> None:
    folder = tmp_path / SAMPLE
    folder.mkdir()
    shutil.copy(schema.path_of(SAMPLES / SAMPLE), folder)
    (path,) = pages(folder)
    text = path.read_text("utf-8")
    assert ParsedPage(text).faults == []
    runs = list(csv.DictReader(io.StringIO((SAMPLES / SAMPLE / "runs.csv").read_text())))
    cells = [(run["problem"], run["algorithm"], run["updates"]) for run in cells_of(text)]
    assert cells == [(run["problem"], run["label"], run["updates"]) for run in runs]
    with Reader.open(folder) as reader:
        environment, *_ = reader.environments().values()  # the one in the first column
    facts = dict(line[:2] for line in ParsedPage(text).tables["Environments"])
    assert facts["numpy"] == environment["packages"]["numpy"]
    assert environment["git"]["revision"] in facts["revision"]


def test_the_overview_page_links_long_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second"):
        make_experiment(tmp_path / name, report={"tables": ["summary"]})
    *single, full = pages(tmp_path)
    title = "<caption>Medians over the seeds"
    assert full.read_text("utf-8").count(title) == 2
    table = "<caption>summary"
    assert full.read_text("utf-8").count(table) == 2
    monkeypatch.setitem(writing._LONGEST, "medians", 100)
    pages(tmp_path)
    text = full.read_text("utf-8")
    assert title not in text
    assert text.count(table) == 2
    assert 'This table has 4 lines: see <a href="second/index.html">' in text
    assert all(title in path.read_text("utf-8") for path in single)
    assert ParsedPage(text).faults == []
    monkeypatch.setitem(writing._LONGEST, "table", 100)
    pages(tmp_path)
    assert table not in full.read_text("utf-8")
    assert all(table in path.read_text("utf-8") for path in single)


@pytest.mark.slow
@pytest.mark.long  # tests/reporting/test_write_report.py has several processes
def test_several_processes_write_the_pages_that_one_writes(tmp_path: Path) -> None:
    names = ("a", "b", "c", "d")
    for name in names:
        make_experiment(tmp_path / name, report={"tables": ["summary"]})
    indices = [page.path for page in written([tmp_path], tmp_path, processes=2)]
    assert indices == [*(tmp_path / name / "index.html" for name in names), tmp_path / "index.html"]
    contents = [path.read_bytes() for path in indices]
    for path in indices:
        path.unlink()
    assert [page.path for page in written([tmp_path], tmp_path)] == indices
    assert [path.read_bytes() for path in indices] == contents


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_the_page_of_all_samples_can_be_sent_by_mail(tmp_path: Path) -> None:
    stores = schema.folders_below(SAMPLES)
    for folder in stores:
        (tmp_path / folder.name).mkdir()
        shutil.copy(schema.path_of(folder), tmp_path / folder.name)
    *single, full = written([tmp_path], tmp_path)
    assert not [page.failed for page in single if page.failed]
    text = full.path.read_text("utf-8")
    assert len(text.encode()) <= 2_000_000
    for page in text, *(page.path.read_text("utf-8") for page in single):
        parsed = ParsedPage(page)
        assert parsed.faults + parsed.faults_of_order() + parsed.nameless == []
        assert len(parsed.ids) == len(set(parsed.ids))
    assert len(parsed.tables) > 4
