"""Exact proofs judged with fractions, by definitions and not by the checker's ways.

Definiteness by leading minors of python-flint, norms by squares, sums by fractions.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint
import numpy as np

Row = list[Fraction]


def fractions_of(array: Any) -> list[Row]:
    """Return the entries of an array, each the double that it is."""
    numbers = np.atleast_2d(array).tolist()  # doubles, or whole numbers
    return [[Fraction(one) for one in line] for line in numbers]


def as_number(value: Any) -> int:
    return int(value, 16) if isinstance(value, str) else int(value)


def bound_of(claim: dict[str, Any]) -> Fraction:
    """Return p / q; [p, 0] with p > 0 is no bound, a number beyond all here."""
    p, q = map(as_number, claim.get("bound", (0, 1)))
    return Fraction(p, q) if q else Fraction(2**4000)


def flat_places(cone: list[Any]) -> list[tuple[int, int, int]]:
    return [
        (block, i, j)
        for block, (kind, order) in enumerate(cone)
        for i in range(order)
        for j in (range(i, order) if kind == "matrix" else [i])
    ]


def positive_definite(entries: dict[tuple[int, int], Fraction], order: int) -> bool:
    for k in range(1, order + 1):
        minor = flint.fmpq_mat(
            k,
            k,
            [_rational(entries.get((min(i, j), max(i, j)))) for i in range(k) for j in range(k)],
        )
        if minor.det() <= 0:
            return False
    return True


def _rational(value: Fraction | None) -> flint.fmpq:
    return flint.fmpq(0) if value is None else flint.fmpq(value.numerator, value.denominator)


def at_least(value: Fraction, factor: Fraction, *squares: Fraction) -> bool:
    """Return whether value >= factor * sqrt(product of squares)."""
    product = factor * factor
    for one in squares:
        product *= one
    if factor >= 0:
        return value >= 0 and value * value >= product
    return value >= 0 or value * value <= product


def positive_semidefinite(entries: dict[tuple[int, int], Fraction], order: int) -> bool:
    """Return it by the signs of the characteristic polynomial, which has real roots alone."""
    places = [(min(i, j), max(i, j)) for i in range(order) for j in range(order)]
    matrix = flint.fmpq_mat(order, order, [_rational(entries.get(at)) for at in places])
    coefficients = matrix.charpoly().coeffs()
    return all((-1) ** (order - k) * one >= 0 for k, one in enumerate(coefficients))


def truly_proved(
    rows: list[Row], cone: list[Any], claim: dict[str, Any], form: str | None = None
) -> bool:
    """Return whether point or weights of a claim prove it on rows of a cone."""
    if form == "squares":
        return _ratio(rows, cone, claim)
    if form == "gram" and "margin" in claim:
        return _kernel_margin(rows, claim)
    closed = claim["claim"].startswith("closed")
    if claim["claim"] in ("sign occurs", "sign excluded", "partition") or closed:
        return _by_rows(rows, cone, claim)
    name, margin = claim["claim"], claim.get("margin")
    bound = bound_of(claim)
    if name in ("feasible", "margin at least"):
        y = [Fraction(as_number(one)) for one in claim["point"]]
        measured = sum((one * one for one in (y[:-1] if margin == "geometric" else y)), Fraction())
        return measured > 0 and _inside(rows, cone, y, margin, bound, measured)
    return _weighted(rows, cone, claim, margin, bound)


def _dot(left: Row, right: Row) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction())


def _ratio(rows: list[Row], cone: list[Any], claim: dict[str, Any]) -> bool:
    """Return whether E, or weights, of a claim prove a bound of the separation ratio."""
    order, first = len(rows[0]), cone[0][1]
    p, q = map(as_number, claim["bound"])
    if q < 0 or (q == 0 and p <= 0):
        return False
    places = [(i, j) for i in range(order) for j in range(i, order)]
    if claim["claim"] == "ratio at least":
        given = zip(places, map(as_number, claim["point"]), strict=True)
        form = {(i, j): Fraction(one, 1 + (i != j)) for (i, j), one in given}
        values = [
            sum((one * x[i] * x[j] * (1 + (i != j)) for (i, j), one in form.items()), Fraction())
            for x in rows
        ]
        most, least = max(values[:first]), min(values[first:])
        enough = least * q >= (p + q) * most if q else most == 0
        return least > 0 and enough and positive_semidefinite(form, order)
    parts = [
        _element("rows", k, given) for (_, k), given in zip(cone, claim["weights"], strict=True)
    ]
    flat = [w for part in parts for _, w in sorted(part.items())]
    if min(flat) < 0 or not any(flat[first:]):
        return False
    signed = [w if k < first else -w for k, w in enumerate(flat)]
    moment = {
        (i, j): sum((w * x[i] * x[j] for w, x in zip(signed, rows, strict=True)), Fraction())
        for i, j in places
    }
    enough = q * sum(flat[:first]) <= (p + q) * sum(flat[first:])
    return enough and positive_semidefinite(moment, order)


def _kernel_margin(products: list[Row], claim: dict[str, Any]) -> bool:
    """Return whether coefficients, or weights, prove a bound of the margin of features."""
    bound = bound_of(claim)
    unit = claim["margin"] == "unit"
    lengths = [line[i] if unit else Fraction(1) for i, line in enumerate(products)]
    if claim["claim"] == "margin at least":
        y = [Fraction(as_number(one)) for one in claim["point"]]
        scores = [_dot(line, y) for line in products]
        square = _dot(y, scores)
        return square > 0 and all(
            at_least(score, bound, square, length)
            for score, length in zip(scores, lengths, strict=True)
        )
    found = _element("rows", len(products), claim["weights"][0])
    w = [found[i, i] for i in range(len(products))]
    total = [_dot(line, w) for line in products]
    mass = _dot(w, [_root(one) for one in lengths]) if unit else sum(w, Fraction())
    return min(w) >= 0 and mass > 0 and bound >= 0 and _dot(w, total) <= (bound * mass) ** 2


def _by_rows(rows: list[Row], cone: list[Any], claim: dict[str, Any]) -> bool:
    """Return whether a claim on rows is proved whose cone is closed."""
    name, scores, weights = claim["claim"], [], []
    assert all(kind == "rows" for kind, _ in cone)
    if "point" in claim:
        y = [Fraction(as_number(one)) for one in claim["point"]]
        scores = [_dot(row, y) for row in rows]
    if "weights" in claim:
        pairs = zip(cone, claim["weights"], strict=True)
        parts = [_element(kind, k, given) for (kind, k), given in pairs]
        weights = [w for part in parts for _, w in sorted(part.items())]
        total = [_dot(weights, [row[j] for row in rows]) for j in range(len(rows[0]))]
        if min(weights) < 0 or not any(weights):
            return False
    if name == "sign occurs":
        return min(scores) >= 0 and y[claim["column"]] * claim["sign"] > 0
    if name == "sign excluded":
        left = total.pop(claim["column"])
        return left * claim["sign"] < 0 and not any(total)
    if name == "closed feasible":
        return scores[0] > 0 and min(scores[1:]) >= 0
    if any(total):
        return False
    if name == "closed infeasible":
        return weights[0] > 0 and cone[0][1] == 1
    return all(s > 0 or (s == 0 and w > 0) for s, w in zip(scores, weights, strict=True))


def _inside(
    rows: list[Row], cone: list[Any], y: Row, margin: str | None, bound: Fraction, square: Fraction
) -> bool:
    scores: list[dict[tuple[int, int], Fraction]] = [{} for _ in cone]
    for (block, i, j), row in zip(flat_places(cone), rows, strict=True):
        score = sum((a * b for a, b in zip(row, y, strict=True)), Fraction())
        scores[block][i, j] = score
        if cone[block][0] == "rows":
            norm = sum((a * a for a in row), Fraction()) if margin == "unit" else Fraction(1)
            if not (at_least(score, bound, norm, square) if margin else score > 0):
                return False
    for (kind, order), found in zip(cone, scores, strict=True):
        if kind == "rows":
            continue
        if margin:  # bounds of cones are tried at a square root rounded up by a part of 2^-100
            length = Fraction(_root(square)) * bound
            for i in range(order) if kind == "matrix" else (order - 1,):
                found[i, i] -= length
        if kind == "matrix" and not positive_definite(found, order):
            return False
        if kind == "second-order":
            *u, t = (found[i, i] for i in range(order))
            rest = t * t - sum((one * one for one in u), Fraction())
            if t < 0 or rest < 0 or (not margin and rest == 0):
                return False
    return True


def _root(square: Fraction) -> Fraction:
    """Return a number at most a part of 2^-100 above the square root."""
    scaled = square * Fraction(4) ** 110
    whole = scaled.numerator // scaled.denominator
    return Fraction(int(flint.fmpz(whole).isqrt()) + 1, 2**110)


def _weighted(
    rows: list[Row], cone: list[Any], claim: dict[str, Any], margin: str | None, bound: Fraction
) -> bool:
    total, mass, unit = [Fraction()] * len(rows[0]), Fraction(), Fraction()
    found: list[dict[tuple[int, int], Fraction]] = []
    for (kind, order), given in zip(cone, claim["weights"], strict=True):
        found.append(_element(kind, order, given))
        if kind == "matrix":
            mass += sum((found[-1][i, i] for i in range(order)), Fraction())
        elif kind == "second-order":
            *u, t = (found[-1][i, i] for i in range(order))
            if t < 0 or t * t < sum((one * one for one in u), Fraction()):
                return False
            mass += t
        else:
            if min(found[-1].values()) < 0:
                return False
            mass += sum(found[-1].values(), Fraction())
    for (block, i, j), row in zip(flat_places(cone), rows, strict=True):
        weight = found[block][i, j] * (2 if i < j else 1)
        total = [one + weight * a for one, a in zip(total, row, strict=True)]
        if weight and margin == "unit":
            norm = _root(sum((a * a for a in row), Fraction()))
            unit += weight * norm
    if mass <= 0:
        return False
    if claim["claim"] == "infeasible":
        return not any(total)
    if margin == "geometric" and total.pop():
        return False
    square = sum((one * one for one in total), Fraction())
    return bound >= 0 and square <= (bound * (unit if margin == "unit" else mass)) ** 2


def _element(kind: str, order: int, given: list[Any]) -> dict[tuple[int, int], Fraction]:
    if kind != "matrix":
        values = dict.fromkeys(((i, i) for i in range(order)), Fraction())
        for place, one in zip(*given, strict=True):
            values[place, place] = Fraction(as_number(one))
        return values
    parts, rest, *vectors = ([as_number(one) for one in line] for line in given)
    if min(parts + rest) < 0:
        return {(i, j): Fraction(-1) for i in range(order) for j in range(i, order)}
    return {
        (i, j): Fraction(
            sum(p * a * b for p, a, b in zip(parts, vectors[i], vectors[j], strict=True))
            + (rest[i] if i == j else 0)
        )
        for i in range(order)
        for j in range(i, order)
    }
