"""Claims that are true, and false by one unit in the last place of a bound, a weight or a point."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np
import pytest

from perceptron_lab.exact.checker import checker
from perceptron_lab.exact.readings import Reading, of_rows, of_squares
from tests.repetitions import parts

Claim = dict[str, Any]
# A system, a claim that is true, and one that is false by one unit
Made = tuple[Any, Claim, Claim]
PROGRAM = {"form": "sdpa", "question": "feasibility"}


def accepts(system: Any, claim: Claim) -> bool:
    try:
        checker().check_claim(system, claim)
    except (checker().Refuted, ValueError):
        return False
    return True


def products(rng: random.Random) -> Any:
    """Return the system of features c / 32 (3, 4) and c / 32 (4, 3), by their products; c odd."""
    scale = 2 * rng.randrange(2**20) + 1
    reading = of_rows(np.array([[25.0, 24.0], [24.0, 25.0]]) * scale**2 / 1024.0)
    assert reading.system().scale == 2**10
    return Reading({"form": "gram"}, reading.content).system(), scale


def ratio(rng: random.Random) -> tuple[Any, int, int]:
    """Return a, -a inside and b, -b outside, b > a: t is b^2 / a^2 - 1."""
    a, more = rng.randrange(1, 2**25), rng.randrange(1, 2**20)
    inside, outside = np.array([[a], [-a]]), np.array([[a + more], [-a - more]])
    return of_squares(inside.astype(float), outside.astype(float)).system(), a, a + more


def margin_of_products_below(rng: random.Random) -> Made:
    system, scale = products(rng)
    q = 2 ** rng.randrange(53, 200)
    margin = ("unit", "directional")[rng.randrange(2)]
    p = 24 * q // 25 if margin == "unit" else 24 * scale * q // (5 * 32)
    claim = {"claim": "margin at least", "margin": margin, "point": [7, 0], "factors": []}
    return system, claim | {"bound": [p, q]}, claim | {"bound": [p + 1, q]}


def margin_of_products_above(rng: random.Random) -> Made:
    # norm(psi_1 + psi_2) / 2 = c sqrt(98) / 64, an irrational number
    system, scale = products(rng)
    q = 2 ** rng.randrange(53, 200)
    p = isqrt(98 * scale**2 * q**2 // (4 * 1024)) + 1
    claim = {"claim": "margin at most", "margin": "directional", "weights": [[[0, 1], [5, 5]]]}
    return system, claim | {"bound": [p, q]}, claim | {"bound": [p - 1, q]}


def ratio_below(rng: random.Random) -> Made:
    system, a, b = ratio(rng)
    q = 2 ** rng.randrange(53, 200)
    p = (b * b - a * a) * q // (a * a)
    form = {"point": [1, 0, 0], "factor": [0, [[0], [1]], [[0], [1]]]}
    claim = {"claim": "ratio at least"} | form
    return system, claim | {"bound": [p, q]}, claim | {"bound": [p + 1, q]}


def ratio_above(rng: random.Random) -> Made:
    system, a, b = ratio(rng)
    q = 2 ** rng.randrange(53, 200)
    p = -((a * a - b * b) * q // (a * a))  # rounded up
    weights = [[[0, 1], [b * b, b * b]], [[0, 1], [a * a, a * a]]]
    claim = {"claim": "ratio at most", "weights": weights, "factor": [0]}
    return system, claim | {"bound": [p, q]}, claim | {"bound": [p - 1, q]}


def singular_form(rng: random.Random) -> Made:
    # E = (1, c; c, c^2) is on the boundary: (1, c; c, c^2 - 1) is outside
    a, c = rng.randrange(2, 2**20), rng.randrange(1, 2**20)
    system = of_squares(np.array([[-float(c)]]), np.array([[float(a)]])).system()
    factor = [0, *[[[0, 1], [1, c]]] * 2]
    claim = {"claim": "ratio at least", "bound": [10**9, 1], "factor": factor}
    return system, claim | {"point": [1, 2 * c, c * c]}, claim | {"point": [1, 2 * c, c * c - 1]}


def sign_excluded(rng: random.Random) -> Made:
    k, n = rng.randrange(1, 2**40), rng.randrange(1, 2**60)
    system = of_rows(np.array([[1.0, float(k)], [0.0, -float(k)]])).system()
    claim = {"claim": "sign excluded", "column": 0, "sign": -1}
    return (
        system,
        claim | {"weights": [[[0, 1], [n, n]]]},
        claim | {"weights": [[[0, 1], [n, n + 1]]]},
    )


def sign_occurs(rng: random.Random) -> Made:
    k = rng.randrange(1, 2**40)
    system = of_rows(np.array([[1.0, -float(k)]])).system()
    claim = {"claim": "sign occurs", "column": 1, "sign": 1}
    n = rng.randrange(1, 2**60)
    false = [k * n - 1, n] if rng.random() < 0.5 else [n, 0]
    return system, claim | {"point": [k * n, n]}, claim | {"point": false}


def conditions(rng: random.Random) -> tuple[Any, int]:
    """Return x >= b and -x >= -b."""
    b = rng.randrange(1, 2**60)
    text = f"1\n1\n-2\n0\n0 1 1 1 {b}\n1 1 1 1 1\n0 1 2 2 {-b}\n1 1 2 2 -1\n"
    return Reading(PROGRAM, text.encode()).system(), b


def closed_point(rng: random.Random) -> Made:
    system, b = conditions(rng)
    q = rng.randrange(1, 2**60)
    claim = {"claim": "closed feasible", "factors": []}
    false = [q, b * q + rng.choice((-1, 1))]
    return system, claim | {"point": [q, b * q]}, claim | {"point": false}


def strict_point(rng: random.Random) -> Made:
    system, b = conditions(rng)
    q = rng.randrange(1, 2**60)
    claim = {"claim": "feasible", "point": [q, b * q], "factors": []}
    return system, claim | {"claim": "closed feasible"}, claim


def contradiction(rng: random.Random) -> Made:
    # x >= b + 1 and -x >= -b: the sum is 0 >= 1
    b, n = rng.randrange(1, 2**60), rng.randrange(1, 2**40)
    text = f"1\n1\n-2\n0\n0 1 1 1 {b + 1}\n1 1 1 1 1\n0 1 2 2 {-b}\n1 1 2 2 -1\n"
    system = Reading(PROGRAM, text.encode()).system()
    claim = {"claim": "closed infeasible"}
    rows = [[0, 1], [n, n]]
    true = claim | {"weights": [[[0], [n]], rows]}
    return system, true, claim | {"weights": [[[0], [n + rng.choice((-1, 1))]], rows]}


CASES: list[Callable[[random.Random], Made]] = [
    margin_of_products_below,
    margin_of_products_above,
    ratio_below,
    ratio_above,
    singular_form,
    sign_excluded,
    sign_occurs,
    closed_point,
    strict_point,
    contradiction,
]


@pytest.mark.parametrize("seeds", parts(1000, kept=20))
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_claims_wrong_by_one_unit_are_refused(
    case: Callable[[random.Random], Made], seeds: range
) -> None:
    for seed in seeds:
        system, true, false = case(random.Random(seed))
        assert accepts(system, true), seed
        assert not accepts(system, false), seed


def test_an_unbounded_ratio_needs_a_form_that_is_zero_inside() -> None:
    system = of_squares(np.array([[1.0, 2.0], [3.0, 2.0]]), np.array([[1.0, 3.0]])).system()
    # x_2 - 2: 0 inside, 1 outside
    form = {"point": [0, 0, 0, 1, -4, 4], "factor": [0, *[[[1, 2], [1, -2]]] * 2]}
    claim = {"claim": "ratio at least", "bound": [1, 0]}
    assert accepts(system, claim | form)
    assert not accepts(system, claim | form | {"bound": [0, 0]})
    assert not accepts(system, claim | form | {"bound": [-1, 0]})
    other = of_squares(np.array([[1.0, 2.0], [3.0, 2.5]]), np.array([[1.0, 3.0]])).system()
    assert not accepts(other, claim | form)


def test_a_closed_program_has_no_point_without_x_0() -> None:
    system = Reading(PROGRAM, b"1\n1\n-1\n0\n0 1 1 1 5\n1 1 1 1 1\n").system()  # x >= 5
    claim = {"claim": "closed feasible", "factors": []}
    assert accepts(system, claim | {"point": [1, 5]})
    assert not accepts(system, claim | {"point": [0, 1]})


def test_claims_are_about_the_data_that_they_need() -> None:
    rows = of_rows(np.array([[2.0, 1.0], [1.0, 2.0]]))
    plain, squares = rows.system(), of_squares(np.array([[1.0]]), np.array([[3.0]])).system()
    point = {"claim": "feasible", "point": [1, 1], "factors": []}
    assert accepts(plain, point)
    assert not accepts(squares, point | {"point": [1, 0, 0]})
    form = {"claim": "ratio at least", "point": [1, 0, 0], "factor": [0, *[[[0], [1]]] * 2]}
    assert accepts(squares, form | {"bound": [8, 1]})
    assert not accepts(plain, form | {"bound": [8, 1], "point": [1, 0]})
    gram = Reading({"form": "gram"}, rows.content).system()
    least = {"claim": "margin at least", "margin": "geometric", "bound": [0, 1], "factors": []}
    with pytest.raises(ValueError, match="no such claim"):
        checker().check_claim(gram, least | {"point": [1, 1]})
    wide = of_rows(np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0]]))
    with pytest.raises(ValueError, match="all with all"):
        Reading({"form": "gram"}, wide.content).system()
