"""The cells of a run with their rows: those of the store, and those that were added since."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from perceptron_lab.experiments.storage.reader import shown
from perceptron_lab.experiments.storage.reuse import Decision, Verdict
from perceptron_lab.experiments.storage.rows import Row
from perceptron_lab.experiments.storage.stored import Planned, Stored
from perceptron_lab.results import Status


@dataclass(frozen=True)
class Ledger:
    """The cells of a run, each with its verdict and its row, read from the store once.

    Parameters
    ----------
    planned
        The cells, in the order of the plan.
    verdicts
        Whether their rows serve, as the run began.
    """

    planned: Sequence[Planned]
    verdicts: Sequence[Verdict]
    _rows: dict[str, Row] = field(default_factory=dict)
    _ran: set[str] = field(default_factory=set)

    @classmethod
    def of(
        cls, planned: Sequence[Planned], verdicts: Sequence[Verdict], stored: Mapping[str, Stored]
    ) -> Ledger:
        """Return the ledger of a run that begins; damaged rows are none."""
        found = [(one, stored[one.cell]) for one in planned if one.cell in stored]
        rows = {one.cell: shown(one, kept) for one, kept in found if not kept.fault}
        return cls(planned, verdicts, rows)

    def due(self, decisions: Collection[Decision]) -> list[int]:
        """Return the positions of the cells of which this was decided."""
        return [at for at, verdict in enumerate(self.verdicts) if verdict.decision in decisions]

    def add(self, position: int, row: Row) -> None:
        """Note the row of a cell that has just ended."""
        cell = self.planned[position].cell
        self._rows[cell] = row
        self._ran.add(cell)

    @property
    def rows(self) -> list[Row]:
        """The rows of runs.csv, in the order of the plan."""
        return [self._rows[one.cell] for one in self.planned if one.cell in self._rows]

    def left(self, decision: Decision) -> int:
        """Return of how many cells this was decided that were not run since, failures aside."""
        failed = {cell for cell, row in self._rows.items() if Status(row["status"]).failed}
        cells = (self.planned[at].cell for at in self.due([decision]))
        return sum(cell not in self._ran and cell not in failed for cell in cells)
