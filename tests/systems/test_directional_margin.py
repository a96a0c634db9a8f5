"""Rows as given, augmented: their directional margin, its proofs and facts, and (2.67)."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.margins.fixed_margin_perceptron import RelaxationWithMargin
from perceptron_lab.certificates.contract import PointProof
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.row_source import ArrayRows
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.systems.constructors import geometric_bracket
from tests.conformance.systems import ALGORITHMS
from tests.families import exact_margin, planted
from tests.repetitions import repeated, thinned

SEEDS = range(20)


def fractions(values: Any) -> list[Fraction]:
    return [Fraction(value) for value in values]


def dot(left: list[Fraction], right: list[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction())


def assert_margin(proof: PointProof, rows: list[list[Fraction]], point: FloatArray) -> None:
    """The proved margin is min_i a_i'y / norm(y) of these rows, or a little less."""
    exact = fractions(point)
    least, length = min(dot(row, exact) for row in rows), dot(exact, exact)
    assert least > 0
    assert proof.feasible
    assert Fraction(proof.margin_lower) ** 2 * length <= least**2
    assert (Fraction(proof.margin_lower) * (1 + Fraction(1, 10**12))) ** 2 * length >= least**2


def assert_upper(bound: float | None, rows: list[list[Fraction]], weights: FloatArray) -> None:
    """The proved bound is norm(A w) / sum w of these rows, or a little more."""
    assert bound is not None
    exact = fractions(weights)
    columns = [dot(exact, list(column)) for column in zip(*rows, strict=True)]
    square, mass = dot(columns, columns), sum(exact)
    assert Fraction(bound) ** 2 * mass**2 >= square
    assert Fraction(bound) ** 2 * mass**2 <= square * (1 + Fraction(1, 10**11))


def lengths(seed: int) -> tuple[FloatArray, FloatArray]:
    """Rows of lengths 0.01 to 100, and the centre of the directions."""
    rng = np.random.default_rng(seed)
    unit, centre = planted(4, 15, 0.05, rng)
    return unit * 10.0 ** rng.uniform(-2, 2, (15, 1)), centre


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, ArrayRows])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_proofs_are_those_of_the_rows_as_given(seed: int, form: Any) -> None:
    rows, centre = lengths(seed)
    system = ConicSystem.from_rows(form(rows), margin="directional")
    exact = [fractions(row) for row in rows]
    assert_margin(system.prove_point(centre), exact, centre)
    weights = np.random.default_rng(seed).uniform(0, 1, 15)
    assert_upper(system.prove_weights(weights), exact, weights)
    assert system.scores(centre) == pytest.approx(rows @ centre)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_facts_are_those_of_the_rows_as_given(seed: int) -> None:
    rows = lengths(seed)[0]
    margin, _ = exact_margin(rows)
    facts = ConicSystem.from_rows(rows, margin="directional").facts(margin)
    norms = np.linalg.norm(rows, axis=1)
    assert not facts.unit_rows
    assert facts.margin == facts.raw_margin == margin
    assert facts.unit_margin == pytest.approx(margin / norms.max())
    assert facts.unit_margin <= exact_margin(rows / norms[:, None])[0]
    assert facts.norm == facts.atom_norm == pytest.approx(norms.max())
    assert facts.shortest == facts.shortest_cut == pytest.approx(norms.min())
    unit = ConicSystem.from_rows(rows).facts(0.05)
    assert (unit.margin, unit.atom_norm, unit.shortest_cut) == (0.05, 1.0, 1.0)
    assert unit.shortest == facts.shortest


@pytest.mark.parametrize("algorithm", ["perceptron", "cyclic-perceptron", "minimum-norm-point"])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_runs_end_within_bounds_and_brackets_of_the_directional_margin(
    seed: int, algorithm: str
) -> None:
    rows = lengths(seed)[0]
    margin, _ = exact_margin(rows)
    result = solve(ConicSystem.from_rows(rows, margin="directional"), algorithm)
    assert result.status is Status.FEASIBLE
    assert result.margin_lower is not None
    assert result.margin_upper is not None
    assert 0.0 < result.margin_lower <= margin * (1 + 1e-9)
    assert result.margin_upper >= margin * (1 - 1e-9)
    if algorithm == "minimum-norm-point":
        assert result.margin_upper <= margin * (1 + 1e-6)


