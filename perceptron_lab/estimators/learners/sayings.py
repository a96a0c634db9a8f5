"""The first words of messages: what a method says about the estimates of logistic regression."""

from __future__ import annotations

from typing import Final

from perceptron_lab.problems.separation.verdict_record import COMPLETE, OVERLAP, QUASI, UNDECIDED

SEPARATED: Final = "separated"
NOT_SEPARATED: Final = "not separated"
NOT_SOLVED: Final = "not solved"
CONVERGED: Final = "converged"
NOT_CONVERGED: Final = "not converged"
PERFECT: Final = "perfect prediction"
SINGULAR: Final = "singular"
PENALISED: Final = "penalised"

SEPARATION_SAID: Final[dict[str, bool | None]] = {
    **{COMPLETE: True, QUASI: True, OVERLAP: False, UNDECIDED: None},
    **{SEPARATED: True, NOT_SEPARATED: False, NOT_SOLVED: None},
    **{PERFECT: True, CONVERGED: False, NOT_CONVERGED: None, SINGULAR: None, PENALISED: None},
}
"""Word -> whether it says that the classes are separated; None where it says nothing of it.

Whatever converged without a penalty says that estimates exist, and they do if and only if the
classes are not separated (Albert and Anderson, Biometrika 71, 1984).
"""


def saying(word: str, more: str) -> str:
    """Return a message that begins with a word."""
    assert word in SEPARATION_SAID
    return f"{word}: {more}"


def said_in(message: str) -> str | None:
    """Return the word that a message begins with; None if there is none."""
    word = message.partition(":")[0]
    return word if word in SEPARATION_SAID else None
