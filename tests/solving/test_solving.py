"""Anything a user may pass as a problem becomes a conic system, or is refused."""

from __future__ import annotations

import tracemalloc
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from perceptron_lab.algorithms.base import Algorithm, State
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.cones.operators import matrix
from perceptron_lab.cones.operators.kernels import Kernel, Linear, Polynomial, Rbf
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import FirstViolated
from perceptron_lab.cones.product import Product
from perceptron_lab.core.errors import ConfigError, DataError, InputError
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.datasets.collections import problem_files
from perceptron_lab.datasets.collections.problem_files import read_system
from perceptron_lab.datasets.formats import columns, file_contents
from perceptron_lab.datasets.formats.file_contents import FORMATS
from perceptron_lab.datasets.generated.maxcut import maxcut_data
from perceptron_lab.solving.entry import as_system, solve
from perceptron_lab.systems import ConicSystem, constructors
from perceptron_lab.systems.pencil import homogenised

ROWS = np.array([[3.0, 4.0], [0.0, 2.0], [-5.0, 12.0]])
EXAMPLES = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, -1.0]])
PROGRAM = """2
2
2 -1
1.0 1.0
0 1 1 1 1.0
1 1 1 1 2.0
1 1 2 2 1.0
2 1 1 2 1.0
2 2 1 1 3.0
"""


@pytest.fixture(name="program")
def _program(tmp_path: Path) -> Path:
    path = tmp_path / "program.dat-s"
    path.write_text(PROGRAM)
    return path


def test_a_system_is_itself() -> None:
    system = ConicSystem.from_rows(np.eye(2))
    assert as_system(system) is system


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.ndarray.tolist])
def test_rows(form: Any) -> None:
    system = as_system(form(2 * np.eye(3)))
    np.testing.assert_array_equal(system.scores(np.arange(3.0)), [0.0, 1.0, 2.0])
    assert system.unit_rows


def test_examples_and_labels() -> None:
    system = as_system((np.array([[3.0], [-3.0]]), np.array([1, 0])))
    expected = np.array([[3.0, 1.0], [3.0, -1.0]]) / np.sqrt(10.0)
    np.testing.assert_allclose(system.scores(np.array([1.0, 0.0])), expected[:, 0])
    np.testing.assert_allclose(system.scores(np.array([0.0, 1.0])), expected[:, 1])


@pytest.mark.parametrize("kind", [str, Path])
def test_the_path_of_a_program(program: Path, kind: type[str] | type[Path]) -> None:
    """F(x) = x_1 diag(2, 1) + x_2 [[0, 1], [1, 0]] - x_0 diag(1, 0), then 3 x_2, all after x_0."""
    system = as_system(kind(program))
    assert isinstance(system.cone, Product)
    assert system.dimension == 3
    scores = system.scores(np.array([1.0, 2.0, 0.5]))
    assert scores.tolist() == [1.0, 3.0, 0.5, 2.0, 1.5]
    assert system.prove_point(np.array([1.0, 2.0, 0.5])).feasible
    assert not system.prove_point(np.array([-1.0, 2.0, 0.5])).feasible


MODEL = """NAME model
ROWS
 N obj
 G c
COLUMNS
 a obj 1 c 1
 b c 2
RHS
 rhs c 1
ENDATA
"""


