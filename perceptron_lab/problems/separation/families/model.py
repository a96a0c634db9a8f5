"""The model of a verdict: its family, and which observations its conditions are about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from perceptron_lab.core.results import IntArray
from perceptron_lab.problems.separation.families.conditions import Conditions, Mask
from perceptron_lab.problems.separation.families.kinds import FAMILIES, Family
from perceptron_lab.problems.separation.families.options import ModelOptions
from perceptron_lab.problems.separation.families.risk_sets import RiskSets


@dataclass(frozen=True, eq=False)
class Model:
    """A generalised linear model, and the observations of its conditions.

    Parameters
    ----------
    family, link, ties
        As for ``separation``.
    affine
        Whether there is an intercept, or one for each class but the first.
    included
        The observations of weight > 0, ascending.
    first, second
        For each condition the observations that it is about, which are equal where it is about one.
    equalities
        The conditions that are equations: A has rows for all conditions, and after them one more
        for each equation, with the opposite sign.
    constants
        The names of intercepts and thresholds.
    risk_sets
        Of the observations included; None where conditions are not about risk sets.
    several
        Which observations included have several trials; None without ``counts`` of trials.
    copies
        For each row of the data the observation included that it equals, shape ``(m,)``; empty
        where only these have numbers, None where none was merged.
    """

    family: str
    link: str
    ties: str
    affine: bool
    included: IntArray
    first: IntArray
    second: IntArray
    equalities: IntArray
    constants: tuple[str, ...] = ()
    risk_sets: RiskSets | None = None
    several: Mask | None = None
    copies: IntArray | None = None

    @classmethod
    def of(
        cls, options: ModelOptions, included: IntArray, conditions: Conditions, **fields: Any
    ) -> Model:
        """Return the model of conditions on the observations included."""
        return cls(
            options.family,
            str(options.link),
            options.ties,
            included=included,
            first=included[conditions.first],
            second=included[conditions.second],
            equalities=np.flatnonzero(conditions.equalities),
            **fields,
        )

    @property
    def kind(self) -> Family:
        """The family, with its condition in words."""
        return FAMILIES[self.family]

    def record(self) -> dict[str, Any]:
        """Return what specifies the model as JSON values, apart from its data."""
        return {name: getattr(self, name) for name in ("family", "link", "ties", "affine")}

    def separated(self, rows: IntArray, scores: Callable[[], IntArray]) -> IntArray:
        """Return the observations that some condition is about that is positive on the cone.

        Parameters
        ----------
        rows
            The rows of A that are positive somewhere on the cone.
        scores
            Returns ranks of x_i'd over the observations included, d inside the cone.
        """
        if self.risk_sets is not None:
            return self.included[self.risk_sets.separated(scores())]
        return self.with_copies(np.union1d(self.first[rows], self.second[rows]))

    def with_copies(self, observations: IntArray) -> IntArray:
        """Return observations included, and the rows merged with them, ascending."""
        if self.copies is None or not len(self.copies):
            return observations
        return np.flatnonzero(np.isin(self.copies, observations))

    def without_effect(self, nonzero: Mask) -> IntArray:
        """Return the observations included that are in no condition, or in rows of zeros alone.

        Parameters
        ----------
        nonzero
            Which rows of A are not 0. Rows of risk sets stand for further ones, so all count.
        """
        rows = np.ones(len(self.first), dtype=bool)
        if self.risk_sets is None:
            rows = nonzero[: len(self.first)]
        effective = np.union1d(self.first[rows], self.second[rows])
        return self.with_copies(np.setdiff1d(self.included, effective))
