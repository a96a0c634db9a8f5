from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from perceptron_lab.core.errors import InputError
from perceptron_lab.datasets.formats.sdpa import read_sdpa
from perceptron_lab.datasets.generated.maxcut import (
    generate,
    laplacian,
    maxcut_data,
)
from perceptron_lab.systems.pencil import SdpaData
from tests.random_graphs import random_graph, torus


def _quarter_laplacian(data: SdpaData) -> np.ndarray:
    """F_0 as a full matrix, after checking that all else has the form of a MAXCUT relaxation."""
    order = len(data.objective)
    constant = data.matrix == 0
    assert data.blocks == (order,)
    assert data.objective.tolist() == [1.0] * order
    assert data.matrix[~constant].tolist() == list(range(1, order + 1))
    assert data.row[~constant].tolist() == list(range(order))
    assert data.column[~constant].tolist() == list(range(order))
    assert data.value[~constant].tolist() == [1.0] * order
    upper = np.zeros((order, order))
    upper[data.row[constant], data.column[constant]] = data.value[constant]
    return upper + upper.T - np.diag(np.diag(upper))


def _weights(data: SdpaData) -> np.ndarray:
    """W, after checking that F_0 is a Laplacian / 4."""
    quarter = _quarter_laplacian(data)
    assert not quarter.sum(axis=1).any()
    weights = -4 * quarter
    np.fill_diagonal(weights, 0.0)
    return weights


