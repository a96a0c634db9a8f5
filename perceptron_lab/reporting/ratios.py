"""Ratios of costs between algorithms, and of updates to guarantees, with confidence intervals.

Costs differ by factors, so that logarithms of their ratios are averaged, seed by seed on the same
instance (paired). With log ratios ``z_1, ..., z_n`` of mean ``m`` and standard deviation ``s`` the
geometric mean of the ratios is ``exp(m)``, and its 95 % interval ``exp(m +- t s / sqrt(n))``, t
the 0.975 quantile of Student's distribution with n - 1 degrees of freedom. On one problem the z_i
are those of its seeds; over all problems they are the problems' means, so that problems count
alike and seeds of one problem are not counted as independent problems. Fewer than five have no
interval. Cells count that ended with
a proved answer, or, of learners, with a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import stdtrit

from perceptron_lab.core.results import FloatArray
from perceptron_lab.reporting.summary import answered

BoolArray = npt.NDArray[np.bool_]

FEWEST: Final = 5
"""The fewest ratios that have an interval."""
LEVEL: Final = 0.95
"""Of the intervals."""
COSTS: Final = ("updates", "queries", "products", "seconds")
"""The columns of the runs that are compared."""


class Interval(NamedTuple):
    """A geometric mean of ratios and the ends of its interval, None for fewer than five ratios."""

    ratio: float
    lower: float | None
    upper: float | None


@dataclass(frozen=True)
class Ratio:
    """Ratio of the costs of two labels.

    Parameters
    ----------
    label, against
        The two; the ratio is that of the first to the second.
    problem
        On which; empty for the mean over all problems.
    pairs
        How many pairs count: seeds of the problem, or problems.
    possible
        How many there are of which both were run.
    by_cost
        Cost -> interval, of those of :data:`COSTS` that both have above 0.
    """

    label: str
    against: str
    problem: str
    pairs: int
    possible: int
    by_cost: dict[str, Interval]


@dataclass(frozen=True)
class GuaranteeRatio:
    """Updates over the guarantee of the algorithm, on all problems where it gave one.

    ``cells`` of its runs have a guarantee and a proved answer; ``largest`` is their largest ratio.
    """

    label: str
    problems: int
    cells: int
    interval: Interval
    largest: float


def interval_of(logarithms: Sequence[float] | FloatArray) -> Interval:
    """Return the geometric mean of ratios and its 95 % t interval, of five ratios or more.

    Parameters
    ----------
    logarithms
        Of the ratios, at least one; independent and about normal for the interval to hold.

    Examples
    --------
    >>> interval = interval_of(np.log([1.0, 2.0, 2.0, 2.0, 4.0]))
    >>> [round(float(value), 4) for value in interval]
    [2.0, 1.0883, 3.6756]
    """
    z = np.asarray(logarithms, dtype=float)
    mean = float(z.mean())
    if len(z) < FEWEST:
        return Interval(float(np.exp(mean)), None, None)
    # Student's quantile, as the deviation is estimated from the same few ratios
    quantile = float(stdtrit(len(z) - 1, 0.5 + LEVEL / 2.0))
    reach = quantile * float(z.std(ddof=1)) / len(z) ** 0.5
    return Interval(*(float(np.exp(end)) for end in (mean, mean - reach, mean + reach)))


def ratios(runs: pd.DataFrame) -> list[Ratio]:
    """Return the ratios of every two labels over all problems, and of the first label's on each.

    In pairs of labels as they are first met, the later one's costs over the earlier one's.

    Parameters
    ----------
    runs
        The checked table of runs.
    """
    costs = _Costs.of(runs)
    pairs = list(combinations(range(len(costs.labels)), 2))
    over_all = [costs.over_all(first, second) for first, second in pairs]
    # Of the first label alone, as all pairs on all problems would fill pages
    by_problem = [
        costs.on_problem(problem, first, second)
        for first, second in pairs
        if first == 0
        for problem in range(len(costs.problems))
    ]
    return [ratio for ratio in (*over_all, *by_problem) if ratio is not None]


@dataclass(frozen=True)
class _Costs:
    """Logarithms of costs by problem, seed, label and cost; NaN where a cell does not count."""

    problems: list[str]
    labels: list[str]
    logarithms: FloatArray
    run: BoolArray
    """Whether there is such a cell, by problem, seed and label."""

    @classmethod
    def of(cls, runs: pd.DataFrame) -> _Costs:
        axes = [list(dict.fromkeys(runs[name])) for name in ("problem", "seed", "label")]
        indices = [{value: index for index, value in enumerate(axis)} for axis in axes]
        shape = tuple(map(len, axes))
        index = tuple(
            np.array([index_of[value] for value in runs[name]])
            for index_of, name in zip(indices, ("problem", "seed", "label"), strict=True)
        )
        logarithms = np.full((*shape, len(COSTS)), np.nan)
        costs = runs[list(COSTS)].to_numpy(dtype=float)
        # A cost of 0 has no logarithm
        counted = answered(runs).to_numpy()[:, None] & (costs > 0)
        logarithms[index] = np.log(np.where(counted, costs, np.nan))
        run = np.zeros(shape, dtype=bool)
        run[index] = True
        return cls(axes[0], axes[2], logarithms, run)

    def over_all(self, first: int, second: int) -> Ratio | None:
        """Return the ratio over all problems; None where both were run on none."""
        means = [self._means(problem, first, second) for problem in range(len(self.problems))]
        possible = int(self._both(first, second).any(axis=1).sum())
        return self._ratio(first, second, "", possible, np.array(means))

    def on_problem(self, problem: int, first: int, second: int) -> Ratio | None:
        """Return the ratio on a problem; None where both were not run on it."""
        differences = self.logarithms[problem, :, second] - self.logarithms[problem, :, first]
        possible = int(self._both(first, second)[problem].sum())
        return self._ratio(first, second, self.problems[problem], possible, differences)

    def _both(self, first: int, second: int) -> BoolArray:
        both: BoolArray = self.run[:, :, first] & self.run[:, :, second]
        return both

    def _means(self, problem: int, first: int, second: int) -> FloatArray:
        """Return the mean over the seeds of each cost's log ratio; NaN without any."""
        differences = self.logarithms[problem, :, second] - self.logarithms[problem, :, first]
        defined = ~np.isnan(differences)
        total = np.where(defined, differences, 0.0).sum(axis=0)
        means: FloatArray = np.where(
            defined.any(axis=0), total / np.maximum(defined.sum(0), 1), np.nan
        )
        return means

    def _ratio(
        self, first: int, second: int, problem: str, possible: int, differences: FloatArray
    ) -> Ratio | None:
        if not possible:
            return None
        # Cost by cost: a pair with 0 queries still has a ratio of seconds
        columns = [column[~np.isnan(column)] for column in differences.T]
        by_cost = {cost: interval_of(z) for cost, z in zip(COSTS, columns, strict=True) if len(z)}
        # Costs may have unequal numbers of pairs; reported is the largest
        pairs = max(map(len, columns))
        names = self.labels[second], self.labels[first]
        return Ratio(*names, problem, pairs, possible, by_cost)


def guarantee_ratios(runs: pd.DataFrame) -> list[GuaranteeRatio]:
    """Return updates over the guarantee, for each label of which some runs have both.

    Parameters
    ----------
    runs
        The checked table of runs.
    """
    # A run without updates, or with a bound of 0, has no logarithm of its share
    counted = runs[answered(runs) & (runs["bound"] > 0) & (runs["updates"] > 0)]
    lines = []
    for label, runs_of_label in counted.groupby("label", sort=False):
        shares = runs_of_label["updates"] / runs_of_label["bound"]
        logarithms = pd.Series(np.log(shares.to_numpy()), index=runs_of_label.index)
        # Problems count alike, as the seeds of one problem are not independent problems
        means = logarithms.groupby(runs_of_label["problem"], sort=False).mean()
        # A guarantee is broken by a single run, which no mean shows
        largest = float(shares.max())
        interval = interval_of(means.to_numpy())
        lines.append(GuaranteeRatio(str(label), len(means), len(runs_of_label), interval, largest))
    return lines
