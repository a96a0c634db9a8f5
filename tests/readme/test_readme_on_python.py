"""What the README's first lines of Python are said to print, they print."""

from __future__ import annotations

import re

import numpy as np

from perceptron_lab import solve
from tests.readme.prose import README


def test_the_first_answer() -> None:
    code = README[README.index("## In Python") :]
    shown = re.findall(r"^# (.*)$", code[: code.index("solve(X, y")], re.MULTILINE)
    (line,) = re.findall(r"^rows = np\.array\((.*)\)$", code, re.MULTILINE)
    rows = np.array(
        [[float(n) for n in row.split(",")] for row in re.findall(r"\[([^][]+)\]", line)]
    )
    assert rows.shape == (3, 2)
    printed = str(solve(rows)).splitlines()
    assert [_timeless(one) for one in shown] == [_timeless(one) for one in printed]


def _timeless(line: str) -> str:
    return re.sub(r"[\d.e-]+ s$", "- s", line)
