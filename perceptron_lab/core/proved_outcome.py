"""The proved outcome of a run, and whether it reaches the goal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from perceptron_lab.core.goals import Goal, MarginRatio, MarginUpper, Width
from perceptron_lab.core.outward_rounding import text_above, text_below
from perceptron_lab.core.results import Status

_DECISIONS = frozenset({Status.FEASIBLE, Status.INFEASIBLE, Status.UNBOUNDED})


@dataclass(frozen=True)
class ProvedOutcome:
    """The status and the bounds that are proved when a run has ended.

    Parameters
    ----------
    status
        FEASIBLE and INFEASIBLE are decisions.
    lower, upper
        The proved bracket of the margin; None where there is no bound.
    relaxed
        Whether the lower bound is the one that an algorithm for relaxed answers was asked for.
    spent
        Whether the run used up its budget of updates or seconds.
    width
        The relative width of the interval proved around an optimum, of optimisers.
    """

    status: Status
    lower: float | None
    upper: float | None
    relaxed: bool = False
    spent: bool = False
    width: float | None = None

    def reaches(self, goal: Goal) -> bool:
        """Return whether a goal is reached; comparisons are exact.

        ``decide``: by a decision, or a relaxed answer. A margin that is proved to be small decides
        nothing. ``margin_upper``: by that bound, or a decision. ``margin_ratio``: by a positive
        bracket of that ratio, or INFEASIBLE. ``width``: by such an interval, INFEASIBLE,
        or UNBOUNDED. ``budget``: if it is spent.
        """
        decided, infeasible = self.status in _DECISIONS, self.status is Status.INFEASIBLE
        match goal:
            case Width(width=width):
                unbounded = self.status is Status.UNBOUNDED
                narrow = self.width is not None and self.width <= width
                return infeasible or unbounded or narrow
            case MarginUpper(margin_upper=bound):
                return decided or (self.upper is not None and self.upper <= bound)
            case MarginRatio(margin_ratio=ratio):
                return infeasible or self._has_ratio(Fraction(ratio))
        return decided or self.relaxed if goal == "decide" else self.spent

    def missed(self, goal: Goal) -> str:
        """Return a sentence that a goal is missed, with the bound that is proved instead."""
        match goal:
            case Width():
                proved = "no interval" if self.width is None else text_above(self.width, 3)
            case MarginUpper():
                proved = "no upper bound" if self.upper is None else text_above(self.upper, 3)
            case MarginRatio():
                proved = "no ratio"
                if self.lower is not None and self.upper and self._has_ratio(Fraction(0)):
                    # The quotient is rounded to nearest: one step down is certainly not above it
                    proved = text_below(math.nextafter(self.lower / self.upper, 0.0), 3)
            case _:
                return f"the goal {goal} is missed"
        return f"the goal {str(goal).replace('=', ' ')} is missed: {proved} is proved"

    def _has_ratio(self, ratio: Fraction) -> bool:
        """Return whether lower >= ratio * upper, both positive."""
        if self.lower is None or self.upper is None or self.lower <= 0.0:
            return False
        # In fractions, since a rounded product could turn a goal missed by one bit into one reached
        return math.isfinite(self.upper) and Fraction(self.lower) >= ratio * Fraction(self.upper)
