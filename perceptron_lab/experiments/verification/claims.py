"""The claims of results, and the verdicts on them.

Claims are the statements of a row, or of a certificate, that are verified again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from perceptron_lab.core.errors import DataError, InputError, MissingDataError
from perceptron_lab.core.goals import Goal, MarginUpper, goal_of
from perceptron_lab.core.proved_outcome import ProvedOutcome
from perceptron_lab.core.results import PROVED, Status, StatusWord, relative_width
from perceptron_lab.core.saved_answers.fields import Check
from perceptron_lab.experiments.configuration.rows import as_json
from perceptron_lab.experiments.storage.certificate_files import Certificate
from perceptron_lab.experiments.storage.stored import Stored
from perceptron_lab.experiments.verification.certified_problem import (
    ChangedDataError,
    UnknownDataError,
)
from perceptron_lab.problems.separation.pair_verification import ProofError

_MEASURE: Final = "measure."
OPTIMUM: Final = ("optimum_lower", "optimum_upper")
"""The figures of an optimiser, which are columns of these names."""
BOUNDS: Final = ("_lower", "_upper")
"""The endings of a learner's figures that are bounds."""


@dataclass(frozen=True)
class Claims:
    """The statements of a row.

    Parameters
    ----------
    status, proved, margin_lower, margin_upper, goal, goal_reached
        Its columns; the goal is None for learners, and whether it is reached also in files that
        were written before that was kept.
    margin_above, margin_below
        The bound that the algorithm itself was asked for, which makes it MARGIN_BOUNDED.
    spent
        Whether the budget was spent, where that is known.
    figures
        Numbers by name: those that a learner reports, its bounds ``*_lower`` and ``*_upper`` among
        them, or the measures of an algorithm's answer.
    """

    status: Status
    proved: bool
    margin_lower: float | None = None
    margin_upper: float | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    goal: Goal | None = None
    goal_reached: bool | None = None
    margin_above: float | None = None
    margin_below: float | None = None
    spent: bool | None = None

    @classmethod
    def of_row(cls, stored: Stored) -> Claims:
        """Return the claims of a row; the algorithm's own claims are in its certificate."""
        row, budget = stored.row, stored.budget
        spending = (row.get("updates"), budget.updates), (row.get("seconds"), budget.seconds)
        return cls(
            status=Status(row["status"]),
            proved=bool(row["proved"]),
            margin_lower=row.get("margin_lower"),
            margin_upper=row.get("margin_upper"),
            figures={
                name.removeprefix(_MEASURE): float(value)
                for name, value in row.items()
                if (name.startswith(_MEASURE) or name in OPTIMUM) and value is not None
            },
            goal=_goal(row.get("goal")),
            goal_reached=row.get("goal_reached"),
            spent=any(spent is not None and spent >= limit for spent, limit in spending),
        )

    @classmethod
    def of_certificate(cls, certificate: Certificate) -> Claims:
        """Return the claims of a certificate that was read; its fields are checked first."""
        flat = certificate.contents.flat
        prefix = "certificate.figures."
        return cls(
            status=certificate.status,
            proved=certificate.proved,
            margin_lower=_number(certificate.margin_lower),
            margin_upper=_number(certificate.margin_upper),
            figures={
                name.removeprefix(prefix): float(value)
                for name, value in flat.items()
                if name.startswith(prefix)
            },
            goal=_goal(certificate.algorithm["goal"]),
            goal_reached=certificate.goal_reached,
            margin_above=_number(flat.get("certificate.claim.margin_above")),
            margin_below=_number(flat.get("certificate.claim.margin_below")),
        )

    @property
    def nothing(self) -> bool:
        """Whether nothing is claimed: neither a status that states something, nor a bracket."""
        bracket = (self.margin_lower, self.margin_upper)
        return not self.proved and self.status not in PROVED and bracket == (None, None)

    @property
    def bounds(self) -> dict[str, float]:
        """The figures that are bounds; of a learner they are claims where it proves something."""
        return {name: value for name, value in self.figures.items() if name.endswith(BOUNDS)}

    @property
    def optimum_width(self) -> float | None:
        """The relative width of the interval around an optimum, or None."""
        return relative_width(*(self.figures.get(name) for name in OPTIMUM))

    @property
    def relaxed(self) -> bool:
        """Whether the lower bound is the one that a relaxed answer has to have."""
        lower, required = self.margin_lower, self.margin_above
        return lower is not None and required is not None and lower >= required

    @property
    def bounded(self) -> bool:
        """Whether the goal's bound, or the algorithm's own, is among the claims.

        Files that were written before goals were kept do not tell the bound that the algorithm was
        asked for: any will do, unless the goal is one.
        """
        lower, upper, required = self.margin_lower, self.margin_upper, self.margin_below
        if isinstance(self.goal, MarginUpper):
            if upper is not None and upper <= self.goal.margin_upper:
                return True
        elif self.goal_reached is None:
            return (lower, upper) != (None, None)
        return self.relaxed or (upper is not None and required is not None and upper <= required)

    @property
    def of_unknown_budget(self) -> bool:
        """Whether the goal is to spend a budget that is not known."""
        return self.goal == "budget" and self.spent is None

    def contradictions(self, proved: frozenset[Status], *bounds: float | None) -> Iterator[str]:
        """Yield contradictions between claims; ``proved`` are the statuses that count as proved."""
        if self.proved != (self.status in proved):
            yield f"{self.status} is {'called proved' if self.proved else 'not called proved'}"
        if any(bound is not None and not math.isfinite(bound) for bound in bounds):
            yield "a bound is not a finite number"

    def no_margin(self, reason: str) -> Iterator[str]:
        """Yield the margin bounds that are claimed for an answer without a margin."""
        for name in ("margin_lower", "margin_upper"):
            if getattr(self, name) is not None:
                yield f"{name} is claimed, and {reason}"

    def goal_faults(self) -> Iterator[str]:
        """Yield the faults of the goal, given the bracket, which is proved apart from it."""
        goal, reached = self.goal, self.goal_reached
        # Without a goal, or in a file that does not keep whether it was reached, nothing is claimed
        if goal is None or reached is None or self.of_unknown_budget:
            return
        bracket = self.margin_lower, self.margin_upper
        proved = ProvedOutcome(
            self.status, *bracket, self.relaxed, bool(self.spent), self.optimum_width
        )
        if reached and not proved.reaches(goal):
            yield f"the goal {goal} is called reached; {proved.missed(goal)}"
        if not reached and proved.reaches(goal):
            yield f"the goal {goal} is called missed, and it is reached"

    def difference(self, certified: Claims) -> str:
        """Return where a row and its certificate differ; empty if they agree."""
        # A row without a goal claims none; the certificate then has it
        if self.goal not in (None, certified.goal):
            return f"its row has the goal {self.goal}, its certificate {certified.goal}"
        for name in ("status", "proved", "margin_lower", "margin_upper", "goal_reached"):
            own_value, other = getattr(self, name), getattr(certified, name)
            if own_value != other:
                return f"its row has {name} {own_value}, its certificate {other}"
        # As texts, since NaN equals NaN there
        if certified.figures and as_json(certified.figures) != as_json(self.figures):
            return "its row has other figures than its certificate"
        return ""

    def completed(self, certified: Claims) -> Claims:
        """Return the claims of a row and those in its certificate alone."""
        goal = certified.goal if self.goal is None else self.goal
        goals = certified.margin_above, certified.margin_below
        return replace(self, goal=goal, margin_above=goals[0], margin_below=goals[1])


