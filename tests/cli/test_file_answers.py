"""What an answer about a file cannot do, it refuses with the file's name and what to do instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.cli.file_answers import FileAnswer
from perceptron_lab.core.errors import DataError


class TextAnswer(FileAnswer):
    """An answer that is text and JSON alone."""

    def text(self, *, verbose: bool = False) -> str:
        return "an answer"

    def as_json(self) -> dict[str, Any]:
        return {}


def test_an_answer_without_file_or_figure_refuses_both(tmp_path: Path) -> None:
    answer = TextAnswer(Path("rows.csv"))
    with pytest.raises(DataError, match=r"^rows\.csv: .*not saved; use --json$"):
        answer.save(tmp_path / "a.npz")
    with pytest.raises(DataError, match=r"^rows\.csv: .*no figure; use --json$"):
        answer.draw(tmp_path / "a.png")
    assert not list(tmp_path.iterdir())
