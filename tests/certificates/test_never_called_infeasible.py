"""On feasible data nothing is proved infeasible, whatever the weights, margins and scales."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

from perceptron_lab.certificates import infeasibility
from perceptron_lab.certificates.infeasibility import prove_infeasible
from perceptron_lab.certificates.margin import prove_point
from perceptron_lab.certificates.rows.orthant import OrthantProofs
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.spectral import barycentre, project
from perceptron_lab.core.results import FloatArray
from tests.certificates.exact_margins import is_feasible
from tests.certificates.exact_weights import is_infeasible_near
from tests.certificates.small_systems import SMALL, feasible_data, infeasible_data, nearly_null
from tests.cones.sample_cones import complete
from tests.families import planted
from tests.repetitions import parts, repeated

RNG = np.random.default_rng
every_cone = pytest.mark.parametrize("cone", SMALL.values(), ids=SMALL)


def candidate_rows(rows: FloatArray, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Random, minimum-norm and null combinations of rows, and the clipped null space."""
    count = len(rows)
    norms = np.linalg.norm(rows, axis=1)
    unit = rows / norms[:, None]
    stacked = np.vstack([unit.T, np.ones(count)])
    nearest = scipy.optimize.nnls(stacked, np.append(np.zeros(rows.shape[1]), 1.0))[0]
    null = np.linalg.svd(unit.T)[2][rows.shape[1] - 1 :]
    yield nearest / norms
    yield (nearest + 10.0 ** rng.uniform(-16, -2) * rng.random(count)) / norms
    yield np.maximum(null[-1], 0.0) / norms
    yield np.abs(null.sum(axis=0)) / norms
    yield rng.random(count) / norms
    yield rng.random(count)


@pytest.mark.parametrize("steps", [infeasibility.STEPS, 0])
@pytest.mark.parametrize("block", repeated(range(12), kept=1))
def test_rows_of_any_margin_are_never_called_infeasible(
    monkeypatch: pytest.MonkeyPatch, block: int, steps: int
) -> None:
    """Without steps the weights are judged as they are."""
    monkeypatch.setattr(infeasibility, "STEPS", steps)
    for seed in range(10 * block, 10 * block + 10):
        rng = RNG(seed)
        dimension = int(rng.integers(2, 6))
        count = dimension + int(rng.integers(0, 8))
        rows, z = planted(dimension, count, 10.0 ** rng.uniform(-12, -0.5), rng)
        rows *= 10.0 ** rng.uniform(-3, 3, (count, 1))
        assert is_feasible(rows, z)
        for weights in candidate_rows(rows, rng):
            assert prove_infeasible(Matrix(rows), Orthant(count), weights) is None, seed


@pytest.mark.parametrize("steps", [infeasibility.STEPS, 0])
@pytest.mark.parametrize("block", repeated(range(4), kept=1))
def test_nor_are_sparse_ones_that_are_not_written_out(
    monkeypatch: pytest.MonkeyPatch, block: int, steps: int
) -> None:
    monkeypatch.setattr(infeasibility, "STEPS", steps)
    monkeypatch.setattr(OrthantProofs, "automorphisms", OrthantProofs.sparse_automorphisms)
    for seed in range(30 * block, 30 * block + 30):
        rng = RNG(seed)
        rows, z = planted(4, 10, 10.0 ** rng.uniform(-12, -0.5), rng)
        rows *= 10.0 ** rng.uniform(-3, 3, (10, 1)) * (rng.random((10, 4)) < 0.7)
        if not is_feasible(rows, z):
            continue
        for weights in candidate_rows(rows, rng):
            operator = Matrix(sp.csr_array(rows))
            assert prove_infeasible(operator, Orthant(10), weights) is None, seed


@every_cone
@pytest.mark.parametrize("steps", [infeasibility.STEPS, 0])
@pytest.mark.parametrize("block", repeated(range(4), kept=1))
def test_systems_of_any_margin_are_never_called_infeasible(
    monkeypatch: pytest.MonkeyPatch, cone: Cone, block: int, steps: int
) -> None:
    """A w = 0 has solutions outside the cone, tried as well: they prove nothing."""
    monkeypatch.setattr(infeasibility, "STEPS", steps)
    for seed in range(10 * block, 10 * block + 10):
        rng = RNG(seed)
        data, z = feasible_data(cone, int(rng.integers(1, 5)), 10.0 ** rng.uniform(-12, 0), rng)
        assert prove_point(Matrix(data), cone, z).feasible
        for weights in (
            nearly_null(cone, data, rng),
            barycentre(cone),
            project(cone, rng.standard_normal(cone.size)),
            rng.standard_normal(cone.size),
            np.linalg.svd(data.T)[2][-1],
            -np.linalg.svd(data.T)[2][-1],
        ):
            assert prove_infeasible(Matrix(data), cone, weights) is None, seed