@given(st.integers(2, 12), st.integers(0, 2**32), st.data())
def test_random_graph_has_its_size(vertices: int, seed: int, data: st.DataObject) -> None:
    edges = data.draw(st.integers(1, vertices * (vertices - 1) // 2))
    weights = _weights(generate(f"random-{vertices}-{edges}", seed))
    assert np.count_nonzero(np.triu(weights)) == edges
    assert set(np.unique(weights)) <= {0.0, 1.0}
    assert (weights == weights.T).all()


@given(st.integers(3, 8), st.integers(3, 8), st.integers(0, 2**32))
def test_torus_has_its_neighbours(rows: int, columns: int, seed: int) -> None:
    weights = _weights(generate(f"torus-{rows}x{columns}", seed))
    grid = np.arange(rows * columns).reshape(rows, columns)
    for vertex, neighbours in enumerate(np.abs(weights)):
        r, c = divmod(vertex, columns)
        expected = {
            grid[r, (c + 1) % columns],
            grid[r, c - 1],
            grid[(r + 1) % rows, c],
            grid[r - 1, c],
        }
        assert set(np.flatnonzero(neighbours).tolist()) == expected
        assert neighbours.sum() == 4


def test_complete_graph() -> None:
    weights = _weights(generate("random-30-435", 5))
    assert (weights == 1 - np.eye(30)).all()


@pytest.mark.slow
def test_pairs_are_drawn_uniformly() -> None:
    rng = np.random.default_rng(1)
    count = np.sum([random_graph(5, 3, rng).toarray() for _ in range(3000)], axis=0)
    selected = count[np.triu_indices(5, 1)]
    # 3 of 10 pairs each time: 900 expected, standard deviation 25.
    assert selected.sum() == 9000
    assert abs(selected - 900).max() < 5 * 25


def test_large_graphs_have_distinct_pairs() -> None:
    weights = random_graph(100_000, 1000, np.random.default_rng(0))
    assert weights.nnz == 2000
    assert weights.max() == 1.0
    assert not weights.diagonal().any()


def test_both_signs_occur_about_equally() -> None:
    weights = torus(40, 50, np.random.default_rng(2))
    positive = (weights.data > 0).sum() / weights.nnz
    # 4000 fair signs: standard deviation 0.008.
    assert abs(positive - 0.5) < 5 * 0.008


def test_seed_and_name_determine_the_instance() -> None:
    first = generate("random-100-269", 3)
    assert generate("random-100-269", 3) == first
    assert generate("random-100-269", 4) != first
    assert generate("torus-10x12", 3) != generate("torus-10x12", 4)
    # Another name gives another stream: the smaller graph is no part of the larger one.
    smaller = _weights(generate("random-100-268", 3))
    assert np.count_nonzero(smaller * _weights(first)) < 200


def test_instances_are_the_same_everywhere() -> None:
    """A pinned instance: a change of it (by numpy too) changes published results."""
    data = generate("random-6-4", 0)
    edges = data.column[(data.matrix == 0) & (data.row != data.column)]
    rows = data.row[(data.matrix == 0) & (data.row != data.column)]
    assert list(zip(rows.tolist(), edges.tolist(), strict=True)) == PINNED


PINNED = [(0, 4), (2, 4), (3, 5), (4, 5)]


def test_laplacian_by_hand() -> None:
    weights = sparse.csr_array(np.array([[5.0, 1, 0], [1, 0, -2], [0, -2, 0]]))
    assert laplacian(weights).toarray().tolist() == [[1, -1, 0], [-1, -1, 2], [0, 2, -2]]


def test_relaxation_by_hand() -> None:
    data = maxcut_data(sparse.csr_array(np.array([[0.0, 2.0], [2.0, 0.0]])))
    assert _quarter_laplacian(data).tolist() == [[0.5, -0.5], [-0.5, 0.5]]


@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        (np.ones((2, 3)), "square"),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), "symmetric"),
        (np.array([[0.0, np.nan], [np.nan, 0.0]]), "finite"),
        (np.array([[0.0, np.inf], [np.inf, 0.0]]), "finite"),
    ],
)
def test_weights_of_no_graph(weights: np.ndarray, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        laplacian(sparse.csr_array(weights))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("random-5-11", "5 vertices have 10 pairs, allowed: 1 to 10"),
        ("random-1-1", "1 vertices; allowed: 2 to 100000"),
        ("random-900000-5", "allowed: 2 to 100000"),
        ("random-100000-2000000", "allowed: 1 to 1000000"),
        ("random-5-0", "allowed: random-VERTICES-EDGES"),
        ("random-05-4", "allowed: random-VERTICES-EDGES"),
        ("random-5", "torus-ROWSxCOLUMNS"),
        ("torus-2x5", "sides of 3 or more"),
        ("torus-5x2", "sides of 3 or more"),
        ("torus-1000x1001", "1000000 vertices at most"),
        ("torus-3x3\n", "no MAXCUT instance"),
        ("mcp100", "'mcp100' names no MAXCUT instance"),
        ("", "no MAXCUT instance"),
    ],
)
def test_impossible_names(name: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        generate(name, 0)


def test_negative_seed() -> None:
    with pytest.raises(InputError, match="seed -1 for random-5-4; allowed: 0 or more"):
        generate("random-5-4", -1)


TABLE_6_1_SIZES = {
    "mcp100": "random-100-269",
    "mcp124-1": "random-124-149",
    "mcp124-2": "random-124-318",
    "mcp124-3": "random-124-620",
    "mcp124-4": "random-124-1271",
    "mcp250-1": "random-250-331",
    "mcp250-2": "random-250-612",
    "mcp250-3": "random-250-1283",
    "mcp250-4": "random-250-2421",
    "mcp500-1": "random-500-625",
    "mcp500-2": "random-500-1223",
    "mcp500-3": "random-500-2355",
    "mcp500-4": "random-500-5120",
    "maxG11": "torus-100x8",
}
"""SDPLIB instance of Table 6.1 -> the generated instance of its kind and size."""


@pytest.mark.parametrize("instance", TABLE_6_1_SIZES)
def test_sizes_of_table_6_1(sdplib_mirror: Path, instance: str) -> None:
    file = sdplib_mirror / f"{instance}.dat-s"
    if not file.exists():
        pytest.skip(f"the mirror has no {file.name}")
    expected, ours = _weights(read_sdpa(file)), _weights(generate(TABLE_6_1_SIZES[instance], 0))
    assert ours.shape == expected.shape
    assert np.count_nonzero(ours) == np.count_nonzero(expected)
    assert set(np.unique(ours)) == set(np.unique(expected))
    if instance == "maxG11":
        assert (np.abs(ours) == np.abs(expected)).all()
