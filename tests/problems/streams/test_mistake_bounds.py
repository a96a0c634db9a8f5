"""The bracket of Theorem 2's bound against fractions, cvxpy and known margins."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import cvxpy
import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.cones.operators.kernels import Linear, Polynomial, Rbf, kernel_matrix
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.problems.streams import (
    MistakeBound,
    hinge_loss_bound,
    hinge_loss_bound_of,
    novikoff_bound,
    stream_examples,
    worst_case,
)
from perceptron_lab.problems.streams.stream_examples import Smoothed
from tests.families import infeasible, planted
from tests.problems.streams.streams import noisy, separable
from tests.repetitions import repeated

SEEDS = range(20)


def gaussian(seed: int, size: int = 60, features: int = 4) -> tuple[FloatArray, FloatArray]:
    """Examples and labels of which no product is exact."""
    rng = np.random.default_rng(seed)
    examples = rng.standard_normal((size, features)) * rng.uniform(0.1, 10.0, (size, 1))
    return examples, np.sign(examples[:, 0] + rng.standard_normal(size))


def dot(left: Any, right: Any) -> Fraction:
    pairs = zip(left, right, strict=True)
    return sum((fraction(a) * fraction(b) for a, b in pairs), Fraction())


def fraction(value: Any) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(float(value))


def exact_bound(examples: Any, signs: Any, counts: Any, comparison: Any) -> Fraction:
    """R^2 norm(w)^2 + 2 L without rounding."""
    square = max(dot(row, row) for row, count in zip(examples, counts, strict=True) if count)
    loss = sum(
        Fraction(float(count)) * max(Fraction(), 1 - Fraction(float(sign)) * dot(row, comparison))
        for row, sign, count in zip(examples, signs, counts, strict=True)
    )
    return square * dot(comparison, comparison) + 2 * loss


def exact_least(examples: Any, signs: Any, counts: Any, bound: MistakeBound) -> Fraction:
    """What the multipliers prove, without rounding."""
    square = max(dot(row, row) for row, count in zip(examples, counts, strict=True) if count)
    signed = bound.multipliers * signs
    combined = [dot(column, signed) for column in examples.T]
    total = sum((Fraction(float(weight)) for weight in bound.multipliers), Fraction())
    return total - sum(entry * entry for entry in combined) / (4 * square)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_both_ends_are_proved(seed: int) -> None:
    examples, signs = gaussian(seed)
    counts = np.random.default_rng(seed).integers(0, 4, 60)
    bound = hinge_loss_bound(examples, signs, presentations=counts)
    exact = exact_bound(examples, signs, counts, bound.comparison)
    assert exact <= bound.value <= float(exact) * (1 + 1e-12)
    assert ((bound.multipliers >= 0) & (bound.multipliers <= 2 * counts)).all()
    least = exact_least(examples, signs, counts, bound)
    assert float(least) * (1 - 1e-12) <= bound.least <= least
    assert bound.width <= 1e-6


def test_rounding_of_the_scores_is_counted_in_every_presentation() -> None:
    """a'w is 1 less 29 2^-60, and 1 as computed; 2^60 presentations make a loss of 29 of it."""
    examples, comparison = np.full((1, 30), 2.0**-60), np.full(30, -1.0)
    examples[0, 0], comparison[0] = 1.0, 1.0
    value = hinge_loss_bound_of(comparison, examples, presentations=2.0**60)
    assert value >= exact_bound(examples, [1.0], [2.0**60], comparison) > 88


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_a_convex_solver_finds_the_same_minimum(seed: int) -> None:
    examples, signs = gaussian(seed)
    counts = np.random.default_rng(seed).integers(1, 9, 60)
    w = cvxpy.Variable(4)
    loss = counts @ cvxpy.pos(1 - cvxpy.multiply(signs, examples @ w))
    square = (examples**2).sum(axis=1).max()
    problem = cvxpy.Problem(cvxpy.Minimize(square * cvxpy.sum_squares(w) + 2 * loss))
    problem.solve(solver="CLARABEL")
    bound = hinge_loss_bound(examples, signs, presentations=counts, tolerance=1e-8)
    assert bound.least * (1 - 1e-7) <= problem.value <= bound.value * (1 + 1e-7)
    assert bound.width <= 1e-8


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_novikoffs_bound_is_proved(seed: int) -> None:
    examples, signs = gaussian(seed)
    examples = examples[signs * examples[:, 0] > 0]
    signs = np.sign(examples[:, 0])
    bound = novikoff_bound(examples, signs)
    assert bound is not None
    assert bound.width <= 1e-6
    square = max(dot(row, row) for row in examples)
    scale = min(
        Fraction(s) * dot(row, bound.comparison) for row, s in zip(examples, signs, strict=True)
    )
    assert float(scale) == pytest.approx(1.0)
    length = dot(bound.comparison, bound.comparison) / scale**2
    assert float(square * length) <= bound.value * (1 + 1e-14)
    combined = [dot(column, bound.multipliers * signs) for column in examples.T]
    total = sum((Fraction(float(weight)) for weight in bound.multipliers), Fraction())
    assert bound.least <= square * total**2 / sum(entry * entry for entry in combined)


