"""What a report is made of: the table of runs, and what else the store holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from perceptron_lab.errors import DataError
from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.configuration.loader import instances_of
from perceptron_lab.experiments.storage.reader import Reader, read_config_of
from perceptron_lab.experiments.storage.rows import Row
from perceptron_lab.goals import Goal
from perceptron_lab.reporting.runs import checked_runs, read_runs, runs_of
from perceptron_lab.results import Bound, Status, Trace

WITHOUT_RESULT = frozenset(
    {Status.SKIPPED, Status.CRASHED, Status.KILLED, Status.OUT_OF_MEMORY, Status.ERROR}
)
"""The endings of cells that leave a row and nothing else."""


@dataclass(frozen=True)
class Evidence:
    """The runs of one experiment.

    Parameters
    ----------
    frame
        The table of runs, one row per cell, as :func:`~perceptron_lab.reporting.runs.checked_runs`
        returns it.
    folder
        Where the store is, from which traces and the configuration are read when they are asked
        for; None if only the rows are there.
    """

    frame: pd.DataFrame
    folder: Path | None = None
    _kept: dict[str, tuple[Trace, Bound]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of_runs(cls, runs: pd.DataFrame) -> Evidence:
        """Return the evidence of rows alone.

        Raises
        ------
        DataError
            If they are not a table of runs.
        """
        return cls(checked_runs(runs))

    @classmethod
    def of_folder(cls, folder: Path) -> Evidence:
        """Return the evidence in an experiment's folder.

        Raises
        ------
        DataError
            If there is no store, or it is damaged, or its rows are not a table of runs.
        ConfigError
            If it is of another version.
        """
        return cls(read_runs(folder), folder)

    @classmethod
    def of_rows(cls, rows: Iterable[Row], folder: Path) -> Evidence:
        """Return the evidence of the rows that an experiment's folder is known to hold.

        Raises
        ------
        DataError
            If they are not a table of runs.
        """
        return cls(runs_of(rows, str(folder)), folder)

    def trace(self, cell: str) -> Trace | None:
        """Return the course of a cell; None for one that ended without a result.

        Raises
        ------
        DataError
            If there is no such cell, or its trace is missing or damaged.
        """
        kept = self._read(cell)
        return None if kept is None else kept[0]

    def bound(self, cell: str) -> Bound | None:
        """Return the guarantee that a cell's algorithm gave; otherwise as :meth:`trace`."""
        kept = self._read(cell)
        return None if kept is None else kept[1]

    def dataset(self, problem: str) -> Any:
        """Return the record of the dataset that a problem belongs to, as the experiment had it.

        Raises
        ------
        DataError
            If there is no store, or its configuration has no such problem.
        ConfigError
            If it names what is not registered any more.
        """
        for instance in instances_of(self._config()):
            if instance.title == problem:
                return instance.dataset.record
        raise DataError(
            f"{self.folder}: its configuration has no problem {problem!r}, its rows do; run the "
            "experiment again"
        )

    def goal(self) -> Goal:
        """Return when the runs of the experiment were to end.

        Raises
        ------
        DataError
            If there is no store, or it is damaged.
        ConfigError
            If it is of another version.
        """
        return self._config().goal

    def _config(self) -> ExperimentConfig:
        return read_config_of(self._store("the configuration"))

    def _read(self, cell: str) -> tuple[Trace, Bound] | None:
        """Read the trace and the bound of a cell once."""
        if self._status(cell) in WITHOUT_RESULT:
            return None
        if cell not in self._kept:
            with Reader.open(self._store("the traces")) as reader:
                trace, bound = reader.trace(cell), reader.bound(cell)
            if trace is None or bound is None:
                raise DataError(
                    f"{self.folder}: the store has no trace of the cell {cell}; `plab run --fresh` "
                    "starts over"
                )
            self._kept[cell] = trace, bound
        return self._kept[cell]

    def _store(self, what: str) -> Path:
        if self.folder is None:
            raise DataError(
                f"the report needs {what} of the experiment's store, but only rows were given; "
                "make it from the folder of the results"
            )
        return self.folder

    def _status(self, cell: str) -> str:
        found = self.frame.loc[self.frame["cell"] == cell, "status"]
        if found.empty:
            raise DataError(f"the table of runs: no cell {cell!r}")
        return str(found.iloc[0])