def written(kind: str, folder: Path) -> Path:
    """Write the rows, or as svmlight the examples, in a format."""
    path = folder / f"problem{kind}"
    if kind == ".npy":
        np.save(path, ROWS)
    elif kind == ".npz":
        np.savez(path, rows=ROWS)
    elif kind == ".parquet":
        pd.DataFrame(ROWS, columns=["a", "b"]).to_parquet(path)
    elif kind == ".dat-s":
        path.write_text(PROGRAM)
    elif kind in (".svm", ".libsvm"):
        path.write_text("+1 1:1 2:2\n-1 2:1\n+1 1:3 2:-1\n")
    elif kind in (".rud", ".mc"):
        path.write_text("3 2\n1 2 1\n2 3 -1\n")
    elif kind == ".mtx":
        head = "%%MatrixMarket matrix coordinate integer symmetric"
        path.write_text(f"{head}\n3 3 2\n2 1 1\n3 2 -1\n")
    elif kind == ".mps":
        path.write_text(MODEL)
    elif kind == ".dat":
        path.write_text("2\n1\n2\n1 1\n{{1, 0}, {0, 1}} {{1, 1}, {1, 0}} {{0, 0}, {0, 1}}\n")
    elif kind == ".lp":
        path.write_text("Minimize\n obj: a\nSubject To\n c: a + 2 b >= 1\nEnd\n")
    else:
        pd.DataFrame(ROWS, columns=["a", "b"]).to_csv(
            path, sep="," if kind == ".csv" else "\t", index=False
        )
    return path


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("form", [str, Path])
def test_the_path_of_a_file_of_any_format(form: Any, kind: str, tmp_path: Path) -> None:
    path = written(kind, tmp_path)
    system, same = as_system(form(path)), read_system(path)
    if kind in (".mps", ".lp"):  # questions about closed sets, on which algorithms do not run
        assert system.conditions == same.conditions
        system, same = system.strict(), ConicSystem.from_linear([[1, 2]], [1], lower=0).strict()
    point = np.linspace(0.5, 1.5, system.dimension)
    assert system.operator.scores(point).tolist() == same.operator.scores(point).tolist()
    if kind in (".svm", ".libsvm"):
        same = as_system((EXAMPLES, [1, 0, 1]))
    elif kind in (".rud", ".mc", ".mtx"):
        weights = sp.csr_array(np.array([[0, 1, 0], [1, 0, -1], [0, -1, 0]]))
        same = homogenised(maxcut_data(weights))
    elif kind not in (".dat-s", ".dat", ".mps", ".lp"):
        same = as_system(ROWS)
    assert system.operator.scores(point) == pytest.approx(same.operator.scores(point))


def test_solve_takes_a_path(tmp_path: Path) -> None:
    result = solve(str(written(".csv", tmp_path)))
    assert result.proved
    assert (ROWS @ result.point > 0).all()


