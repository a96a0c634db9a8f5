"""No norm of A exceeds its bound, on every cone and kind of data; bounds are sharp where known."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_lab.certificates import norms, spectral_norm
from perceptron_lab.certificates.matrices import semidefinite
from perceptron_lab.certificates.norms import cached_bound, norm_bound
from perceptron_lab.cones.base import Atom, Cone
from perceptron_lab.cones.operators.gram import Coordinates, Gram
from perceptron_lab.cones.operators.kernels import Rbf, symmetric
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.rescaled import RescaledMap, RescaledRows
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.datasets.formats.sdpa import read_sdpa
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.pencil import SdpaData, homogenised
from tests.cones.sample_cones import CONES, arrow, complete
from tests.repetitions import examples, parts

PROPERTY = settings(deadline=None, max_examples=examples(60), derandomize=True)
RNG = np.random.default_rng
every_cone = pytest.mark.parametrize("cone", CONES.values(), ids=CONES)
ROUNDING = 1.0 + 1e-14


def random_atoms(cone: Cone, rng: np.random.Generator, count: int) -> list[Atom]:
    """Extreme points of single blocks: unit vectors, vv' and (u, 1), v Gaussian and sparse."""
    blocks = zip(cone.parts, cone.spans, strict=True) if isinstance(cone, Product) else None
    parts = list(blocks) if blocks is not None else [(cone, slice(0, cone.size))]
    atoms = []
    for _ in range(count):
        part, span = parts[rng.integers(len(parts))]
        if isinstance(part, Orthant):
            start = span.start + int(rng.integers(part.size))
            atoms.append(Atom(slice(start, start + 1), np.ones(1)))
            continue
        order = part.rank if isinstance(part, Semidefinite) else part.size - 1
        direction = rng.standard_normal(order) * (rng.random(order) < rng.random())
        direction[rng.integers(order)] += 1.0
        direction /= np.linalg.norm(direction)
        values = (
            part.outer(direction) if isinstance(part, Semidefinite) else np.append(direction, 1.0)
        )
        atoms.append(Atom(span, values))
    return atoms


def largest_norm(system: ConicSystem, rng: np.random.Generator, count: int) -> float:
    atoms = random_atoms(system.cone, rng, count)
    return max(float(np.linalg.norm(system.operator.normal(atom))) for atom in atoms)


def climbed(operator: Matrix, cone: Cone, rng: np.random.Generator) -> float:
    """norm(A(atom)) at a local maximum: a -> the atom farthest along a, again and again."""
    point = rng.standard_normal(operator.dimension)
    for _ in range(30):
        atom, _ = cone.deepest(-operator.scores(point))
        point = operator.normal(atom)
    return float(np.linalg.norm(point))


def trace_norm_of(operator: Matrix, cone: Cone) -> float:
    """norm(A)_2 from the trace norm of weights, by the singular values."""
    data = operator.data if isinstance(operator.data, np.ndarray) else operator.data.toarray()
    scale = np.ones(cone.size) if operator.scale is None else operator.scale
    return float(np.linalg.norm(data * (scale * np.sqrt(cone.multiplicity))[:, None], 2))


# --- norms of atoms ------------------------------------------------------------------------------


@st.composite
def programs(draw: st.DrawFn) -> SdpaData:
    """Random programs with dense, diagonal and 1x1 blocks."""
    blocks = draw(st.lists(st.sampled_from([1, 2, 3, 5, -1, -2, -4]), min_size=1, max_size=3))
    variables = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    indices = []
    for _ in range(draw(st.integers(1, 25))):
        block = int(rng.integers(len(blocks)))
        row, column = rng.integers(abs(blocks[block]), size=2)
        column = row if blocks[block] < 0 else column
        indices.append(
            [int(rng.integers(variables + 1)), block, min(row, column), max(row, column)]
        )
    unique = np.unique(np.array(indices), axis=0)
    values = rng.standard_normal(len(unique)) * 10.0 ** rng.integers(-3, 4)
    return SdpaData.from_entries(np.ones(variables), blocks, unique, values)