@pytest.mark.parametrize("margin", [0.1, 1e-3, 1e-6])
def test_novikoffs_bound_is_that_of_a_known_margin(margin: float) -> None:
    rows, centre = planted(6, 80, margin, np.random.default_rng(0))
    bound = novikoff_bound(rows)
    assert bound is not None
    assert bound.least * (1 - 1e-6) <= margin**-2 <= bound.value * (1 + 1e-6)
    assert bound.comparison * margin == pytest.approx(centre, abs=1e-4)


@pytest.mark.parametrize("steepness", [1, 8, 1024])
def test_novikoffs_bound_of_the_worst_case(steepness: int) -> None:
    case = worst_case(steepness)
    bound = novikoff_bound(case.examples, case.signs)
    assert bound is not None
    assert bound.least <= case.novikoff <= bound.value
    assert bound.width <= 1e-6


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_without_a_consistent_comparison_there_is_no_bound(seed: int) -> None:
    assert novikoff_bound(infeasible(4, 30, np.random.default_rng(seed))) is None
    assert novikoff_bound(*noisy(seed)) is None


@pytest.mark.parametrize("form", [sp.csr_array, np.float32, lambda rows: rows.astype(int)])
@pytest.mark.parametrize("affine", [False, True])
def test_all_forms_of_a_stream_have_the_same_bounds(form: Any, affine: bool) -> None:
    examples, signs = separable(3, size=20)
    lifted = np.hstack([examples, np.ones((20, 1))]) if affine else examples
    for bound in (hinge_loss_bound, novikoff_bound):
        actual: Any = bound(form(examples), signs, affine=affine)
        plain: Any = bound(lifted, signs)
        assert actual.value == pytest.approx(plain.value, rel=1e-6)
        assert actual.least == pytest.approx(plain.least, rel=1e-6)
        assert actual.comparison.shape == (4 + affine,)


def squares(examples: FloatArray) -> FloatArray:
    """Features of which (x'z)^2 is the inner product; of whole numbers exactly."""
    return np.einsum("ij,ik->ijk", examples, examples).reshape(len(examples), -1)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_bounds_by_a_kernel_are_those_of_its_features(seed: int) -> None:
    examples, signs = noisy(seed, features=2)
    counts = np.random.default_rng(seed).integers(0, 3, 60)
    kernel, features = Polynomial(2, 0.0, 1.0), squares(examples)
    bound = hinge_loss_bound(examples, signs, kernel=kernel, presentations=counts)
    plain = hinge_loss_bound(features, signs, presentations=counts)
    assert bound.value == pytest.approx(plain.value, rel=1e-5)
    assert bound.least == pytest.approx(plain.least, rel=1e-5)
    comparison = [dot(column, bound.comparison) for column in features.T]
    assert exact_bound(features, signs, counts, comparison) <= bound.value
    assert bound.least <= exact_least(features, signs, counts, bound)
    again = hinge_loss_bound_of(
        bound.comparison, examples, signs, kernel=kernel, presentations=counts
    )
    assert again == bound.value


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_novikoffs_bound_by_a_kernel_is_that_of_its_features(seed: int) -> None:
    examples = np.unique(np.random.default_rng(seed).integers(-6, 7, (50, 2)), axis=0).astype(float)
    examples = examples[(examples**2).sum(axis=1) > 0]
    signs = np.sign(examples[:, 0] ** 2 - 2.5 * examples[:, 1] ** 2 + 0.3)
    bound: Any = novikoff_bound(examples, signs, kernel=Polynomial(2, 1.0, 1.0))
    lifted = np.hstack([examples, np.ones((len(examples), 1))])
    plain: Any = novikoff_bound(squares(lifted), signs)
    assert bound.value == pytest.approx(plain.value, rel=1e-5)
    assert bound.least == pytest.approx(plain.least, rel=1e-5)


