"""Conic programs whose answers are known by construction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from perceptron_lab.core.errors import InputError
from perceptron_lab.datasets.generated.infeasible_programs import (
    InfeasibleSdp,
    _kernel,
    _with_eigenvalues,
    unimodular,
)
from perceptron_lab.solving.entry import solve
from tests.repetitions import repeated
from tests.solving.without_conflict import without_conflict

SEEDS = repeated(range(10), kept=2)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["infeasible", "weak"])
@pytest.mark.parametrize("ranks", [(2, 2), (4, 3)])
def test_clean_programs_have_the_echelon_form(kind: Any, ranks: Any, seed: int) -> None:
    data = InfeasibleSdp("liu-pataki", kind, 10, 12, ranks)
    matrices, right, point = data.equations_of(np.random.default_rng(seed))
    first, last = ranks[0], sum(ranks)
    assert (matrices[0] == np.diag(np.arange(10) < first)).all()
    assert (matrices[1][first:last, first:last] == np.eye(last - first)).all()
    assert not matrices[1][first:, last:].any()
    assert right[0] == 0 > right[1]
    assert [int((matrix * point).sum()) for matrix in matrices] == right.tolist()
    if kind == "weak":
        # The least eigenvalue of X + t Y is -O(1 / t), and it solves all equations
        far = np.diag(np.arange(10) >= last).astype(int)
        assert not any((matrix * far).sum() for matrix in matrices)
        assert not point[:last, :last].any()
        lowest = [np.linalg.eigvalsh(point + t * far)[0] for t in (1e4, 1e6)]
        assert lowest[0] < 50 * lowest[1] < 0.0


@pytest.mark.parametrize("seed", SEEDS)
def test_messy_programs_are_clean_ones_transformed(seed: int) -> None:
    clean, messy = (InfeasibleSdp("liu-pataki", "weak", messy=look) for look in (False, True))
    rng = np.random.default_rng(seed)
    matrices, right, point = clean.equations_of(rng)
    rows, (turn, back) = unimodular(rng, 10)[0], unimodular(rng, 10)
    changed, changed_right, changed_point = messy.equations_of(np.random.default_rng(seed))
    assert (np.tensordot(rows, np.array(matrices), 1) == [back.T @ a @ back for a in changed]).all()
    assert (rows @ right == changed_right).all()
    assert (turn @ changed_point @ turn.T == point).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_kernels_and_inverses_are_exact(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrices, _, _ = InfeasibleSdp("liu-pataki", messy=True, equations=20).equations_of(rng)
    kernel = _kernel(matrices)
    assert len(kernel) == 55 - 20
    assert np.linalg.matrix_rank([element.ravel() for element in kernel]) == 35
    assert not any((a * element).sum() for a in matrices for element in kernel)
    matrix, inverse = unimodular(rng, 7)
    assert (matrix @ inverse == np.eye(7)).all()
    eigenvalues = np.array([2, -1, -3, -1])
    product, transform = _with_eigenvalues(rng, eigenvalues)
    left = np.round(np.linalg.inv(transform))[0]
    assert (left @ product == 2 * left).all()
    assert np.sort(np.linalg.eigvals(product).real) == pytest.approx(np.sort(eigenvalues), abs=1e-3)


FAMILIES = [
    ("lyapunov", 3),
    ("control", 3),
    ("gram", 4),
    ("second-order", 5),
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("family", "order"), FAMILIES)
def test_proved_answers_are_the_known_ones(family: Any, order: int, seed: int) -> None:
    for kind in ("feasible", "infeasible"):
        data = InfeasibleSdp(family, kind, order)
        problem = data.problem(seed)
        result = solve(problem.system)
        assert result.proved
        assert result.status == kind.upper()
        assert problem.measure is not None
        known = problem.measure(np.zeros(problem.system.dimension))
        assert known["known_infeasible"] == (kind == "infeasible")


@pytest.mark.slow
@pytest.mark.parametrize("equations", repeated([10, 20], kept=1))
def test_weights_are_rounded_where_the_interior_point_method_ends(equations: int) -> None:
    """No slower method follows it."""
    problem = InfeasibleSdp("liu-pataki", "weak", messy=True, equations=equations).problem(2)
    with without_conflict():
        result = solve(problem.system)
    assert (result.status, result.infeasibility) == ("INFEASIBLE", "weak")
    assert result.certificate["notes"][0].endswith("of von-neumann, then interior-point")


def test_equal_seeds_give_equal_data() -> None:
    data = InfeasibleSdp("liu-pataki", "weak", messy=True)
    assert data.names() == ["liu-pataki-weak-messy-10-10-2-2"]
    assert data.problem(1).sha256 == data.problem(1).sha256 != data.problem(2).sha256


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"family": "liu-pataki", "kind": "feasible"}, "kind feasible of the family liu-pataki"),
        ({"family": "gram", "kind": "weak"}, "kind weak of the family gram"),
        ({"family": "gram", "messy": True}, "messy of the family gram"),
        ({"family": "liu-pataki", "ranks": (5, 5)}, "ranks 5, 5 and 10 equations for order 10"),
        ({"family": "liu-pataki", "order": 5, "equations": 15}, "15 equations for order 5"),
    ],
)
def test_impossible_parameters_are_refused(parameters: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        InfeasibleSdp(**parameters)
