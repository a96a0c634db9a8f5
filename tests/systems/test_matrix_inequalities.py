"""Linear matrix inequalities as users give them: sum_i x_i F_i - F_0 positive definite."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import block_diag

from perceptron_lab import ConicSystem, solve
from perceptron_lab.cones.product import Product
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.systems.pencil import SdpaData, homogenised


def symmetric(rng: np.random.Generator, order: int) -> FloatArray:
    values = rng.normal(size=(order, order))
    return values + values.T


def inequality(rng: np.random.Generator, order: int = 5, count: int = 3) -> list[FloatArray]:
    """Return F_0, ..., F_m with a point that makes the sum the identity."""
    matrices = [symmetric(rng, order) for _ in range(count)]
    x = rng.normal(size=count)
    return [sum(a * F for a, F in zip(x, matrices, strict=True)) - np.eye(order), *matrices]


@pytest.mark.parametrize("seed", range(4))
def test_the_quotient_of_a_point_satisfies_the_inequality(seed: int) -> None:
    constant, *matrices = inequality(np.random.default_rng(seed))
    result = solve(ConicSystem.from_matrices(constant, matrices))
    x = result.point[1:] / result.point[0]
    total = sum(a * F for a, F in zip(x, matrices, strict=True)) - constant
    assert result.status == "FEASIBLE"
    assert np.linalg.eigvalsh(total)[0] > 0.0


def test_scores_are_those_of_the_same_program_in_sdpa_s_format() -> None:
    constant, *matrices = inequality(np.random.default_rng(5))
    upper = np.triu_indices(5)
    entries = [constant[upper], *(F[upper] for F in matrices)]
    indices = np.array(
        [(i, 0, r, c) for i in range(4) for r, c in zip(*upper, strict=True)], dtype=np.int64
    )
    data = SdpaData.from_entries(np.zeros(3), [5], indices, np.concatenate(entries))
    point = np.random.default_rng(6).normal(size=4)
    ours = ConicSystem.from_matrices(constant, matrices)
    assert ours.objective is None
    np.testing.assert_array_equal(ours.scores(point), homogenised(data).scores(point))


def test_dense_sparse_and_lists_are_the_same_system() -> None:
    matrices = inequality(np.random.default_rng(1))
    forms = [matrices, [sp.csc_array(F) for F in matrices], [F.tolist() for F in matrices]]
    results = [solve(ConicSystem.from_matrices(F[0], F[1:])) for F in forms]
    assert len({result.point.tobytes() for result in results}) == 1


def test_blocks_are_found_and_rows_alone_are_inequalities() -> None:
    rng = np.random.default_rng(2)
    blocks = [inequality(rng, 3), inequality(rng, 4), [np.ones((1, 1))] * 4, [np.eye(1)] * 4]
    order = rng.permutation(9)
    full = [block_diag(*(block[i] for block in blocks)) for i in range(4)]
    shuffled = [F[np.ix_(order, order)] for F in full]
    system = ConicSystem.from_matrices(shuffled[0], shuffled[1:])
    point = np.array([1.0, 0.3, -0.2, 0.1])
    total = sum(a * F for a, F in zip([-point[0], *point[1:]], full, strict=True))
    assert isinstance(system.cone, Product)
    assert [part.rank for part in system.cone.parts] in ([1, 3, 4, 2], [1, 4, 3, 2])
    lowest = system.cone.lowest(system.scores(point))
    assert lowest == pytest.approx(min(1.0, np.linalg.eigvalsh(total)[0]))


def test_no_point_is_proved_by_weights() -> None:
    system = ConicSystem.from_matrices(np.eye(2), [np.diag([1.0, -1.0])])
    assert solve(system).status == "INFEASIBLE"


@pytest.mark.parametrize(
    ("constant", "matrices", "reason"),
    [
        (np.eye(2), [], "there is only F_0"),
        (np.eye(2), None, "the matrices after F_0 are a NoneType; give a list"),
        (np.eye(2), sp.eye_array(2), r"the matrices after F_0 are a \w+; give a list"),
        (np.eye(2), "F", "the matrices after F_0 are a str; give a list"),
        (np.eye(2), {"a": np.eye(2)}, "the matrices after F_0 are a dict; give a list"),
        (np.eye(2), [[[1.0, 2.0], [0.0, 1.0]]], "F_1 is not symmetric: 2.0 in row 1, column 2"),
        (np.eye(2), [np.eye(3)], "F_1 has order 3, F_0 has 2"),
        (np.ones((2, 3)), [np.eye(2)], r"F_0 has shape \(2, 3\); give a square matrix"),
        (np.eye(2), [[[np.nan, 0.0], [0.0, 1.0]]], "F_1: "),
        (np.zeros((2, 2)), [np.zeros((2, 2))], "all matrices are zero"),
        ("text", [np.eye(2)], "F_0: "),
    ],
)
def test_malformed_matrices_are_named(
    constant: object, matrices: list[object], reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        ConicSystem.from_matrices(constant, matrices)  # type: ignore[arg-type]