def test_without_a_tolerance_rounding_ends_the_search() -> None:
    examples, signs = gaussian(5)
    bound: Any = hinge_loss_bound(examples, signs, tolerance=0.0)
    assert 0.0 < bound.width < 1e-9
    separable_ones: Any = novikoff_bound(*separable(5), tolerance=0.0)
    assert 0.0 < separable_ones.width < 1e-9


def test_wide_streams_take_no_square_matrices() -> None:
    rng = np.random.default_rng(0)
    examples = sp.csr_array(rng.random((200, 1500)) * (rng.random((200, 1500)) < 0.02))
    bound = hinge_loss_bound(examples, rng.choice([-1.0, 1.0], 200))
    assert bound.width <= 1e-6


def test_examples_that_are_not_presented_do_not_count() -> None:
    examples, signs = noisy(0)
    counts = np.arange(60) % 3
    longest = np.argmax((examples**2).sum(axis=1))
    counts[longest] = 0
    bound = hinge_loss_bound(examples, signs, presentations=counts)
    bound_of_some = hinge_loss_bound(
        examples[counts > 0], signs[counts > 0], presentations=counts[counts > 0]
    )
    assert bound.value == bound_of_some.value
    assert not bound.multipliers[counts == 0].any()
    everything = hinge_loss_bound(examples, signs)
    assert (
        bound.length < everything.length == pytest.approx(math.sqrt((examples[longest] ** 2).sum()))
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"presentations": [1, 2]}, "shape \\(2,\\); give one number, or one for each of 60"),
        ({"presentations": -1}, "negative or not finite"),
        ({"presentations": 0}, "the longest example presented has the norm 0"),
        ({"examples": np.zeros((60, 2))}, "the longest example presented has the norm 0"),
        ({"kernel": Linear(), "affine": True}, "a kernel to which 1 is added"),
        ({"kernel": Linear(), "labels": None}, "give labels of two classes"),
        ({"examples": kernel_matrix(Linear(), np.eye(60))}, "give kernel='precomputed'"),
        ({"comparison": np.ones(4), "kernel": Rbf()}, "give 60 finite numbers"),
        ({"comparison": np.ones(5)}, "shape \\(5,\\).*give 4 finite numbers"),
        ({"comparison": np.full(4, np.nan)}, "not finite"),
    ],
)
def test_invalid_arguments_of_the_bound_are_refused(
    arguments: dict[str, Any], message: str
) -> None:
    examples, labels = noisy(0)
    keywords = {"examples": examples, "labels": labels, **arguments}
    call: Any = hinge_loss_bound_of if "comparison" in arguments else hinge_loss_bound
    with pytest.raises(InputError, match=message):
        call(**keywords)


def test_where_the_exact_step_fails_krylov_steps_lead_to_the_same_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    rows, signs = rng.standard_normal((40, 5)), rng.choice([-1.0, 1.0], 40)
    problem = Smoothed(rows, signs, 4.0, np.full(40, 2.0), np.full(40, 1e3))
    start, selected = np.zeros(5), stream_examples.minimize
    exact, methods = problem.solve(start), []

    def failing(*arguments: Any, **options: Any) -> Any:
        methods.append(options["method"])
        if options["method"] == "trust-exact":
            raise ValueError("math domain error")
        return selected(*arguments, **options)

    monkeypatch.setattr(stream_examples, "minimize", failing)
    assert problem.solve(start) == pytest.approx(exact, abs=1e-6)
    assert methods == ["trust-exact", "trust-krylov"]
