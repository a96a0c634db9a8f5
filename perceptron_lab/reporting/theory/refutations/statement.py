"""A claim of a paper, and the finding of its check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

THESIS: Final = "Kharechko2009"


class CheckResult(NamedTuple):
    """The number that a claim asserts, the number computed, and whether they contradict."""

    printed: float
    computed: float
    refuted: bool


@dataclass(frozen=True)
class PaperStatement:
    """A statement of a paper, and one that holds instead.

    Parameters
    ----------
    paper, place
        The paper's key, and where in it.
    claimed
        The statement, in words.
    instead
        That which holds, or how the statement fails.
    check
        Computes both numbers again.
    """

    paper: str
    place: str
    claimed: str
    instead: str
    check: Callable[[], CheckResult]
