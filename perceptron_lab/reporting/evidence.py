"""The input of reports: the checked table of runs and the store of the experiment."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.findings import Finding
from perceptron_lab.core.goals import Goal
from perceptron_lab.core.results import Bound, Status, Trace
from perceptron_lab.core.run_options import TraceOptions
from perceptron_lab.datasets.dataset import Dataset
from perceptron_lab.experiments.check import Method
from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.configuration.loader import instances_of
from perceptron_lab.experiments.configuration.rows import (
    Row,
    blank,
    doubles,
    finding_in,
    finding_text,
    frame_of,
)
from perceptron_lab.experiments.configuration.variants import Instance
from perceptron_lab.experiments.storage.reader import Reader, former_finding, read_config_of
from perceptron_lab.reporting.summary import Shape, shape_of

WITHOUT_RESULT = frozenset(
    {Status.SKIPPED, Status.CRASHED, Status.KILLED, Status.OUT_OF_MEMORY, Status.ERROR}
)
"""The statuses of cells that leave a row and nothing else."""
PARAMETER = "problem."
"""The columns of dataset parameters begin with it."""

TEXT: Final = ("cell", "problem", "label", "status")
COUNTS: Final = ("updates", "queries", "seconds")
FURTHER: Final = ("proof_seconds", "products", "margin_upper", "bound")
NUMBERS: Final = ("constraints", "dimension", "seed", *COUNTS, *FURTHER)
SIGNED: Final = ("margin_lower",)
REQUIRED: Final = (*TEXT, "proved", *NUMBERS, *SIGNED)
"""The columns that reports need; further ones are carried along unchecked."""

# As runs.csv spells it, and as pandas writes it; nothing: no proof was given
_TRUTH = {"true": True, "True": True, "false": False, "False": False, "": False}


@dataclass(frozen=True)
class Evidence:
    """The runs of one experiment.

    Every method raises a DataError if something is missing or damaged that it needs.

    Parameters
    ----------
    frame
        The table of runs, one row per cell, as :func:`checked_runs` returns it.
    folder
        Of the store, from which traces and the configuration are read when they are asked for;
        None if only the rows are there.
    """

    frame: pd.DataFrame
    folder: Path | None = None
    _traces: dict[str, Trace] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of_runs(cls, runs: pd.DataFrame) -> Evidence:
        """Return the evidence of rows alone."""
        return cls(checked_runs(runs))

    @classmethod
    def of_folder(cls, folder: Path) -> Evidence:
        """Return the evidence in an experiment's folder."""
        with Reader.open(folder) as reader:
            return cls.of_rows(reader.rows(), folder)

    @classmethod
    def of_rows(cls, rows: Iterable[Row], folder: Path) -> Evidence:
        """Return the evidence of the rows that an experiment's folder is known to hold."""
        return cls(checked_runs(frame_of(rows), str(folder)), folder)

    def trace(self, cell: str) -> Trace | None:
        """Return the trace of a cell; None for a cell without a result."""
        if not self._has_result(cell):
            return None
        # Kept, as tables and figures of a report read the same traces
        if cell not in self._traces:
            with Reader.open(self._store("the traces")) as reader:
                trace = reader.trace(cell)
            if trace is None:
                raise self._without("trace", cell)
            self._traces[cell] = trace
        return self._traces[cell]

    def bound(self, cell: str) -> Bound | None:
        """Return the guarantee that a cell's algorithm gave; otherwise as :meth:`trace`."""
        if not self._has_result(cell):
            return None
        if cell not in self._bounds:
            raise self._without("guarantee", cell)
        return self._bounds[cell]

    def peak_memory(self) -> dict[str, int | None]:
        """Return cell -> the most bytes that its process held; None where that is not known."""
        with Reader.open(self._store("the memory")) as reader:
            return {planned.cell: stored.peak_memory for planned, stored in reader.runs()}

    def dataset(self, problem: str) -> Dataset:
        """Return the record of the dataset that a problem belongs to, as the experiment had it."""
        if problem not in self._instances:
            raise DataError(
                f"{self.folder}: the rows contain the problem {problem!r}, which its "
                "configuration does not; run the experiment again"
            )
        record: Dataset = self._instances[problem].dataset.record
        return record

    def dataset_name(self, problem: str) -> str:
        """Return the registered name of the dataset that a problem belongs to."""
        self.dataset(problem)
        return self._instances[problem].dataset.name

    def instance(self, problem: str) -> str:
        """Return the dataset's own name of a problem, which may have another title."""
        self.dataset(problem)
        return self._instances[problem].name

    def parameters(self, problem: str) -> Mapping[str, Any]:
        """Return the parameters of the dataset that a problem belongs to.

        They are the columns ``problem.PARAMETER`` of the runs, None where its dataset has no such.
        """
        columns = [name for name in self.frame.columns if name.startswith(PARAMETER)]
        if not columns:
            return {}  # releases of pandas differ in what the records of no columns are
        # The first row of the problem; the others have the same parameters.
        (row,) = self.frame[self.frame["problem"] == problem][columns][:1].to_dict("records")
        return {str(name).removeprefix(PARAMETER): _scalar(row[name]) for name in columns}

    def problems(self) -> list[str]:
        """Return the titles of the problems that were run."""
        return [str(problem) for problem in self.frame["problem"].unique()]

    def methods(self) -> Mapping[str, Method]:
        """Return label -> its algorithm or learner, with its parameters."""
        missing = [name for name in ("algorithm", "parameters") if name not in self.frame]
        if missing:
            raise DataError(
                f"the table of runs has no column {', '.join(missing)}; make the report from the "
                "folder of the results"
            )
        first = self.frame.drop_duplicates("label")[["label", "algorithm", "parameters"]]
        methods = {}
        for label, algorithm, parameters in first.astype(str).to_numpy():
            try:
                methods[label] = Method(algorithm, json.loads(parameters or "{}"))
            except ValueError:
                raise DataError(
                    f"the table of runs, column parameters: {parameters!r} is not JSON; run "
                    "the experiment again"
                ) from None
        return methods

    def algorithms(self) -> dict[str, str]:
        """Return label -> the name of its algorithm or learner, as far as the rows have it."""
        if "algorithm" not in self.frame:
            return {}
        first = self.frame.drop_duplicates("label")[["label", "algorithm"]].astype(str)
        return {label: name for label, name in first.itertuples(index=False, name=None) if name}

    def shapes(self) -> Mapping[str, Shape]:
        """Return problem -> dimension and constraints, of those whose rows have them."""
        return shape_of(self.frame)

    def recorded(self) -> TraceOptions:
        """Return the further contents of the traces."""
        return self._config.trace_options

    def goal(self) -> Goal:
        """Return when the runs of the experiment were to end."""
        return self._config.goal

    @cached_property
    def _config(self) -> ExperimentConfig:
        return read_config_of(self._store("the configuration"))

    @cached_property
    def _instances(self) -> dict[str, Instance]:
        return {instance.title: instance for instance in instances_of(self._config)}

    @cached_property
    def _statuses(self) -> dict[str, str]:
        return dict(zip(self.frame["cell"], self.frame["status"], strict=True))

    @cached_property
    def _bounds(self) -> dict[str, Bound]:
        """Cell -> its guarantee, of all cells that have one."""
        with Reader.open(self._store("the guarantees")) as reader:
            # All at once: opening a store again for every cell takes longer than reading it
            bounds = {cell: reader.bound(cell) for cell in self._statuses if self._has_result(cell)}
        return {cell: bound for cell, bound in bounds.items() if bound is not None}

    def _has_result(self, cell: str) -> bool:
        """Return whether a cell, of which there has to be a row, ended with a result."""
        if cell not in self._statuses:
            raise DataError(f"the table of runs: no cell {cell!r}")
        return self._statuses[cell] not in WITHOUT_RESULT

    def _without(self, part: str, cell: str) -> DataError:
        return DataError(
            f"{self.folder}: the store has no {part} of the cell {cell}; run the experiment again "
            "with `plab run --fresh`"
        )

    def _store(self, needed: str) -> Path:
        if self.folder is None:
            raise DataError(
                f"the report needs {needed} of the experiment's store, but only rows were given; "
                "make it from the folder of the results"
            )
        return self.folder


