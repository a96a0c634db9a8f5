"""Small models of every family, and their conditions written out, literally, in fractions.

The conditions are those of docs/notes/existence-of-estimates.md: all pairs of classes, and all
pairs of an event and somebody at risk. The judge of ``labelled_systems`` decides on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np

from tests.problems.separation.labelled_systems import Truth, truth

FAMILIES = (
    *("binomial", "log-binomial", "poisson", "multinomial", "ordinal", "adjacent"),
    *("conditional", "cox"),
)
Row = list[Fraction]
Condition = tuple[Row, tuple[int, ...]]


@dataclass(frozen=True)
class ModelSystem:
    """A model and its data."""

    family: str
    X: Any
    y: list[int]
    affine: bool
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def included(self) -> list[int]:
        weights = self.options.get("weights", [1] * len(self.y))
        counts = self.options.get("counts", [1] * len(self.y))
        return [i for i in range(len(self.y)) if weights[i] and counts[i]]

    def conditions(self) -> list[Condition]:
        """The conditions >= 0, equations as two of them, and their observations."""
        thresholds, pairs = ("ordinal", "adjacent"), ("conditional", "cox")
        x = [list(map(Fraction, row)) for row in np.asarray(self.X, object).tolist()]
        if self.family in thresholds or (self.affine and self.family not in pairs):
            columns = list(zip(*(x[i] for i in self.included), strict=True))
            kept = [j for j, column in enumerate(columns) if len({*column}) > 1 or not column[0]]
            x = [[row[j] for j in kept] for row in x]  # a constant stands for constant columns
        if self.affine and self.family not in (*thresholds, *pairs):
            x = [[*row, Fraction(1)] for row in x]
        return list(getattr(self, f"_{self.family.replace('-', '_')}")(x))

    def rows(self) -> list[Row]:
        return [row for row, _ in self.conditions()]

    def _binomial(self, x: list[Row]) -> Iterator[Condition]:
        counts = self.options.get("counts", [1] * len(self.y))
        for i in self.included:
            if self.y[i] > 0:
                yield x[i], (i,)
            if self.y[i] < counts[i]:
                yield minus(x[i]), (i,)

    def _poisson(self, x: list[Row]) -> Iterator[Condition]:
        for i in self.included:
            yield minus(x[i]), (i,)
            if self.y[i] > 0:
                yield x[i], (i,)

    _log_binomial = _poisson

    def _multinomial(self, x: list[Row]) -> Iterator[Condition]:
        classes = sorted({self.y[i] for i in self.included})
        for i, j in product(self.included, classes):
            if j != self.y[i]:
                blocks = [(k == self.y[i]) - (k == j) for k in classes[1:]]
                yield [sign * entry for sign in blocks for entry in x[i]], (i,)

    def _thresholds(self) -> tuple[list[int], list[Row]]:
        """The occurring categories, and the unit vectors of the thresholds between them."""
        classes = sorted({self.y[i] for i in self.included})
        size = len(classes) - 1
        return classes, [[Fraction(k == j) for k in range(size)] for j in range(size)]

    def _ordinal(self, x: list[Row]) -> Iterator[Condition]:
        classes, unit = self._thresholds()
        for i in self.included:
            at = classes.index(self.y[i])
            if at < len(unit):
                yield [*minus(x[i]), *unit[at]], (i,)
            if at > 0:
                yield [*x[i], *minus(unit[at - 1])], (i,)
        for low, high in pairwise(unit):
            yield [*([Fraction(0)] * len(x[0])), *difference(high, low)], ()

    def _adjacent(self, x: list[Row]) -> Iterator[Condition]:
        classes, unit = self._thresholds()
        sums = [
            [sum((row[k] for row in unit[:at]), Fraction(0)) for k in range(len(unit))]
            for at in range(len(classes))
        ]
        for i, j in product(self.included, range(len(classes))):
            at = classes.index(self.y[i])
            if j != at:
                thresholds = difference(sums[j], sums[at])
                yield [*((at - j) * entry for entry in x[i]), *thresholds], (i,)

    def _conditional(self, x: list[Row]) -> Iterator[Condition]:
        strata = self.options["strata"]
        for i, j in product(self.included, repeat=2):
            if strata[i] == strata[j] and self.y[i] > self.y[j]:
                yield difference(x[i], x[j]), (i, j)

    def _cox(self, x: list[Row]) -> Iterator[Condition]:
        time = self.options["time"]
        strata = self.options.get("strata", [0] * len(time))
        start = self.options.get("start", [-1] * len(time))
        equal = self.options.get("ties", "breslow") in ("breslow", "efron")
        for i, j in product(self.included, repeat=2):
            there = start[j] < time[i] <= time[j] and strata[i] == strata[j]
            tied = self.y[j] == 1 and time[i] == time[j]
            if self.y[i] == 1 and i != j and there and (equal or not tied):
                yield difference(x[i], x[j]), (i, j)  # of equal ones, (j, i) comes too


def minus(row: Row) -> Row:
    return [-entry for entry in row]


def difference(a: Row, b: Row) -> Row:
    return [first - second for first, second in zip(a, b, strict=True)]


def model_truth(system: ModelSystem) -> tuple[Truth, list[int]]:
    """The truth about the conditions, and the separated observations."""
    expected, conditions = truth(system), system.conditions()  # type: ignore[arg-type]
    overlap = set(expected.overlap)
    strict = [about for k, (_, about) in enumerate(conditions) if k not in overlap]
    return expected, sorted({i for about in strict for i in about})


def model_system(family: str, seed: int) -> ModelSystem:
    """A model with data of a family; it may have no likelihood, or a constant one."""
    rng = np.random.default_rng([seed, FAMILIES.index(family)])
    least = 3 if family in FAMILIES[:3] else 6
    rows, width = int(rng.integers(least, least + 5)), int(rng.integers(1, 4))
    X: Any = rng.integers(-2, 3, (rows, width))
    if rng.random() < 0.5:
        X = rng.integers(0, 2, (rows, width))
    if rng.random() < 0.3:
        X[rng.integers(rows)] = X[0]
    if width > 1 and rng.random() < 0.2:
        X[:, -1] = 2 * X[:, 0]
    latent = X @ rng.integers(-1, 2, width) + rng.integers(-1, 2, rows) * (rng.random() < 0.7)
    form = rng.random()
    if form < 0.2:
        X = X / 10.0
    elif form < 0.4:
        X = np.array([[Decimal(int(e)).scaleb(-1) for e in row] for row in X], dtype=object)
    options: dict[str, Any] = {}
    if rng.random() < 0.4:
        options["weights"] = rng.integers(0, 3, rows).tolist()
    y = latent - latent.min()
    if family in ("multinomial", "ordinal", "adjacent"):
        y = np.minimum(y, 3)
    if family in ("poisson", "log-binomial"):
        y = np.where(rng.random(rows) < 0.5, y, 0)
    if family in ("binomial", "log-binomial"):
        options["counts"] = (y + rng.integers(0, 2, rows) * rng.integers(0, 3, rows)).tolist()
    if family in ("conditional", "cox"):
        y = np.where(
            rng.random(rows) < rng.choice([0.0, 0.3]), rng.integers(0, 2, rows), y > y.mean()
        )
        options["strata"] = rng.integers(0, 2, rows).tolist()
    if family == "cox":
        time = np.clip(latent.max() + 1 - latent + rng.integers(0, 2, rows), 1, None)
        options["time"] = time.tolist()
        options["ties"] = str(rng.choice(["breslow", "efron", "exact", "discrete"]))
        if rng.random() < 0.5:
            options["start"] = (time - rng.integers(1, 4, rows)).tolist()
        if rng.random() < 0.5:
            del options["strata"]
    return ModelSystem(family, X, y.tolist(), bool(rng.random() < 0.7), options)
