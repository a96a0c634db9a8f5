"""Proofs about linear systems: rational points and weights, checked in exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from perceptron_lab.core.errors import DataError, counted
from perceptron_lab.core.results import Status
from perceptron_lab.numerics.exact_doubles import to_double
from perceptron_lab.numerics.exact_texts import exact_text, read_exact
from perceptron_lab.systems.conditions import point_numerators
from perceptron_lab.systems.exact_solutions import independent
from perceptron_lab.systems.linear_system import LinearSystem

PROOF = "linear"
"""The name of the exact numbers in a certificate."""

# Condition -> its weight as given, not 0
Weights = Mapping[int, Fraction]


@dataclass(frozen=True, repr=False)
class LinearProof:
    """The exact numbers that prove an answer.

    Parameters
    ----------
    point
        x with every condition satisfied, or None.
    weights
        Farkas' weights w of a contradiction: w_k >= 0 for inequalities, sum_k w_k a_k = 0 and
        sum_k w_k b_k > 0.
    irreducible
        Whether the conditions with weights do not contradict each other any more if one of them is
        left out.
    tight
        The inequalities that hold with equality at ``point``.
    always
        Weights >= 0 with sum_k w_k a_k = 0 and sum_k w_k b_k = 0: inequalities among them are tight
        at every point of the set.
    complete
        Whether every inequality of ``tight`` has a weight in ``always``: then the others are strict
        at ``point``, and the two are strictly complementary.
    violation
        A proved bracket of min over x of the largest violation of a condition as given, rounded
        outwards; None for an upper end that is not known, or beyond 1.8e308.
    dual
        Weights that prove a lower bound of costs c: w_k >= 0 for inequalities, sum_k w_k a_k = c;
        the bound is sum_k w_k b_k.
    ray
        r along which the costs fall without end from ``point``: a_k'r >= 0, or = 0 for equations,
        and c'r < 0.
    """

    point: tuple[Fraction, ...] | None = None
    weights: Weights = field(default_factory=dict)
    irreducible: bool = False
    tight: tuple[int, ...] = ()
    always: Weights = field(default_factory=dict)
    complete: bool = False
    violation: tuple[float, float | None] = (0.0, None)
    dual: Weights = field(default_factory=dict)
    ray: tuple[Fraction, ...] | None = None

    def __repr__(self) -> str:
        """Return a one-line summary; exact numbers may have thousands of digits."""
        parts = [] if self.point is None else [f"a point of {counted(len(self.point), 'entry')}"]
        parts += [counted(len(self.weights), "weight")] if self.weights else []
        parts += [f"{len(self.always)} of what is always tight"] if self.always else []
        return f"<LinearProof: {', '.join(parts) or 'nothing'}>"

    def as_json(self) -> dict[str, Any]:
        """Return the numbers as JSON values: exact ones are text, see :func:`.exact_text`."""
        optional = {
            "dual": {str(k): exact_text(weight) for k, weight in self.dual.items()},
            "ray": [exact_text(coordinate) for coordinate in self.ray or ()],
        }
        return {name: value for name, value in optional.items() if value} | {
            "point": None
            if self.point is None
            else [exact_text(coordinate) for coordinate in self.point],
            "weights": {str(k): exact_text(weight) for k, weight in self.weights.items()},
            "irreducible": self.irreducible,
            "tight": list(self.tight),
            "always": {str(k): exact_text(weight) for k, weight in self.always.items()},
            "complete": self.complete,
            "violation": list(self.violation),
        }

    @classmethod
    def of_json(cls, record: Any) -> LinearProof:
        """Return the proof that :meth:`as_json` has written.

        Raises
        ------
        DataError
            If it is none.
        """
        try:
            point = record["point"]
            below, above = record["violation"]
            ray = record.get("ray")
            return cls(
                None if point is None else tuple(read_exact(coordinate) for coordinate in point),
                {int(k): read_exact(weight) for k, weight in record["weights"].items()},
                bool(record["irreducible"]),
                tuple(int(k) for k in record["tight"]),
                {int(k): read_exact(weight) for k, weight in record["always"].items()},
                bool(record["complete"]),
                (float(below), None if above is None else float(above)),
                {int(k): read_exact(weight) for k, weight in record.get("dual", {}).items()},
                None if ray is None else tuple(read_exact(coordinate) for coordinate in ray),
            )
        except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
            raise DataError(f"the certificate has no proof of a linear system ({error})") from None


def at_most(largest: Fraction) -> tuple[float, float | None]:
    """Return the bracket of the least violation by a point that violates conditions so much."""
    upper = to_double(largest, rounding="up")
    return 0.0, upper if math.isfinite(upper) else None


def combination(system: LinearSystem, weights: Weights) -> tuple[dict[int, Fraction], Fraction]:
    """Return sum_k w_k a_k without its zeros, and sum_k w_k b_k."""
    rows = [system.conditions[k] for k in weights]
    shares = [weight / row.scale for weight, row in zip(weights.values(), rows, strict=True)]
    row, right = dict[int, int](), 0
    # Whole numbers over one denominator: fractions would be reduced in every sum
    numerators, common = point_numerators(shares)
    for share, line in zip(numerators, rows, strict=True):
        for j, number in zip(line.columns, line.coefficients, strict=True):
            row[j] = row.get(j, 0) + share * number
        right += share * line.right
    sums = {j: Fraction(int(number), common) for j, number in row.items() if number}
    return sums, Fraction(int(right), common)


def admissible(system: LinearSystem, weights: Weights) -> bool:
    """Return whether there are weights, of conditions, and those of inequalities are >= 0."""
    return bool(weights) and all(
        0 <= k < len(system.conditions) and (weight >= 0 or system.conditions[k].equation)
        for k, weight in weights.items()
    )


def contradiction(system: LinearSystem, weights: Weights) -> Fraction | None:
    """Return sum_k w_k b_k > 0, if the weights prove that there is no point; else None."""
    if not admissible(system, weights):
        return None
    row, right = combination(system, weights)
    return right if right > 0 and not row else None


def irreducible(system: LinearSystem, weights: Weights) -> bool:
    """Return whether it is proved that no condition of a contradiction can be left out.

    So it is if their vectors (a_k, b_k) are independent: they have one combination (0, 1) only.
    """
    width = len(system.variables)
    columns = []
    for k in weights:
        row = system.conditions[k]
        column = dict(zip(row.columns, row.coefficients, strict=True))
        columns.append(column | ({width: row.right} if row.right else {}))
    return independent(columns)


def least_cost(
    system: LinearSystem, weights: Weights, costs: Mapping[int, Fraction]
) -> Fraction | None:
    """Return w'b, if the weights prove that c'x is no less at every point; else None."""
    # Costs 0 have the bound 0, which no weight has to prove
    if costs and not admissible(system, weights):
        return None
    row, right = combination(system, weights)
    return right if row == dict(costs) else None


def recedes(system: LinearSystem, ray: Sequence[Fraction], costs: Mapping[int, Fraction]) -> bool:
    """Return whether r is a direction of the set along which the costs fall."""
    numerators, denominator = point_numerators(ray)
    rows = (row._replace(right=0) for row in system.conditions)
    falls = sum((cost * ray[j] for j, cost in costs.items()), Fraction()) < 0
    return falls and not any(row.violation(numerators, denominator) for row in rows)


def always_tight(system: LinearSystem, weights: Weights) -> frozenset[int]:
    """Return the inequalities that weights prove to be tight at every point of the set."""
    if not admissible(system, weights):
        return frozenset()
    row, right = combination(system, weights)
    if row or right:
        return frozenset()
    equation = [row.equation for row in system.conditions]
    return frozenset(k for k, weight in weights.items() if weight > 0 and not equation[k])


def tight_at(system: LinearSystem, point: Sequence[Fraction]) -> list[int]:
    """Return the inequalities that hold with equality at x."""
    numerators, denominator = point_numerators(point)
    return [
        k
        for k, row in enumerate(system.conditions)
        if not row.equation and not row.residual(numerators, denominator)
    ]


def faults(system: LinearSystem, status: Status, proof: LinearProof) -> list[str]:
    """Return why a proof does not prove the claimed status; empty if it does.

    Nothing is searched for: points and weights are put into the conditions.
    """
    faults = []
    objective = system.exact_objective
    costs = {} if objective is None else objective.costs()
    if proof.dual and least_cost(system, proof.dual, costs) is None:
        faults.append("the dual weights do not prove a bound of the objective")
    if status is Status.UNBOUNDED and not (proof.ray and recedes(system, proof.ray, costs)):
        faults.append("the ray does not prove that the objective is unbounded")
    if status in (Status.FEASIBLE, Status.UNBOUNDED):
        if proof.point is None or len(proof.point) != len(system.variables):
            faults.append("a point is claimed, but the proof has none of that size")
        elif system.violation(proof.point):
            faults.append("the point violates a condition")
        # A partition that claims nothing needs no proof
        elif proof.complete and not set(proof.tight) <= always_tight(system, proof.always):
            faults.append("conditions are called tight at every point, and that is not proved")
    if status is Status.INFEASIBLE:
        if contradiction(system, proof.weights) is None:
            faults.append("the weights do not prove that there is no point")
        elif proof.irreducible and not irreducible(system, proof.weights):
            faults.append("the contradiction is called irreducible, and that is not proved")
    return faults
