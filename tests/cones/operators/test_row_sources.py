"""Rows that are read a few at a time: the answers of rows in memory, in few passes over them."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_lab.certificates.rounding import (
    combination_with_radius,
    exact_dot,
    product_with_radius,
)
from perceptron_lab.cones.operators import base
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.row_source import (
    LEAST_MEMORY,
    ArrayRows,
    Dense,
    LabelledRows,
    RowSource,
)
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray, Status
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems import ConicSystem
from tests.families import infeasible, planted
from tests.repetitions import examples, thinned


class Counting(RowSource):
    """An array whose passes, and rows that are read by themselves, are counted."""

    def __init__(self, array: Dense, step: int = 64) -> None:
        super().__init__((array.shape[0], array.shape[1]), array.dtype)
        self.array, self.rows_of_a_block = array, step
        self.passes, self.single = 0, 0

    @property
    def step(self) -> int:
        return self.rows_of_a_block

    def blocks(self) -> Iterator[tuple[slice, Dense]]:
        self.passes += 1
        for start in range(0, len(self.array), self.step):
            at = slice(start, min(start + self.step, len(self.array)))
            yield at, self.array[at].copy()

    def __getitem__(self, indices: IntArray) -> Dense:
        self.single += len(indices)
        return self.array[indices]


def feasible_rows(seed: int, rows: int = 400) -> Any:
    return planted(6, rows, 0.02, np.random.default_rng(seed))[0]


ON_SOURCES = [
    "auto",
    "perceptron",
    "primal-dual",
    "minimum-norm-point",
    "mirror-prox",
    "von-neumann",
    "smoothed-perceptron",
    "rescaled-perceptron",
    "ellipsoid",
    "winnow",
    "iterated-smoothed-von-neumann",
]


@pytest.mark.parametrize(
    ("algorithm", "precision"),
    thinned(itertools.product(ON_SOURCES, [np.float32, np.float64]), step=3),
)
def test_every_algorithm_gives_the_answer_of_the_rows_in_memory(
    algorithm: str, precision: Any
) -> None:
    rows = feasible_rows(1).astype(precision)
    block = solve(rows, algorithm, seed=3)
    two = solve(ConicSystem.from_rows(Counting(rows)), algorithm, seed=3)
    assert block.status is two.status is Status.FEASIBLE
    assert all(exact_dot(row, two.point) > 0 for row in rows)
    if algorithm != "rescaled-perceptron":  # it normalises rescaled rows in another order
        assert block.updates == two.updates
        assert two.point == pytest.approx(block.point, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("algorithm", ["auto", "minimum-norm-point"])
@pytest.mark.parametrize("seed", range(3))
def test_infeasible_rows_are_proved_infeasible(seed: int, algorithm: str) -> None:
    rows = infeasible(4, 40, np.random.default_rng(seed)).astype(np.float32)
    result = solve(ConicSystem.from_rows(Counting(rows)), algorithm, seed=seed)
    assert result.status is solve(rows, algorithm, seed=seed).status
    assert result.proved
    assert result.status is not Status.FEASIBLE


@pytest.mark.parametrize("algorithm", ["cyclic-perceptron", "highs", "nnls"])
def test_algorithms_that_need_all_rows_at_once_are_refused_with_the_reason(algorithm: str) -> None:
    with pytest.raises(InputError, match=r"read in blocks.*choose auto or another"):
        solve(ConicSystem.from_rows(Counting(feasible_rows(2))), algorithm)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize(("rows", "seed"), [(500, 0), (20_000, 1), (20_000, 2), (50_000, 3)])
def test_auto_makes_one_pass_a_round_and_five_more(rows: int, seed: int, precision: Any) -> None:
    """Norms, the mean of the rows, the price of the last point, its proof, that of the weights."""
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((rows, 15))
    data *= np.sign(data @ rng.standard_normal(15))[:, None]
    source = Counting(data.astype(precision), 1000)
    system = ConicSystem.from_rows(source)
    assert source.passes == 1
    result = solve(system, seed=seed)
    assert result.status is Status.FEASIBLE
    assert 1 <= source.passes - result.updates <= 5
    # Those that join are read by themselves, and those in weights: a small part of all.
    assert source.single <= 6 * (8 + 4 * result.updates) * 15


def test_repeated_requests_read_the_rows_once() -> None:
    source = Counting(feasible_rows(3))
    matrix = Matrix(source)
    point, weights = np.linspace(-1, 1, 6), np.linspace(0, 1, 400)
    first = matrix.scores(point)
    assert (matrix.scores(4.0 * point) == 4.0 * first).all()
    combined = matrix.combine(weights)
    combined += 1.0
    assert matrix.combine(weights) == pytest.approx(combined - 1.0)
    assert source.passes == 2
    matrix.scores(point + 1e-9)
    assert source.passes == 3


def test_a_point_changed_in_place_is_a_new_point() -> None:
    rows = feasible_rows(4)
    matrix, point, weights = Matrix(Counting(rows)), np.ones(6), np.ones(400)
    matrix.scores(point), matrix.combine(weights)
    point[0], weights[7] = -3.0, 5.0
    assert matrix.scores(point) == pytest.approx(rows @ point)
    assert matrix.combine(weights) == pytest.approx(weights @ rows)
    assert not matrix.scores(np.zeros(6)).any()


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("step", [1, 7, 1000])
def test_products_and_radii_are_those_of_rows_in_memory(step: int, precision: Any) -> None:
    rng = np.random.default_rng(step)
    data = (rng.standard_normal((40, 5)) * 10.0 ** rng.integers(-6, 6, (40, 5))).astype(precision)
    source, double = Counting(data, step), data.astype(float)
    point, weights = rng.standard_normal(5), rng.standard_normal(40)
    few = np.where(np.arange(40) % 20 == 3, weights, 0.0)
    assert base.times(source, point) == pytest.approx(double @ point)
    assert base.row_norms(source) == pytest.approx(np.linalg.norm(double, axis=1))
    for given_weights in (weights, few):
        expected = given_weights @ double
        assert base.combined(given_weights, source) == pytest.approx(expected)
        product, radius = combination_with_radius(given_weights, source)
        for column, value, error in zip(data.T, product, radius, strict=True):
            assert abs(value - float(exact_dot(column, given_weights))) <= error
    assert source.passes == 1 + 1 + 2
    scores, radius = product_with_radius(source, point)
    assert (np.abs(scores - [float(exact_dot(row, point)) for row in data]) <= radius).all()


def test_the_memory_of_a_pass_is_bounded() -> None:
    rows = planted(50, 40_000, 1e-2, np.random.default_rng(2))[0].astype(np.float32)
    solve(rows[:2000])  # what is imported and compiled stays
    system = ConicSystem.from_rows(rows, memory=LEAST_MEMORY)
    point, weights = np.ones(50), np.ones(40_000)
    tracemalloc.start()
    system.operator.scores(point)
    system.operator.combine(weights)
    system.origin.operator.row_norms()  # type: ignore[union-attr]
    system.prove_point(point)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < LEAST_MEMORY + 10 * 8 * len(rows)
    assert peak < rows.nbytes


@settings(max_examples=examples(30), deadline=None)
@given(data=st.data())
def test_rows_come_in_the_order_asked_for(data: st.DataObject) -> None:
    array = np.arange(60.0).reshape(20, 3)
    indices = np.array(data.draw(st.lists(st.integers(0, 19), max_size=30)), dtype=np.int64)
    assert np.array_equal(ArrayRows(array)[indices], array[indices])
    assert np.array_equal(Matrix(array).rows(indices), array[indices])
    assert np.array_equal(Matrix(sp.csr_array(array)).rows(indices), array[indices])


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("affine", [True, False])
def test_labelled_rows_are_never_copied_entirely(affine: bool, precision: Any) -> None:
    rng = np.random.default_rng(5)
    examples = rng.standard_normal((90, 4)).astype(precision)
    labels = np.where(examples @ rng.standard_normal(4) > 0.1, "b", "a")
    source = Counting(examples)
    whitened = ConicSystem.from_labelled(source, labels, affine=affine)
    two = ConicSystem.from_labelled(examples, labels, affine=affine)
    three = ConicSystem.from_labelled(examples, labels, affine=affine, memory=LEAST_MEMORY)
    point = rng.standard_normal(4 + affine)
    indices = np.array([5, 3, 80])
    for system in (whitened, three):
        assert isinstance(system.operator.stored, LabelledRows)  # type: ignore[attr-defined]
        assert system.operator.scores(point) == pytest.approx(two.operator.scores(point))
        rows = system.operator.rows(indices)  # type: ignore[attr-defined]
        assert rows == pytest.approx(two.operator.rows(indices))  # type: ignore[attr-defined]
    assert two.operator.stored.dtype == precision  # type: ignore[attr-defined]
    assert solve(whitened).status is solve(two).status


def test_a_column_of_labels_is_left_out() -> None:
    table = np.array([[1.0, 9.0, 2.0], [3.0, 8.0, 4.0]])
    rows = LabelledRows(ArrayRows(table), np.array([1.0, -1.0]), affine=True, omitted=1)
    assert rows[np.array([1, 0])].tolist() == [[-3.0, -4.0, -1.0], [1.0, 2.0, 1.0]]
    assert rows.shape == (2, 3)


@pytest.mark.parametrize("number", [np.nan, np.inf, 0.0, 1e200])
def test_rows_that_make_no_system_are_found_in_one_pass(number: float) -> None:
    rows = np.ones((300, 3))
    rows[211] = number
    source = Counting(rows)
    with pytest.raises(InputError, match="row 211"):
        ConicSystem.from_rows(source)
    assert source.passes == 1


def test_a_memory_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(InputError, match=r"memory=10 bytes .* give 1000000 or more"):
        ConicSystem.from_rows(np.eye(3), memory=10)
    with pytest.raises(InputError, match="leave memory out"):
        ConicSystem.from_rows(ArrayRows(np.eye(3)), memory=LEAST_MEMORY)
    with pytest.raises(InputError, match="sparse rows are in memory"):
        ConicSystem.from_rows(sp.csr_array(np.eye(3)), memory=LEAST_MEMORY)
    with pytest.raises(InputError, match="non-empty"):
        ArrayRows(np.zeros((0, 3)))


def sparse_rows(precision: Any) -> sp.csr_array:
    rng = np.random.default_rng(8)
    rows = rng.standard_normal((200, 9)) * (rng.uniform(size=(200, 9)) < 0.5)
    rows[:, 0] = 1.0
    return sp.csr_array(rows.astype(precision))


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_sparse_rows_are_not_copied(precision: Any) -> None:
    rows = sparse_rows(precision)
    stored: Any = ConicSystem.from_rows(rows).operator.stored  # type: ignore[attr-defined]
    assert np.shares_memory(stored.data, rows.data)
    assert np.shares_memory(stored.indices, rows.indices)
    assert stored.dtype == precision


@pytest.mark.parametrize("entries", [1, 8, 100, 10_000])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_sparse_products_are_in_double_precision(
    entries: int, precision: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "ENTRIES", entries)
    rows = sparse_rows(precision)
    double = rows.toarray().astype(float)
    matrix = Matrix(rows)
    point, weights = np.linspace(-1, 1, 9), np.linspace(-1, 2, 200)
    assert matrix.scores(point) == pytest.approx(double @ point, abs=1e-14)
    assert matrix.combine(weights) == pytest.approx(weights @ double, abs=1e-13)
    assert matrix.row_norms() == pytest.approx(np.linalg.norm(double, axis=1), rel=1e-15)
    stacked = np.vstack([rest.toarray() for _, rest in base.blocks(rows)])
    assert np.array_equal(stacked, double)
    scores, radius = product_with_radius(rows, point)
    exact = [float(exact_dot(row, point)) for row in double]
    assert (np.abs(scores - exact) <= radius).all()
    assert solve(rows).status is solve(rows.astype(float)).status


def test_labelled_sparse_rows_stay_in_single_precision() -> None:
    examples = sparse_rows(np.float32)
    labels = np.arange(200) % 2
    system = ConicSystem.from_labelled(examples, labels)
    stored: Any = system.operator.stored  # type: ignore[attr-defined]
    signed: FloatArray = np.where(labels == 1, 1.0, -1.0)[:, None]
    expected = signed * np.hstack([examples.toarray(), np.ones((200, 1))])
    assert stored.dtype == np.float32
    assert np.array_equal(stored.toarray(), expected)


def test_repeated_entries_of_the_callers_are_left_alone() -> None:
    repeated = (np.array([4.0, -1.0, 4.0]), np.array([0, 0, 1]), np.array([0, 3]))
    rows = sp.csr_array(repeated, shape=(1, 2))
    result = solve(rows)
    assert result.status is Status.FEASIBLE
    assert rows.data.tolist() == [4.0, -1.0, 4.0]
    assert rows.toarray().tolist() == [[3.0, 4.0]]
