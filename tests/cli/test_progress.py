"""What a run shows on a terminal while its cells run."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

from perceptron_lab.experiments.check import check
from perceptron_lab.experiments.running import progress_lines as progress
from perceptron_lab.experiments.running.console import VisibleConsole
from perceptron_lab.experiments.running.progress_lines import ProgressLines


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What is written to a terminal of 80 columns."""
    written = io.StringIO()

    def console(**arguments: Any) -> VisibleConsole:
        return VisibleConsole(
            **arguments | {"stderr": False},
            file=written,
            force_terminal=True,
            width=80,
            color_system=None,
        )

    monkeypatch.setattr(progress, "VisibleConsole", console)
    return written


def test_counts_stay_visible_among_many_messages(screen: io.StringIO) -> None:
    cells = check("quickstart")
    with ProgressLines("quickstart", quiet=False, verbose=False) as lines:
        lines.planned(len(cells), 1, 1)
        for cell in cells[:3]:
            lines.started(cell)
            lines.advanced(cell, 10**6, -1.0 / 3.0)
        lines._bar.update(lines._task, left="more than 10 min left (estimate)")
        lines._bar.refresh()
        bar, running = screen.getvalue().splitlines()[-2:]
    assert "1/6" in bar
    assert bar.endswith("more than 10 min left (estimate)")
    assert bar.count("━") + bar.count("╸") + bar.count(" ") >= 20
    assert "random-50-120  PRA  margin -0.333, 1000000 updates; random-50-120" in running
    assert running.endswith("…")
    assert max(len(re.sub("\x1b\\[[0-9;]*[A-Za-z]", "", line)) for line in (bar, running)) <= 80


def test_compilation_is_shown_and_logged(
    screen: io.StringIO, caplog: pytest.LogCaptureFixture
) -> None:
    with ProgressLines("quickstart", quiet=False, verbose=False) as lines:
        lines.compiling(12)
        lines._bar.refresh()
    assert "compiling 12 kernels" in screen.getvalue()
    assert caplog.messages == ["compiling 12 kernels (first run only)"]


def test_the_time_left_is_estimated_from_cells_of_the_same_label(
    screen: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    cells = check("quickstart")
    labels = [cell.variant.label for cell in cells]
    with ProgressLines("quickstart", quiet=False, verbose=False) as lines:
        lines.planned(len(cells), 0, 0)
        lines.queued(cells)
        lines.started(cells[0])
        assert lines._bar.tasks[0].fields["left"] == ""
        now[0] = 600.0
        cell = cells[0]
        row = {"problem": cell.instance.title, "label": labels[0], "seed": cell.seed}
        row |= {"status": "FEASIBLE", "queries": 1, "seconds": 600.0, "message": ""}
        lines.finished(1, len(cells), row)
        alike = labels.count(labels[0]) - 1
        estimate = lines._bar.tasks[0].fields["left"]
    assert len(set(labels)) > 1
    assert estimate == f"more than {10 * alike} min left (estimate)"


def test_cells_that_need_no_run_are_reported(screen: io.StringIO) -> None:
    with ProgressLines("quickstart", quiet=False, verbose=False) as lines:
        lines.planned(3, 2, 1)
        lines.replacing([])
        lines.replacing(["it took 9 updates"])
        lines.idle("no [workers]")
    output = screen.getvalue()
    assert "2 of 3 rows are there already; 1 cell to run" in output
    assert "1 stale row among these" in output
    assert output.count("will be replaced") == 1
    assert "no [workers]\n" in output
    assert "1 row does not serve and will be replaced (the first: it took 9 updates)" in output


def test_the_line_of_a_cell_names_its_seed(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"problem": "p", "label": "PRA", "seed": 7, "status": "FEASIBLE", "queries": 3}
    lines = ProgressLines("x", quiet=False, verbose=False)
    lines.finished(1, 1, row | {"seconds": 0.5, "message": ""})
    assert "[1/1]  p  PRA  seed 7  FEASIBLE  3 queries  0.5 s" in capsys.readouterr().err