@pytest.mark.parametrize("name", ["rows.xlsx", "rows"])
def test_a_file_of_another_kind(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    reason = "a file of Excel is not read; export it" if name.endswith("xlsx") else ""
    with pytest.raises(
        DataError, match=reason or r"nothing is known of such files; allowed are \.d"
    ):
        as_system(tmp_path / name)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nothing\.dat-s"):
        as_system(tmp_path / "nothing.dat-s")


def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    path = tmp_path / "prose.dat-s"
    path.write_text("once upon a time\n")
    with pytest.raises(DataError, match=r"prose\.dat-s"):
        as_system(str(path))


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_tuple_is_examples_and_labels_and_nothing_else(count: int) -> None:
    with pytest.raises(InputError, match=rf"tuple of length {count}; give \(X, y\)"):
        as_system((np.eye(2),) * count)


@pytest.mark.parametrize("problem", [None, 3, {"rows": 1}, object(), [], [[np.nan]], [[0.0]]])
def test_anything_else_is_refused(problem: Any) -> None:
    with pytest.raises(InputError, match="row"):
        as_system(problem)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], r"shape \(0,\).*one row per constraint"),
        (np.zeros((0, 3)), r"shape \(0, 3\)"),
        (np.zeros((3, 0)), r"shape \(3, 0\)"),
        (sp.csr_array((0, 3)), r"shape \(0, 3\)"),
        ([1.0, 2.0], r"shape \(2,\)"),
        (7.0, r"received 7.0 .float.; give a matrix of numbers"),
        (None, r"received None .NoneType.; give a matrix of numbers"),
        (np.ones((2, 2, 2)), r"shape \(2, 2, 2\)"),
        (sp.coo_array(np.ones(3)), r"shape \(3,\)"),
        ([[1.0, 2.0], [3.0]], "matrix of real numbers"),
        ([["a", "b"]], "matrix of real numbers"),
        ([["1", "2"]], "real numbers"),
        ([[1 + 2j, 1.0]], "real numbers"),
        (np.array([[1 + 2j, 1.0]]), "real numbers"),
        (sp.csr_array(np.array([[1 + 2j, 1.0]])), "real numbers"),
        ([[object()]], "matrix of real numbers"),
        ({"a": 1}, r"received .*dict.; give a matrix of numbers"),
        ([[1.0, 1.0], [1.0, np.nan]], "row 1 holds NaN or infinity"),
        (np.ma.masked_array([[1.0, 2.0]], [[False, True]]), "masked"),
        ([[1.0, np.inf]], "NaN or infinity"),
        (sp.csr_array(np.array([[0.0, 1.0], [1.0, -np.inf]])), "row 1 holds NaN or infinity"),
        ([[1.0, 0.0], [0.0, 0.0], [0.0, -0.0]], r"row 1 is zero \(2 such rows\)"),
        (sp.csr_array(np.diag([1.0, 0.0])), r"row 1 is zero"),
        ([[1.0, 0.0], [1e151, 0.0]], "row 1 has a norm outside 1e-150"),
        ([[1.0, 0.0], [1e-151, 0.0]], "row 1 has a norm outside 1e-150"),
        ([[1e200, 1.0]], "row 0 has a norm outside 1e-150"),
        ([[1e-200, 0.0]], "row 0 has a norm outside 1e-150"),
        (sp.csr_array(np.array([[1e200, 1.0]])), "row 0 has a norm outside 1e-150"),
        (sp.csr_array(np.array([[1e-200, 1e-210]])), "row 0 has a norm outside 1e-150"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_rows_that_make_no_system_are_refused(rows: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ConicSystem.from_rows(rows)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, 1, 1], "labels take 1 value.*two classes"),
        ([1, 2, 3], "labels take 3 values"),
        ([1, -1], "3 examples, but 2 labels"),
        ([], "3 examples, but 0 labels"),
        ([1.0, np.nan, 1.0], "label"),
        ([np.nan, np.nan, 1.0], "label"),
        ([1, None, 1], "label"),
    ],
)
def test_labels_that_are_not_two_classes_are_refused(labels: list[Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ConicSystem.from_labelled(EXAMPLES, labels)


def test_a_table_of_labels_is_refused() -> None:
    with pytest.raises(InputError, match="label"):
        ConicSystem.from_labelled(np.eye(4), [[1, 2], [1, 2]])


@pytest.mark.parametrize(
    "examples", [[[np.nan, 1.0], [1.0, 1.0]], [["a"], ["b"]], [1.0, 2.0], np.array(3.0), 3, None]
)
def test_examples_that_are_not_a_finite_matrix_are_refused(examples: Any) -> None:
    with pytest.raises(InputError):
        ConicSystem.from_labelled(examples, [1, 2])


def test_a_zero_example_is_fine_with_the_constant_feature_only() -> None:
    examples = np.array([[0.0, 0.0], [1.0, 1.0]])
    assert ConicSystem.from_labelled(examples, [1, 2]).dimension == 3
    with pytest.raises(InputError, match="row 0 is zero"):
        ConicSystem.from_labelled(examples, [1, 2], affine=False)


def strided() -> FloatArray:
    wide = np.zeros((3, 4))
    wide[:, ::2] = ROWS
    return np.asarray(wide[:, ::2])


def read_only() -> FloatArray:
    rows = ROWS.copy()
    rows.setflags(write=False)
    return rows


@pytest.mark.parametrize(
    "rows",
    [
        ROWS.tolist(),
        ROWS.astype(int),
        ROWS.astype(np.float32),
        np.asfortranarray(ROWS),
        strided(),
        read_only(),
        pd.DataFrame(ROWS),
        sp.csr_array(ROWS),
        sp.csc_matrix(ROWS),
        sp.coo_array(ROWS.astype(int)),
    ],
    ids=lambda rows: type(rows).__name__,
)
def test_rows_of_any_form_make_the_same_system(rows: Any) -> None:
    system = ConicSystem.from_rows(rows)
    unit = ROWS / np.array([[5.0], [2.0], [13.0]])
    point = np.array([0.3, 1.1])
    np.testing.assert_allclose(system.scores(point), unit @ point, rtol=1e-15)
    np.testing.assert_allclose(system.combine(np.ones(3)), unit.sum(axis=0), rtol=1e-15)
    cut = system.cut(np.array([0.0, -1.0]))
    assert cut is not None
    np.testing.assert_allclose(cut.normal, unit[1])
    assert cut.atom.span == slice(1, 2)
    assert cut.norm == pytest.approx(1.0, abs=1e-15)
    assert system.dimension == 2
    assert system.unit_rows
    assert system.prove_point(np.array([1.0, 1.0])).feasible


def test_repeated_sparse_entries_add_up_everywhere() -> None:
    repeated = (np.array([4.0, -1.0, 4.0]), np.array([0, 0, 1]), np.array([0, 3]))
    system = ConicSystem.from_rows(sp.csr_array(repeated, shape=(1, 2)))
    np.testing.assert_allclose(system.scores(np.array([1.0, 0.0])), [0.6])
    proof = system.prove_point(np.array([3.0, 4.0]))
    assert proof.margin_lower == pytest.approx(1.0, abs=1e-12)
    assert proof.margin_lower <= 1.0


@pytest.mark.parametrize("labels", [[1, -1, 1], [1, 0, 1], ["yes", "no", "yes"], [[2], [1], [2]]])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.ndarray.tolist])
def test_the_larger_label_is_the_positive_class(form: Any, labels: Any) -> None:
    signs = np.array([1.0, -1.0, 1.0])
    affine = ConicSystem.from_labelled(form(EXAMPLES), labels)
    lifted = np.column_stack([EXAMPLES, np.ones(3)]) * signs[:, None]
    linear = ConicSystem.from_labelled(form(EXAMPLES), labels, affine=False)
    for system, rows in ((affine, lifted), (linear, EXAMPLES * signs[:, None])):
        point = np.arange(1.0, rows.shape[1] + 1)
        expected = rows @ point / np.linalg.norm(rows, axis=1)
        np.testing.assert_allclose(system.scores(point), expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((3, 2)), r"kernel matrix has shape \(3, 2\); give a square one"),
        ([[1.0, 0.5], [0.4, 1.0]], "not symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], "not positive semidefinite"),
        ([[1.0, 0.0], [0.0, -1.0]], "K\\(x, x\\) = -1 for example 1"),
        ([[0.0, 0.0], [0.0, 1.0]], "K\\(x, x\\) = 0 for example 0"),
        ([[1.0, np.nan], [np.nan, 1.0]], "NaN or infinity"),
        ([["a"]], "real numbers"),
    ],
)
def test_matrices_that_are_no_kernel_are_refused(matrix: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ConicSystem.from_kernel("precomputed", matrix, [1, 2])


def test_a_singular_kernel_matrix_is_accepted() -> None:
    """Equal examples, or fewer features than examples: semidefinite to rounding is enough."""
    assert ConicSystem.from_kernel("precomputed", np.ones((3, 3)), [1, 2, 1]).cone.size == 3
    rows = np.random.default_rng(0).standard_normal((40, 2))
    assert ConicSystem.from_kernel("precomputed", rows @ rows.T, np.arange(40) % 2).cone.size == 40


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(), Rbf()])
def test_examples_and_labels_of_kernels_are_checked(kernel: Kernel) -> None:
    for labels in ([1, 1, 1], [1, 2], [1.0, np.nan, 1.0]):
        with pytest.raises(InputError, match="label"):
            ConicSystem.from_kernel(kernel, EXAMPLES, labels)
    for examples in ([[np.nan, 1.0], [1.0, 1.0]], [["a"], ["b"]], [1.0, 2.0], None):
        with pytest.raises(InputError):
            ConicSystem.from_kernel(kernel, examples, [1, 2])


