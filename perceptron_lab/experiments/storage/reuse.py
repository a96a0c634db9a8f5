"""Reuse of stored rows for planned cells, as decided by ``plab run`` and ``plab status``.

The budget is no part of a cell's name: what ended before its limits is an answer under any budget,
also a smaller one. Only what a limit ended, or what was to spend its budget, depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from perceptron_lab.core.errors import counted
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.missing_packages import is_installed
from perceptron_lab.core.results import Status
from perceptron_lab.experiments.configuration.config import ProcessLimits
from perceptron_lab.experiments.configuration.rows import finding_in
from perceptron_lab.experiments.provenance.code_digest import is_of_whole_package, shown_digest
from perceptron_lab.experiments.storage.stored import Planned, Stored


class Reuse(StrEnum):
    """The use of a stored row."""

    KEEP = "KEEP"
    """It serves: the cell is not run."""
    STALE = "STALE"
    """The row would be reusable, but has another code version; it is shown and kept."""
    AGAIN = "AGAIN"
    """The row is missing or cannot be reused: the cell is run."""


@dataclass(frozen=True)
class ReuseDecision:
    """A decision, and its reason in words.

    Parameters
    ----------
    replaces
        Whether there is a row: another one of the same cell will stand in its place.
    """

    decision: Reuse
    reason: str
    replaces: bool = True


# No limit explains these, so that a row cannot tell whether it would happen again
_ALWAYS_AGAIN: Final = (Status.CRASHED, Status.ERROR)


def decide_reuse(
    stored: Stored | None, planned: Planned, core: str | None, limits: ProcessLimits
) -> ReuseDecision:
    """Decide whether a stored row can be reused for a planned cell.

    AGAIN if the row does not serve whatever made it; otherwise STALE if its digest is another than
    ``core``; otherwise KEEP.

    Parameters
    ----------
    stored, planned
        The row, or None, and the same cell, with its budget and the records that are asked for.
    core
        The digest of the cell's code of today; None if it cannot be known, as that of an algorithm
        which is not registered here: then it is not held against the row.
    limits
        Of the cell's process today.
    """
    if stored is None:
        return ReuseDecision(Reuse.AGAIN, "it was not run yet", replaces=False)
    # First: a row that does not serve is run again whatever its code version
    obstacle = stored.fault or _obstacle(stored, planned, limits)
    if obstacle:
        return ReuseDecision(Reuse.AGAIN, obstacle)
    if core is not None and stored.core != core:
        was, now = shown_digest(stored.core), shown_digest(core)
        text = f"the numeric code was {was} and is {now}"
        # Digests of two kinds differ without any change of the code
        if is_of_whole_package(stored.core):
            text = "it was made before digests were kept per cell"
        return ReuseDecision(Reuse.STALE, f"{text}; --refresh runs it again")
    return ReuseDecision(Reuse.KEEP, "its row serves")


def _obstacle(stored: Stored, planned: Planned, limits: ProcessLimits) -> str:
    """Return why a row cannot be reused, or an empty string."""
    if stored.status in _ALWAYS_AGAIN:
        return f"{stored.status} is tried again by every run"
    if stored.status is Status.KILLED and not stored.limit:
        return "it was killed from outside, which is tried again by every run"
    if stored.status in (Status.KILLED, Status.OUT_OF_MEMORY):
        return _raised(stored, planned.budget, limits)
    if (missing := finding_in(stored.row.get("finding")).missing) is not None and is_installed(
        missing
    ):
        return f"{missing} was missing, and is installed now"
    # A trace with more records than are asked for serves as well
    if not stored.recorded.covers(planned.recorded):
        return "its trace lacks records that are asked for now"
    stored_budget, budget = stored.budget, planned.budget
    if stored.status is Status.UPDATE_LIMIT and budget.updates != stored_budget.updates:
        ended = counted(stored_budget.updates, "update")
        return f"it ended at {ended}; the limit is {budget.updates} now"
    if stored.status is Status.TIME_LIMIT and budget.seconds != stored_budget.seconds:
        return f"it ended at {stored_budget.seconds:g} s; the limit is {budget.seconds:g} s now"
    if stored.status in (Status.UPDATE_LIMIT, Status.TIME_LIMIT):
        # A run may exceed its budget by a step, which must not make its own row useless
        updates = min(stored.row.get("updates") or 0, stored_budget.updates)
        if budget.updates < updates:
            took = counted(int(updates), "update")
            return f"it took {took}; the limit is {budget.updates} now"
        seconds = min(stored.row.get("seconds") or 0.0, stored_budget.seconds)
        if budget.seconds < seconds:
            return f"it took {seconds:.4g} s; the limit is {budget.seconds:g} s now"
    elif planned.settings.get("goal") == "budget" and budget != stored_budget:
        spent = f"{counted(stored_budget.updates, 'update')} and {stored_budget.seconds:g} s"
        return f"it was to spend a budget of {spent}, which is another now"
    return ""


def _raised(stored: Stored, budget: Budget, limits: ProcessLimits) -> str:
    """Say which limit of a process that was ended by one is larger now."""
    # A run with fewer updates may end before the limit that it reached
    if budget.updates < stored.budget.updates:
        return f"it ended {stored.status}, and is to make fewer updates now"
    if stored.limit == "loading":
        larger = limits.loading > stored.limits.loading
    elif stored.limit == "seconds":
        # The process is killed at the sum of both
        larger = budget.seconds + limits.grace > stored.budget.seconds + stored.limits.grace
    else:
        before, now = stored.limits.memory, limits.memory
        # There is more memory, or it is known now how much; by default it is not.
        larger = now is not None and (before is None or now > before)
    return f"it ended {stored.status}, and the limit is larger now" if larger else ""
