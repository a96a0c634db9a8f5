"""The colours of statuses: green for what is proved or done, red for failures, yellow otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from perceptron_lab.core.results import PROVED, Status

if TYPE_CHECKING:
    from perceptron_lab.experiments.running.status import CellState
    from perceptron_lab.experiments.verification.verified import Verdict

    Word: TypeAlias = Status | CellState | Verdict

_COLOURS: Final = dict.fromkeys([*PROVED, Status.FITTED, "done", "PROVED"], "green")
_COLOURS["running"] = "cyan"


def colour_of(word: Word) -> str:
    """Return the name of a status's colour."""
    return _COLOURS.get(word, "red" if word.failed else "yellow")
