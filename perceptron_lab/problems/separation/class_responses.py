"""Responses of several classes: the rows of the cone, and what a change of classes does to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from perceptron_lab.core.results import IntArray
from perceptron_lab.problems.separation.combined_rows import combined_rows
from perceptron_lab.problems.separation.families.conditions import (
    Conditions,
    adjacent,
    multinomial,
    ordinal,
)
from perceptron_lab.problems.separation.integer_rows import IntegerRows

_CONDITIONS: Final[dict[str, Callable[[IntArray, int, int], Conditions]]] = {
    "multinomial": multinomial,
    "ordinal": ordinal,
    "adjacent": adjacent,
}

ClassChange = tuple[int, int]
"""An observation, and its new class."""


@dataclass(frozen=True, eq=False)
class ClassResponses:
    """The observations of a model of several classes.

    Parameters
    ----------
    base
        The rows x_i.
    codes
        The class of each row, 0 to ``count`` - 1, shape ``(m,)``; every class occurs.
    count
        The number of classes, 2 or more.
    family
        ``multinomial``, ``ordinal`` or ``adjacent``.
    """

    base: IntegerRows
    codes: IntArray
    count: int
    family: str

    def conditions(self, codes: IntArray) -> Conditions:
        """Return the conditions on directions of divergence for given classes of the rows."""
        return _CONDITIONS[self.family](codes, self.count, self.base.width)

    def changes(self) -> list[ClassChange]:
        """Return each observation with each class other than its own."""
        observations = range(len(self.codes))
        return [(i, c) for i in observations for c in range(self.count) if c != self.codes[i]]

    def changed(self, changes: Sequence[ClassChange]) -> IntArray | None:
        """Return the classes after changes; None if a row has two or a class loses its last row."""
        codes = self.codes.copy()
        for i, new in changes:
            codes[i] = new
        several = len({i for i, _ in changes}) < len(changes)
        lost = len(np.unique(codes)) < self.count
        return None if several or lost else codes

    def rows(self, codes: IntArray) -> IntegerRows:
        """Return the integer rows of the conditions for given classes."""
        return combined_rows(self.base, self.conditions(codes))

    def signs(self, direction: Sequence[int]) -> IntArray:
        """Return what a direction does to each row in each class, shape ``(m, count)``.

        The entry is -1 if it violates a condition of this class, 0 if all hold with equality and 1
        if all hold and one of them strictly.
        """
        table = np.empty((len(self.codes), self.count), dtype=np.int64)
        for new in range(self.count):
            conditions = self.conditions(np.full(len(self.codes), new))
            rows = combined_rows(self.base, conditions)
            scores = rows.scores(np.arange(rows.count), direction)
            signs = np.array([(score > 0) - (score < 0) for score in scores])
            lowest, highest = np.ones(len(table), dtype=np.int64), -np.ones(len(table), dtype=int)
            np.minimum.at(lowest, conditions.first, signs)
            np.maximum.at(highest, conditions.first, signs)
            table[:, new] = np.where(lowest < 0, -1, highest)
        return table

    def excludes(self, signs: IntArray, changes: Sequence[ClassChange]) -> bool:
        """Return whether a direction with these signs violates a condition after valid changes."""
        codes = self.changed(changes)
        return codes is not None and bool((signs[np.arange(len(codes)), codes] < 0).any())