def test_an_example_without_features_vanishes_under_the_linear_kernel_only() -> None:
    examples = np.array([[0.0, 0.0], [1.0, 1.0]])
    with pytest.raises(InputError, match=r"K\(x, x\) = 0 for example 0.*remove it"):
        ConicSystem.from_kernel(Linear(), examples, [1, 2])
    for kernel in (Polynomial(), Rbf()):
        system = ConicSystem.from_kernel(kernel, examples, [1, 2])
        assert system.cone.size == 2


def test_kernel_values_that_overflow_are_refused() -> None:
    for kernel in (Polynomial(degree=200), Linear()):
        examples = EXAMPLES * (1e200 if isinstance(kernel, Linear) else 1e3)
        with np.errstate(over="ignore"), pytest.raises(InputError, match="not finite"):
            ConicSystem.from_kernel(kernel, examples, [1, 2, 1])


@pytest.mark.parametrize("sizes", [[], [2], [4], [3, 0], [4, -1], [1, 1, 1, 1]])
def test_sizes_of_second_order_blocks_must_sum_to_the_rows(sizes: list[int]) -> None:
    with pytest.raises(InputError, match=r"blocks of sizes .* for 3 rows; give whole numbers"):
        ConicSystem.second_order(np.eye(3), sizes)


@pytest.mark.parametrize("matrix", [[[np.nan, 1.0]] * 2, [["a"], ["b"]], [1.0, 2.0], None, []])
def test_second_order_data_that_are_not_a_finite_matrix_are_refused(matrix: Any) -> None:
    with pytest.raises(InputError):
        ConicSystem.second_order(matrix, [2])


