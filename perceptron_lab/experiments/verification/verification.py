"""What ``plab verify`` says: a verdict per cell."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


class Verdict(StrEnum):
    """What became of a cell's claims."""

    PROVED = "PROVED"
    """All that is claimed is proved again; figures that are no claims are named as unchecked."""
    NOT_PROVED = "NOT PROVED"
    """Something that is claimed is not proved, or refuted; the message says what."""
    NOTHING_CLAIMED = "NOTHING CLAIMED"
    """The row claims nothing: the cell failed, or its learner proves nothing."""
    DATA_CHANGED = "DATA CHANGED"
    """The data are not those that the claims are about."""
    MISSING = "MISSING"
    """The file of the certificate is missing."""
    DAMAGED = "DAMAGED"
    """The file of the certificate, or the stored row, is not what was written."""

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
        What became of its claims.
    message
        What was found; empty where everything is proved.
    margin_lower, margin_upper
        The bracket that is proved now, as far as it was claimed.
    unchecked
        Names of the row's figures that were neither proved nor computed again, as the error of a
        learner: that would mean to learn again.
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


@dataclass(frozen=True)
class Verification:
    """The verdicts on a folder of results, or on one certificate.

    Parameters
    ----------
    target
        The folder or file.
    cells
        One verdict per cell that was run.
    """

    target: Path
    cells: list[Verified]

    @property
    def failed(self) -> list[Verified]:
        """The cells with a claim that is not proved, for whatever reason."""
        return [cell for cell in self.cells if cell.verdict.failed]

    @property
    def counts(self) -> dict[str, int]:
        """Verdict -> number of cells."""
        found = Counter(cell.verdict for cell in self.cells)
        return {verdict.value: found[verdict] for verdict in Verdict if found[verdict]}

    def as_json(self) -> list[dict[str, Any]]:
        """Return the verdicts as JSON values; ``plab verify --json`` prints them."""
        return [asdict(cell) for cell in self.cells]

    def to_frame(self) -> pd.DataFrame:
        """Return the verdicts as a frame, a row per cell."""
        import pandas as pd

        names = list(Verified.__dataclass_fields__)
        return pd.DataFrame(self.as_json(), columns=names)

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(index=False, escape=True, na_rep=""))

    def __str__(self) -> str:
        said = ", ".join(f"{number} {verdict}" for verdict, number in self.counts.items())
        return f"{self.target}: {said or 'no cell was run yet'}"
