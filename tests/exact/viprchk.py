"""Judges of VIPR files: viprchk where there is one, and a few lines of fractions everywhere."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

VARIABLE = "PLAB_VIPRCHK"
Linear = dict[int, Fraction]


def viprchk() -> str | None:
    """Return the path of viprchk, by its variable or on PATH."""
    return os.environ.get(VARIABLE) or shutil.which("viprchk")


def viprchk_output(text: str, folder: Path) -> str | None:
    """Return the last line of viprchk on a file if it accepts it; None if it does not."""
    path = folder / "claim.vipr"
    path.write_text(text)
    completed = subprocess.run(
        [str(viprchk()), str(path)], capture_output=True, text=True, check=False
    )
    accepted = "Successfully verified" in completed.stdout and not completed.returncode
    return completed.stdout.strip().splitlines()[-1] if accepted else None


def accepted(text: str) -> bool:
    """Return whether the one derivation of a file is right and proves its relation."""
    words = iter(" ".join(line for line in text.splitlines() if line[0] != "%").split())

    def take(*expected: str) -> None:
        for word in expected:
            assert next(words) == word

    def sparse() -> Linear:
        return {int(next(words)): Fraction(next(words)) for _ in range(int(next(words)))}

    take("VER", "1.0", "VAR")
    width = int(next(words))
    for _ in range(width):
        next(words)
    take("INT", "0", "OBJ", "min")
    objective = sparse()
    take("CON")
    count = int(next(words))
    take("0")
    rows: list[tuple[Fraction, Linear]] = []
    for _ in range(count):
        next(words)
        take("G")
        rows.append((Fraction(next(words)), sparse()))
    take("RTP", "range")
    bound = Fraction(next(words))
    take("inf", "SOL", "0", "DER", "1", "D0", "G")
    least = Fraction(next(words))
    take("OBJ", "{", "lin")
    total: Linear = defaultdict(Fraction)
    right = Fraction(0)
    for k, multiple in sparse().items():
        if multiple < 0:
            return False
        right += multiple * rows[k][0]
        for i, value in rows[k][1].items():
            total[i] += multiple * value
    take("}", "-1")
    assert next(words, None) is None
    left = {i: value for i, value in total.items() if value}
    return left == objective and right >= least >= bound and (bool(objective) or bound > 0)
