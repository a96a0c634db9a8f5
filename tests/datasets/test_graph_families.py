"""Generated graphs of the G-set's families: their sizes, structure, weights and names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.datasets.generated.graphs import (
    Edges,
    graph_name,
    most_planar,
    planar_edges,
    torus_edges,
    triangulation,
)
from perceptron_lab.datasets.generated.maxcut import Maxcut, graph_of, maxcut_data
from perceptron_lab.systems.pencil import SdpaData, format_sdpa, homogenised, sha256_of_text

SEEDS = st.integers(0, 2**32)


def distinct(edges: Edges) -> set[tuple[int, int]]:
    """Return the edges, after checking that each is there once and i < j."""
    pairs = list(zip(*(end.tolist() for end in edges), strict=True))
    assert all(i < j for i, j in pairs)
    assert len(set(pairs)) == len(pairs)
    return set(pairs)


def bipartite(weights: sparse.csr_array) -> bool:
    """Tell whether a connected graph has no odd cycle, by the parity of distances from vertex 0."""
    order, parent = breadth_first_order(weights, 0, directed=False)
    assert len(order) == weights.shape[0]
    parity = np.zeros(len(order), int)
    for vertex in order[1:]:
        parity[vertex] = 1 - parity[parent[vertex]]
    edges = sparse.coo_array(weights)
    return bool((parity[edges.coords[0]] != parity[edges.coords[1]]).all())


@settings(max_examples=25)
@given(st.integers(3, 40), SEEDS)
def test_triangulations_are_maximal_planar(vertices: int, seed: int) -> None:
    """They have 3n - 6 edges, Euler's bound, and degrees of 3 or more (n > 3)."""
    keys = triangulation(vertices, np.random.default_rng(seed))
    pairs = distinct((keys // vertices, keys % vertices))
    assert len(pairs) == 3 * vertices - 6
    degrees = np.bincount(np.array(sorted(pairs)).ravel(), minlength=vertices)
    assert degrees.min() >= min(vertices - 1, 3)


@settings(max_examples=15)
@given(st.integers(4, 30), SEEDS)
def test_a_triangulation_has_neighbours_in_a_ring(vertices: int, seed: int) -> None:
    """In a maximal planar graph the neighbours of a vertex contain a cycle around it."""
    keys = triangulation(vertices, np.random.default_rng(seed))
    adjacent = np.zeros((vertices, vertices), bool)
    adjacent[keys // vertices, keys % vertices] = True
    adjacent |= adjacent.T
    for vertex in range(vertices):
        around = np.flatnonzero(adjacent[vertex])
        assert adjacent[np.ix_(around, around)].sum(axis=1).min() >= 2


def test_planar_graphs_obey_eulers_bound_in_every_part() -> None:
    """No set of k >= 3 vertices of a planar graph spans more than 3k - 6 edges."""
    rng = np.random.default_rng(5)
    edges = np.array(sorted(distinct(planar_edges(60, 174, rng))))
    for _ in range(300):
        selected = np.zeros(60, bool)
        selected[rng.choice(60, size=int(rng.integers(3, 61)), replace=False)] = True
        assert selected[edges].all(axis=1).sum() <= 3 * selected.sum() - 6


@pytest.mark.parametrize("edges", [1, 100, 174, 175, 288])
def test_planar_graphs_have_the_requested_number_of_edges(edges: int) -> None:
    planar = distinct(planar_edges(60, edges, np.random.default_rng(1)))
    assert len(planar) == edges


def test_a_union_contains_a_full_triangulation() -> None:
    first = set(triangulation(60, np.random.default_rng(1)).tolist())
    row, column = planar_edges(60, 250, np.random.default_rng(1))
    assert first <= set((60 * row + column).tolist())


def test_sizes_of_the_g_set_are_possible() -> None:
    """Vertices and edges of its unions of planar graphs: G14, G35, G51, G58, G63."""
    for vertices, edges in [(800, 4694), (2000, 11778), (1000, 5909), (5000, 29570), (7000, 41459)]:
        assert edges <= most_planar(vertices)


@given(st.lists(st.integers(3, 6), min_size=2, max_size=3))
def test_tori_are_regular(sides: list[int]) -> None:
    edges = torus_edges(sides)
    vertices = int(np.prod(sides))
    assert len(distinct(edges)) == len(sides) * vertices
    assert (np.bincount(np.concatenate(edges), minlength=vertices) == 2 * len(sides)).all()


@pytest.mark.parametrize("name", ["torus-5x4-unit", "torus-4x4x3-unit"])
def test_tori_with_an_odd_side_are_not_bipartite(name: str) -> None:
    weights = graph_of(name, 0)
    assert set(weights.data.tolist()) == {1.0}
    assert not bipartite(weights)


@pytest.mark.parametrize("name", ["torus-4x6", "torus-4x4x6"])
def test_even_tori_with_unit_weights_are_refused(name: str) -> None:
    assert bipartite(abs(graph_of(name, 0)))
    with pytest.raises(InputError, match=r"bipartite, .* give an odd side"):
        graph_name(f"{name}-unit")


@pytest.mark.parametrize("name", ["random-40-90", "planar-40-90", "planar-60-250"])
def test_signs_are_drawn_on_the_same_edges(name: str) -> None:
    unit, signed = graph_of(name, 3), graph_of(f"{name}-pm1", 3)
    assert set(unit.data.tolist()) == {1.0}
    assert set(signed.data.tolist()) == {-1.0, 1.0}
    assert (abs(signed) != unit).nnz == 0
    assert (signed != signed.T).nnz == 0


@pytest.mark.parametrize("name", ["planar-50-100", "planar-60-250-pm1", "torus-3x4x5"])
def test_seed_and_name_determine_the_graph(name: str) -> None:
    first = graph_of(name, 7)
    assert (graph_of(name, 7) != first).nnz == 0
    assert (graph_of(name, 8) != first).nnz > 0


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("planar-2-1", "2 vertices; allowed: 3 to 100000"),
        ("planar-100-529", "at most two triangulations, allowed: 1 to 528"),
        ("planar-10-25", "allowed: 1 to 24"),
        ("planar-100-200-0.03", "planar graphs with a given margin are not available"),
        ("planar-100001-5", "allowed: 3 to 100000"),
        ("torus-1000x1001", "1000000 vertices at most"),
        ("torus-8x8x2", "sides of 3 or more"),
        ("torus-8x8-pm1", "no MAXCUT instance"),
        ("random-10-20-unit", "no MAXCUT instance"),
    ],
)
def test_impossible_names(name: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        graph_name(name)


def test_large_instances_are_generated_for_a_verification_only_when_allowed(tmp_path: Path) -> None:
    from perceptron_lab.datasets.regular_files import confined

    name = "torus-100x100"
    with (
        confined(tmp_path, 10**6),
        pytest.raises(DataError, match=r"MB\); a verification generates"),
    ):
        Maxcut([name]).load(name, seed=0, base=tmp_path)


def test_entries_in_order_are_not_sorted_again() -> None:
    """The data are the same from ordered and from shuffled entries, and so is their text."""
    data = maxcut_data(graph_of("planar-60-250-pm1", 2))
    indices = np.column_stack([data.matrix, data.block, data.row, data.column])
    order = np.random.default_rng(0).permutation(len(indices))
    again = SdpaData.from_entries(data.objective, data.blocks, indices[order], data.value[order])
    assert again == data
    assert format_sdpa(again) == format_sdpa(data)
    assert sha256_of_text(again) == sha256_of_text(data)
    assert homogenised(data).dimension == 61
