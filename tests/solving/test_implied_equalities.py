"""Rows that hold only as equations, together with a cone: closed rows, strict cones."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import cvxpy
import numpy as np
import pytest
from scipy.linalg import block_diag

from perceptron_lab import ConicSystem, Status, certify, solve, verify
from perceptron_lab.cli.main import main
from perceptron_lab.core.results import Result
from perceptron_lab.datasets.formats.sdpa import parse_sdpa
from perceptron_lab.exact.checker import compiled_checker
from perceptron_lab.numerics.exact_texts import read_exact
from perceptron_lab.solving import implied_equalities as module
from perceptron_lab.solving.implied_equalities import implied_equalities
from perceptron_lab.systems.elimination import with_equations
from perceptron_lab.systems.pencil import homogenised
from tests.repetitions import thinned

Rows = list[tuple[list[float], float]]
# x_1 = x_2 = x_3 by a chain; x_1 = x_2 = 1/2, and x = (1/2, 1/2, 1/2), by several rows together
CHAIN: Rows = [([-1, 1, 0], 0), ([0, -1, 1], 0), ([1, 0, -1], 0), ([4, 0, 0], 1)]
SUM: Rows = [([-1, -1, 0], -1), ([2, 0, 0], 1), ([0, 2, 0], 1), ([0, 0, 1], -9)]
PAIRS: Rows = [([1, 1, 0], 1), ([0, 1, 1], 1), ([1, 0, 1], 1), ([-2, -2, -2], -3)]
ONE: Rows = [([1, 0, 0], 1), ([-1, 0, 0], -1)]
POINT: Rows = [
    (sign * row, sign * b)
    for row, b in zip(np.eye(3), (1.0, 2.0, 2.0), strict=True)
    for sign in (1, -1)
]
FAR = [([0.0, 1.0, 0.0], -7.0), ([0.0, 0.0, -1.0], -8.0)]
SHIFT = 2.0**-30
# Rows a'x >= b, the radius of the ball, rows that hold as equations, and the answer
CASES: dict[str, tuple[Rows, float, int, str | None]] = {
    "x_1 = 1 in the ball": (ONE + FAR, 2, 2, None),
    "x_1 = 1 at its boundary": (ONE, 1, 2, "boundary only"),
    "x_1 = 1 outside": (ONE + FAR, 0.5, 2, "strong"),
    "x_1 = 1/3": ([([3, 0, 0], 1), ([-3, 0, 0], -1), *FAR], 1, 2, None),
    "rows of other sizes": ([([1e6, 0, 0], 1e6), ([-0.125, 0, 0], -0.125)], 2, 2, None),
    "a chain": (CHAIN, 1, 3, None),
    "a chain outside": (CHAIN, 0.4, 3, "strong"),
    "a sum": (SUM, 1, 3, None),
    "a sum outside": (SUM, 0.7, 3, "strong"),
    "sums of pairs": (PAIRS + FAR, 1, 4, None),
    "sums of pairs outside": (PAIRS, 0.8, 4, "strong"),
    "one point": (POINT, 3.5, 6, None),
    "one point at the boundary": (POINT, 3, 6, "boundary only"),
    "one point outside": (POINT, 2.5, 6, "strong"),
    "a chain and x_1 = 1": (CHAIN + ONE, 2, 5, None),
    "a chain and x_1 = 1 outside": (CHAIN + ONE, 1.5, 5, "strong"),
    "a row twice": ([([1, 0, 0], 0), ([1, 0, 0], 0), ([-1, 0, 0], 0), *FAR], 1, 3, None),
    "a row of zeros": ([([0, 0, 0], 0), ([1, 0, 0], 0)], 1, 1, None),
    "nearly an equation": ([([1, 0, 0], 1), ([-1, 0, 0], -1 - SHIFT)], 2, 0, None),
    "a contradiction of rows": ([([1, 0, 0], 1), ([-1, 0, 0], SHIFT - 1)], 2, 0, "strong"),
}
LONG = pytest.mark.long


def text_of(rows: Rows, radius: float) -> str:
    """Return the rows as a diagonal block, and norm(x) <= radius as an arrow matrix."""
    lines = ["3", "2", f"-{len(rows)} 4", "0 0 0"]
    for i, (a, b) in enumerate(rows, start=1):
        lines += [f"{j} 1 {i} {i} {value!r}" for j, value in enumerate([b, *a]) if value]
    lines += [f"0 2 {i} {i} {-radius!r}" for i in range(1, 5)]
    return "\n".join([*lines, *(f"{j} 2 {j} 4 1" for j in (1, 2, 3)), ""]).replace("np.float64", "")


def system_of(name: str) -> ConicSystem:
    return homogenised(parse_sdpa(text_of(*CASES[name][:2])))


def cvxpy_of(rows: Rows, radius: float) -> tuple[cvxpy.Problem, cvxpy.Variable]:
    x = cvxpy.Variable(3, name="x")
    matrix = radius * np.eye(4) + sum(
        x[j] * (np.outer(np.eye(4)[j], np.eye(4)[3]) + np.outer(np.eye(4)[3], np.eye(4)[j]))
        for j in range(3)
    )
    conditions = [np.array(a, dtype=float) @ x >= b for a, b in rows]
    return cvxpy.Problem(cvxpy.Minimize(0), [*conditions, matrix >> 0]), x


def require_point(rows: Rows, radius: float, x: list[Fraction]) -> None:
    """Check the rows exactly, and the ball strictly."""
    for a, b in rows:
        assert sum(Fraction(float(p)) * q for p, q in zip(a, x, strict=True)) >= Fraction(float(b))
    assert sum(q * q for q in x) < Fraction(radius) ** 2


def exact_x(result: Result) -> list[Fraction]:
    if "x" in result.certificate:
        return [read_exact(entry) for entry in result.certificate["x"]]
    return [Fraction(entry) / Fraction(result.point[0]) for entry in result.point[1:].tolist()]


@pytest.mark.parametrize("name", thinned(CASES, step=3))
def test_rows_are_closed_and_cones_strict(name: str) -> None:
    rows, radius, count, kind = CASES[name]
    system = homogenised(parse_sdpa(text_of(rows, radius)))
    implied = implied_equalities(system)
    assert count == (0 if implied is None else len(implied.rows))
    result = solve(system)
    assert result.infeasibility == kind, result
    assert result.status is (Status.FEASIBLE if kind is None else Status.INFEASIBLE)
    if kind is None:
        require_point(rows, radius, exact_x(result))


@pytest.mark.parametrize(
    "name", ["a sum", "a sum outside", *(pytest.param(name, marks=LONG) for name in CASES)]
)
def test_cvxpy_problems_have_the_same_answers(name: str) -> None:
    rows, radius, _, kind = CASES[name]
    problem, x = cvxpy_of([row for row in rows if any(row[0])], radius)
    result = solve(problem)
    assert result.infeasibility == kind, result
    if kind is None:
        assert np.linalg.norm(x.value) < radius


def test_rows_of_very_different_sizes_are_decided_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the doubles miss all equations, an undecided run looks for them in exact numbers."""
    monkeypatch.setattr(module, "_vanishing", lambda data: np.zeros(0, dtype=np.int64))
    rows, radius, _, _ = CASES["a sum"]
    result = solve(homogenised(parse_sdpa(text_of(rows, radius))))
    assert result.status is Status.FEASIBLE
    require_point(rows, radius, exact_x(result))


