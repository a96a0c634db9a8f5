"""Rows of runs that were written before they had findings: these are read from their messages.

Nothing else parses a message.
"""

from __future__ import annotations

import re
from typing import Final

from perceptron_lab.core.findings import NOTHING, Finding, SeparationAnswer
from perceptron_lab.core.results import Status

_RELAXED: Final = re.compile(r"relaxed answer: a margin of at least (\S+) is proved")
_SHIFTED: Final = re.compile(r"boundary answer, .* interior shift of ([\d.e-]+)")
_CLAIMED: Final = re.compile(r"HiGHS calls it (feasible|infeasible)\b")
_RESCALED: Final = re.compile(r"rescaled (\d+) and (\d+) times")
_ANSWER: Final = re.compile(f"({'|'.join(SeparationAnswer)}): ")
_MEMORY: Final = re.compile(r"(.*?); (run it on|its memory is limited)", re.DOTALL)


def former_finding(status: str, message: str) -> Finding:
    """Return the facts that a message tells of a run with this status."""
    found = NOTHING
    if match := _RELAXED.match(message):
        found |= Finding(relaxed_margin=float(match[1]))
    if match := _SHIFTED.match(message):
        found |= Finding(interior_shift=float(match[1]))
    if status == Status.UNVERIFIED and (match := _CLAIMED.match(message)):
        found |= Finding(claimed_feasible=match[1] == "feasible")
    if match := _RESCALED.search(message):
        found |= Finding(rescalings=(int(match[1]), int(match[2])))
    if match := _ANSWER.match(message):
        found |= Finding(separation=SeparationAnswer(match[1]))
    if status == Status.OUT_OF_MEMORY and (match := _MEMORY.match(message)):
        found |= Finding(out_of_memory=match[1])
    return found
