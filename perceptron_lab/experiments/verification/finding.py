"""The outcome of verifying the claims of one answer."""

from __future__ import annotations

from dataclasses import dataclass

from perceptron_lab.core.saved_answers.fields import Check

Verified = frozenset[Check | str]
"""Checks that have held, and paths of fields that are verified one by one."""


@dataclass(frozen=True)
class Finding:
    """The outcome of a proof.

    Parameters
    ----------
    faults
        The claims that are not proved, one sentence each; empty if all are.
    margin_lower, margin_upper
        The bracket that is proved now; None where there is none.
    unchecked
        Names of the figures that were neither proved nor computed again.
    optimum_lower, optimum_upper
        The bounds of the optimum that are proved now, of optimisers.
    verified
        The checks that were made; they have held if there are no faults.
    unclaimed
        Names of figures that could be proved, and are not among the claims.
    """

    faults: tuple[str, ...]
    margin_lower: float | None = None
    margin_upper: float | None = None
    unchecked: tuple[str, ...] = ()
    optimum_lower: float | None = None
    optimum_upper: float | None = None
    verified: Verified = frozenset()
    unclaimed: tuple[str, ...] = ()
