"""Statuses in colour: on a terminal alone, and not where NO_COLOR forbids it."""

from __future__ import annotations

import io

import click
import pytest

from perceptron_lab.cli.echo import coloured
from perceptron_lab.core.results import Status, StatusWord
from perceptron_lab.experiments.running.status import CellState
from perceptron_lab.experiments.verification.claims import Verdict

COLOURS: list[tuple[StatusWord, str]] = [
    (Status.FEASIBLE, "green"),
    (Status.FITTED, "green"),
    (Status.TIME_LIMIT, "yellow"),
    (Status.UNVERIFIED, "red"),
    (CellState.DONE, "green"),
    (CellState.RUNNING, "cyan"),
    (CellState.MISSING, "yellow"),
    (CellState.FAILED, "red"),
    (Verdict.PROVED, "green"),
    (Verdict.NOTHING_CLAIMED, "yellow"),
    (Verdict.MISSING, "red"),
]


@pytest.mark.parametrize(("word", "colour"), COLOURS)
def test_a_status_has_its_colour(word: StatusWord, colour: str) -> None:
    assert word.colour == colour


def test_no_color_forbids_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert coloured(CellState.DONE) == "\x1b[32mdone\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert coloured(CellState.DONE) == "done"


def test_a_pipe_has_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    written = io.StringIO()
    click.echo(coloured(Verdict.PROVED), file=written)
    assert written.getvalue() == "PROVED\n"