@PROPERTY
@given(programs(), st.integers(0, 10**6))
def test_random_programs(program: SdpaData, seed: int) -> None:
    system = homogenised(program)
    assert isinstance(system.operator, Matrix)
    bound = norm_bound(system.operator, system.cone, "atoms")
    assert np.isfinite(bound)
    rng = np.random.default_rng(seed)
    assert largest_norm(system, rng, 30) <= bound * ROUNDING
    assert climbed(system.operator, system.cone, rng) <= bound * ROUNDING
    euclidean = norm_bound(system.operator, system.cone, "euclidean")
    assert trace_norm_of(system.operator, system.cone) <= euclidean * ROUNDING


@every_cone
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("seeds", parts(12, kept=3))
def test_dense_and_sparse_data_of_any_kind(cone: Cone, scaled: bool, seeds: range) -> None:
    for seed in seeds:
        rng = RNG(seed)
        data = rng.standard_normal((cone.size, rng.integers(1, 6))) * 10.0 ** rng.uniform(-6, 6)
        scale = rng.uniform(0.01, 100.0, cone.size) if scaled else None
        bounds = []
        for form in (data, sp.csr_array(data)):
            operator = Matrix(form, scale)
            bounds.append(norm_bound(operator, cone, "atoms"))
            bound = bounds[-1] * ROUNDING
            assert largest_norm(ConicSystem(operator, cone), rng, 40) <= bound
            assert climbed(operator, cone, rng) <= bound
        assert bounds[0] == pytest.approx(bounds[1], rel=1e-12)


def test_rows_have_the_largest_norm_as_their_bound() -> None:
    rows = np.array([[3.0, 4.0], [1.0, 0.0]])
    assert norm_bound(Matrix(rows), Orthant(2), "atoms") == pytest.approx(5.0, rel=1e-15)
    system = ConicSystem.from_rows(RNG(0).standard_normal((20, 6)) * 1e7)
    assert norm_bound(system.operator, system.cone, "atoms") == pytest.approx(1.0, rel=1e-15)
    assert system.atom_norm() == 1.0


def test_the_bound_is_attained_by_orthogonal_matrices() -> None:
    """F(y) = diag(y): the atoms e_i e_i' have norm 1, and so has the bound; likewise one F = I."""
    cone = complete(3)
    data = np.zeros((cone.size, 3))
    data[cone.identity > 0] = np.eye(3)
    assert norm_bound(Matrix(data), cone, "atoms") == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("size", [2, 3, 6])
def test_the_bound_of_a_second_order_block_is_sharp_within_the_root_of_two(size: int) -> None:
    """norm(A_t + A_u u)^2 + norm(A_t - A_u u)^2 = 2 (norm(A_t)^2 + norm(A_u u)^2)."""
    cone = SecondOrder(size)
    for seed in range(30):
        data = RNG(seed).standard_normal((size, 4)) * 10.0 ** RNG(seed).uniform(-3, 3, (size, 1))
        reached = math.hypot(np.linalg.norm(data[-1]), np.linalg.norm(data[:-1], 2))
        bound = norm_bound(Matrix(data), cone, "atoms")
        assert reached <= bound * ROUNDING <= math.sqrt(2.0) * reached * (1 + 1e-9)


def test_the_bound_of_a_second_order_block_is_attained() -> None:
    """A (u, 1) = u + e_1 is longest at u = e_1; A (u, 1) = (u, 1) has the norm sqrt 2 always."""
    aligned = np.vstack([np.eye(3), [1.0, 0.0, 0.0]])
    bound = norm_bound(Matrix(aligned), SecondOrder(4), "atoms")
    assert bound == pytest.approx(2.0, rel=1e-9)
    apart = norm_bound(Matrix(np.eye(4)), SecondOrder(4), "atoms")
    assert apart == pytest.approx(math.sqrt(2.0), rel=1e-9)


