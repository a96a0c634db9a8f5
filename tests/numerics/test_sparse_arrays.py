"""Sparse arrays that are none: refused at the door, in memory and in files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import ConicSystem, solve
from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.numerics.sparse_arrays import canonical


def signs(data: Any) -> list[int]:
    return [1, -1] * (data.shape[0] // 2)


def compressed(
    indices: Any = (0, 1, 0, 1),
    indptr: Any = (0, 2, 4),
    data: Any = (1.0, 1.0, 1.0, 2.0),
    **kind: Any,
) -> Any:
    """A 2 x 2 array whose attributes are set past scipy's own checks."""
    array = kind.get("cls", sp.csr_array)((2, 2), dtype=float)
    array.indices, array.indptr, array.data = np.array(indices), np.array(indptr), np.array(data)
    return array


def coordinates() -> Any:
    matrix = sp.coo_array((np.ones(3), ([0, 1, 1], [0, 0, 1])), shape=(2, 2))
    matrix.coords = (np.array([0, 1, 7]), np.array([0, 1, 1]))
    return matrix


def short_coordinates() -> Any:
    matrix = sp.coo_array((np.ones(3), ([0, 1, 1], [0, 0, 1])), shape=(2, 2))
    matrix.coords = (np.array([0, 1]), np.array([0, 1]))
    return matrix


def lists() -> Any:
    matrix = sp.lil_array(np.eye(2))
    matrix.rows[1] = [77]
    return matrix


def blocks() -> Any:
    matrix = sp.bsr_array(np.eye(4), blocksize=(2, 2))
    matrix.indices = np.array([0, 9], dtype=np.int32)
    return matrix


INVALID: dict[str, tuple[Callable[[], Any], str]] = {
    "too large": (lambda: compressed([0, 1, 0, 99]), "column index 99"),
    "negative": (lambda: compressed([0, 1, 0, -5]), "column index -5"),
    "far too large": (lambda: compressed([0, 1, 0, 10**9]), "column index 1000000000"),
    "64 bits": (lambda: compressed([0, 1, 0, 2**40]), "column index 1099511627776"),
    "decreasing": (lambda: compressed(indptr=(0, 3, 2)), "indptr runs from 0 to 2"),
    "beyond the entries": (lambda: compressed(indptr=(0, 2, 9)), "indptr runs from 0 to 9"),
    "not from 0": (lambda: compressed(indptr=(1, 2, 4)), "indptr runs from 1 to 4"),
    "too few rows": (lambda: compressed(indptr=(0, 4)), "2 numbers in indptr; 3 belong"),
    "fewer data": (lambda: compressed(data=(1.0, 1.0)), "at most the 2 entries"),
    "fractions": (lambda: compressed([0.0, 1.0, 0.0, 1.0]), "type float64"),
    "NaN": (lambda: compressed(data=(1.0, np.nan, 1.0, 1.0)), "NaN or infinity"),
    "csc": (lambda: compressed([0, 1, 0, 99], cls=sp.csc_array), "row index 99"),
    "coo": (coordinates, "row index 7"),
    "short coo": (short_coordinates, "2 row indices for 3 entries"),
    "lil": (lists, "lil format are not valid"),
    "bsr": (blocks, "column index 9"),
}
FORMS: dict[str, Callable[[Any], object]] = {
    "rows": lambda data: ConicSystem.from_rows(data),
    "labelled": lambda data: ConicSystem.from_labelled(data, signs(data)),
    "second-order": lambda data: ConicSystem.second_order(data, [data.shape[0]]),
    "kernel": lambda data: ConicSystem.from_kernel("precomputed", data, signs(data)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", INVALID)
def test_arrays_that_describe_no_matrix_are_refused(case: str, form: str) -> None:
    make, message = INVALID[case]
    with pytest.raises(InputError, match=message):
        FORMS[form](make())


@pytest.mark.parametrize("case", ["too large", "negative", "far too large"])
def test_such_files_are_refused(case: str, tmp_path: Path) -> None:
    make, message = INVALID[case]
    path, array = tmp_path / "rows.npz", make()
    np.savez(
        path,
        indices=array.indices,
        indptr=array.indptr,
        data=array.data,
        shape=np.array(array.shape),
        format=np.array(b"csr"),
    )
    with pytest.raises(DataError, match=rf"rows.npz: .*{message}"):
        solve(path)


@pytest.mark.parametrize("cls", [sp.csr_array, sp.csr_matrix, sp.csc_array])
def test_unsorted_and_repeated_entries_are_the_matrix_that_they_mean(cls: Any) -> None:
    """scipy's flags are not believed: these claim to be sorted, and without repetitions."""
    array = compressed([1, 0, 1, 1], data=(2.0, 1.0, 0.5, 0.25), cls=cls)
    array.has_sorted_indices = array.has_canonical_format = True
    dense = np.array([[1.0, 2.0], [0.0, 0.75]])
    canonical_form = canonical(array)
    assert np.array_equal(canonical_form.toarray(), dense.T if cls is sp.csc_array else dense)
    assert canonical_form.nnz == 3
    assert array.indices.tolist() == [1, 0, 1, 1]  # the caller's array is as it was
    if cls is not sp.csc_array:
        first, second = solve(array, "perceptron"), solve(dense, "perceptron")
        assert (first.status, first.updates) == (second.status, second.updates)
        assert first.margin_lower == pytest.approx(second.margin_lower)


@pytest.mark.parametrize("indices", [np.int32, np.int64])
def test_valid_arrays_are_not_copied(indices: Any) -> None:
    matrix = sp.csr_array(np.array([[1.0, 0.0, 3.0], [0.0, 2.0, 0.0]]))
    matrix.indices, matrix.indptr = matrix.indices.astype(indices), matrix.indptr.astype(indices)
    canonical_form = canonical(matrix)
    assert np.shares_memory(canonical_form.data, matrix.data)
    assert np.shares_memory(canonical_form.indices, matrix.indices)


@pytest.mark.parametrize("values", [(1e16, 1.0, 1.0), (0.1, 0.2, 1.0), (1.0, 1e-17, 2.0)])
def test_repeated_entries_whose_sums_are_rounded_are_refused(values: tuple[float, ...]) -> None:
    matrix = sp.coo_array((values, ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    with pytest.raises(InputError, match="call sum_duplicates"):
        solve(matrix)
    matrix.sum_duplicates()
    assert solve(matrix).proved


def test_repeated_entries_with_exact_sums_are_summed() -> None:
    matrix = sp.coo_array(([3.0, -1.0, 2.0**40, 1.0], ([0, 0, 1, 1], [0, 0, 1, 1])), shape=(2, 2))
    assert canonical(matrix).toarray().tolist() == [[2.0, 0.0], [0.0, 2.0**40 + 1.0]]
