"""Whether claims about rows are true, whatever proves them: by linear programs in fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.algorithms.linear.exact_simplex import has_a_point
from tests.exact.second_checker.claims import scores_at
from tests.exact.second_checker.numbers import integer, integers
from tests.exact.second_checker.systems import System

Vector = list[Fraction]


def is_true(system: System, claim: dict[str, Any]) -> bool | None:
    """Return whether a claim is true; None if it is not about rows, or about a margin above 0."""
    if not system.only_rows or system.form == "squares":
        return None
    rows, name = _dense(system), claim["claim"]
    bound = claim.get("bound", [0, 1])
    p, q = integer(bound[0]), integer(bound[1])
    if name == "feasible":
        return _possible(rows)
    if name == "infeasible" or (name == "margin at most" and p == 0):
        return not _possible(rows)
    if name.startswith("sign"):
        column, sign = integer(claim["column"]), integer(claim["sign"])
        entry = [Fraction(sign * (j == column)) for j in range(system.width)]
        return _possible([entry], rows) is (name == "sign occurs")
    if name == "partition":
        scores = scores_at(system, integers(claim["point"]))
        positive = (_possible([row], rows) for row in rows)
        return all(
            expected == (score > 0) for expected, score in zip(positive, scores, strict=True)
        )
    if name in ("closed feasible", "closed infeasible"):
        return _possible(rows[:1], rows) is (name == "closed feasible")
    if "objective" in name:
        assert system.costs is not None
        costs = [Fraction(int(cost.p), int(cost.q)) for cost in system.costs]
        if name == "closed objective unbounded":
            falls = [Fraction(), *(-cost for cost in costs)]
            at_infinity = [[-entry for entry in rows[0]], *rows]  # x_0 = 0
            return _possible(rows[:1], rows) and _possible([falls], at_infinity)
        excess = [Fraction(p, q), *(-cost for cost in costs)]  # p / q x_0 - c'x
        if name == "objective at most":
            return _possible(rows, [excess])
        if name == "closed objective at most":
            return _possible(rows[:1], [*rows, excess])
        return not _possible([rows[0], excess], rows)
    return None


def _dense(system: System) -> list[Vector]:
    dense = [[Fraction()] * system.width for _ in system.rows]
    for line, row in zip(dense, system.rows, strict=True):
        for j, entry in row.items():
            line[j] = Fraction(int(entry.p), int(entry.q))
    return dense


def _possible(positive: list[Vector], nonnegative: list[Vector] | None = None) -> bool:
    """Return whether some y has positive scores of some rows, and none below 0 of others."""
    rows = [*positive, *(nonnegative or [])]
    right = [1] * len(positive) + [0] * (len(rows) - len(positive))
    return has_a_point(rows, right, [], [])