def checked_runs(runs: pd.DataFrame, where: str = "the table of runs") -> pd.DataFrame:
    """Return the runs with numbers as floats (missing: NaN) and ``proved`` as booleans.

    A missing ``proved`` is false: no proof was given. A missing column
    ``finding`` is made of the messages.

    Parameters
    ----------
    runs
        One row per cell, with at least the columns :data:`REQUIRED`; values as text, as read from
        a file, or as Python objects.
    where
        The name of the table in error messages.

    Raises
    ------
    DataError
        If there are no rows, columns are missing, a value does not belong into its column, a
        feasible cell lacks its counts, or two rows share problem, label and seed.
    """
    missing = [column for column in REQUIRED if column not in runs.columns]
    if missing:
        raise DataError(
            f"{where}: no column {', '.join(missing)}; a table of runs has {', '.join(REQUIRED)}"
        )
    if runs.empty:
        raise DataError(f"{where}: no rows; run the experiment first (`plab run CONFIG`)")
    checked = runs.reset_index(drop=True)
    # Columns are checked as arrays: on the few rows of most experiments an operation of pandas
    # takes longer than all else.
    for column in TEXT:
        text = _texts(runs[column])
        _refuse(text == "", column, text, where, "a non-empty text")
        checked[column] = pd.Series(text, dtype=object)
    status = checked["status"].to_numpy()
    for column in (*NUMBERS, *SIGNED):
        entries = runs[column].to_numpy(dtype=object)
        numbers = doubles(entries, invalid="coerce")
        signed = column in SIGNED
        invalid = ~blank(entries) & ~(np.isfinite(numbers) & (signed | (numbers >= 0)))
        allowed = f"a finite number, {'' if signed else '0 or more, '}or nothing"
        _refuse(invalid, column, runs[column], where, allowed)
        checked[column] = numbers
    truth = [_TRUTH.get(text) for text in _texts(runs["proved"])]
    unknown = np.array([truth_value is None for truth_value in truth])
    _refuse(unknown, "proved", runs["proved"], where, "true or false")
    checked["proved"] = np.array(truth, dtype=bool)
    _refuse(~np.isin(status, list(Status)), "status", status, where, ", ".join(Status))
    for column in COUNTS:
        # Tables compare the costs of proved points: one that lacks its cost would silently fall out
        invalid = (status == Status.FEASIBLE) & np.isnan(checked[column].to_numpy())
        _refuse(invalid, column, checked[column], where, "a number, since the cell is FEASIBLE")
    repeated = checked[checked.duplicated(["problem", "label", "seed"])]
    for problem, label, seed in repeated[["problem", "label", "seed"]].head(1).to_numpy():
        raise DataError(
            f"{where}: problem {problem!r}, label {label!r}, seed {seed:g} occurs twice; give "
            "each algorithm of the experiment a different label"
        )
    # Stores and files of earlier versions say it in the message alone
    if "finding" not in checked:
        messages = _texts(runs["message"]) if "message" in runs else [""] * len(runs)
        facts = map(former_finding, checked["status"], messages)
        checked["finding"] = [finding_text(finding) or "" for finding in facts]
    # In a copy the columns of one type are one array: tables cut runs into hundreds of groups
    return checked.copy()


