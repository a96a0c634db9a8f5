"""A conic system whose rows are chosen by an adversary while an algorithm asks about points."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from perceptron_lab.algorithms.resisting.adversary import Adversary
from perceptron_lab.certificates.contract import PointProof
from perceptron_lab.cones.base import Atom, Cone, Oracles
from perceptron_lab.cones.operators.base import Operator
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.rescaled import Rescaled
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.errors import DataError, InputError, NumericalError
from perceptron_lab.core.results import FloatArray, Result
from perceptron_lab.systems.asked import OVERFLOW
from perceptron_lab.systems.conic_system import ConicSystem
from perceptron_lab.systems.cuts import Counters, Cut

ANSWERS = "rows"
"""The key of the answers in the certificate of a run: a sign per row, which determines it."""
MISTAKES, ROUNDS = COUNTED = "mistakes", "rounds"
"""The figures of a run: points answered by a row that they violate, and rounds (0: none)."""


class ShownRows(Operator):
    """The rows of an adversary as they are now: no matrix that could be kept rescaled.

    Parameters
    ----------
    rows
        Shape ``(forced, dimension)``; the adversary changes those that it has not shown.
    """

    def __init__(self, rows: FloatArray) -> None:
        self.size, self.dimension = rows.shape
        self.rows = rows

    def scores(self, point: FloatArray) -> FloatArray:
        """Return the products of all rows with a point."""
        return np.asarray(self.rows @ point)

    def combine(self, weights: FloatArray) -> FloatArray:
        """Return a combination of rows."""
        return np.asarray(weights @ self.rows)

    def normal(self, atom: Atom) -> FloatArray:
        """Return the combination of the rows in the atom's span."""
        return np.asarray(atom.values @ self.rows[atom.span])


@dataclass(frozen=True, kw_only=True)
class ResistingSystem(ConicSystem):
    """Unit rows of margin rho at least, of which an algorithm knows those that it was shown.

    A query, :meth:`cut`, is answered by the
    :class:`~perceptron_lab.algorithms.resisting.adversary.Adversary`: every algorithm that learns
    by queries alone makes ``adversary.forced`` mistakes or more before a point passes. Nothing else
    can be asked: an algorithm that looks at all rows is run in rounds, on the rows shown so far
    (:func:`~perceptron_lab.algorithms.resisting.rounds.drive_in_rounds`). The result of a run is
    about the set that is fixed in the end, which the certificate's ``rows`` tell.

    Parameters
    ----------
    adversary
        Its rows are the operator's, which change in place until they are shown.

    Examples
    --------
    >>> from perceptron_lab import solve
    >>> resisting = ResistingSystem.of_margin(10, 0.01)
    >>> resisting.adversary.forced
    35
    >>> result = solve(resisting, "ellipsoid")
    >>> result.status.value, result.certificate["figures"]["mistakes"] >= 35
    ('FEASIBLE', True)
    """

    adversary: Adversary

    @classmethod
    def of_margin(cls, dimension: int, margin: float) -> ResistingSystem:
        """Return the system of a dimension n >= 1 and a margin, 0 < rho <= 1; nothing is shown."""
        if dimension < 1 or not 0.0 < margin <= 1.0:
            raise InputError(
                f"dimension {dimension}, margin {margin:g}; give 1 or more, and 0 < margin <= 1"
            )
        adversary = Adversary(dimension, margin)
        cone = Orthant(adversary.forced)
        return cls(ShownRows(adversary.rows), cone, unit_rows=True, adversary=adversary)

    def started(self, oracles: Oracles, rng: np.random.Generator) -> ResistingSystem:
        """Return the same system before anything was asked; it is its own oracle."""
        if oracles:
            raise InputError("a resisting system answers its queries itself; leave the oracle out")
        fresh = Adversary(self.adversary.dimension, self.adversary.margin)
        operator = ShownRows(fresh.rows)
        return replace(self, operator=operator, counters=Counters(), adversary=fresh)

    def cut(self, point: FloatArray, slack: float = 0.0) -> Cut | None:
        """Ask about a point: a row shown that it violates, <a, point> <= 0; counts one query.

        A rescaled system asks about the point H'y that y stands for. None: all rows are shown, and
        none is violated; or, with a caution of the system, none by more than it.
        """
        if slack:
            raise InputError("a resisting system answers without slack; run it in rounds")
        if not np.isfinite(point).all():
            raise NumericalError(OVERFLOW)
        rescaled = self.operator
        asked = rescaled.to_base(point) if isinstance(rescaled, Rescaled) else point
        row = self.adversary.answer(asked)
        if row is None and self.caution:  # a proof has failed: beyond rounding errors
            return super().cut(point)
        self.counters.queries += 1
        if row is None:
            return None
        return self._cut(Atom(slice(row, row + 1), np.ones(1)), point)

    def scores(self, point: FloatArray) -> FloatArray:
        """Return the scores of all rows, once all are shown; before, an ``InputError``."""
        self._refuse_early(np.ones(self.cone.size))
        return super().scores(point)

    def combine(self, weights: FloatArray) -> FloatArray:
        """Return A weights, of rows that were shown; of others an ``InputError``."""
        self._refuse_early(weights)
        return super().combine(weights)

    def _refuse_early(self, asked: FloatArray) -> None:
        if asked[self.adversary.shown :].any():
            raise InputError("rows of a resisting system that it has not shown; ask about points")

    def prove_point(self, point: FloatArray) -> PointProof:
        """Prove the margin of a point, once all rows are shown."""
        if self.adversary.shown < self.adversary.forced:
            return PointProof(False, -math.inf, 0, "rows that were not shown may be violated")
        return super().prove_point(point)

    def _innermost(self) -> tuple[Operator, Cone]:
        """Return the rows as they are now, which an operator may have other norms of."""
        return Matrix(self.adversary.rows.copy()), self.cone

    def answer(self, result: Result, rounds: int = 0) -> Result:
        """Return a result with the mistakes, and with the answers that fix the rows."""
        counted = {MISTAKES: float(self.adversary.mistakes), ROUNDS: float(rounds)}
        said = {
            "figures": result.certificate.get("figures", {}) | self.adversary.figures | counted,
            ANSWERS: self.adversary.answers,
        }
        return replace(result, certificate=result.certificate | said)

    def fixed(self, certificate: Mapping[str, Any]) -> ConicSystem:
        """Return the ordinary system of the rows that a run was shown, by its certificate."""
        answers = certificate.get(ANSWERS)
        if not isinstance(answers, str):
            raise DataError("the certificate does not tell the rows that were shown; run it again")
        adversary = Adversary(self.adversary.dimension, self.adversary.margin)
        adversary.fix(answers)
        return ConicSystem.from_rows(adversary.rows)