def test_a_row_of_zeros_leaves_bounds_in_terms_of_the_least_norm_without_a_value() -> None:
    rows = ConicSystem(Matrix(np.array([[1.0, 1.0], [0.0, 0.0]])), Orthant(2))
    facts = rows.facts(0.1)
    assert facts.shortest is None
    assert RelaxationWithMargin().bound(facts).value is None
    assert ConicSystem.second_order([[0.0], [1.0]], [2]).facts(0.1).shortest is None


@pytest.mark.parametrize("algorithm", thinned(ALGORITHMS, step=3))
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_every_algorithm_has_a_bracket_of_it(seed: int, algorithm: str) -> None:
    rows = planted(5, 40, 0.1, np.random.default_rng(seed))[0]
    rows = rows * np.random.default_rng(seed).uniform(0.2, 5, 40)[:, None]
    margin, _ = exact_margin(rows)
    system = ConicSystem.from_rows(rows, margin="directional")
    result = solve(system, algorithm, budget=Budget(updates=5000))
    assert result.margin_lower is not None
    assert result.margin_upper is not None
    assert result.margin_lower <= margin * (1 + 1e-9)
    assert result.margin_upper >= margin * (1 - 1e-9)
    assert result.bound.value is None or result.updates <= result.bound.value


@pytest.mark.parametrize("algorithm", ["perceptron", "cyclic-perceptron"])
def test_single_precision_is_swept_in_double(algorithm: str) -> None:
    rows = lengths(0)[0].astype(np.float32)
    results = [
        solve(ConicSystem.from_rows(data, margin="directional"), algorithm)
        for data in (rows, rows.astype(np.float64))
    ]
    assert np.array_equal(results[0].point, results[1].point)


def test_numbers_that_no_double_is_equal_to_are_enclosed() -> None:
    """The margin is that of the tenths, not of whole numbers in their place."""
    decimals = [[Decimal("0.3"), Decimal("0.1")], [Decimal("0.1"), Decimal("0.7")]]
    point, weights = np.array([0.75, 0.5]), np.array([0.625, 0.25])
    exact = [fractions(row) for row in decimals]
    system = ConicSystem.from_rows(decimals, margin="directional")
    assert_margin(system.prove_point(point), exact, point)
    assert_upper(system.prove_weights(weights), exact, weights)
    assert system.facts().norm == pytest.approx(0.5**0.5)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, ArrayRows])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("augment", [1.0, 0.1, 2.0**30])
def test_augmented_examples(form: Any, precision: type, augment: float) -> None:
    """s_i (x_i, rho), with rho as given: single precision, which rounds 0.1, becomes double."""
    examples = np.array([[1.5, 2.0], [0.25, -1.0], [-3.0, 0.5]], precision)
    signs = np.array([1.0, -1.0, 1.0])
    expected = np.column_stack([examples, np.full(3, augment)]) * signs[:, None]
    for margin in ("unit", "directional"):
        options: dict[str, Any] = {"augment": augment, "margin": margin}
        system = ConicSystem.from_labelled(form(examples), signs, **options)
        assert isinstance(system.operator, Matrix)
        assert np.array_equal(system.operator.unscaled().rows(np.arange(3)), expected)
        single = precision is np.float32 and augment != 0.1
        assert system.operator.stored.dtype == (np.float32 if single else np.float64)


