"""Table 6.1 of the thesis as numbers: every problem by every label, beside the thesis's own.

The thesis calls "updates" a count of oracle queries (updates + 1: the last query certifies), so
its numbers are compared with our queries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import pandas as pd

from perceptron_lab.errors import DataError
from perceptron_lab.reporting.summary import Summary, ending, summaries
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
    """One label on one problem: medians over the seeds that have the number, or None.

    Parameters
    ----------
    problem, label
        Which.
    updates, queries, seconds
        The medians.
    seeds
        How many seeds were run.
    proved
        Whether every one of them ended with a proved feasible point.
    status
        Empty if ``proved``; otherwise the endings of the others.
    thesis
        The thesis's entry, or None.
    """

    problem: str
    label: str
    updates: float | None
    queries: float | None
    seconds: float | None
    seeds: int
    proved: bool
    status: str
    thesis: Thesis | None = None

    @classmethod
    def of(cls, summary: Summary) -> Entry:
        """Return the entry of a summary, with the thesis's."""
        runs, problem, label = summary.runs, summary.problem, summary.label
        endings = Counter(
            ending(status, proved)
            for status, proved in zip(runs["status"], runs["proved"], strict=True)
            if not proved or status != Status.FEASIBLE
        )
        counted = [f"{name} ({count} of {len(runs)})" for name, count in endings.items()]
        status = "".join(endings) if len(runs) == 1 else ", ".join(counted)
        return cls(
            problem,
            label,
            summary.median("updates"),
            summary.median("queries"),
            summary.median("seconds"),
            summary.seeds,
            summary.feasible,
            status if summary.seeds else "not run",
            thesis_table().get((problem, label)),
        )

    @property
    def deviation(self) -> float | None:
        """Percent by which our queries exceed the thesis's; None if unproved or not in it."""
        if self.thesis is None or self.queries is None or not self.proved:
            return None
        return 100.0 * (self.queries - self.thesis.queries) / self.thesis.queries


def entries_of(runs: pd.DataFrame) -> dict[str, list[Entry]]:
    """Return label -> its entries, problem by problem, both in the order of first appearance.

    Pairs that were not run are there, and say so.

    Parameters
    ----------
    runs
        The checked table of runs of homogenised systems, one row per cell.
    """
    found: dict[str, list[Entry]] = {}
    for summary in summaries(runs):
        found.setdefault(summary.label, []).append(Entry.of(summary))
    return found


def has_thesis(entries: Iterable[Entry]) -> bool:
    """Whether the thesis has at least one of the entries."""
    return any(entry.thesis for entry in entries)


def orders_of(runs: pd.DataFrame) -> list[int | None]:
    """Return m of each problem, the number of its unknowns before homogenisation.

    On MAXCUT it is the order of the matrix as well. None where no run got so far.
    """
    orders: list[int | None] = []
    for problem, own in runs.groupby("problem", sort=False):
        dimensions = own["dimension"].dropna().unique()
        if len(dimensions) > 1:
            listed = ", ".join(f"{dimension:g}" for dimension in dimensions)
            raise DataError(
                f"the table of runs: problem {problem!r} has several dimensions ({listed}); "
                "give different problems different names"
            )
        orders.append(int(dimensions[0]) - 1 if len(dimensions) else None)
    return orders


@cache
def thesis_table() -> dict[tuple[str, str], Thesis]:
    """Return Table 6.1 of Kharechko2009 as (problem, label) -> queries and seconds."""
    with (files(__package__) / "thesis.csv").open(encoding="utf-8") as file:
        table = pd.read_csv(file, dtype=str)
    return {
        (row["problem"], label): Thesis(
            int(row[f"{label.lower()}_updates"]), float(row[f"{label.lower()}_seconds"])
        )
        for row in table.to_dict("records")
        for label in THESIS_LABELS
    }
