"""Claims about the signs of a coefficient on R = {b : A b >= 0}, which make its class.

A member of R shows that a sign occurs; weights w >= 0 with A'w a multiple of e_j, of the other
sign, that it does not: (7) of docs/notes/how-to-distrust-us.md. FINITE: neither sign occurs; +INF
and -INF: that one alone; UNDETERMINED: both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np

from perceptron_lab.exact.points import Claim
from perceptron_lab.exact.row_weights import balanced
from perceptron_lab.exact.whole_numbers import by_places, whole_multiples
from perceptron_lab.problems.separation.coefficients import (
    FINITE,
    MINUS,
    PLUS,
    UNDECIDED,
    Coefficient,
)
from perceptron_lab.problems.separation.verdict import SeparationVerdict

# Rows that overlap, per coefficient, beyond which few of them are looked for
_MANY = 20


def sign_claims(found: SeparationVerdict) -> Iterator[tuple[str, Claim]]:
    """Yield two claims per coefficient that has a class, each with the coefficient's name."""
    for j, (name, one) in enumerate(zip(found.names, found.proofs, strict=False)):
        if one.name == UNDECIDED:
            continue
        for sign, point in ((1, one.positive), (-1, one.negative)):
            claim: Claim = {"column": j, "sign": sign}
            if point is not None:
                whole = whole_multiples(found.rows.given(point))
                claim |= {"claim": "sign occurs", "point": whole}
            else:
                weights = _excluding(found, one, j, sign)
                claim |= {"claim": "sign excluded", "weights": [weights]}
            yield name, claim


def _excluding(found: SeparationVerdict, one: Coefficient, j: int, sign: int) -> list[list[int]]:
    """Return w >= 0 with A'w a positive multiple of -sign e_j.

    The combination of the class's proof may have multipliers < 0 of rows that overlap: to it is
    added a multiple of their weights, whose combination is 0.
    """
    assert found.pair is not None
    if len(found.pair.overlap) > _MANY * found.rows.width:
        few = _few(found, j, sign)
        if few is not None:
            return few
    turned = -1 if one.name == FINITE and sign > 0 else 1
    given = {row: turned * multiplier for row, multiplier in one.combination.items()}
    assert one.name in (FINITE, PLUS, MINUS)
    pairs = zip(found.pair.overlap.tolist(), found.pair.weights.tolist(), strict=True)
    null = {row: found.pair.basis.get(row, Fraction(weight)) for row, weight in pairs}
    steps = (-given[row] / null[row] for row in null.keys() & given.keys())
    return _listed(_added(given, null, max(steps, default=Fraction())))


def _added(
    given: Mapping[int, Fraction], null: Mapping[int, Fraction], step: Fraction
) -> dict[int, Fraction]:
    if step <= 0:
        return dict(given)
    rows = {**null, **given}
    return {row: given.get(row, Fraction()) + step * null.get(row, Fraction()) for row in rows}


def _few(found: SeparationVerdict, j: int, sign: int) -> list[list[int]] | None:
    """Return such weights of few rows, those of a linear program's vertex; or None."""
    every = np.arange(found.rows.count)
    vectors = found.rows.whole(every).tolist()
    target = [sign * (i == j) for i in range(found.rows.width)]
    weights = balanced([*vectors, target], None, len(vectors))
    if weights is None or not weights[-1]:
        return None
    used = [i for i, weight in enumerate(weights[:-1]) if weight]
    return [used, [weights[i] for i in used]]


def _listed(weights: Mapping[int, Fraction]) -> list[list[int]]:
    used = {row: weight for row, weight in weights.items() if weight}
    return by_places(zip(used, whole_multiples(used.values()), strict=True))
