"""Columns that depend on others to rounding, and what is proved of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from perceptron_lab.certificates.precise_residuals import two_products
from perceptron_lab.core.errors import DataError, NumericalError
from perceptron_lab.core.results import Status
from perceptron_lab.problems.ellipsoids.ellipsoid import Ellipsoid
from perceptron_lab.problems.ellipsoids.hard import separation_ratio
from perceptron_lab.problems.ellipsoids.hard.affine_frame import AffineFrame, in_hull
from perceptron_lab.problems.ellipsoids.hard.equivalent_classes import EquivalentClasses
from perceptron_lab.problems.ellipsoids.hard.separation import Separation
from perceptron_lab.problems.ellipsoids.hard.separation_ratio import maximal_separation
from perceptron_lab.problems.ellipsoids.hard.separation_verification import (
    ProvedRatio,
    proof_arrays,
    prove_separation,
)
from tests.problems.ellipsoids.two_class_sets import Classes, overlapping, separable
from tests.repetitions import repeated


def with_rounded_sum(part: np.ndarray) -> np.ndarray:
    return np.column_stack([part, part @ [0.3, -1.7, 0.9]])


def with_thirds(part: np.ndarray) -> np.ndarray:
    return np.hstack([part, part[:, :1] / 3.0])


def again(classes: Classes, arrays: dict[str, np.ndarray]) -> ProvedRatio:
    return prove_separation(*classes, arrays, whiten=True)


def equivalent(*classes: np.ndarray) -> EquivalentClasses:
    equivalent_classes = EquivalentClasses.of(*classes, AffineFrame.of(*classes))
    assert equivalent_classes is not None
    return equivalent_classes


def width(separation: Separation) -> float:
    return (separation.ratio_upper - separation.ratio_lower) / separation.ratio_lower


@pytest.mark.parametrize("seed", range(3))
def test_products_are_split_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, factors = rng.standard_normal((40, 5)) * 10.0 ** rng.integers(-9, 9, 5), rng.random(5)
    for row, high, low in zip(rows, *two_products(rows, factors), strict=True):
        for value, factor, first, other in zip(row, factors, high, low, strict=True):
            assert Fraction(value) * Fraction(factor) == Fraction(first) + Fraction(other)


def test_rounded_columns_are_resolved_to_their_digits() -> None:
    parts = [with_rounded_sum(part) for part in overlapping(0, 60, 90, 3)]
    classes_found = equivalent(*parts)
    assert classes_found.residuals is not None
    assert classes_found.frame.is_decided
    assert classes_found.frame.dimension == 4
    assert classes_found.frame.shift[-1] == 0.0
    exact = [[Fraction(value) for value in row] for row in np.vstack(parts)]
    terms = [Fraction(value) for value in classes_found.residuals.coefficients[0]]
    level = Fraction(classes_found.residuals.levels[0])
    z = np.vstack([classes_found.positives, classes_found.negatives])[:, -1]
    assert 0.0 < np.ptp(z) < 1e-13
    for row, value in zip(exact, z, strict=True):
        full = sum(factor * entry for factor, entry in zip(terms, row, strict=True)) - level
        assert abs(Fraction(value) - full) <= abs(full) / 2**53


@pytest.mark.parametrize("seed", repeated(range(3), kept=1))
def test_no_ellipsoid_separates_by_rounding_errors(seed: int) -> None:
    parts = tuple(with_rounded_sum(part) for part in overlapping(seed, 60, 90, 3))
    separation = maximal_separation(*parts)
    assert separation.status is Status.MARGIN_BOUNDED
    assert separation.ratio_upper <= 1e-6
    proved = again(parts, proof_arrays(separation))
    assert proved.status is Status.MARGIN_BOUNDED
    assert proved.ratio_upper <= 1e-6


def test_few_examples_are_separated_better_with_resolved_columns() -> None:
    classes = separable(13, 40, 50, 2)
    wide = with_thirds(classes[0]), with_thirds(classes[1])
    separation, plain = maximal_separation(*wide), maximal_separation(*classes)
    assert separation.reached == pytest.approx(plain.ratio, rel=1e-4)
    assert separation.ratio_lower <= separation.ratio <= separation.ratio_upper
    assert plain.ratio_upper < separation.ratio_lower
    assert width(separation) <= 1e-6
    assert "what is left of columns that depend on others" in str(separation)
    assert f"does not use that, and reaches t = {plain.ratio:.3f}" in str(separation)
    proved = again(wide, proof_arrays(separation))
    assert proved.status is Status.FEASIBLE
    assert proved.ratio_lower == separation.ratio_lower
    assert proved.ratio_upper == pytest.approx(separation.ratio_upper, rel=1e-6)


def test_the_residual_ellipsoid_reaches_its_bound_and_the_rule_leaves_it_out() -> None:
    classes = separable(13, 40, 50, 2)
    wide = with_thirds(classes[0]), with_thirds(classes[1])
    separation = maximal_separation(*wide)
    assert separation.residual_ellipsoid is not None
    assert separation.residual_ellipsoid.residuals is not None
    residuals, ellipsoid = (
        separation.residual_ellipsoid.residuals,
        separation.residual_ellipsoid.ellipsoid,
    )
    factor, shift, offset, terms, levels = (
        np.vectorize(Fraction, otypes=[object])(array)
        for array in (
            ellipsoid.factor,
            ellipsoid.shift,
            ellipsoid.offset,
            residuals.coefficients,
            residuals.levels,
        )
    )
    values = []
    for part in wide:
        rows = np.vectorize(Fraction, otypes=[object])(part)
        rows = np.hstack([rows, rows @ terms.T - levels])
        values.append(((((rows - shift) @ factor.T) + offset) ** 2).sum(axis=1))
    reached = min(values[1]) / max(values[0]) - 1
    assert Fraction(separation.ratio_lower) <= reached <= Fraction(separation.ratio_upper)
    elsewhere = np.round(wide[0], 6)  # the third column is no third any more
    assert (separation.decision_values(elsewhere) > 0.0).all()


def test_the_rounding_of_residues_has_to_be_covered() -> None:
    classes = separable(13, 40, 50, 2)
    wide = with_thirds(classes[0]), with_thirds(classes[1])
    arrays = proof_arrays(maximal_separation(*wide))
    plain = again(wide, {name: array for name, array in arrays.items() if "finer" not in name})
    shifted = arrays | {"finer_shift": arrays["finer_shift"] + [0.0, 0.0, 0.0, 1e-30]}
    assert again(wide, shifted).ratio_lower == plain.ratio_lower > 0.0
    huge = arrays | {"finer_levels": np.array([1e200])}
    assert again(wide, huge).ratio_lower == plain.ratio_lower
    for change in ({"finer_levels": np.ones(3)}, {"finer_shift": np.ones(3)}):
        with pytest.raises(DataError, match=r"for examples of [34] columns"):
            again(wide, arrays | change)


def nearly_in_the_hull(indices: Any) -> Classes:
    """Classes with an exact sum in the last column; in some negatives it is off by one rounding."""
    inner, outer = (np.round(part * 64.0) / 64.0 for part in separable(13, 40, 50, 2))
    wide = tuple(np.hstack([part, 3.0 * part[:, :1] + part[:, 1:]]) for part in (inner, outer))
    wide[1][indices, 2] = np.nextafter(wide[1][indices, 2], 99.0)
    return wide[0], wide[1]


def test_negatives_off_the_hull_by_rounding_alone_do_not_restrict_t() -> None:
    full = maximal_separation(*separable(13, 40, 50, 2))
    active = int(full.negative_weights.argmax())
    inner, outer = nearly_in_the_hull(active)
    frame = AffineFrame.of(inner, outer)
    assert not frame.outside.any()
    assert np.flatnonzero(~frame.exactly_inside).tolist() == [active]
    separation = maximal_separation(inner, outer)
    without = maximal_separation(inner, np.delete(outer, active, axis=0))
    assert separation.reached < 0.999 * separation.ratio_lower <= separation.ratio
    assert separation.ratio_lower == pytest.approx(without.ratio_lower, rel=1e-7)
    assert width(separation) <= 1e-6
    assert separation.negative_weights[active] == 0.0
    assert separation.residual_ellipsoid is not None
    assert separation.residual_ellipsoid.residuals is None
    proved = again((inner, outer), proof_arrays(separation))
    assert (proved.ratio_lower, proved.ratio_upper) == (
        separation.ratio_lower,
        separation.ratio_upper,
    )
    exact = outer.copy()
    exact[active, 2] = 3.0 * outer[active, 0] + outer[active, 1]
    assert again((inner, exact), proof_arrays(separation)).ratio_lower < without.ratio_lower


@pytest.mark.parametrize("solver", ["auto", "central-path"])
def test_if_all_negatives_are_off_the_hull_by_rounding_t_is_unbounded(solver: Any) -> None:
    make = separable if solver == "auto" else overlapping
    inner, outer = (np.round(part * 64.0) / 64.0 for part in make(13, 40, 50, 2))
    exact = np.hstack([inner, 3.0 * inner[:, :1]])
    shifted = np.nextafter(np.hstack([outer, 3.0 * outer[:, :1]]), 99.0)
    separation = maximal_separation(exact, shifted, solver=solver)
    assert separation.status is Status.UNBOUNDED
    assert separation.proved
    assert separation.ratio_lower == separation.ratio_upper == np.inf
    if solver == "auto":
        assert (separation.decision_values(exact) > 0.0).all()
        assert (separation.decision_values(shifted) < 0.0).all()
    assert again((exact, shifted), proof_arrays(separation)).status is Status.UNBOUNDED


def test_weights_of_inseparability_are_numbered_among_all_negatives() -> None:
    inner, outer = overlapping(0, 50, 80, 3)
    flat, lifted = np.zeros((len(inner), 1)), np.zeros((len(outer), 1))
    lifted[:7] = 1.0
    wide = np.hstack([inner, flat]), np.hstack([outer, lifted])
    proof = maximal_separation(*wide).inseparability
    assert proof is not None
    assert proof.weights is not None
    assert proof.weights[1].shape == (80,)
    assert not proof.weights[1][:7].any()
    wide[1][20] = wide[0][11]
    same = maximal_separation(*wide).inseparability
    assert same is not None
    assert same.rows == (11, 20)


def test_a_separation_is_kept_where_resolved_columns_fail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    classes = separable(13, 40, 50, 2)
    wide = with_thirds(classes[0]), with_thirds(classes[1])
    solve = separation_ratio._assessment

    def failing(inner: np.ndarray, *rest: Any, **more: Any) -> object:
        if inner.shape[1] > wide[0].shape[1]:
            raise NumericalError("made to fail")
        return solve(inner, *rest, **more)

    monkeypatch.setattr(separation_ratio, "_assessment", failing)
    separation = maximal_separation(*wide)
    assert separation.status is Status.FEASIBLE
    assert not separation.complete
    assert "could not be sharpened: made to fail" in separation.message


def inside(spanning: np.ndarray, candidates: np.ndarray, dimension: int) -> list[bool]:
    combination = in_hull(spanning, candidates, dimension)
    assert combination is not None
    return list(combination)


def test_the_hull_of_integers_is_exact() -> None:
    rng = np.random.default_rng(0)
    base = rng.integers(-9, 9, (30, 4)).astype(float)
    full = np.column_stack([base, base @ [3, 0, -5, 1], 7.0 * base[:, 2]]) / 16.0
    inner, outer = full[:15], full[15:].copy()
    assert inside(inner, outer, 4) == [True] * 15
    assert in_hull(inner, outer, 3) is None
    outer[2, 4] = np.nextafter(outer[2, 4], 9.0)
    assert inside(inner, outer, 4) == [True] * 2 + [False] + [True] * 12
    inner[3, 5] = np.nextafter(inner[3, 5], 9.0)
    assert in_hull(inner, outer, 4) is None
    scales = np.array([1.0, 1.0, 1.0, 1.0, 1e-90, 1e90])
    assert in_hull(full[:15] * scales, full[15:] * scales, 3) is None


def test_hulls_of_few_columns_need_no_elimination() -> None:
    inner = np.array([[1.0, 5.0, 1.0], [2.0, 5.0, 2.0], [-0.0, 5.0, 0.0]])
    outer = np.array([[9.0, 5.0, 9.0], [9.0, 5.0, 8.0], [9.0, 6.0, 9.0], [0.0, 5.0, -0.0]])
    assert inside(inner, outer, 1) == [True, False, False, True]
    assert inside(inner[:1], inner, 0) == [True, False, False]


def test_multiples_of_columns_are_decided() -> None:
    classes = separable(13, 40, 50, 2)
    rounded = [np.round(part * 64.0) / 64.0 for part in classes]
    wide = [np.hstack([part, 3.0 * part[:, :1] + part[:, 1:]]) for part in rounded]
    separation = maximal_separation(*wide)
    assert separation.ratio_upper - separation.ratio_lower <= 1e-8 * separation.ratio_lower
    assert separation.residual_ellipsoid is None


@pytest.mark.parametrize("seed", repeated(range(4), kept=2))
def test_columns_computed_in_single_precision_are_decided(seed: int) -> None:
    make = overlapping if seed == 3 else separable
    inner, outer = (
        np.hstack([rows, rows * np.float32(1.1)]).astype(np.float64)
        for rows in (part.astype(np.float32) for part in make(seed, 40, 50, 3))
    )
    frame = AffineFrame.of(inner, outer)
    assert frame.is_decided
    assert frame.dimension == 6
    separation = maximal_separation(inner, outer)
    assert separation.ratio_upper - separation.ratio_lower <= 1e-6 * (separation.ratio_lower or 1.0)
    # of overlapping classes t = 0 is proved, unless rounding leaves a bound of it
    overlapping_too = (Status.INFEASIBLE, Status.MARGIN_BOUNDED)
    assert separation.status in (overlapping_too if seed == 3 else (Status.FEASIBLE,))
    proved = again((inner, outer), proof_arrays(separation))
    assert proved.status is separation.status
    assert proved.ratio_lower == separation.ratio_lower
    assert proved.ratio_upper == pytest.approx(separation.ratio_upper, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("columns", [1, 2])
def test_columns_that_do_not_depend_have_no_equivalent_classes(columns: int) -> None:
    classes = separable(0, 20, 20, columns)
    assert EquivalentClasses.of(*classes, AffineFrame.of(*classes)) is None


def test_negatives_beyond_the_hull_are_pushed_away_by_the_residual_ellipsoid_too() -> None:
    classes = separable(13, 40, 50, 2)
    inner, outer = (np.hstack([with_thirds(part), np.ones((len(part), 1))]) for part in classes)
    outer[:5, 3] = 2.0
    separation = maximal_separation(inner, outer)
    rest = maximal_separation(inner[:, :3], outer[5:, :3])
    assert separation.residual_ellipsoid is not None
    assert separation.ratio_lower == pytest.approx(rest.ratio_lower, rel=1e-7)
    assert width(separation) <= 1e-6
    nothing = replace(
        separation.residual_ellipsoid,
        ellipsoid=Ellipsoid(np.zeros(5), np.zeros((1, 5)), np.ones(1)),
    )
    assert nothing.lower_bound(inner, outer, AffineFrame.of(inner, outer)) == 0.0