def test_whole_numbers_in_place_of_fractions_are_multiplied_as_their_constant_is() -> None:
    examples = [[Decimal("0.1")], [Decimal("0.3")]]
    point = np.array([1.0, -0.5])
    for augment, exact in ((0.5, True), (0.1, False)):  # 10 * 0.1 is no whole number, exactly
        system = ConicSystem.from_labelled(examples, [0, 1], augment=augment)
        constant = Fraction(augment)
        rows = [[-Fraction("0.1"), -constant], [Fraction("0.3"), constant]]
        scores = [dot(row, fractions(point)) for row in rows]
        proof = system.prove_point(point)
        assert proof.feasible == (min(scores) > 0)
        assert (system.provenance == "exact") == exact


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": "wide"}, "margin 'wide'; give 'unit', 'directional' or 'geometric'"),
        ({"augment": 0.0}, "augment=0.0; give a finite number above 0"),
        ({"augment": float("inf")}, "give a finite number above 0"),
        ({"augment": 2.0, "affine": False}, "without a constant feature; leave one of them out"),
    ],
)
def test_impossible_choices_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ConicSystem.from_labelled([[1.0], [2.0]], [0, 1], **options)


def two_classes(seed: int) -> tuple[FloatArray, FloatArray, float]:
    """Separated examples far from the origin, their signs, and their geometric margin."""
    rng = np.random.default_rng(seed)
    examples, signs = rng.standard_normal((14, 3)), np.repeat([1.0, -1.0], 7)
    examples[:, 0] += signs * (abs(examples[:, 0]) + rng.uniform(0.1, 1))
    examples += rng.uniform(-3, 3, 3)
    differences = examples[:7, None] - examples[None, 7:]
    return examples, signs, exact_margin(differences.reshape(-1, 3))[0] / 2


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=3))
def test_the_geometric_margin_is_bracketed_by_the_directional_one(seed: int) -> None:
    """(2.67), and sqrt 2 with rho = R_x, and the limit (2.68)."""
    examples, signs, gamma = two_classes(seed)
    radius = float(np.linalg.norm(examples, axis=1).max())
    ratios = []
    for augment in (0.1 * radius, 1.0, radius, 30.0 * radius):
        system = ConicSystem.from_labelled(examples, signs, margin="directional", augment=augment)
        assert isinstance(system.operator, Matrix)
        directional = exact_margin(system.operator.rows(np.arange(14)))[0]
        longest = system.facts().norm
        assert longest is not None
        low, high = geometric_bracket(directional, directional, longest=longest, augment=augment)
        assert low <= gamma * (1 + 1e-9)
        assert gamma <= high * (1 + 1e-9)
        ratios.append(high / low)
    assert ratios[2] == pytest.approx(2**0.5)
    assert ratios[3] < 1.001


def test_the_upper_end_of_the_bracket_is_attained() -> None:
    """One example on the hyperplane's far side each, both at the distance R_x from the origin."""
    examples = np.array([[1.0], [1.0 + 1e-6]])
    system = ConicSystem.from_labelled(examples, [0, 1], margin="directional", augment=1.0)
    assert isinstance(system.operator, Matrix)
    directional = exact_margin(system.operator.rows(np.arange(2)))[0]
    gamma, longest = 0.5e-6, system.facts().norm
    assert longest is not None
    high = geometric_bracket(directional, directional, longest=longest, augment=1.0)[1]
    assert gamma == pytest.approx(high, rel=1e-4)


def test_with_one_class_there_is_no_such_bracket() -> None:
    """The bias alone makes the geometric margin of one class infinite: (2.67) needs both."""
    rows = np.array([[1.0, 1.0], [2.0, 1.0]])  # (x_i, rho), both positive
    directional = exact_margin(rows)[0]
    high = geometric_bracket(directional, directional, longest=5.0**0.5, augment=1.0)[1]
    w, b = 1e-6, 1.0
    assert min(rows @ [w, b]) / w > 1e5 * high


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((-1.0, 1.0, 2.0, 1.0), "give 0 <= lower <= upper"),
        ((2.0, 1.0, 2.0, 1.0), "give 0 <= lower <= upper"),
        ((0.0, 1.0, 2.0, 0.0), "the largest norm of the rows that have it"),
        ((0.0, 1.0, 2.0, 3.0), "the largest norm of the rows that have it"),
    ],
)
def test_numbers_without_order_are_refused(
    numbers: tuple[float, float, float, float], message: str
) -> None:
    lower, upper, longest, augment = numbers
    with pytest.raises(InputError, match=message):
        geometric_bracket(lower, upper, longest=longest, augment=augment)