def _goal(value: Any) -> Goal | None:
    try:
        return None if value is None or value == "" else goal_of(value)
    except InputError as error:
        raise DataError(str(error)) from None


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


Checks = frozenset[Check | str]
"""Checks that have held, and paths of fields that are verified one by one."""


@dataclass(frozen=True)
class ProofOutcome:
    """The outcome of a proof.

    Parameters
    ----------
    faults
        The claims that are not proved, one sentence each; empty if all are.
    margin_lower, margin_upper
        The bracket that is proved by the verification, or None.
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
    verified: Checks = frozenset()
    unclaimed: tuple[str, ...] = ()


class Verdict(StatusWord):
    """Verification status of a cell's claims."""

    PROVED = "PROVED"
    """All claims are verified; numbers that are not claims are listed as unchecked."""
    NOT_PROVED = "NOT PROVED"
    """A claim is not proved, or refuted; the message says which."""
    NOTHING_CLAIMED = "NOTHING CLAIMED"
    """The row claims nothing: the cell failed, or its learner proves nothing."""
    DATA_CHANGED = "DATA CHANGED"
    """The data are not those that the claims are about."""
    UNKNOWN_DATA = "UNKNOWN DATA"
    """The dataset is not registered here: a plugin registers it, which was not named."""
    MISSING = "MISSING"
    """The file of the certificate is not there, or a file of the data, or no data are recorded."""
    DAMAGED = "DAMAGED"
    """The file of the certificate, or the stored row, has changed since it was written."""

    @property
    def failed(self) -> bool:
        """Whether ``plab verify`` reports it by exit code 1."""
        return self not in (Verdict.PROVED, Verdict.NOTHING_CLAIMED)


@dataclass(frozen=True)
class Verified:
    """The verdict on one cell.

    Parameters
    ----------
    cell, problem, label, status
        Its columns in runs.csv; empty where they cannot be read.
    verdict
        The fate of its claims.
    message
        The findings; empty where everything is proved.
    margin_lower, margin_upper
        The bracket that is proved now, as far as it was claimed.
    unchecked
        Names of the row's figures that were neither proved nor computed again, as the error of a
        learner: that would mean to learn again.
    optimum_lower, optimum_upper
        The bounds of the optimum of a program that are proved now.
    exact
        Whether the checker of exact certificates accepts a proof of its status, and why not; None
        where that was not asked for, or nothing is claimed.
    not_verified
        The fields of its file and row that no check covers, by their paths: counts, times, the
        trace and others; all fields where nothing is claimed. Empty where the verdict is a failure.
    """

    cell: str
    problem: str
    label: str
    status: str
    verdict: Verdict
    message: str = ""
    margin_lower: float | None = None
    margin_upper: float | None = None
    unchecked: tuple[str, ...] = ()
    optimum_lower: float | None = None
    optimum_upper: float | None = None
    exact: bool | None = None
    not_verified: tuple[str, ...] = ()

    def failing(self, error: Exception, prefix: str = "") -> Verified:
        """Return the verdict that an error means; other errors leave it as it is."""
        # Along the classes, so that a derived error has the verdict of its nearest base
        kinds = (kind for kind in type(error).__mro__ if kind in _OF_ERRORS)
        verdict = next((_OF_ERRORS[kind] for kind in kinds), self.verdict)
        return replace(self, verdict=verdict, message=f"{prefix}{error}")


_OF_ERRORS = {
    MissingDataError: Verdict.MISSING,
    ChangedDataError: Verdict.DATA_CHANGED,
    UnknownDataError: Verdict.UNKNOWN_DATA,
    ProofError: Verdict.NOT_PROVED,
}
