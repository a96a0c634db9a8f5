"""Table 6.1 of the thesis as numbers: every problem by every label, beside the thesis's own.

The thesis calls "updates" what is a count of oracle queries here (updates + 1: the last query
certifies), so its numbers are compared with our queries.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import pandas as pd

from perceptron_lab.errors import DataError
from perceptron_lab.reporting.runs import COUNTS
from perceptron_lab.reporting.summary import ending
from perceptron_lab.results import Status

THESIS_LABELS = ("PRA", "EA")
"""Perceptron rescaling algorithm and ellipsoid algorithm: the labels that Table 6.1 has."""


@dataclass(frozen=True)
class Thesis:
    """One entry of the thesis's Table 6.1: oracle queries and seconds (on a 2.6 GHz machine)."""

    queries: int
    seconds: float


@dataclass(frozen=True)
class Entry:
    """One label on one problem: medians over its seeds.

    Parameters
    ----------
    updates, queries, seconds
        Medians over the seeds that have the number; None where none has.
    seeds
        How many seeds were run.
    proved
        Whether every one of them ended with a proved feasible point.
    status
        Empty if ``proved``; otherwise what the others ended with.
    thesis
        The thesis's entry, or None.
    """

    updates: float | None
    queries: float | None
    seconds: float | None
    seeds: int
    proved: bool
    status: str
    thesis: Thesis | None = None

    @property
    def deviation(self) -> float | None:
        """Percent by which our queries exceed the thesis's; None if unproved or not in it."""
        if self.thesis is None or self.queries is None or not self.proved:
            return None
        return 100.0 * (self.queries - self.thesis.queries) / self.thesis.queries


@dataclass(frozen=True)
class Comparison:
    """Every problem by every label, both in the order of their first appearance.

    Parameters
    ----------
    orders
        Problem -> m, the number of its unknowns before homogenisation (for MAXCUT also the order
        of its matrix), or None where no run got so far.
    labels
        The labels.
    entries
        (problem, label) -> entry, for every pair; what was not run says so.
    """

    orders: dict[str, int | None]
    labels: list[str]
    entries: dict[tuple[str, str], Entry]

    @property
    def several_seeds(self) -> bool:
        """Whether some entry is a median over more than one seed."""
        return any(entry.seeds > 1 for entry in self.entries.values())

    def has_thesis(self, label: str) -> bool:
        """Whether the thesis has this label on at least one of the problems."""
        return any(self.entries[problem, label].thesis for problem in self.orders)

    def column(self, label: str) -> list[Entry]:
        """Return the entries of one label, problem by problem."""
        return [self.entries[problem, label] for problem in self.orders]

    def row(self, problem: str) -> list[Entry]:
        """Return the entries of one problem, label by label."""
        return [self.entries[problem, label] for label in self.labels]


def compare(runs: pd.DataFrame) -> Comparison:
    """Return medians, proofs and the thesis's numbers of all problems and labels.

    Parameters
    ----------
    runs
        The checked table of runs of homogenised systems, one row per cell.

    Raises
    ------
    DataError
        If one problem has several dimensions.
    """
    groups = {
        (str(problem), str(label)): group
        for (problem, label), group in runs.groupby(["problem", "label"], sort=False)
    }
    orders = {problem: _order(runs, problem) for problem in runs["problem"].unique()}
    labels = list(runs["label"].unique())
    entries = {
        (problem, label): _entry(groups.get((problem, label)), thesis_table().get((problem, label)))
        for problem in orders
        for label in labels
    }
    return Comparison(orders, labels, entries)


@cache
def thesis_table() -> dict[tuple[str, str], Thesis]:
    """Return Table 6.1 of Kharechko2009 as (problem, label) -> queries and seconds."""
    source = files(__package__) / "thesis.csv"
    with source.open(encoding="utf-8") as file:
        table = pd.read_csv(file, dtype=str)
    return {
        (row["problem"], label): Thesis(
            int(row[f"{label.lower()}_updates"]), float(row[f"{label.lower()}_seconds"])
        )
        for row in table.to_dict("records")
        for label in THESIS_LABELS
    }


def _order(runs: pd.DataFrame, problem: str) -> int | None:
    dimensions = runs.loc[runs["problem"] == problem, "dimension"].dropna().unique()
    if len(dimensions) > 1:
        listed = ", ".join(f"{dimension:g}" for dimension in dimensions)
        raise DataError(
            f"the table of runs: problem {problem!r} has several dimensions ({listed}); "
            "give different problems different names"
        )
    return int(dimensions[0]) - 1 if len(dimensions) else None


def _entry(runs: pd.DataFrame | None, thesis: Thesis | None) -> Entry:
    if runs is None:
        return Entry(None, None, None, 0, False, "not run", thesis)
    proved = bool(((runs["status"] == Status.FEASIBLE) & runs["proved"]).all())
    medians = {column: runs[column].dropna().median() for column in COUNTS}
    known = {name: None if pd.isna(value) else float(value) for name, value in medians.items()}
    return Entry(**known, seeds=len(runs), proved=proved, status=_status(runs), thesis=thesis)


def _status(runs: pd.DataFrame) -> str:
    endings = Counter(map(_ending, runs["status"], runs["proved"]))
    del endings[""]
    if len(runs) == 1:
        return "".join(endings)
    return ", ".join(f"{ending} ({count} of {len(runs)})" for ending, count in endings.items())


def _ending(status: str, proved: bool) -> str:
    """Name an ending that is not a proved feasible point."""
    return "" if proved and status == Status.FEASIBLE else ending(status, proved)
