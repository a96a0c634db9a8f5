"""Tables on the terminal: in parts where they are too wide, and no line without its keys."""

from __future__ import annotations

import pandas as pd
import pytest
from rich.console import Console

from perceptron_lab.cli import rendering
from perceptron_lab.cli.rendering import show_frame


def printed(
    frame: pd.DataFrame,
    width: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> list[list[str]]:
    """Return the words of each line, printed that wide."""
    monkeypatch.setattr(
        rendering, "_console", lambda: Console(width=width, highlight=False, markup=False)
    )
    show_frame("title", frame)
    return [line.split() for line in capsys.readouterr().out.splitlines()]


FRAME = pd.DataFrame(
    {
        "problem": ["p", "p"],
        "rows": [5000, 5000],
        "label": ["L", "M"],
        "seconds": [0.25, None],
        "nothing": [None, None],
        "a wide column": ["x" * 30, ""],
    }
)


def test_each_part_repeats_the_identifying_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = printed(FRAME, 52, monkeypatch, capsys)
    assert lines[0] == ["title"]
    assert ["p", "L", "5000", "0.25"] in lines
    assert ["p", "M", "5000"] in lines
    assert ["p", "L", "x" * 30] in lines
    assert "nothing" not in [word for line in lines for word in line]


def test_a_table_that_fits_is_one_part(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = printed(FRAME, 200, monkeypatch, capsys)
    assert ["p", "L", "5000", "0.25", "x" * 30] in lines


def test_a_table_without_keys_begins_with_its_first_column(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = FRAME.drop(columns=["problem", "label"])
    lines = printed(frame, 40, monkeypatch, capsys)
    assert ["5000", "0.25"] in lines
    assert ["5000", "x" * 30] in lines


def test_long_text_is_folded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.DataFrame({"label": ["L"], "theorem": ["several words of a theorem " * 4]})
    lines = printed(frame, 100, monkeypatch, capsys)
    assert sum("theorem" in line for line in lines) > 2
    assert max(len(" ".join(line)) for line in lines) < 60
