"""Kernels are proved with the errors of their values, on matrices that are semidefinite."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.certificates.matrices.definite import (
    exactly_semidefinite,
    lowest_eigenvalue_bound,
    semidefinite,
)
from perceptron_lab.cones.operators.kernels import Kernel, Linear, Polynomial, Rbf, kernel_matrix
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, Status
from tests.certificates.kernel_values import true_value
from tests.cones.oracles.exact import Kind, exact, kind
from tests.conformance.rational_judge import has_solution, rationals

RNG = np.random.default_rng
KERNELS: dict[str, Kernel] = {
    "linear": Linear(),
    "square": Polynomial(degree=2, coef0=0.0, gamma=0.3),
    "degree 7": Polynomial(degree=7, coef0=0.25),
    "rbf": Rbf(),
    "narrow rbf": Rbf(gamma=50.0),
}


def drawn(rng: np.random.Generator) -> FloatArray:
    """Examples with inner products that cancel, of lengths 1e-3 to 1e3."""
    examples = rng.standard_normal((6, 3)) * 10.0 ** rng.integers(-3, 4, (6, 1))
    examples[1, 2] = -(examples[0, :2] @ examples[1, :2]) / examples[0, 2]
    return examples


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("roundings", [0, 1])
def test_the_kernel_values_lie_within_the_stated_radius(name: str, roundings: int) -> None:
    largest = 0.0
    for seed in range(12):
        rng, kernel = RNG(seed), KERNELS[name]
        examples = drawn(rng)
        matrix = kernel_matrix(kernel, examples, roundings)
        assert 0.0 < matrix.spread < 1e-9
        shifted = Fraction(roundings * (2**20 - 1), 2**20) / 2**53
        meant = [
            [a * (1 + shifted * int(way)) for a, way in zip(rationals(row), ways, strict=True)]
            for row, ways in zip(examples, rng.choice([-1, 1], examples.shape), strict=True)
        ]
        for i in range(6):
            for j in range(6):
                off = abs(
                    Fraction(float(matrix.values[i, j])) - true_value(kernel, meant[i], meant[j])
                )
                square = Fraction(float(matrix.values[i, i])) * Fraction(float(matrix.values[j, j]))
                assert off * off <= Fraction(matrix.spread) ** 2 * square
                largest = max(largest, float(off * off / square) ** 0.5 / matrix.spread)
    assert largest > 0.02  # not much more than needed


def test_small_integers_have_exact_inner_products() -> None:
    rng = RNG(0)
    for examples in (
        rng.integers(-9, 10, (8, 3)) / 4.0,
        rng.integers(1, 2**20, (5, 60)) * 2.0**-300,
    ):
        matrix = kernel_matrix(Linear(), np.asarray(examples, dtype=float) + 2.0**-290 * 0)
        assert matrix.spread == 0.0
    assert kernel_matrix(Linear(), np.array([[2.0**27 + 1, 1.0]])).spread > 0.0
    assert kernel_matrix(Linear(), np.array([[1.0, 2.0**-40]])).spread > 0.0
    assert kernel_matrix(Linear(), np.eye(2), roundings=1).spread > 0.0


@pytest.mark.parametrize("degree", range(1, 12))
def test_powers_are_those_of_multiplications(degree: int) -> None:
    base = RNG(degree).uniform(0.5, 2.0, (3, 3))
    values = Polynomial(degree=degree, coef0=0.0, gamma=1.0).matrix(base, np.eye(3))
    assert values == pytest.approx(base**degree, rel=1e-14)


def test_rows_that_are_infeasible_are_not_feasible_with_a_linear_kernel() -> None:
    """One unknown: 0.3 and 1.6 as two classes; the stored matrix has rank two."""
    answers: Counter[Status] = Counter()
    for seed in range(25):
        rng = RNG(seed)
        examples = rng.integers(1, 40, (int(rng.integers(2, 5)), 1)) / 10.0
        labels = np.where(np.arange(len(examples)) % 2, 1, -1)
        system = ConicSystem.from_kernel(Linear(), examples, labels)
        result = solve(system, "perceptron", budget=Budget(updates=200))
        pairs = zip(examples, labels, strict=True)
        rows = [[int(label) * a for a in rationals(x)] for x, label in pairs]
        assert not has_solution(rows)
        assert result.status is not Status.FEASIBLE
        assert result.margin_lower is None or result.margin_lower <= 0.0
        answers[result.status] += 1
    assert answers


def test_identical_examples_of_both_classes_are_inseparable_for_every_kernel() -> None:
    examples = np.array([[0.1, 0.7], [0.3, 0.2], [0.1, 0.7]])
    for kernel in KERNELS.values():
        system = ConicSystem.from_kernel(kernel, examples, [1, 1, 0])
        result = solve(system, "perceptron")
        assert (result.status, result.margin_upper) == (Status.INFEASIBLE, 0.0)
        assert "enclosed" in result.certificate["data"]
        assert system.prove_weights(np.array([1.0, 1.0, 1.0])) != 0.0
    rounded = np.array([[Fraction(1, 3)], [Fraction(1, 7)], [Fraction(1, 3)]], dtype=object)
    system = ConicSystem.from_kernel(Rbf(), rounded, [1, 1, 0])
    assert solve(system, "perceptron", budget=Budget(updates=50)).status is not Status.INFEASIBLE


# --- matrices given for a kernel -----------------------------------------------------------------

ALMOST = np.array([[1.0, 1.0 + 1e-11], [1.0 + 1e-11, 1.0]])
"""Indefinite by 1e-11: the margin of its two examples in two classes is no number."""


@pytest.mark.parametrize("algorithm", ["auto", "perceptron", "minimum-norm-point", "mirror-prox"])
def test_bounds_of_an_indefinite_matrix_do_not_contradict_each_other(algorithm: str) -> None:
    system = ConicSystem.from_kernel("precomputed", ALMOST, [1, -1])
    assert "its diagonal raised by" in system.provenance
    result = solve(system, algorithm, budget=Budget(updates=2000))
    assert "its diagonal raised by" in result.certificate["data"]
    lower, upper = result.margin_lower, result.margin_upper
    assert lower is None or lower < 2e-5
    assert upper is None or upper > 1e-7
    assert lower is None or upper is None or lower <= upper


def test_matrices_are_proved_semidefinite_or_raised_until_they_are() -> None:
    counts: Counter[str] = Counter()
    for seed in range(60):
        rng = RNG(seed)
        features = rng.standard_normal((int(rng.integers(2, 50)), int(rng.integers(1, 8))))
        features *= 10.0 ** rng.integers(-8, 9, (len(features), 1))
        matrix = features @ features.T
        matrix = (matrix + matrix.T) / 2.0
        enclosed, part = semidefinite(matrix)
        scaling = 1.0 / np.sqrt(enclosed.diagonal())
        assert np.linalg.eigvalsh(enclosed * np.outer(scaling, scaling))[0] > -1e-14
        assert (part == 0.0) == np.array_equal(enclosed, matrix)
        assert np.array_equal(
            enclosed - np.diag(enclosed.diagonal()), matrix - np.diag(matrix.diagonal())
        )
        assert (enclosed.diagonal() >= matrix.diagonal()).all()
        assert part < 1e-10
        counts["raised" if part else "as given"] += 1
    assert min(counts["raised"], counts["as given"]) > 5


def test_singular_matrices_of_integers_are_semidefinite_as_they_are() -> None:
    for seed in range(60):
        rng = RNG(seed)
        features = rng.integers(-9, 10, (int(rng.integers(2, 12)), 3)) * 2.0 ** rng.integers(-9, 9)
        features = features[features.any(axis=1)].astype(float)
        matrix = features @ features.T
        assert exactly_semidefinite(matrix)
        assert semidefinite(matrix) == (pytest.approx(matrix, abs=0.0), 0.0)
        off = matrix.copy()
        index = int(rng.integers(len(matrix)))
        off[index, index] = np.nextafter(off[index, index], rng.choice([-np.inf, np.inf]))
        definite = kind(exact(off)) is not Kind.INDEFINITE
        assert exactly_semidefinite(off) == definite
    assert not exactly_semidefinite(np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert exactly_semidefinite(np.zeros((2, 2)))


def test_indefinite_matrices_are_refused() -> None:
    with pytest.raises(InputError, match="not positive semidefinite"):
        semidefinite(np.array([[1.0, 1.0 + 1e-8], [1.0 + 1e-8, 1.0]]))
    wide = np.array([[1e300, 1e-300], [1e-300, 1e-308]])
    assert semidefinite(wide)[1] == 0.0


def test_kernels_of_users_are_exact_as_computed() -> None:
    class Own:
        def matrix(self, left: FloatArray, right: FloatArray) -> FloatArray:
            return np.asarray(1.0 + left @ right.T)

    system = ConicSystem.from_kernel(Own(), np.array([[0.1], [0.7], [0.4]]), [1, 0, 1])
    assert system.provenance.startswith("kernel matrix")
    with pytest.raises(InputError, match="no double is equal to"):
        ConicSystem.from_kernel("precomputed", np.eye(2, dtype=np.longdouble) / 3, [1, 0])


def test_the_eigenvalue_bound_is_computed_for_the_matrix_in_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[Any] = []
    monkeypatch.setattr(
        "perceptron_lab.certificates.matrices.definite.lowest_eigenvalue_bound",
        lambda matrix: (calls.append(matrix.copy()), lowest_eigenvalue_bound(matrix))[1],
    )
    enclosed, part = semidefinite(ALMOST)
    assert part > 0.0
    assert np.array_equal(calls[-1], enclosed)
