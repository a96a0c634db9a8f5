"""The evidence that reports are made from: the table of runs, and the store beside it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from perceptron_lab.datasets.dataset import Dataset
from perceptron_lab.errors import DataError
from perceptron_lab.experiments.configuration.loader import instances_of
from perceptron_lab.experiments.configuration.variants import Instance
from perceptron_lab.experiments.storage.reader import Reader, read_config_of
from perceptron_lab.experiments.storage.rows import Row
from perceptron_lab.goals import Goal
from perceptron_lab.reporting.runs import checked_runs, read_runs, runs_of
from perceptron_lab.results import Bound, Status, Trace

WITHOUT_RESULT = frozenset(
    {Status.SKIPPED, Status.CRASHED, Status.KILLED, Status.OUT_OF_MEMORY, Status.ERROR}
)
"""The endings of cells that leave a row and nothing else."""
PARAMETER = "problem."
"""The columns of dataset parameters begin with it."""


@dataclass(frozen=True)
class Evidence:
    """The runs of one experiment.

    Every method raises a DataError if something is missing or damaged that it needs.

    Parameters
    ----------
    frame
        The table of runs, one row per cell, as :func:`~perceptron_lab.reporting.runs.checked_runs`
        returns it.
    folder
        Of the store, from which traces and the configuration are read when they are asked for;
        None if only the rows are there.
    """

    frame: pd.DataFrame
    folder: Path | None = None
    _kept: dict[str, tuple[Trace, Bound]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of_runs(cls, runs: pd.DataFrame) -> Evidence:
        """Return the evidence of rows alone."""
        return cls(checked_runs(runs))

    @classmethod
    def of_folder(cls, folder: Path) -> Evidence:
        """Return the evidence in an experiment's folder."""
        return cls(read_runs(folder), folder)

    @classmethod
    def of_rows(cls, rows: Iterable[Row], folder: Path) -> Evidence:
        """Return the evidence of the rows that an experiment's folder is known to hold."""
        return cls(runs_of(rows, str(folder)), folder)

    def trace(self, cell: str) -> Trace | None:
        """Return the course of a cell; None for one that ended without a result."""
        kept = self._read(cell)
        return None if kept is None else kept[0]

    def bound(self, cell: str) -> Bound | None:
        """Return the guarantee that a cell's algorithm gave; otherwise as :meth:`trace`."""
        kept = self._read(cell)
        return None if kept is None else kept[1]

    def dataset(self, problem: str) -> Dataset:
        """Return the record of the dataset that a problem belongs to, as the experiment had it."""
        if problem not in self._instances:
            raise DataError(
                f"{self.folder}: its configuration has no problem {problem!r}, its rows do; run "
                "the experiment again"
            )
        record: Dataset = self._instances[problem].dataset.record
        return record

    def instance(self, problem: str) -> str:
        """Return the dataset's own name of a problem, which may have another title."""
        self.dataset(problem)
        return self._instances[problem].name

    def parameters(self, problem: str) -> Mapping[str, Any]:
        """Return the parameters of the dataset that a problem belongs to.

        They are the columns ``problem.PARAMETER`` of the runs, None where its dataset has no such.
        """
        return self._parameters[problem]

    def goal(self) -> Goal:
        """Return when the runs of the experiment were to end."""
        return read_config_of(self._store("the configuration")).goal

    @cached_property
    def _instances(self) -> dict[str, Instance]:
        config = read_config_of(self._store("the configuration"))
        return {instance.title: instance for instance in instances_of(config)}

    @cached_property
    def _parameters(self) -> Mapping[str, Mapping[str, Any]]:
        columns = [name for name in self.frame.columns if name.startswith(PARAMETER)]
        first = self.frame.drop_duplicates("problem").set_index("problem")[columns]
        return {
            str(problem): {
                str(name).removeprefix(PARAMETER): _scalar(value) for name, value in row.items()
            }
            for problem, row in first.to_dict("index").items()
        }

    def _read(self, cell: str) -> tuple[Trace, Bound] | None:
        """Read the trace and the bound of a cell once."""
        status = self.frame.loc[self.frame["cell"] == cell, "status"]
        if status.empty:
            raise DataError(f"the table of runs: no cell {cell!r}")
        if status.iloc[0] in WITHOUT_RESULT:
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

    def _store(self, needed: str) -> Path:
        if self.folder is None:
            raise DataError(
                f"the report needs {needed} of the experiment's store, but only rows were given; "
                "make it from the folder of the results"
            )
        return self.folder


def _scalar(value: Any) -> Any:
    """Return the value of a field of runs.csv, or of a frame; None where it is empty."""
    if not isinstance(value, str):
        return None if pd.isna(value) else value
    try:
        return json.loads(value)
    except ValueError:
        return value or None
