"""norm(A(atom)) never exceeds its bound, on rows, random pencils and real ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_lab.cones.base import Atom, Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.datasets.pencil import homogenised
from perceptron_lab.datasets.sdpa import SdpaData, read_sdpa
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.operators.norms import norm_bound
from perceptron_lab.system import ConicSystem
from tests.cones.sample_cones import arrow, complete

PROPERTY = settings(deadline=None, max_examples=60, derandomize=True)


def random_atoms(cone: Cone, rng: np.random.Generator, count: int) -> list[Atom]:
    """Extreme points of single blocks: unit vectors, and vv' for Gaussian and sparse v."""
    blocks = zip(cone.parts, cone.spans, strict=True) if isinstance(cone, Product) else None
    parts = list(blocks) if blocks is not None else [(cone, slice(0, cone.size))]
    atoms = []
    for _ in range(count):
        part, span = parts[rng.integers(len(parts))]
        if isinstance(part, Semidefinite):
            direction = rng.standard_normal(part.rank) * (rng.random(part.rank) < rng.random())
            direction[rng.integers(part.rank)] += 1.0
            atoms.append(Atom(span, part.outer(direction / np.linalg.norm(direction))))
        else:
            start = span.start + int(rng.integers(part.size))
            atoms.append(Atom(slice(start, start + 1), np.ones(1)))
    return atoms


def largest_norm(system: ConicSystem, rng: np.random.Generator, count: int) -> float:
    atoms = random_atoms(system.cone, rng, count)
    return max(float(np.linalg.norm(system.operator.normal(atom))) for atom in atoms)


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
    bound = norm_bound(system.operator, system.cone)
    assert np.isfinite(bound)
    assert largest_norm(system, np.random.default_rng(seed), 60) <= bound


@pytest.mark.parametrize("cone", [complete(4), arrow(4), Orthant(5)], ids=str)
def test_dense_and_sparse_data_of_any_kind(cone: Cone) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        data = rng.standard_normal((cone.size, rng.integers(1, 6)))
        for form in (data, sp.csr_array(data)):
            bound = norm_bound(Matrix(form), cone) * (1 + 1e-15)
            assert largest_norm(ConicSystem(Matrix(form), cone), rng, 50) <= bound


def test_rows_have_the_largest_norm_as_their_bound() -> None:
    rows = np.array([[3.0, 4.0], [1.0, 0.0]])
    assert norm_bound(Matrix(rows), Orthant(2)) == pytest.approx(5.0, rel=1e-15)


def test_the_bound_is_attained_by_orthogonal_matrices() -> None:
    """F(y) = diag(y): the atoms e_i e_i' have norm 1, and so has the bound; likewise one F = I."""
    cone = complete(3)
    data = np.zeros((cone.size, 3))
    data[cone.identity > 0] = np.eye(3)
    assert norm_bound(Matrix(data), cone) == pytest.approx(1.0, rel=1e-11)


@pytest.mark.parametrize("name", ["truss1", "control1", "theta1", "mcp100"])
def test_real_programs(sdplib_folder: Path, name: str) -> None:
    system = homogenised(read_sdpa(sdplib_folder / f"{name}.dat-s"))
    assert isinstance(system.operator, Matrix)
    bound = norm_bound(system.operator, system.cone)
    reached = largest_norm(system, np.random.default_rng(0), 300)
    assert 0 < reached <= bound
    assert bound < 100 * reached
