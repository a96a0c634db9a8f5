"""Matrix blocks that are never written as whole matrices: the same answers, on the pattern."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from perceptron_lab import Budget, solve
from perceptron_lab.algorithms.automatic import conic
from perceptron_lab.algorithms.automatic.auto import Auto
from perceptron_lab.cones import semidefinite
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.oracles.proving import AutoOracle, Lanczos, LeadingCholesky, SparseLdl
from perceptron_lab.cones.oracles.semidefinite import Cholesky, Eigenvector, PivotedCholesky
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.cones.spectral import lowest
from perceptron_lab.core import registry
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.datasets.generated.maxcut import generate
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.pencil import homogenised

PROVED = [SparseLdl(), LeadingCholesky(), Lanczos(), AutoOracle()]
ORACLES = [Cholesky(), Eigenvector(), PivotedCholesky(), *PROVED]
RUN = [
    "auto",
    "perceptron",
    "tau-perceptron",
    "second-order-perceptron",
    "conic-rescaled-perceptron",
    "derandomised-rescaled-perceptron",
    "deterministic-rescaled-perceptron",
    "correlation-rescaling",
    "space-dilation",
    "ellipsoid",
    "central-cuts",
    "volumetric-cuts",
    "simplex-cuts",
    "relaxed-perceptron",
    "rescaled-perceptron",
    "normalized-perceptron",
    "winnow",
    "von-neumann",
    "bundle-mirror",
]


@pytest.fixture
def _small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(semidefinite, "LARGEST_WHOLE", 66)


def system_of(name: str = "random-70-120") -> ConicSystem:
    return homogenised(generate(name, 0))


def block_of(system: ConicSystem) -> Semidefinite:
    block = system.cone.parts[1]  # type: ignore[attr-defined]
    assert isinstance(block, Semidefinite)
    assert block.large
    return block


def scores_of(system: ConicSystem, level: float, seed: int) -> FloatArray:
    noise = np.random.default_rng(seed).uniform(-0.5, 0.5, system.dimension - 1)
    return system.operator.scores(np.append(1.0, level + noise))[1:]


@pytest.mark.usefixtures("_small_limit")
@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: type(oracle).__name__)
@pytest.mark.parametrize("slack", [0.0, 0.3])
def test_oracles_cut_off_exactly_the_points_outside(oracle: object, slack: float) -> None:
    system = system_of()
    block = block_of(system).started({"semidefinite": oracle}, np.random.default_rng(0))
    answers = set()
    for seed, level in enumerate(np.linspace(0.5, 3.5, 13)):
        scores = scores_of(system, float(level), seed)
        exact = float(np.linalg.eigvalsh(block.matrix(scores))[0])
        atom = block.separate(scores, slack)
        assert (atom is None) == (exact + slack > 0)
        answers.add(atom is None)
        assert atom is None or atom.values @ scores <= -slack + 1e-12
    assert answers == {True, False}


@pytest.mark.usefixtures("_small_limit")
def test_the_lowest_eigenvalue_is_that_of_the_whole_matrix() -> None:
    system = system_of()
    block = block_of(system)
    for seed in range(5):
        scores = scores_of(system, 2.0, seed)
        exact = float(np.linalg.eigvalsh(block.matrix(scores))[0])
        atom, value = block.deepest(scores)
        assert value == pytest.approx(exact, abs=1e-11)
        assert lowest(block, scores) == pytest.approx(exact, abs=1e-11)
        assert atom.values @ scores == pytest.approx(exact, abs=1e-11)


@pytest.mark.usefixtures("_small_limit")
def test_algorithms_that_need_dense_matrices_refuse_and_name_alternatives() -> None:
    block = block_of(system_of())
    scores = np.ones(block.size)
    words = r"order 70 are needed, .* up to order 66; choose auto"
    for refused in (block.spectrum, block.eigenvalues, lambda _: block.completed()):
        with pytest.raises(InputError, match=words):
            refused(scores)
    assert block.completed(required=False)[0] is block


@pytest.mark.usefixtures("_small_limit")
@pytest.mark.parametrize("algorithm", registry.names("algorithm"))
def test_an_algorithm_ends_with_a_bracket_or_refuses_at_once(algorithm: str) -> None:
    budget = Budget(updates=5, seconds=60.0)
    if algorithm not in RUN:
        with pytest.raises(InputError, match=r"choose (another algorithm|auto, perceptron or)"):
            solve(system_of(), algorithm, budget=budget)
        return
    result = solve(system_of(), algorithm, budget=budget)
    assert result.margin_lower is not None
    assert result.margin_upper is not None
    assert result.margin_lower <= result.margin_upper
    if algorithm in ("auto", "von-neumann"):
        assert result.status is Status.FEASIBLE
    assert np.isfinite(result.trace.margin[-1])


@pytest.mark.usefixtures("_small_limit")
@pytest.mark.parametrize("algorithm", ["svc", "linear-svc", "sgd", "nnls", "highs"])
def test_algorithms_for_rows_only_refuse_blocks_of_any_size(algorithm: str) -> None:
    with pytest.raises(InputError, match=f"{algorithm} separates rows and kernels only"):
        solve(system_of(), algorithm)


@pytest.fixture
def _sparse_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(semidefinite, "SPARSE_ABOVE", 100)


@pytest.mark.usefixtures("_sparse_from")
def test_sparse_blocks_keep_their_pattern_where_any_answer_will_do() -> None:
    sparse, dense = system_of("random-120-200"), system_of("random-120-2000")
    record, full = Auto(), 1 + 120 * 121 // 2
    assert record.view(replace(sparse, deciding=True)).cone.size == sparse.cone.size
    assert record.view(sparse).cone.size == full, "weights for a bound of the margin are whole"
    assert record.view(replace(dense, deciding=True)).cone.size == full
    few = ConicSystem(Matrix(sparse.operator.data[:, :90]), sparse.cone)  # type: ignore[attr-defined]
    assert record.view(replace(few, deciding=True)).cone.size == full, "weights may be the answer"


@pytest.mark.usefixtures("_sparse_from")
@pytest.mark.parametrize("updates", [30, 1], ids=["von-neumann", "ellipsoid"])
def test_auto_decides_sparse_blocks_without_dense_matrices(
    monkeypatch: pytest.MonkeyPatch, updates: int
) -> None:
    system = system_of("random-210-300")
    monkeypatch.setattr(conic, "FIRST_UPDATES", updates)
    monkeypatch.setattr("perceptron_lab.certificates.matrices.semidefinite.EXACT_UP_TO", 100)
    monkeypatch.setattr(Semidefinite, "matrix", None)
    result = solve(system, budget=Budget(updates=5000))
    assert result.status is Status.FEASIBLE
    assert result.certificate["notes"][0].endswith("ellipsoid") == (updates == 1)
    scores = system.scores(result.point)[1:]
    pattern = system.cone.parts[1].pattern  # type: ignore[attr-defined]
    exact = float(np.linalg.eigvalsh(pattern.dense(scores))[0]) / np.linalg.norm(result.point)
    assert result.margin_lower is not None
    assert 0.0 < result.margin_lower <= exact * (1.0 + 1e-9)


@pytest.mark.slow
def test_the_largest_graph_of_sdplib_is_decided_without_dense_matrices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """maxG60's stand-in: a matrix of order 7000 has 392 MB, its eigenvalues take minutes."""
    data = generate("random-7000-17148", 0)  # the size of maxG60, the largest of SDPLIB
    edges = (data.matrix == 0) & (data.row != data.column)
    assert (data.blocks, np.count_nonzero(edges)) == ((7000,), 17148)
    monkeypatch.setattr(Semidefinite, "matrix", None)
    result = solve(homogenised(data))
    assert result.status is Status.FEASIBLE
    assert result.margin_lower is not None
    assert result.margin_upper is not None
    assert 1e-3 < result.margin_lower < result.margin_upper < 1e-2