def test_second_order_blocks_of_two_rows_against_their_two_atoms() -> None:
    """Both atoms (1, 1) and (-1, 1) are known: the bound lies between the norm and sqrt 2 of it."""
    for seed in range(50):
        data = RNG(seed).standard_normal((2, 3))
        reached = max(np.linalg.norm(data[1] + data[0]), np.linalg.norm(data[1] - data[0]))
        bound = norm_bound(Matrix(data), SecondOrder(2), "atoms")
        assert reached <= bound * ROUNDING <= math.sqrt(2.0) * reached * (1 + 1e-9)


def test_the_bound_of_a_product_is_the_largest_of_its_blocks() -> None:
    cone = Product([Orthant(2), SecondOrder(2), complete(2)])
    data = RNG(3).standard_normal((cone.size, 4))
    bounds = [
        norm_bound(Matrix(data[span]), part, "atoms")
        for part, span in zip(cone.parts, cone.spans, strict=True)
    ]
    full = norm_bound(Matrix(data), cone, "atoms")
    assert full == pytest.approx(max(bounds), rel=1e-12)
    for i, span in enumerate(cone.spans):
        enlarged = data.copy()
        enlarged[span] *= 100.0
        scaled = norm_bound(Matrix(enlarged), cone, "atoms")
        assert scaled == pytest.approx(max(100.0 * bounds[i], max(bounds)), rel=1e-9)


def maxcut(order: int, edges: int, rng: np.random.Generator) -> tuple[ConicSystem, float]:
    """The homogenised relaxation of MAXCUT on a random graph, and norm(C_0)_2."""
    laplacian = np.zeros((order, order))
    for _ in range(edges):
        i, j = rng.choice(order, 2, replace=False)
        laplacian[[i, j], [i, j]] += 0.25
        laplacian[i, j] -= 0.25
        laplacian[j, i] -= 0.25
    i, j = np.nonzero(np.triu(laplacian))
    zero, diagonal = np.zeros((len(i), 4), dtype=int), np.zeros((order, 4), dtype=int)
    zero[:, 2], zero[:, 3] = i, j
    diagonal[:, 0] = np.arange(1, order + 1)
    diagonal[:, 2] = diagonal[:, 3] = np.arange(order)
    values = np.concatenate([laplacian[i, j], np.ones(order)])
    data = SdpaData.from_entries(np.ones(order), [order], np.vstack([zero, diagonal]), values)
    return homogenised(data), float(np.linalg.norm(laplacian, 2))


@pytest.mark.parametrize(("order", "edges"), [(5, 6), (30, 70), (100, 269)])
def test_the_bound_of_maxcut_is_that_of_its_cost_matrix_and_the_diagonal(
    order: int, edges: int
) -> None:
    """norm(A(vv'))^2 = (v'C_0 v)^2 + sum_i v_i^4 <= norm(C_0)_2^2 + 1."""
    system, cost = maxcut(order, edges, RNG(order))
    assert isinstance(system.operator, Matrix)
    bound = norm_bound(system.operator, system.cone, "atoms")
    assert cost <= bound <= math.sqrt(cost**2 + 1.0) * (1 + 1e-9)
    assert climbed(system.operator, system.cone, RNG(0)) <= bound


@pytest.mark.parametrize("name", ["truss1", "control1", "theta1", "mcp100"])
def test_real_programs(sdplib_folder: Path, name: str) -> None:
    system = homogenised(read_sdpa(sdplib_folder / f"{name}.dat-s"))
    assert isinstance(system.operator, Matrix)
    bound = norm_bound(system.operator, system.cone, "atoms")
    reached = largest_norm(system, np.random.default_rng(0), 300)
    assert 0 < reached <= bound
    assert bound < 100 * reached


# --- norms from the trace norm of weights --------------------------------------------------------


