"""Rational points and weights from computed ones, or by exact pivots; all are checked exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from perceptron_lab.algorithms.linear.alternatives import Alternative, Work, alternative
from perceptron_lab.algorithms.linear.exact_optimum import minimised
from perceptron_lab.algorithms.linear.proofs import Weights, contradiction, tight_at
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.exact_doubles import to_double
from perceptron_lab.systems.conditions import Condition, over_common
from perceptron_lab.systems.exact_solutions import Equation, near_solution
from perceptron_lab.systems.linear_system import LinearSystem

# Computed entries are first tried as fractions with denominators up to this one
SIMPLE = 10_000


def point_near(
    system: LinearSystem, guess: FloatArray, tight: IntArray
) -> tuple[Fraction, ...] | None:
    """Return an exact feasible point near a guess, some inequalities tight, or None.

    Solved for are the unknowns that are farthest from their bounds.
    """
    if not np.isfinite(guess).all():
        return None
    bound = set(tight.tolist())
    equations = [
        _equation(row) for k, row in enumerate(system.conditions) if row.equation or k in bound
    ]
    exact = [Fraction(value) for value in guess.tolist()]
    order = _free_first(system, guess)
    # Points with small denominators come first: printed data often have such points
    for candidate in ([coordinate.limit_denominator(SIMPLE) for coordinate in exact], exact):
        solution = near_solution(equations, candidate, order)
        if solution is None:
            return None
        if not system.violation(solution):
            return tuple(solution)
    return None


def _equation(row: Condition) -> Equation:
    return Equation(dict(zip(row.columns, row.coefficients, strict=True)), row.right)


def _free_first(system: LinearSystem, guess: FloatArray) -> list[int]:
    """Return the unknowns by their distance from their bounds, the farthest first."""
    distance = np.full(len(guess), np.inf)
    for row in system.conditions:
        if len(row.columns) == 1 and not row.equation:
            j, number = row.columns[0], row.coefficients[0]
            distance[j] = min(distance[j], abs(guess[j] - to_double(Fraction(row.right, number))))
    # Those near bounds keep their values where others can be solved for
    order: list[int] = np.argsort(-distance, kind="stable").tolist()
    return order


def weights_near(
    system: LinearSystem, guess: Sequence[Fraction], value: int | None
) -> dict[int, Fraction] | None:
    """Return exact weights w of the conditions with a guess, sum_k w_k a_k = 0, w'b = value; None.

    They are those of the conditions as given; their signs are for the caller to check.

    Parameters
    ----------
    guess
        Of the conditions in whole numbers, shape ``(K,)``.
    value
        1 for a contradiction, 0 for weights that prove conditions to be tight; None leaves w'b to
        what comes.
    """
    support = [k for k, weight in enumerate(guess) if weight]
    rows = _transposed(system, support)
    sums = {position: system.conditions[k].right for position, k in enumerate(support)}
    equations = [Equation(row, 0) for row in rows.values()]
    if value is not None:
        equations.append(Equation({position: b for position, b in sums.items() if b}, value))
        # 0 = 1 has no solution
        if not equations[-1].entries and value:
            return None
    weights = [guess[k] for k in support]
    # The largest weights are solved for: small changes leave their signs
    order = np.argsort([-abs(to_double(weight)) for weight in weights], kind="stable").tolist()
    solution = near_solution(equations, weights, order)
    if solution is None:
        return None
    return unscaled_weights(system, dict(zip(support, solution, strict=True)))


def _transposed(system: LinearSystem, support: Sequence[int]) -> dict[int, dict[int, int]]:
    """Return the coefficients of some conditions by variable, and by place in the support."""
    rows: dict[int, dict[int, int]] = {}
    for position, k in enumerate(support):
        check_time()
        row = system.conditions[k]
        for j, number in zip(row.columns, row.coefficients, strict=True):
            rows.setdefault(j, {})[position] = number
    return rows


def unscaled_weights(system: LinearSystem, integers: Weights) -> dict[int, Fraction]:
    """Return weights of conditions in whole numbers as those of the conditions as given."""
    return {k: weight * system.conditions[k].scale for k, weight in integers.items() if weight}


def absorbed(system: LinearSystem, guess: Sequence[Fraction]) -> dict[int, Fraction] | None:
    """Return exact weights of a contradiction near a guess, the residual absorbed by bounds.

    All but the best bounds keep their weights w; where r = sum w_k a_k has r_j > 0, the
    condition -x_j >= -u_j gets the weight r_j, and where r_j < 0, x_j >= l_j gets -r_j: that is
    max over the box of r'x < w'b, exactly. None where a bound is missing, or the sum is not > 0.
    """
    bounds = best_bounds(system)
    bounding = {k for _, k in bounds.values()}
    residual, weights = dict[int, Fraction](), dict[int, Fraction]()
    for k, (row, weight) in enumerate(zip(system.conditions, guess, strict=True)):
        if weight and k not in bounding:
            weights[k] = weight
            for j, number in zip(row.columns, row.coefficients, strict=True):
                residual[j] = residual.get(j, Fraction()) + weight * number
    for j, value in residual.items():
        if value:
            # Without that bound r'x is unbounded on the box, and nothing follows
            if (j, value < 0) not in bounds:
                return None
            _, k = bounds[j, value < 0]
            weights[k] = abs(value) / abs(system.conditions[k].coefficients[0])
    weights_of_rows = unscaled_weights(system, weights)
    return weights_of_rows if contradiction(system, weights_of_rows) is not None else None


def best_bounds(system: LinearSystem) -> dict[tuple[int, bool], tuple[Fraction, int]]:
    """Return the tightest bound of each unknown on either side, and its condition.

    The keys are (j, True) for x_j >= bound and (j, False) for -x_j >= bound.
    """
    bounds: dict[tuple[int, bool], tuple[Fraction, int]] = {}
    for k, row in enumerate(system.conditions):
        if len(row.columns) == 1 and not row.equation:
            number = row.coefficients[0]
            key, bound = (row.columns[0], number > 0), Fraction(row.right, abs(number))
            if key not in bounds or bound > bounds[key][0]:
                bounds[key] = bound, k
    return bounds


def weights_at_vertex(system: LinearSystem, support: Sequence[int], work: Work) -> Weights:
    """Return weights of a contradiction at a vertex of sum_k w_k (a_k, b_k) = (0, 1).

    The conditions of a vertex are independent: none of them can be left out. The weights are empty
    if the work is spent.

    Parameters
    ----------
    support
        The conditions that may have weights; they contradict each other.
    work
        The pivots that are left.
    """
    optimum = minimised(farkas_alternative(system, support), {}, work.pivots - work.pivots_made)
    work.pivots_made += optimum.pivots
    point = optimum.point or ()
    return unscaled_weights(system, dict(zip(support, point, strict=bool(point))))


def farkas_alternative(system: LinearSystem, support: Sequence[int]) -> LinearSystem:
    """Return the system of weights w of some conditions: sum_k w_k (a_k, b_k) = (0, 1).

    w_k >= 0 for inequalities. By Farkas' lemma it has a point if and only if these conditions have
    none.
    """
    selected = [system.conditions[k] for k in support]
    sums = {position: row.right for position, row in enumerate(selected) if row.right}
    equations = [
        Condition(tuple(row), tuple(row.values()), int(row is sums), 1, True, "")
        for row in (*_transposed(system, support).values(), sums)
    ]
    signs = [
        Condition((position,), (1,), 0, 1, False, "")
        for position, row in enumerate(selected)
        if not row.equation
    ]
    return LinearSystem((*equations, *signs), tuple(map(str, support)))


def _columns(
    system: LinearSystem, rows: Sequence[int], equal: frozenset[int]
) -> tuple[list[dict[int, int]], list[tuple[int, int]]]:
    """Return (a_k, 1) as columns, equations (a_k, 0) in both directions, and what each stands for.

    Parameters
    ----------
    rows
        Conditions.
    equal
        The inequalities that count as equations.
    """
    width = len(system.variables)
    columns, owners = [], []
    for k in rows:
        check_time()
        row = system.conditions[k]
        both = row.equation or k in equal
        for sign in (1, -1)[: 1 + both]:
            column = {
                j: sign * number for j, number in zip(row.columns, row.coefficients, strict=True)
            }
            columns.append(column if both else column | {width: 1})
            owners.append((k, sign))
    return columns, owners


def _gathered(answer: Alternative, owners: Sequence[tuple[int, int]]) -> dict[int, Fraction]:
    """Return the weights of the conditions, from those of their columns."""
    weights: dict[int, Fraction] = {}
    for column, weight in (answer.weights or {}).items():
        k, sign = owners[column]
        weights[k] = weights.get(k, Fraction()) + sign * weight
    return weights


def partition_by_pivots(
    system: LinearSystem, point: Sequence[Fraction], work: Work
) -> tuple[tuple[Fraction, ...], dict[int, Fraction]] | None:
    """Return a point that is strict wherever one can be, and weights of what is always tight.

    Of the inequalities tight at the point, either weights y >= 0, not 0, have sum y_k a_k in the
    span of the equations: then those with weights are tight everywhere, and become equations; or a
    direction moves off all of them. None if the work is spent.
    """
    width = len(system.variables)
    equal, weights = frozenset[int](), dict[int, Fraction]()
    equations = [k for k, row in enumerate(system.conditions) if row.equation]
    tight = tight_at(system, point)
    # It ends: each round makes an equation of one more inequality at least, or leaves
    while set(tight) - equal:
        columns, owners = _columns(system, [*equations, *tight], equal)
        answer = alternative(columns, width, work)
        if answer is None:
            return None
        if answer.multipliers is not None:
            shifted = _shifted_point(system, point, set(tight), answer.multipliers[:-1])
            return shifted, unscaled_weights(system, weights)
        more = _gathered(answer, owners)
        weights = _added(weights, more, equal)
        equal |= {k for k in tight if more.get(k, 0) > 0}
    return tuple(point), unscaled_weights(system, weights)


def _added(
    weights: Mapping[int, Fraction], more: Mapping[int, Fraction], equal: frozenset[int]
) -> dict[int, Fraction]:
    """Return more + c * weights, c so large that the inequalities called equal stay > 0.

    c is a whole number: so digits add up over the rounds, and are not multiplied.
    """
    factor = max((1 - more.get(k, Fraction()) / weights[k] for k in equal), default=Fraction(1))
    raised = {k: max(math.ceil(factor), 1) * weight for k, weight in weights.items()}
    return {k: raised.get(k, Fraction()) + more.get(k, Fraction()) for k in {**raised, **more}}


def _shifted_point(
    system: LinearSystem,
    point: Sequence[Fraction],
    tight: set[int],
    multipliers: Sequence[Fraction],
) -> tuple[Fraction, ...]:
    """Return point + step * direction, by which no inequality becomes tight that was not."""
    direction = [-multiplier for multiplier in multipliers]
    step = Fraction(1)
    at, below = over_common(point)
    along, under = over_common(direction)
    for k, row in enumerate(system.conditions):
        check_time()
        if k in tight or row.equation:
            continue
        change = row._replace(right=0).slack(along, under)
        if change < 0:
            # Half of what is possible: at the whole step this inequality would be tight
            step = min(step, row.slack(at, below) / (-2 * change))
    return tuple(x + step * move for x, move in zip(point, direction, strict=True))