def findings(runs: pd.DataFrame) -> list[Finding]:
    """Return the finding of each run of some evidence."""
    return [finding_in(text) for text in runs["finding"]]


def _texts(values: pd.Series) -> NDArray[np.object_]:
    """Return values as text; what is missing is empty."""
    entries = values.to_numpy(dtype=object)
    texts = np.empty(len(entries), dtype=object)
    texts[:] = [
        "" if none else str(entry) for entry, none in zip(entries, pd.isna(entries), strict=True)
    ]
    return texts


def _refuse(
    invalid: NDArray[np.bool_],
    column: str,
    values: pd.Series | NDArray[np.object_],
    where: str,
    allowed: str,
) -> None:
    if invalid.any():
        # The first one is named: the others mostly have the same cause
        row = int(invalid.argmax())
        raise DataError(
            f"{where}, row {row + 1}, column {column}: {pd.Series(values).iloc[row]!r} is not "
            f"allowed; allowed: {allowed}"
        )


def _scalar(value: Any) -> Any:
    """Return the value of a field of runs.csv, or of a frame; None where it is empty."""
    # From a frame values have their types; from a CSV all are texts, written as JSON
    if not isinstance(value, str):
        return None if pd.isna(value) else value
    try:
        return json.loads(value)
    except ValueError:
        return value or None
