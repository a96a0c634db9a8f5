"""Labelled systems of every kind of separation, and the truth about them by a judge in fractions.

The judge knows Farkas' lemma alone: z'b >= 0 on R = {b : A b >= 0} if and only if z is a
combination of the rows with weights >= 0. Row i overlaps if -a_i is one, and with it the rows that
have weights there.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from tests.algorithms.linear.exact_simplex import weighted_rows

KINDS = ("complete", "quasi-complete", "overlap")


@dataclass(frozen=True)
class Labelled:
    """Examples, labels -1 and 1, and whether there is a constant."""

    examples: Any
    labels: list[int]
    affine: bool

    def rows(self) -> list[list[Fraction]]:
        """Signed rows in fractions; the column of ones replaces constants other than 0."""
        columns = list(zip(*self.examples.tolist(), strict=True))
        if self.affine:
            columns = [column for column in columns if len({*column}) > 1 or column[0] == 0]
            columns.append((1,) * len(self.labels))
        return [
            [sign * Fraction(value) for value in row]
            for row, sign in zip(zip(*columns, strict=True), self.labels, strict=True)
        ]


@dataclass(frozen=True)
class Truth:
    """The verdict, the rows that overlap, and the class of each coefficient of a system."""

    verdict: str
    overlap: list[int]
    classes: list[str]


def truth(system: Labelled) -> Truth:
    rows = system.rows()
    overlap: set[int] = set()
    for i, row in enumerate(rows):
        if i not in overlap:
            weighted = weighted_rows(rows, [-entry for entry in row])
            overlap |= set() if weighted is None else {i, *weighted}
    kinds = {0: "complete", len(rows): "overlap"}
    classes = []
    for j in range(len(rows[0])):
        unit = [int(i == j) for i in range(len(rows[0]))]
        above = weighted_rows(rows, unit) is not None
        below = weighted_rows(rows, [-entry for entry in unit]) is not None
        classes.append({(1, 1): "FINITE", (1, 0): "+INF", (0, 1): "-INF"}.get((above, below), ""))
    named = [answer or "UNDETERMINED" for answer in classes]
    return Truth(kinds.get(len(overlap), "quasi-complete"), sorted(overlap), named)


def labelled(kind: str, seed: int, most: tuple[int, int] = (60, 8)) -> Labelled:
    """A system that is nearly always of a kind, up to so many rows and columns.

    A hyperplane through points with simple numbers decides the labels; on it both labels occur.
    """
    rng = np.random.default_rng([seed, KINDS.index(kind), 9001])
    width, affine = int(rng.integers(1, most[1] + 1)), bool(rng.random() < 0.8)
    count = int(rng.integers(2, most[0] + 1))
    indices = int(rng.choice([0, 0, 1, 3]))
    spread = int(rng.choice([2, 5, 30])) * 10**indices
    normal = rng.integers(-2, 3, width + 1)
    normal[0] = rng.choice([-1, 1])
    normal[-1] *= affine * 10**indices
    points = rng.integers(-spread, spread + 1, (count, width))
    if kind == "quasi-complete":  # some points onto the hyperplane, with both labels
        face = rng.random(count) < rng.choice([0.3, 0.7])
        face[0] = False
        shifted = points[:, 1:] @ normal[1:-1] + normal[-1]
        points[face, 0] = -normal[0] * shifted[face]
        twins = np.flatnonzero(face)
        points[twins[1::2]] = points[twins[: len(twins) // 2 * 2 : 2]]
    values = points @ normal[:-1] + normal[-1]
    labels = np.where(values > 0, 1, -1)
    anyhow = rng.choice([-1, 1], count)
    if kind == "quasi-complete":
        anyhow[twins[1::2]] = -anyhow[twins[: len(twins) // 2 * 2 : 2]]
    labels = np.where(values == 0, anyhow, labels)
    if kind == "complete":
        labels[values == 0] = 1
    if kind == "overlap":
        labels = np.where(rng.random(count) < 0.7, anyhow, labels)
    if len(set(labels.tolist())) < 2:
        labels[-1] = -labels[0]
    return Labelled(_written(_altered(points, rng), indices, rng), labels.tolist(), affine)


def _altered(points: Any, rng: np.random.Generator) -> Any:
    """Zero, repeated and dependent columns, rows of zeros and of other scales, now and then."""
    width = points.shape[1]
    if rng.random() < 0.15:
        points[:, rng.integers(width)] = 0
    if width > 2 and rng.random() < 0.2:
        points[:, -1] = points[:, 0] + points[:, 1]
    if rng.random() < 0.15:
        points[:, rng.integers(width)] *= 10**6
    if rng.random() < 0.15:
        points[rng.integers(len(points))] = 0
    if rng.random() < 0.2:
        points[rng.integers(len(points))] = points[0]
    return points


def _written(points: Any, indices: int, rng: np.random.Generator) -> Any:
    """The points as decimals with so many places: exact, or the doubles near to them."""
    if not indices:
        return points
    if rng.random() < 0.5:
        return points / 10.0**indices
    decimals = [[Decimal(entry).scaleb(-indices) for entry in row] for row in points.tolist()]
    return np.array(decimals, dtype=object)
