"""The cells of one problem and label in numbers: medians over the seeds, statuses, shapes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Status
from perceptron_lab.experiments.configuration.rows import reals

CLAIMS = (Status.FEASIBLE, Status.INFEASIBLE, Status.MARGIN_BOUNDED, Status.UNBOUNDED)
"""The statuses that say something about the problem, and count as answers once they are proved."""

Shape = tuple[int, int]
"""Dimension and constraints (rows, or eigenvalues of the cone)."""


@dataclass(frozen=True)
class Summary:
    """The cells of one problem and label.

    Parameters
    ----------
    problem, label
        Which.
    runs
        Their rows of the table of runs; none if the label was not run there.
    """

    problem: str
    label: str
    runs: pd.DataFrame

    @property
    def seeds(self) -> int:
        """The number of seeds."""
        return len(self.runs)

    @cached_property
    def answered(self) -> bool:
        """Whether cells exist and all of them ended with a proved answer."""
        # An empty set of statuses is a subset too: without cells there is no answer
        claimed = self.seeds and set(self.runs["status"]).issubset(CLAIMS)
        return bool(claimed and self.runs["proved"].all())

    @cached_property
    def feasible(self) -> bool:
        """Whether cells exist and all of them ended with a proved feasible point."""
        return self.answered and set(self.runs["status"]) == {Status.FEASIBLE}

    @property
    def status_counts(self) -> str:
        """The statuses of the cells: ``FEASIBLE (3 of 5), TIME_LIMIT (2 of 5)``."""
        return status_counts(self.runs) if self.seeds else "not run"

    def median(self, column: str) -> float | None:
        """Return the median of a column over the cells that have a number in it, or None."""
        if column not in self._medians:
            values = self.runs[column].to_numpy(dtype=float, na_value=np.nan)
            defined = values[~np.isnan(values)]
            self._medians[column] = float(np.median(defined)) if len(defined) else None
        return self._medians[column]

    @cached_property
    def _medians(self) -> dict[str, float | None]:
        """Cache of the medians by column, which tables use many times."""
        return {}

    def largest(self, column: str) -> float | None:
        """Return the largest number of a column; None unless every cell has one."""
        values = self.runs[column]
        # A missing number may be the largest: the largest of the others is not the largest
        return None if values.empty or values.isna().any() else float(values.max())


def summaries(runs: pd.DataFrame) -> list[Summary]:
    """Return every problem by every label, in the order of their first appearance.

    Pairs that were not run are there, so that no table leaves them out silently.

    Parameters
    ----------
    runs
        The checked table of runs.
    """
    # Runs without rows have the same columns: their medians are None, and need no special case
    groups = dict(list(runs.groupby(["problem", "label"], sort=False)))
    return [
        Summary(problem, label, groups.get((problem, label), runs.iloc[:0]))
        for problem in runs["problem"].unique()
        for label in runs["label"].unique()
    ]


def answered(runs: pd.DataFrame) -> pd.Series:
    """Return whether each run ended with a proved answer or, of learners, with a model."""
    proved = runs["status"].isin(CLAIMS) & runs["proved"]
    return proved | (runs["status"] == Status.FITTED)


def with_measures(runs: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """Return the runs with columns for these measures; a measure that no run has is NaN."""
    named = {name: f"measure.{name}" for name in names}
    return runs.assign(
        **{
            name: reals(runs[column]) if column in runs else math.nan
            for name, column in named.items()
        }
    )


_Entry = TypeVar("_Entry", bound=Summary)
_Item = TypeVar("_Item")
_Key = TypeVar("_Key", bound=Hashable)


def grouped(items: Iterable[_Item], key: Callable[[_Item], _Key]) -> dict[_Key, list[_Item]]:
    """Return key -> its items, both in the order of first appearance."""
    groups: dict[_Key, list[_Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def by_label(entries: Iterable[_Entry]) -> dict[str, list[_Entry]]:
    """Return label -> its entries, both in the order of first appearance."""
    return grouped(entries, lambda entry: entry.label)


def median_of(values: Iterable[float | None]) -> float | None:
    """Return the median of the values other than None, or None."""
    defined = [value for value in values if value is not None]
    return median(defined) if defined else None


def shape_of(runs: pd.DataFrame) -> dict[str, Shape]:
    """Return problem -> shape, of the problems whose rows have one; several are refused."""
    shapes: dict[str, Shape] = {}
    shaped = runs.dropna(subset=["dimension", "constraints"])
    for problem, *sizes in shaped[["problem", "dimension", "constraints"]].itertuples(index=False):
        shape = (int(sizes[0]), int(sizes[1]))
        if shapes.setdefault(problem, shape) != shape:
            raise DataError(
                f"the table of runs: problem {problem!r} has several shapes "
                f"({shapes[problem]} and {shape}); give different problems different names"
            )
    return shapes


def common(names: Iterable[str], separator: str) -> list[str]:
    """Return the parts that names have in common at the same place, and a star for each other.

    Examples
    --------
    >>> common(["reflected-10x99-0.3", "reflected-20x99-0.3"], "-")
    ['reflected', '*', '0.3']
    """
    split = [name.split(separator) for name in names]
    # Names may have unequal numbers of parts; only the common places are compared
    return [parts[0] if len(set(parts)) == 1 else "*" for parts in zip(*split, strict=False)]


def status_counts(runs: pd.DataFrame) -> str:
    """Count the statuses of cells, marked if without proof; a single cell has no count."""
    counts = Counter(map(status_text, runs["status"], runs["proved"]))
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{status} ({count} of {len(runs)})" for status, count in counts.items())


def status_text(status: str, proved: bool) -> str:
    """Return the name of a status, marked if it is a claim without proof."""
    return f"{status} (unproved)" if not proved and status in CLAIMS else str(status)


def largest_known(values: Sequence[float | None]) -> float | None:
    """Return the largest absolute value; None if any value is missing."""
    magnitudes = [abs(value) for value in values if value is not None]
    return max(magnitudes) if len(magnitudes) == len(values) else None


def known_or_none(value: Any) -> float | None:
    """Return a number of a row, or None."""
    return None if pd.isna(value) else float(value)