def test_rows_of_a_definite_matrix_have_to_be_positive() -> None:
    """Matrices of order 1 are the same numbers, and another question."""
    ball = 2.0 * np.eye(4)
    arrows = [np.outer(np.eye(4)[j], np.eye(4)[3]) for j in range(3)]
    constant = -block_diag(-1.0, 1.0, ball)
    matrices = [block_diag(float(j == 0), -float(j == 0), a + a.T) for j, a in enumerate(arrows)]
    assert solve(ConicSystem.from_matrices(constant, matrices)).infeasibility == "boundary only"


def test_weights_of_rows_alone_do_not_decide() -> None:
    rows, radius, _, _ = CASES["x_1 = 1 in the ball"]
    system = homogenised(parse_sdpa(text_of(rows, radius)))
    weights = np.zeros(system.cone.size)
    weights[1:3] = 1.0
    assert not system.combine(weights).any()
    assert 0.0 < (system.prove_weights(weights) or 0.0) < 1e-300
    assert system.prove_infeasible(weights) is None
    assert replace(system, closed_rows=False).prove_weights(weights) == 0.0


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The answer of a file, saved by the command line."""
    folder = tmp_path_factory.mktemp("implied")
    (folder / "p.dat-s").write_text(text_of(*CASES["x_1 = 1/3"][:2]))
    saved = str(folder / "answer.npz")
    assert main(["solve", str(folder / "p.dat-s"), "-q", "--save", saved]) == 0
    return folder


def test_answers_are_verified_and_certified(answered: Path) -> None:
    (cell,) = verify(answered / "answer.npz").cells
    assert cell.verdict == "PROVED", cell
    (certified,) = certify(answered / "answer.npz", answered).cells
    assert certified.claims == ("closed feasible",), certified
    assert certified.path is not None
    ((words, reason),) = compiled_checker().check(certified.path)
    assert not reason
    assert "semidefinite, matrix blocks definite" in words


def test_equations_that_rows_do_not_imply_refute_no_system(answered: Path) -> None:
    """x_2 = -7 in place of x_2 >= -7 leaves the ball."""
    wrong = with_equations(system_of("x_1 = 1/3"), [3])
    assert wrong is not None
    refuted = solve(wrong)
    assert refuted.status is Status.INFEASIBLE
    forged = replace(
        Result.load(answered / "answer.npz"),
        status=Status.INFEASIBLE,
        weights=refuted.weights,
        certificate=refuted.certificate | {"implied_equalities": [3]},
    )
    forged.save(answered / "forged.npz")
    (cell,) = verify(answered / "forged.npz", data=answered / "p.dat-s").cells
    assert "do not prove" in cell.message or "of shape" in cell.message, cell


def test_only_rows_that_may_be_zero_become_equations() -> None:
    system = system_of("x_1 = 1/3")
    assert with_equations(system, [1, 2]) is not None
    for numbers in ([0], [5], [99]):
        assert with_equations(system, numbers) is None
    assert with_equations(replace(system, closed_rows=False), [1, 2]) is None