@every_cone
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("seeds", parts(12, kept=3))
def test_the_trace_norm_bound_is_the_largest_singular_value(
    cone: Cone, scaled: bool, seeds: range
) -> None:
    for seed in seeds:
        rng = RNG(seed)
        data = rng.standard_normal((cone.size, rng.integers(1, 6))) * 10.0 ** rng.uniform(-6, 6)
        scale = rng.uniform(0.01, 100.0, cone.size) if scaled else None
        for form in (data, sp.csr_array(data)):
            operator = Matrix(form, scale)
            bound, exact = norm_bound(operator, cone, "euclidean"), trace_norm_of(operator, cone)
            assert exact <= bound * ROUNDING <= exact * (1 + 1e-9)
            weights = rng.standard_normal(cone.size)
            length = np.linalg.norm(weights / np.sqrt(cone.multiplicity))
            assert np.linalg.norm(operator.combine(weights)) <= bound * length * ROUNDING


def test_atoms_have_trace_norm_1_so_that_one_norm_bounds_the_other() -> None:
    for name, cone in CONES.items():
        operator = Matrix(RNG(1).standard_normal((cone.size, 3)))
        atoms = random_atoms(cone, RNG(2), 40)
        largest = max(float(np.linalg.norm(operator.normal(atom))) for atom in atoms)
        assert largest <= trace_norm_of(operator, cone) * ROUNDING, name


@pytest.mark.parametrize("cone", [arrow(6), SecondOrder(9), Orthant(40)], ids=["arrow", "so", "o"])
def test_where_eigenvalues_would_cost_too_much_the_bounds_are_rough_but_true(
    monkeypatch: pytest.MonkeyPatch, cone: Cone
) -> None:
    for module in (spectral_norm, semidefinite):
        monkeypatch.setattr(module, "EXACT_UP_TO", 0)
    for seed in range(12):
        rng = RNG(seed)
        data = rng.standard_normal((cone.size, 5))
        for form in (data, sp.csr_array(data)):
            operator = Matrix(form)
            rough = norm_bound(operator, cone, "euclidean")
            exact = trace_norm_of(operator, cone)
            assert exact <= rough <= 1.000001 * np.sqrt(5.0) * exact
            atoms = norm_bound(operator, cone, "atoms")
            assert largest_norm(ConicSystem(operator, cone), rng, 40) <= atoms * ROUNDING
            assert climbed(operator, cone, rng) <= atoms * ROUNDING


# --- kernels -------------------------------------------------------------------------------------


def gram_system(seed: int, count: int = 20) -> ConicSystem:
    rng = RNG(seed)
    kernel = symmetric(Rbf(gamma=rng.uniform(0.1, 2.0)), rng.standard_normal((count, 3)))
    kernel *= np.outer(*[rng.uniform(0.1, 10.0, count)] * 2)
    return ConicSystem.from_kernel("precomputed", kernel, rng.permutation(count) % 2)


def test_the_bounds_of_kernels_are_those_of_their_coordinates() -> None:
    for seed in range(10):
        unit = gram_system(seed)
        for system in (unit, unit.unnormalised()):
            gram = system.operator
            assert isinstance(gram, Gram)
            scale = np.ones(gram.size) if gram.scale is None else gram.scale
            scaled = gram.kernel * np.outer(scale, scale)
            exact = math.sqrt(np.linalg.eigvalsh(scaled)[-1])
            bound = norm_bound(gram, system.cone, "euclidean")
            assert exact <= bound * ROUNDING <= exact * (1 + 1e-9)
            norm = norm_bound(gram, system.cone, "atoms")
            assert norm == pytest.approx(math.sqrt(scaled.diagonal().max()), rel=1e-14)
            coordinates = Coordinates(gram)
            in_coordinates = norm_bound(coordinates, system.cone, "euclidean")
            assert in_coordinates == pytest.approx(bound, rel=1e-8)
            assert norm_bound(coordinates, system.cone, "atoms") == pytest.approx(norm, rel=1e-10)
        assert norm_bound(unit.operator, unit.cone, "atoms") == pytest.approx(1.0, rel=1e-14)


