"""Broken and unusual input in every form of a problem: the right answer, or an error that helps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.cones.operators.kernels import Linear, Polynomial, Rbf
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, Status
from tests.conformance.systems import ALGORITHMS, DENSE_ONLY, ROWS_ONLY
from tests.families import planted
from tests.repetitions import one_each, repeated, thinned

pytestmark = pytest.mark.slow

BUDGET = Budget(updates=2000, seconds=20.0)
DECIDED = {Status.FEASIBLE, Status.MARGIN_BOUNDED}
SIGNS = np.array([1.0, 1.0, -1.0, -1.0])
CLASSES = np.array([[2.0, 1.0], [3.0, 2.0], [-2.0, 0.0], [-1.0, -3.0]])
Form = Callable[[Any], ConicSystem]


def squares(data: Any) -> Any:
    """The matrix of the linear kernel."""
    dense = np.asarray(data, dtype=float)
    return dense @ dense.T


FORMS: dict[str, Form] = {
    "rows": lambda data: ConicSystem.from_rows(data * SIGNS[:, None]),
    "labelled": lambda data: ConicSystem.from_labelled(data, SIGNS),
    "linear kernel": lambda data: ConicSystem.from_kernel(Linear(), data, SIGNS),
    "polynomial kernel": lambda data: ConicSystem.from_kernel(Polynomial(), data, SIGNS),
    "rbf kernel": lambda data: ConicSystem.from_kernel(Rbf(), data, SIGNS),
    "kernel matrix": lambda data: ConicSystem.from_kernel("precomputed", squares(data), SIGNS),
    "second-order": lambda data: ConicSystem.second_order(data, [3, 1]),
}
"""A system of four examples, by every door."""


def able(form: str) -> list[str]:
    return [name for name in ALGORITHMS if form != "second-order" or name not in ROWS_ONLY]


EVERY = [
    pytest.param(form, name, id=f"{form}-{name}".replace(" ", "-"))
    for form in FORMS
    for name in able(form)
]


def expect_feasible(system: ConicSystem, algorithm: str) -> FloatArray:
    """A proved point; the relaxed perceptron may stop at a relaxed one."""
    result = solve(system, algorithm, budget=BUDGET, seed=1)
    assert result.status in (DECIDED if algorithm == "relaxed-perceptron" else {Status.FEASIBLE})
    assert result.proved
    return result.point


def expect_infeasible(system: ConicSystem, algorithm: str) -> None:
    result = solve(system, algorithm, budget=BUDGET, seed=1)
    assert result.status is not Status.FEASIBLE
    assert result.margin_lower is None or result.margin_lower <= 0.0


# --- refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_entries_that_are_not_finite_are_refused(form: str, bad: float) -> None:
    data = CLASSES.copy()
    data[2, 1] = bad
    with np.errstate(invalid="ignore"), pytest.raises(InputError, match=r"row \d holds NaN or inf"):
        FORMS[form](data)


@pytest.mark.parametrize("form", ["rows", "labelled", "second-order"])
def test_so_are_those_of_sparse_matrices(form: str) -> None:
    data = CLASSES.copy()
    data[1, 0] = np.nan
    sparse = {
        "rows": lambda: ConicSystem.from_rows(sp.csr_array(data)),
        "labelled": lambda: ConicSystem.from_labelled(sp.csc_array(data), SIGNS),
        "second-order": lambda: ConicSystem.second_order(sp.coo_array(data), [4]),
    }
    with pytest.raises(InputError, match="row 1 holds NaN"):
        sparse[form]()


@pytest.mark.parametrize("form", [form for form in FORMS if form != "kernel matrix"])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.array([["1", "2"], ["3", "4"]]), "give a matrix of real numbers"),
        (np.array([[1j, 2.0], [3.0, 4.0]]), "give a matrix of real numbers"),
        (np.ones((4, 0)), "give a non-empty matrix"),
        (np.zeros((0, 2)), "give a non-empty matrix"),
        (np.ones((2, 2, 2)), "give a non-empty matrix"),
        (np.array([[1, 10**400], [2, 3]], dtype=object), "outside the range of doubles"),
    ],
    ids=["text", "complex", "no features", "no rows", "three axes", "integers beyond doubles"],
)
def test_arrays_that_are_no_numeric_matrix_are_refused(form: str, data: Any, message: str) -> None:
    doors: dict[str, Form] = {
        **FORMS,
        "rows": ConicSystem.from_rows,
        "second-order": lambda data: ConicSystem.second_order(data, [len(data)]),
    }
    with pytest.raises(InputError, match=message):
        doors[form](data)


def test_rows_that_can_never_be_positive_are_refused() -> None:
    data = CLASSES.copy()
    data[1] = 0.0
    for form in ("rows", "kernel matrix", "linear kernel"):
        with pytest.raises(InputError, match=r"(row|example) 1.*remove it"):
            FORMS[form](data)
    with pytest.raises(InputError, match="row 1 is zero"):
        ConicSystem.from_labelled(data, SIGNS, affine=False)


@pytest.mark.parametrize("form", ["labelled", "polynomial kernel", "rbf kernel"])
@pytest.mark.parametrize("algorithm", thinned(ALGORITHMS, step=3))
def test_a_zero_example_is_one_like_others_where_its_feature_is_not_zero(
    algorithm: str, form: str
) -> None:
    data = CLASSES.copy()
    data[1] = 0.0
    expect_feasible(FORMS[form](data), algorithm)


@pytest.mark.parametrize("kernel", [Linear(), Rbf(), "precomputed"])
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, 1, 1, 1], "labels take 1 value"),
        ([1, 2, 3, 1], "labels take 3 values"),
        ([1, 2, 1], "4 examples, but 3 labels"),
        ([1.0, np.nan, 2.0, 1.0], r"label \d is missing"),
        ([[1, 2], [1, 2]], "give one each"),
    ],
    ids=["one class", "three classes", "too few", "missing", "a table"],
)
def test_labels_that_are_not_of_two_classes_are_refused(
    kernel: Any, labels: list[Any], message: str
) -> None:
    data = squares(CLASSES) if kernel == "precomputed" else CLASSES
    with pytest.raises(InputError, match=message):
        ConicSystem.from_kernel(kernel, data, labels)
    with pytest.raises(InputError, match=message):
        ConicSystem.from_labelled(CLASSES, labels)


def test_matrices_that_are_no_kernels_are_refused() -> None:
    gram = squares(CLASSES)
    cases = {
        "give a square one": gram[:, :3],
        "not symmetric": gram + np.triu(np.ones((4, 4)), 1),
        "not positive semidefinite": gram - 20.0 * np.ones((4, 4)) + 20.0 * np.eye(4),
        r"K\(x, x\) = -1": gram - np.diag([0.0, gram[1, 1] + 1.0, 0.0, 0.0]),
    }
    for message, matrix in cases.items():
        with pytest.raises(InputError, match=message):
            ConicSystem.from_kernel("precomputed", matrix, SIGNS)
    large = CLASSES * 1e40
    with np.errstate(over="ignore"), pytest.raises(InputError, match="not finite; scale the exam"):
        ConicSystem.from_kernel(Polynomial(degree=9), large, SIGNS)


# --- unusual, but right --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", repeated(["float32", "int64", "int8", "float16"], kept=1))
@pytest.mark.parametrize(("form", "algorithm"), one_each(EVERY, of=1))
def test_numbers_of_any_kind_are_those_numbers(form: str, algorithm: str, kind: str) -> None:
    """Values that every kind holds exactly give the same run to the last bit."""
    classes = CLASSES[::-1] if form == "second-order" else CLASSES
    runs = []
    for data in (classes.astype(kind), classes):
        system = (
            ConicSystem.from_rows(data * SIGNS[:, None].astype(data.dtype))
            if form == "rows"
            else FORMS[form](data)
        )
        runs.append(solve(system, algorithm, budget=Budget(updates=50), seed=1))
    first, second = runs
    assert (first.status, first.updates) == (second.status, second.updates)
    assert np.array_equal(first.point, second.point)


@pytest.mark.parametrize("algorithm", thinned(ALGORITHMS, step=3, first=2))
def test_truth_values_are_zeros_and_ones(algorithm: str) -> None:
    rows = np.array([[True, False, True], [False, True, True], [True, True, False]])
    first, second = (solve(data, algorithm, seed=1) for data in (rows, rows.astype(float)))
    assert np.array_equal(first.point, second.point)


@pytest.mark.parametrize(
    "shape",
    [
        np.asfortranarray,
        lambda data: np.repeat(data, 2, axis=0)[::2],
        lambda data: data.tolist(),
        sp.csc_array,
        sp.coo_matrix,
    ],
    ids=["Fortran", "strided", "lists", "csc", "coo"],
)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_matrices_of_any_form_are_those_matrices(algorithm: str, shape: Any) -> None:
    data = CLASSES * SIGNS[:, None]
    if sp.issparse(shape(data)) and algorithm in DENSE_ONLY:
        pytest.skip("it refuses sparse rows")
    first, second = (solve(rows, algorithm, seed=1) for rows in (shape(data), data))
    assert first.status is second.status
    assert first.updates == second.updates
    assert first.point == pytest.approx(second.point)


@pytest.mark.parametrize(
    "labels", [["b", "b", "a", "a"], [True, True, False, False], [2, 2, -7, -7]]
)
@pytest.mark.parametrize("algorithm", thinned(ALGORITHMS, step=3, first=1))
def test_labels_of_any_kind_are_two_classes(algorithm: str, labels: list[Any]) -> None:
    for column in (labels, np.array(labels)[:, None]):
        former = solve((CLASSES, column), algorithm, seed=1)
        two = solve((CLASSES, SIGNS), algorithm, seed=1)
        assert np.array_equal(former.point, two.point)
        kernels = (ConicSystem.from_kernel(Rbf(), CLASSES, labels) for labels in (column, SIGNS))
        first, second = (solve(system, algorithm, seed=1) for system in kernels)
        assert np.array_equal(first.point, second.point)


@pytest.mark.parametrize(("form", "algorithm"), one_each(EVERY, of=1))
def test_repeated_examples_change_no_answer(form: str, algorithm: str) -> None:
    data = CLASSES.copy()
    data[1], data[3] = data[0], data[2]
    if form == "second-order":
        data = data[[2, 3, 0, 1]]
    expect_feasible(FORMS[form](data), algorithm)


@pytest.mark.parametrize(
    "form", ["rows", "labelled", "linear kernel", "rbf kernel", "kernel matrix"]
)
@pytest.mark.parametrize("algorithm", thinned(ALGORITHMS, step=3))
def test_one_example_in_both_classes_has_no_separator(algorithm: str, form: str) -> None:
    data = CLASSES.copy()
    data[3] = data[0]
    expect_infeasible(FORMS[form](data), algorithm)


@pytest.mark.parametrize(("form", "algorithm"), one_each(EVERY, of=1))
def test_one_dimensional_systems_are_decided(form: str, algorithm: str) -> None:
    feasible = np.array([[1.0], [2.0], [-1.0], [-3.0]])
    if form == "second-order":
        expect_feasible(FORMS[form](np.array([[1.0], [-2.0], [-3.0], [-1.0]])), algorithm)
        expect_infeasible(FORMS[form](np.array([[1.0], [-4.0], [-3.0], [-1.0]])), algorithm)
        expect_infeasible(FORMS[form](np.array([[1.0], [-2.0], [-3.0], [1.0]])), algorithm)
        return
    expect_feasible(FORMS[form](feasible), algorithm)
    if form not in ("rbf kernel", "polynomial kernel"):  # these separate what a line cannot
        expect_infeasible(FORMS[form](np.array([[1.0], [-3.0], [-1.0], [2.0]])), algorithm)


@pytest.mark.parametrize(("form", "algorithm"), one_each(EVERY, of=1))
def test_more_features_than_examples(form: str, algorithm: str) -> None:
    """Independent rows: every labelling is separable."""
    expect_feasible(FORMS[form](np.random.default_rng(7).standard_normal((4, 60))), algorithm)


@pytest.mark.parametrize("algorithm", thinned(ALGORITHMS, step=3, first=1))
def test_unused_features_stay_unused(algorithm: str) -> None:
    """A column of zeros: the margin is the same, and so is the rest of the point."""
    data = planted(3, 12, 0.1, np.random.default_rng(4))[0]
    padded = np.insert(data, 1, 0.0, axis=1)
    first, second = (solve(rows, algorithm, seed=1) for rows in (data, padded))
    assert second.status in DECIDED
    if algorithm not in (
        "auto",
        "relaxed-perceptron",
        "rescaled-perceptron",
        "ellipsoid",
        "central-cuts",
        "simplex-cuts",
        "winnow",
        "accelerated-winnow",
        "scs",
    ):
        assert first.updates == second.updates
        assert second.point[1] == pytest.approx(0.0, abs=1e-12)
        assert np.delete(second.point, 1) == pytest.approx(first.point)


@pytest.mark.parametrize("size", [1e-140, 1e140])
@pytest.mark.parametrize("algorithm", thinned(ALGORITHMS, step=3, first=2))
def test_rows_of_extreme_length_are_normalised(algorithm: str, size: float) -> None:
    rows = CLASSES * SIGNS[:, None] * np.array([1.0, size, 1.0, size])[:, None]
    expect_feasible(ConicSystem.from_rows(rows), algorithm)
    with pytest.raises(InputError, match=r"norm outside 1e-150 .. 1e150"):
        ConicSystem.from_rows(rows * (1e20 if size > 1 else 1e-20))


@pytest.mark.parametrize("kernel", ["rbf", Rbf, None, 3.0])
def test_arrays_that_are_no_kernel_matrix_are_refused(kernel: object) -> None:
    with pytest.raises(InputError, match="as a kernel"):
        ConicSystem.from_kernel(kernel, np.eye(3), [0, 1, 1])  # type: ignore[arg-type]


@pytest.mark.parametrize("sizes", [4, "4", [1.5, 3.5], [], [6], [2, 2], [0, 5], [-1, 6]])
def test_block_sizes_are_integers_that_sum_to_the_rows(sizes: object) -> None:
    with pytest.raises(InputError, match="whole numbers"):
        ConicSystem.second_order(np.ones((5, 2)), sizes)  # type: ignore[arg-type]
