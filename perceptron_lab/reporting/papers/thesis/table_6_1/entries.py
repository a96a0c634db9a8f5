"""Table 6.1 of the thesis as numbers: ours, the thesis's own, and the effect of rounding on them.

The thesis calls "updates" a count of oracle queries (updates + 1: the last query certifies), so
its numbers are compared with our queries.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import pandas as pd

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Status
from perceptron_lab.reporting.summary import Summary, by_label, ending, summaries

THESIS_LABELS = ("PRA", "EA")
"""Perceptron rescaling algorithm and ellipsoid algorithm: the labels that Table 6.1 has."""
ROUNDING = files(__package__) / "rounding.csv"
"""The spreads, as measured."""


class Thesis(NamedTuple):
    """One entry of the thesis's Table 6.1: oracle queries and seconds (on a 2.6 GHz machine)."""

    queries: int
    seconds: float


@dataclass(frozen=True)
class QueryEntry(Summary):
    """One label on one problem, beside the thesis's entry."""

    @property
    def thesis(self) -> Thesis | None:
        """The thesis's entry, or None."""
        return thesis_table().get((self.problem, self.label))

    @property
    def status(self) -> str:
        """The endings of the cells that are no proved feasible points."""
        if not self.seeds:
            return "not run"
        endings = Counter(
            ending(status, proved)
            for status, proved in self.runs[["status", "proved"]].to_numpy()
            if not proved or status != Status.FEASIBLE
        )
        if self.seeds == 1:
            return "".join(endings)
        return ", ".join(f"{name} ({count} of {self.seeds})" for name, count in endings.items())

    @property
    def deviation(self) -> float | None:
        """Percent by which our queries exceed the thesis's; None if unproved or not in it."""
        queries = self.median("queries")
        if self.thesis is None or queries is None or not self.feasible:
            return None
        return 100.0 * (queries - self.thesis.queries) / self.thesis.queries


class RoundingSpread(NamedTuple):
    """The least and the largest number of queries of one entry of Table 6.1.

    Parameters
    ----------
    least, most
        Over the kernels of OpenBLAS for Prescott, Nehalem, Sandybridge, Haswell and SkylakeX, and
        numba's generic target.
    noisy_least, noisy_most
        With noise of 2^-52 times the largest entry in every point that is queried (two seeds).
        No zero stays one then, neither an entry of the matrix nor a pivot.
    """

    least: int
    most: int
    noisy_least: int
    noisy_most: int

    @property
    def hangs_on_kernel(self) -> bool:
        """Whether BLAS kernels differ in it."""
        return self.least < self.most

    @property
    def hangs_on_zeros(self) -> bool:
        """Whether it is another one where zeros are not exact."""
        return not self.least == self.noisy_least == self.noisy_most

    @property
    def change(self) -> float:
        """Percent by which noise changes it, at most."""
        moved = max(abs(self.noisy_least - self.least), abs(self.noisy_most - self.least))
        return 100.0 * moved / self.least


def entries_of(runs: pd.DataFrame) -> dict[str, list[QueryEntry]]:
    """Return label -> its entries, problem by problem; pairs that were not run say so.

    Parameters
    ----------
    runs
        The checked table of runs of homogenised systems, one row per cell.
    """
    return by_label(QueryEntry(one.problem, one.label, one.runs) for one in summaries(runs))


def has_thesis(entries: Iterable[QueryEntry]) -> bool:
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
    text = (files(__package__) / "thesis.csv").read_text("utf-8")
    return {
        (row["problem"], label): Thesis(
            int(row[f"{label.lower()}_updates"]), float(row[f"{label.lower()}_seconds"])
        )
        for row in csv.DictReader(text.splitlines())
        for label in THESIS_LABELS
    }


@cache
def spreads() -> dict[tuple[str, str], RoundingSpread]:
    """Return the spreads as (problem, label) -> spread."""
    return {
        (row["problem"], row["label"]): RoundingSpread(
            *(int(row[name]) for name in RoundingSpread._fields)
        )
        for row in csv.DictReader(ROUNDING.read_text("utf-8").splitlines())
    }