def test_large_kernels_have_a_rough_but_true_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(norms, "EXACT_UP_TO", 0)
    for seed in range(10):
        system = gram_system(seed)
        assert isinstance(system.operator, Gram)
        scale = 1.0 / system.operator.unscaled().row_norms()
        scaled = system.operator.kernel * np.outer(scale, scale)
        bound = norm_bound(system.operator, system.cone, "euclidean")
        assert math.sqrt(np.linalg.eigvalsh(scaled)[-1]) <= bound * ROUNDING


# --- what is kept, what is unknown ---------------------------------------------------------------


@pytest.mark.parametrize("kind", ["atoms", "euclidean"])
def test_a_bound_is_computed_once_and_cached(
    kind: Literal["atoms", "euclidean"],
) -> None:
    operator = Matrix(np.eye(3))
    assert cached_bound(operator, Orthant(3), kind) is None
    bound = norm_bound(operator, Orthant(3), kind)
    assert (
        cached_bound(operator, Orthant(3), kind) == bound == norm_bound(operator, Orthant(3), kind)
    )
    other: Literal["atoms", "euclidean"] = "euclidean" if kind == "atoms" else "atoms"
    assert cached_bound(operator, Orthant(3), other) is None
    assert cached_bound(Matrix(np.eye(3)), Orthant(3), kind) is None


def test_data_of_no_known_kind_are_refused() -> None:
    rescaled = RescaledRows(Matrix(np.eye(3)))
    for kind in ("atoms", "euclidean"):
        with pytest.raises(TypeError, match="no norm bound is known for the operator RescaledRows"):
            norm_bound(rescaled, complete(2), kind)


def test_data_rescaled_by_a_map_have_its_norm_in_their_bound() -> None:
    """norm(H A(vv')) <= norm(H) max norm(A(vv')): H may grow after the first question."""
    rng = np.random.default_rng(8)
    cone = complete(3)
    rescaled = RescaledMap(Matrix(rng.standard_normal((cone.size, 4))))
    for factor in (0.0, 1.0, 3.0):
        direction = rng.standard_normal(4)
        rescaled.stretch(direction / np.linalg.norm(direction), factor)
        bound = norm_bound(rescaled, cone, "atoms")
        for _ in range(50):
            vector = rng.standard_normal(3)
            atom = Atom(slice(0, 6), cone.outer(vector / np.linalg.norm(vector)))
            assert np.linalg.norm(rescaled.normal(atom)) <= bound


@pytest.mark.parametrize("exponent", [-900, -520, 520, 900])
@pytest.mark.parametrize("kind", ["atoms", "euclidean"])
def test_bounds_grow_with_the_data_up_to_the_end_of_the_range(
    exponent: int, kind: Literal["atoms", "euclidean"]
) -> None:
    rng = np.random.default_rng(9)
    for cone in (SecondOrder(4), complete(3), Product([SecondOrder(3), complete(2)])):
        data = rng.standard_normal((cone.size, 3))
        moderate = norm_bound(Matrix(data), cone, kind)
        bound = norm_bound(Matrix(np.ldexp(data, exponent)), cone, kind)
        assert np.ldexp(bound, -exponent) == pytest.approx(moderate, rel=1e-9)
        sparse = Matrix(sp.csr_array(np.ldexp(data, exponent)))
        assert norm_bound(sparse, cone, kind) == pytest.approx(bound, rel=1e-9)


def test_the_same_operator_under_another_cone_has_another_bound() -> None:
    operator, full = Matrix(np.array([[3.0, 1.0], [4.0, 1.0], [0.0, 1.0]])), np.triu_indices(2)
    rows = norm_bound(operator, Orthant(3), "atoms")
    matrix = norm_bound(operator, Semidefinite(2, *full), "atoms")
    assert rows == pytest.approx(np.sqrt(17.0))
    assert matrix == norm_bound(Matrix(operator.data), Semidefinite(2, *full), "atoms")
    assert matrix > rows
