"""The verdict on the claims of one cell or file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """The fate of a cell's claims."""

    PROVED = "PROVED"
    """All that is claimed is proved again; figures that are no claims are named as unchecked."""
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