def test_one_unknown_one_row_and_more_unknowns_than_rows() -> None:
    single = ConicSystem.from_rows([[-2.0]])
    assert single.prove_point(np.array([-1.0])).margin_lower == pytest.approx(1.0, abs=1e-14)
    assert single.prove_infeasible(np.ones(1)) is None
    wide = ConicSystem.from_rows(np.random.default_rng(0).standard_normal((3, 50)))
    assert isinstance(wide.operator, Matrix)
    point = np.linalg.pinv(np.asarray(wide.operator.data)) @ np.ones(3)
    assert wide.prove_point(point).feasible
    assert wide.prove_infeasible(np.ones(3)) is None


@pytest.mark.parametrize(
    "form", [ConicSystem.from_labelled, partial(ConicSystem.from_kernel, Rbf())]
)
def test_masked_labels_are_refused(form: Any) -> None:
    labels = np.ma.array([1, -1, 1], mask=[False, False, True])
    with pytest.raises(InputError, match="labels are a masked array with missing entries"):
        form(np.eye(3), labels)
    assert form(np.eye(3), np.ma.array([1, -1, 1], mask=False)).cone.size == 3


def test_labels_that_pandas_misses_are_refused() -> None:
    with pytest.raises(InputError, match=r"label \d is missing"):
        ConicSystem.from_labelled(np.eye(3), pd.Series([1, None, 0], dtype="Int64"))


def bomb(path: Path, write: Any = np.savez_compressed) -> Path:
    """A file of some kilobytes that says it holds 8 MB."""
    ones = np.ones((1000, 1000))
    write(path, sp.csr_array(ones) if write is sp.save_npz else ones)
    assert path.stat().st_size < 200_000
    return path


