"""The events of a run, for progress bars and logs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from perceptron_lab.experiments.configuration.plan import Cell


class Progress:
    """Receives the events of a run and does nothing; a subclass overrides those that it needs.

    It is entered before the cells are run, and left when they have ended.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def planned(self, total: int, kept: int, stale: int) -> None:
        """Note that the run has ``total`` cells, ``kept`` of which have a row already.

        ``stale`` of these rows were made by another version of the numeric core.
        """

    def replacing(self, reasons: Sequence[str]) -> None:
        """Note that rows do not serve, one reason each: their cells are run again."""

    def queued(self, cells: Sequence[Cell]) -> None:
        """Note the cells that will be run, in this order."""

    def idle(self, reason: str) -> None:
        """Note that no cell can run as long as this is so."""

    def started(self, cell: Cell) -> None:
        """Note that a cell is loaded and compiled, and its clock runs."""

    def moved(self, cell: Cell, updates: int, margin: float) -> None:
        """Note how far a running cell is: its updates, and the margin of its point, computed."""

    def finished(self, done: int, total: int, row: dict[str, Any]) -> None:
        """Note that the row of a cell is stored; ``done`` of ``total`` rows are there now."""

    def ended(self, failed: Sequence[dict[str, Any]]) -> None:
        """Note that the run is over, before its report is made, and the rows whose cell failed."""
