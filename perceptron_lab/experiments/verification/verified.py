"""The outcome of verifying the claims of one answer, and the verdict on its cell or file."""

from __future__ import annotations

from dataclasses import dataclass, replace

from perceptron_lab.core.errors import MissingDataError
from perceptron_lab.core.results import StatusWord
from perceptron_lab.core.saved_answers.fields import Check
from perceptron_lab.experiments.verification.own_data import ChangedDataError, UnknownDataError
from perceptron_lab.problems.separation.proof_arrays import ProofError

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
    verified: Checks = frozenset()
    unclaimed: tuple[str, ...] = ()


class Verdict(StatusWord):
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

    def failing(self, error: Exception, prefix: str = "") -> Verified:
        """Return the verdict that an error means; other errors leave it as it is."""
        kinds = (kind for kind in type(error).__mro__ if kind in _OF_ERRORS)
        verdict = next((_OF_ERRORS[kind] for kind in kinds), self.verdict)
        return replace(self, verdict=verdict, message=f"{prefix}{error}")


_OF_ERRORS = {
    MissingDataError: Verdict.MISSING,
    ChangedDataError: Verdict.DATA_CHANGED,
    UnknownDataError: Verdict.UNKNOWN_DATA,
    ProofError: Verdict.NOT_PROVED,
}
