"""Average precisions of learners on test examples, by problem and label, in percent."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.outward_rounding import text_above, text_below
from perceptron_lab.core.results import Status
from perceptron_lab.experiments.configuration.rows import reals
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.summary import Summary, status_text, summaries

_MEASURE = "measure."
PRECISION = f"{_MEASURE}average_precision"
"""The column that every learner fills."""
HARD = "ellipsoid-separation"
"""The learner that makes statements about separability."""
SVM = "polynomial-svm"
"""The support vector machine, which the thesis has two columns of."""
DEFAULT_COMPONENTS = 30
"""The number of features where the parameters of a learner do not give it."""


def features_of(parameters: Mapping[str, Any]) -> tuple[int | None, str]:
    """Return the number of features of a learner, None for all, and their kernel.

    The kernel has its parameters with it, and is empty if it is linear.
    """
    number = parameters.get("components", DEFAULT_COMPONENTS)
    settings = [parameters.get(key) for key in ("feature_kernel", "gamma", "polynomial_degree")]
    kernel = "" if settings[0] in (None, "linear") else " ".join(map(str, settings))
    return None if number is None else int(number), kernel


def chosen_by_test(parameters: Mapping[str, object]) -> bool:
    """Return whether a learner chooses its parameter by test precision."""
    return parameters.get("choice") == "test-precision"


class Spread(NamedTuple):
    """A mean over seeds, with the lowest and the highest; Nones where cells are missing."""

    mean: float | None
    lowest: float | None = None
    highest: float | None = None

    @classmethod
    def of(cls, values: list[float]) -> Spread:
        """Return the spread of values."""
        return cls(float(np.mean(values)), min(values), max(values)) if values else cls(None)


@dataclass(frozen=True)
class PrecisionEntry(Summary):
    """The cells of one problem and label, with the learner and its parameters as JSON values."""

    algorithm: str
    parameters: Mapping[str, Any]

    @property
    def components(self) -> int | None:
        """The number of features it was given, or None for all."""
        return features_of(self.parameters)[0]

    @property
    def kernel(self) -> str:
        """The kernel of these features with its parameters; empty for a linear one."""
        return features_of(self.parameters)[1]

    @property
    def by_test(self) -> bool:
        """Whether its parameter is chosen by the test examples: a bound, and no result."""
        return chosen_by_test(self.parameters)

    def measured(self, name: str) -> dict[int, float]:
        """Return seed -> a measure, of the cells that have it."""
        column = f"{_MEASURE}{name}"
        if column not in self.runs:
            return {}
        pairs = zip(self.runs["seed"].tolist(), self.runs[column].tolist(), strict=True)
        return {int(seed): value for seed, value in pairs if isfinite(value)}

    @property
    def chosen(self) -> dict[int, float]:
        """Seed -> the parameter that was chosen: the penalty C, or the regularisation."""
        return self.measured("penalty") or self.measured("regularisation")

    @cached_property
    def precisions(self) -> dict[int, float]:
        """Seed -> average precision in percent."""
        return {seed: 100.0 * value for seed, value in self.measured("average_precision").items()}

    @property
    def complete(self) -> bool:
        """Whether there are cells, and each of them has an average precision."""
        return 0 < self.seeds == len(self.precisions)

    def average(self, name: str) -> float | None:
        """Return the mean of a measure over the seeds, or None."""
        values = list(self.measured(name).values())
        return float(np.mean(values)) if values else None

    @property
    def spread(self) -> Spread:
        """The average precision over the seeds; nothing unless every cell has one."""
        return Spread.of(list(self.precisions.values()) if self.complete else [])

    @property
    def without_result(self) -> str:
        """The statuses of cells without a result; empty where there are none."""
        if not self.seeds:
            return "not run"
        if self.complete:
            return ""
        statuses = set(self.runs["status"]) - {Status.FITTED}
        return ", ".join(sorted(status_text(status, True) for status in statuses))

    @property
    def statement(self) -> str:
        """The statement about separability: ``t = 0``, ``t <= 1.2e-09``, or the cells' statuses."""
        statuses = set(self.runs["status"])
        proved = bool(self.runs["proved"].all())
        if proved and statuses == {Status.INFEASIBLE}:
            return "t = 0"
        # Printed bounds are rounded outwards, so that they are proved as well.
        upper = self.measured("ratio_upper")
        if proved and statuses == {Status.MARGIN_BOUNDED} and upper:
            return f"t <= {text_above(max(upper.values()), 2)}"
        lower = self.measured("ratio_lower")
        if proved and statuses == {Status.FEASIBLE} and lower:
            return f"t >= {text_below(min(lower.values()), 3)}"
        return self.status_counts

    @property
    def proof(self) -> str:
        """The statement of a hard ellipsoid; otherwise statuses, or fits that did not converge."""
        if self.algorithm == HARD:
            return self.statement
        if not self.complete:
            return self.status_counts
        shares = self.measured("converged").values()
        # A learner has several fits; one that did not converge is enough to mention
        cut_off = sum(share < 1.0 for share in shares)
        return f"not converged ({cut_off} of {len(shares)})" if cut_off else ""


def entries(evidence: Evidence) -> list[PrecisionEntry]:
    """Return every problem by every label, in the order of first appearance; refuse other runs."""
    runs, methods = evidence.frame, evidence.methods()
    if PRECISION not in runs:
        raise DataError(
            f"the table of runs has no column {PRECISION}, which only learners fill; make this "
            "report from an experiment with learners, such as reuters"
        )
    measures = [name for name in runs.columns if name.startswith(_MEASURE)]
    # Measures of a CSV are texts, and some of them are no numbers at all
    runs = runs.assign(**{name: reals(runs[name], invalid="coerce") for name in measures})
    return [
        PrecisionEntry(summary.problem, summary.label, summary.runs, *methods[summary.label])
        for summary in summaries(runs)
    ]


def mean_spread(of_label: Sequence[PrecisionEntry]) -> Spread:
    """Return the mean over the problems, seed by seed; nothing unless every cell has one."""
    seeds = {tuple(sorted(entry.precisions)) for entry in of_label}
    # Unequal seeds would mix the effects of problems and of seeds
    if len(seeds) != 1 or not all(entry.complete for entry in of_label):
        return Spread(None)
    rows = [[entry.precisions[seed] for entry in of_label] for seed in seeds.pop()]
    return Spread.of([float(np.mean(row)) for row in rows])


def thesis_column(algorithm: str, components: int | None) -> str | None:
    """Return the thesis's column for a learner and number of features (None: all), or None."""
    column_of = {(HARD, 30): "ellipsoid_k30", (SVM, 30): "svm_k30", (SVM, None): "svm_n20494"}
    return column_of.get((algorithm, components))


@cache
def thesis_precisions() -> dict[str, dict[str, float]]:
    """Return Table 8.1 of `Kharechko2009`: category -> column -> percent."""
    text = (files(__package__) / "thesis.csv").read_text("utf-8")
    return {
        row.pop("category"): {name: float(value) for name, value in row.items()}
        for row in csv.DictReader(text.splitlines())
    }