@pytest.mark.slow
@pytest.mark.parametrize("steps", [infeasibility.STEPS, 0])
@pytest.mark.parametrize("block", repeated(range(15), kept=1))
def test_nothing_is_proved_where_q_is_hardly_above_one(
    monkeypatch: pytest.MonkeyPatch, block: int, steps: int
) -> None:
    """Rows (v_i, s u_i) with sum v_i = 0 and u >= 0 near e_1, turned: q -> 1 as A A' -> singular.

    The residual (0, s sum u_i) is all along the direction in which A A' nearly vanishes, so that
    nothing is lost in q <= norm(r)^2 / lambda_min: only the rounding errors keep it above 1.
    """
    monkeypatch.setattr(infeasibility, "STEPS", steps)
    trials = 0
    for seed in range(100 * block, 100 * block + 100):
        rng = RNG(seed)
        count = int(rng.integers(3, 9))
        u = rng.random(count) * 10.0 ** rng.uniform(-17, -3)
        u[0] = 1.0
        v = rng.standard_normal(count) * 10.0 ** rng.uniform(-2, 0, count)
        v -= v.mean()
        rows = np.column_stack([v, u * 10.0 ** rng.uniform(-8.5, 0.5)])
        z = np.array([0.0, 1.0])
        if seed % 3:
            turn = np.linalg.qr(rng.standard_normal((2, 2)))[0]
            rows, z = rows @ turn, turn[1]
        if is_feasible(rows, z):
            trials += 1
            assert prove_infeasible(Matrix(rows), Orthant(count), np.ones(count)) is None, seed
    assert trials > 60


@pytest.mark.parametrize("steps", [infeasibility.STEPS, 0])
@pytest.mark.parametrize("kind", ["second-order", "matrix", "rows"])
@pytest.mark.parametrize("seeds", parts(150, kept=30))
def test_weights_that_span_the_range_of_doubles_prove_nothing_wrong(
    monkeypatch: pytest.MonkeyPatch, steps: int, kind: str, seeds: range
) -> None:
    """A block just inside its cone has huge data and weights whose squares are subnormal."""
    monkeypatch.setattr(infeasibility, "STEPS", steps)
    part: Cone = {"second-order": SecondOrder(4), "matrix": complete(2), "rows": Orthant(3)}[kind]
    cone = Product([Orthant(1), part])
    for seed in seeds:
        rng = RNG(seed)
        frame = part.spectrum(rng.standard_normal(part.size))[1]
        size = 10.0 ** rng.uniform(-322, -290)
        weights = size * part.assemble(rng.uniform(0.1, 1.0, part.rank), frame)
        values = np.append(10.0 ** rng.uniform(-12, -5, part.rank - 1), 1.0)
        frame = part.spectrum(rng.standard_normal(part.size))[1]
        block = part.assemble(values, frame) / part.multiplicity * 1e300
        data = np.append(1e-290, block)[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            assert prove_point(Matrix(data), cone, np.ones(1)).feasible
            assert prove_infeasible(Matrix(data), cone, np.append(1.0, weights)) is None, seed


@pytest.mark.parametrize("size", [1e-310, 1e-250, 1e-160, 1e-120, 1e120, 1e160, 1e250, 1e307])
@every_cone
@pytest.mark.parametrize("seeds", parts(6, kept=2))
def test_data_of_any_size_prove_nothing_wrong(cone: Cone, size: float, seeds: range) -> None:
    for seed in seeds:
        rng = RNG(seed)
        inside, z = feasible_data(cone, 2, 1e-3, rng)
        outside, weights = infeasible_data(cone, 2, rng)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            assert (inside @ z).any()
            candidates = (nearly_null(cone, inside, rng), weights)
            for w in candidates:
                assert prove_infeasible(Matrix(inside * size), cone, w) is None
            proof = prove_infeasible(Matrix(outside * size), cone, weights)
        assert proof is None or is_infeasible_near(cone, outside * size, proof.weights)
        assert proof is not None or not 1e-140 < size < 1e140
