"""The Nesterov-Todd scaling of every kind of blocks: its definition, and the Jordan algebra."""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_lab.algorithms.interior_point.block_products import ProductBlocks, blocks_of
from perceptron_lab.algorithms.interior_point.blocks import PairScaling
from perceptron_lab.cones.base import Cone
from perceptron_lab.core.results import FloatArray
from tests.cones.sample_cones import WHOLE

every_cone = pytest.mark.parametrize("cone", WHOLE.values(), ids=WHOLE)


def element(cone: Cone, rng: np.random.Generator, lowest: float) -> FloatArray:
    """An element inside in isometric coordinates, with eigenvalues from ``lowest`` to 1."""
    frame = cone.spectrum(rng.standard_normal(cone.size))[1]
    values = lowest ** rng.uniform(size=cone.rank)
    return cone.assemble(values, frame) / np.sqrt(cone.multiplicity)


def scaled(
    cone: Cone, seed: int, lowest: float = 0.1
) -> tuple[ProductBlocks, PairScaling, FloatArray, FloatArray]:
    """Blocks with random data, a scaling, s and z, all in the order of the blocks."""
    rng = np.random.default_rng(seed)
    blocks = blocks_of(cone, rng.standard_normal((cone.size, 3)))
    s, z = (element(cone, rng, lowest)[blocks.indices] for _ in range(2))
    return blocks, blocks.scaling(s, z), s, z


def eigenvalues(cone: Cone, blocks: ProductBlocks, isometric: FloatArray) -> FloatArray:
    scores = np.empty(cone.size)
    scores[blocks.indices] = isometric
    return np.sort(cone.eigenvalues(scores / np.sqrt(cone.multiplicity)))


@every_cone
@pytest.mark.parametrize("lowest", [0.1, 1e-8])
def test_the_scaling_maps_both_points_to_the_same_element(cone: Cone, lowest: float) -> None:
    for seed in range(5):
        _, scaling, s, z = scaled(cone, seed, lowest)
        tolerance = 1e-14 / lowest
        assert np.allclose(scaling.primal(s), scaling.middle, rtol=tolerance, atol=1e-12)
        assert np.allclose(scaling.dual(z), scaling.middle, rtol=tolerance, atol=1e-12)
        assert scaling.middle @ scaling.middle == pytest.approx(s @ z)


@every_cone
def test_it_is_an_automorphism(cone: Cone) -> None:
    blocks, scaling, s, _ = scaled(cone, 3)
    rng = np.random.default_rng(8)
    for _ in range(5):
        inside = element(cone, rng, 0.01)[blocks.indices]
        for image in (scaling.primal(inside), scaling.dual(inside), scaling.dual_back(inside)):
            assert eigenvalues(cone, blocks, image).min() > 0
        # inverse of the adjoint: <W^-1 s, W'z> = <s, z>
        assert scaling.primal(s) @ scaling.dual(inside) == pytest.approx(s @ inside)
        assert np.allclose(scaling.dual(scaling.dual_back(inside)), inside)


@every_cone
def test_columns_are_those_of_the_data(cone: Cone) -> None:
    blocks, scaling, *_ = scaled(cone, 1)
    columns = np.column_stack([scaling.primal(column) for column in blocks.data.T])
    assert np.allclose(scaling.columns(), columns)


@every_cone
def test_products_and_quotients(cone: Cone) -> None:
    blocks, scaling, *_ = scaled(cone, 2)
    e, rng = blocks.identity, np.random.default_rng(1)
    x, y = rng.standard_normal((2, cone.size))
    assert e @ e == pytest.approx(cone.rank)
    assert np.allclose(scaling.product(x, e), x)
    assert np.allclose(scaling.product(x, y), scaling.product(y, x))
    assert e @ scaling.product(x, y) == pytest.approx(x @ y)
    assert np.allclose(scaling.product(scaling.middle, scaling.quotient(x)), x)
    squares = eigenvalues(cone, blocks, scaling.product(x, x))
    assert np.allclose(squares, np.sort(eigenvalues(cone, blocks, x) ** 2))


@every_cone
def test_steps_end_at_the_boundary(cone: Cone) -> None:
    blocks, scaling, *_ = scaled(cone, 4)
    rng = np.random.default_rng(5)
    for _ in range(10):
        change = rng.standard_normal(cone.size)
        lowest = scaling.lowest(change)
        if lowest < 0:
            at = scaling.middle - change / lowest
            assert abs(eigenvalues(cone, blocks, at).min()) < 1e-12 * np.abs(change / lowest).max()
        assert scaling.lowest(scaling.middle) == pytest.approx(1.0)


@every_cone
def test_points_outside_have_no_scaling(cone: Cone) -> None:
    blocks, _, s, z = scaled(cone, 6)
    for primal, dual in ((-s, z), (s, -z), (np.zeros_like(s), z), (s * np.nan, z)):
        with pytest.raises(np.linalg.LinAlgError):
            blocks.scaling(primal, dual)
