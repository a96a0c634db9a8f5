"""Kinds of infeasibility of matrix inequalities: weak, strong, or only on the boundary."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from perceptron_lab import Budget, ConicSystem, Status, solve
from perceptron_lab.algorithms.interior_point.interior_point import InteriorPoint
from perceptron_lab.core.results import FloatArray, Result
from perceptron_lab.datasets.formats.sdpa import parse_sdpa
from perceptron_lab.numerics.exact_texts import read_exact
from perceptron_lab.solving.driver import drive
from perceptron_lab.solving.infeasibility import classified
from perceptron_lab.systems import algebraic_weights as algebraic
from perceptron_lab.systems.algebraic_weights import (
    AlgebraicWeights,
    _Field,
    algebraic_weights,
)
from perceptron_lab.systems.exact_solutions import null_columns
from perceptron_lab.systems.face_equations import semidefinite_terms
from perceptron_lab.systems.face_weights import refined_bases
from perceptron_lab.systems.pencil import SdpaData, homogenised

# As entries "matrix block row column value" of F(x) = sum x_i F_i - F_0
CASES = {
    "feasible, [[x, 1], [1, x]]": ("1\n1\n2\n0\n0 1 1 2 -1\n1 1 1 1 1\n1 1 2 2 1\n", None),
    "diag(-1, x)": ("1\n1\n2\n0\n0 1 1 1 1\n1 1 2 2 1\n", "strong"),
    "diag(0, x)": ("1\n1\n2\n0\n0 1 1 1 0\n1 1 2 2 1\n", "boundary only"),
    "diag(0, 1000x - 1, 2 - 1000x)": (
        "1\n1\n3\n0\n0 1 2 2 1\n0 1 3 3 -2\n1 1 2 2 1000\n1 1 3 3 -1000\n",
        "boundary only",
    ),
    "[[x, 1], [1, 0]]": ("1\n1\n2\n0\n0 1 1 2 -1\n1 1 1 1 1\n", "weak"),
    "[[x, y], [y, -x]]": ("2\n1\n2\n0 0\n1 1 1 1 1\n1 1 2 2 -1\n2 1 1 2 1\n", "boundary only"),
    # x_33 = 0 makes x_23 = 0, and then -1 is on the diagonal
    "strong by two faces": (
        "2\n1\n3\n0 0\n0 1 2 2 1\n1 1 1 1 1\n2 1 2 3 1\n2 1 1 1 1\n",
        "strong",
    ),
    "weak by two faces": (
        "2\n1\n3\n0 0\n0 1 1 3 -1\n1 1 1 1 1\n2 1 2 2 1\n2 1 1 3 1\n",
        "weak",
    ),
}


def decided(text: str) -> tuple[SdpaData, Result]:
    data = parse_sdpa(text)
    return data, solve(homogenised(data), budget=Budget(seconds=60))


@pytest.mark.parametrize("name", CASES)
def test_the_kind_that_is_proved(name: str) -> None:
    text, kind = CASES[name]
    data, result = decided(text)
    assert result.infeasibility == kind, result
    if kind == "boundary only":
        x = [read_exact(coordinate) for coordinate in result.certificate["boundary_point"]]
        assert semidefinite(data, x)


def semidefinite(data: SdpaData, x: list[Fraction]) -> bool:
    """Return whether F(x) of one block is semidefinite, exactly."""
    order = data.blocks[0]
    matrix = [[Fraction()] * order for _ in range(order)]
    numbers = (a.tolist() for a in (data.matrix, data.row, data.column, data.value))
    for k, i, j, value in zip(*numbers, strict=True):
        matrix[i][j] += Fraction(value) * ([Fraction(-1), *x][k])
        matrix[j][i] = matrix[i][j]
    return semidefinite_terms(matrix, np.eye(order, dtype=int).tolist()) is not None


def ray_of_a_root(polynomial: list[int], congruence: npt.NDArray[Any]) -> list[FloatArray]:
    """Return all integer F_i with v'F v = 0 for v = P (1, a, a^2), p(a) = 0 and p of degree 3.

    In Q(a) v'F v is a combination of 1, a and a^2, whose three coefficients have to be 0.
    """
    c, b, a, _ = polynomial
    powers = np.zeros((5, 3), dtype=int)  # a^k in the basis 1, a, a^2
    powers[0], powers[1], powers[2] = np.eye(3, dtype=int)
    for k in (3, 4):
        carry = powers[k - 1][2]
        powers[k] = [-c * carry, powers[k - 1][0] - b * carry, powers[k - 1][1] - a * carry]
    pairs = [(i, j) for i in range(3) for j in range(i, 3)]
    equations = np.array([(1 + (i != j)) * powers[i + j] for i, j in pairs]).T
    inverse = np.rint(np.linalg.inv(congruence)).astype(int)
    matrices = []
    for column in null_columns(equations.tolist()):
        matrix = np.zeros((3, 3), dtype=int)
        for (i, j), value in zip(pairs, column, strict=True):
            matrix[i, j] = matrix[j, i] = value
        matrices.append((inverse.T @ matrix @ inverse).astype(float))
    return matrices


ROOTS = {"a^3 = 2": [-2, 0, 0, 1], "a^3 = 3": [-3, 0, 0, 1], "a^3 + a = 1": [-1, 1, 0, 1]}
TURNED = np.array([[1, 2, 0], [0, 1, -1], [1, 2, 1]])


@pytest.mark.parametrize("name", ROOTS)
@pytest.mark.parametrize("turn", [np.eye(3, dtype=int), TURNED], ids=["plain", "turned"])
def test_irrational_weights_are_proved_in_a_number_field(name: str, turn: npt.NDArray[Any]) -> None:
    """v'F v = 0 for all F leaves the ray vv': a has two complex conjugates, so no rational sum."""
    system = ConicSystem.from_matrices(np.zeros((3, 3)), ray_of_a_root(ROOTS[name], turn))
    result = solve(system, budget=Budget(seconds=60))
    assert (result.status, result.infeasibility) == (Status.INFEASIBLE, "no strict point"), result
    assert system.prove_infeasible(result.weights) is None  # no rational weights are near
    assert result.certificate["notes"][0].endswith("interior-point")  # nothing slower follows
    stated = re.search(r"in Q\(a\), a the only root of (.*) in \[(.*), (.*)\];", result.message)
    assert stated is not None
    lower, upper = map(Fraction, stated.groups()[1:])
    assert 0 < upper - lower < Fraction(1, 10**29)
    values = [eval(stated[1].replace("^", "**"), {"a": x}) for x in (lower, upper)]
    assert values[0] * values[1] < 0
    # The same field: the other root is a rational function of this one
    (real,) = (x.real for x in np.roots(ROOTS[name][::-1]) if abs(x.imag) < 1e-9)
    weights = system.cone.blocks[-1][0].matrix(
        result.weights[1:] / system.cone.blocks[-1][0].multiplicity
    )
    ray = turn @ np.array([1.0, real, real**2])
    assert np.allclose(weights / weights.max(), np.outer(ray, ray) / np.outer(ray, ray).max())


def test_weights_of_doubles_are_proved_in_no_field() -> None:
    """Data that differ in the 30th digit have no weights near, and nothing is proved of them."""
    pencil = ConicSystem.from_matrices(
        np.zeros((3, 3)), ray_of_a_root(ROOTS["a^3 = 2"], TURNED)
    ).exact_pencil()
    assert pencil is not None
    ray = TURNED @ np.array([1.0, 2 ** (1 / 3), 2 ** (2 / 3)])
    guess = [np.zeros(1), np.outer(ray, ray)]
    assert isinstance(algebraic_weights(pencil, guess), AlgebraicWeights)
    changed = [(*row[:4], tuple(x * 10**30 for x in row[4])) for row in pencil.rows]
    changed[1] = (*changed[1][:4], (changed[1][4][0] + 1, *changed[1][4][1:]))
    assert not isinstance(algebraic_weights(replace(pencil, rows=changed), guess), AlgebraicWeights)


def test_an_alternative_that_is_not_decided_leaves_the_kind_no_point() -> None:
    data, result = decided(CASES["[[x, 1], [1, 0]]"][0])
    entries = classified(
        homogenised(data), result, lambda _: replace(result, status=Status.UPDATE_LIMIT)
    )
    assert entries["infeasibility"] == "no point"
    assert entries["chain"] == result.certificate["chain"]
    assert "sequence" not in entries


def test_strong_weights_come_from_the_alternative() -> None:
    """diag(-1, x) and [[y, 1], [1, 0]]: weights of the second block alone are not on x_0."""
    text = "2\n2\n2 2\n0 0\n0 1 1 1 1\n1 1 2 2 1\n0 2 1 2 -1\n2 2 1 1 1\n"
    data, result = decided(text)
    assert result.infeasibility == "strong"
    weights = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])

    def run(face: ConicSystem) -> Result:
        return drive(face, InteriorPoint())

    entries = classified(homogenised(data), replace(result, weights=weights), run)
    assert entries["infeasibility"] == "strong"
    assert len(entries["chain"]) == 1
    assert entries["chain"][0][0][1][0] > 0


def test_a_field_has_one_root_in_the_interval_and_an_irreducible_polynomial(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = Fraction(math.isqrt(2 << 600), 1 << 300)
    field = _Field.of(root)
    assert field is not None
    assert str(field.modulus) == "x^2 + (-2)"
    assert field.lower < root < field.upper
    for relation in ([1, 0, 1], [-3, 0, 1], [4, 0, -4, 0, 1], [0, -2, 0, 1]):
        found = relation + [0] * 9
        monkeypatch.setattr(
            algebraic, "_relation", lambda powers, found=found: found[: len(powers)]
        )
        assert _Field.of(root) is None


def test_indefinite_weights_and_those_of_other_data_are_not_proved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pencil = ConicSystem.from_matrices(
        np.zeros((3, 3)), ray_of_a_root(ROOTS["a^3 = 2"], TURNED)
    ).exact_pencil()
    assert pencil is not None
    ray = TURNED @ np.array([1.0, 2 ** (1 / 3), 2 ** (2 / 3)])
    guess = [np.zeros(1), np.outer(ray, ray)]
    (bases,) = list(refined_bases(pencil, guess))[:1]
    monkeypatch.setattr(algebraic, "refined_bases", lambda *_: iter([bases]))
    assert isinstance(algebraic_weights(pencil, guess), AlgebraicWeights)
    (entry, *rest) = pencil.rows[1][4]
    other = [pencil.rows[0], (*pencil.rows[1][:4], (entry + 1, *rest)), *pencil.rows[2:]]
    assert not isinstance(algebraic_weights(replace(pencil, rows=other), guess), AlgebraicWeights)
    negative = [replace(basis, core=-basis.core) for basis in bases]
    monkeypatch.setattr(algebraic, "refined_bases", lambda *_: iter([negative]))
    assert not isinstance(algebraic_weights(pencil, guess), AlgebraicWeights)
