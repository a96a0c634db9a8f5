"""Words of messages."""

from __future__ import annotations

from perceptron_lab.core.errors import counted


def test_singular_and_plural_are_distinguished() -> None:
    assert [counted(number, "cell") for number in (0, 1, 2)] == ["0 cells", "1 cell", "2 cells"]
    assert counted(1, "cell is", "cells are") == "1 cell is"
    assert counted(3, "cell is", "cells are") == "3 cells are"
