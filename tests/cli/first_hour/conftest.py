"""Commands as a user gives them, one after the other, in a folder of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from perceptron_lab.cli.main import main


class Said(NamedTuple):
    """What a command prints, and its exit code."""

    code: int
    out: str
    err: str


Plab = Callable[..., Said]


@pytest.fixture
def plab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Plab:
    """Run ``plab`` with these words; no answer is a traceback, or names a bug."""
    monkeypatch.chdir(tmp_path)

    def command(*words: str) -> Said:
        code = main(words)
        printed = capsys.readouterr()
        assert code in (0, 1, 2), printed.err
        assert "Traceback" not in printed.out + printed.err
        return Said(code, printed.out, printed.err)

    return command