@pytest.mark.parametrize("write", [np.savez_compressed, sp.save_npz])
def test_an_archive_larger_than_memory_is_not_unpacked(
    write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bomb(tmp_path / "bomb.npz", write)
    monkeypatch.setattr(columns.os, "sysconf", lambda name: 3000)  # times 3000 bytes
    with pytest.raises(DataError):
        solve(path)  # imports take memory once
    tracemalloc.start()
    with pytest.raises(DataError, match=r"bomb.npz: unpacked it takes .* save the rows as .npy"):
        solve(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000
    monkeypatch.undo()
    assert as_system(path).cone.size == 1000


@pytest.mark.parametrize("kind", [".npz", ".csv", ".dat-s", ".npy"])
def test_too_little_memory_is_an_error_of_the_data(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def starved(*_: object, **__: object) -> None:
        raise MemoryError

    path = tmp_path / f"rows{kind}"
    path.write_bytes(b"1,2\n")
    monkeypatch.setattr(problem_files, "read_with_notes", starved)
    for reader in ("read_text", "_matrix", "_archive"):
        monkeypatch.setattr(file_contents, reader, starved)
    with pytest.raises(DataError, match=f"rows{kind}: its numbers take more memory than there is"):
        solve(path)


@pytest.mark.parametrize("kind", ["rows", "labelled", "file"])
def test_rows_are_converted_once_and_their_norms_computed_once(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Norms that are not finite tell of entries that are not, so that these need no pass."""
    calls: list[str] = []
    for module, name in ((constructors, "doubles_of_rows"), (matrix, "row_norms")):
        function = getattr(module, name)
        monkeypatch.setattr(
            module,
            name,
            lambda data, function=function, name=name: calls.append(name) or function(data),
        )
    rows = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.5]])
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",")
    problem = {
        "rows": rows,
        "labelled": (rows, [0, 1, 1]),
        "file": tmp_path / "rows.csv",
    }[kind]
    assert as_system(problem).unit_rows
    expected = ["row_norms"] if kind == "file" else ["doubles_of_rows", "row_norms"]
    assert calls == expected


FRAME = pd.DataFrame({"age": [1.0, 2.0, 3.0], "weight": [2, 1, 4]})


@pytest.mark.parametrize(
    "labels",
    [
        [1, 0, 1],
        ["yes", "no", "yes"],
        np.array([True, False, True]),
        pd.Series(["b", "a", "b"], dtype="category"),
        pd.DataFrame({"target": [1, -1, 1]}),
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_a_second_argument_is_labels(labels: Any) -> None:
    result, same = solve(FRAME, labels, "perceptron"), solve((FRAME.to_numpy(), [1, 0, 1]))
    assert result.proved
    assert result.status is same.status
    assert result.point.shape == (3,)
    assert solve(FRAME, labels=labels).point.tolist() == same.point.tolist()


def test_a_name_or_a_record_as_second_argument_is_an_algorithm() -> None:
    results = [
        solve(np.eye(2), algorithm) for algorithm in ("perceptron", Perceptron, Perceptron())
    ]
    assert len({tuple(result.point) for result in results}) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.eye(3), "perceptron", [1, 0, 1]), r"give solve\(X, y, algorithm\)"),
        ((np.eye(3), [1, 0, 1], int), "algorithm <class 'int'>; give a name"),
        ((ConicSystem.from_rows(np.eye(2)), [1, 0]), "labels were given with a conic system"),
        (("rows.csv", [1, 0]), "labels were given with the file rows.csv; name the column"),
        ((np.eye(3), ["a", None, "b"]), "label 1 is missing"),
        ((np.eye(3), ["a", "b", "c"]), "3 values, 'a', 'b', 'c' .*; give two classes, such as"),
        ((FRAME.assign(city=["a", "b", "c"]),), "column 'city' holds 'a' .str.; encode it"),
        ((FRAME.assign(age=[1.0, None, 2.0]),), "column 'age' has no value in row 1 "),
        ((FRAME.assign(age=pd.array([1, 2, None], dtype="Int64")),), "in row 2 .1 such rows"),
        ((FRAME.assign(day=pd.to_datetime(["2020-01-01"] * 3)),), "'day' holds .*Timestamp"),
    ],
)
def test_unsolvable_arguments_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        solve(*arguments)


def test_a_budget_is_a_record() -> None:
    with pytest.raises(InputError, match=r"budget 10; give Budget\(updates="):
        solve(np.eye(2), budget=10)  # type: ignore[arg-type]


def test_columns_of_exact_numbers_and_of_truth_values_are_numbers() -> None:
    frame = pd.DataFrame({"a": [Fraction(1, 3), Decimal("0.1")], "b": [True, False]})
    assert solve(frame).status is Status.FEASIBLE


class Unfinished(Algorithm[State]):
    """It defines no method."""


class Hungry(Perceptron):
    """It has an __init__ of its own, with an argument."""

    def __init__(self, rate: float) -> None:
        object.__setattr__(self, "rate", rate)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"algorithm": Unfinished}, "Unfinished: it does not define bound, start, step"),
        ({"algorithm": Hungry}, r"Hungry: it cannot be made without arg.*solve\(rows, Hungry\("),
        ({"algorithm": dict}, "give a name of `plab list algorithms`, or a record"),
        ({"seed": "a"}, r"seed 'a' \(str\); give a whole number, 0 or more"),
        ({"seed": 1.5}, "give a whole number"),
        ({"seed": None}, r"seed None \(NoneType\); give a whole number"),
        ({"record_at": 5}, r"record_at 5 \(int\); give a list of numbers of updates"),
        ({"facts": 0.1}, r"facts 0.1 \(float\); give Facts\(margin="),
        ({"observe": 3}, "observe 3 .*give a function of the point"),
        ({"stop": True}, "stop True .*give a function that returns None, or a text"),
        ({"algorithm": "perceptron", "start": "origin"}, "start 'origin'; give 2 finite numbers"),
        ({"algorithm": "perceptron", "oracle": 3}, "oracle 3; give a name of `plab list oracles`"),
        ({"algorithm": "perceptron", "oracle": [dict]}, "oracle <class 'dict'>; give a name"),
        ({"budget": {"updates": 10}}, r"give Budget\(updates="),
    ],
)
def test_a_wrong_argument_has_a_clear_error(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        solve(ROWS, **arguments)


def test_the_name_of_a_column_is_no_array_of_labels() -> None:
    with pytest.raises(ConfigError, match=r"labels 'y'; .* table\['y'\].*unknown algorithm"):
        solve(ROWS, labels="y")
    with pytest.raises(ConfigError, match=r"'perceptrn' \(did you mean 'perceptron'\?\)"):
        solve(ROWS, "perceptrn")


def test_the_class_of_an_oracle_stands_for_its_defaults() -> None:
    by_class = solve(ROWS, "perceptron", oracle=FirstViolated)
    assert by_class.queries == solve(ROWS, "perceptron", oracle="first-violated").queries
