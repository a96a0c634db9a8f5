"""Stopping rules that differ from a paper's: numbers of iterations compare with care."""

from __future__ import annotations

from perceptron_lab.reporting.evidence import Evidence

MIRROR_PROX = ("mirror-prox", "adaptive-mirror-prox")
"""Algorithms that stop by another rule than that of `YuKilincCarbonell2014`, Algorithm 1."""
_NOTE = (
    "Without a separator the stopping rule of {names} is norm(A x) $\\leq$ epsilon, and that of "
    "Algorithm 1 of YuKilincCarbonell2014 a saddle-point gap $\\leq$ epsilon, which is no earlier; "
    "at a separator both stop alike."
)


def stopping_rules(evidence: Evidence) -> list[str]:
    """Return the note on the stopping rule of Mirror-Prox, if some label runs it; else nothing.

    Without a separator min <., A*y> <= 0 at the average y, so norm(A x) is at most the gap
    norm(A x) - min <., A*y>: the rule here needs no more iterations than the paper's.
    """
    names = [name for name in MIRROR_PROX if name in evidence.algorithms().values()]
    return [_NOTE.format(names=" and ".join(names))] if names else []
