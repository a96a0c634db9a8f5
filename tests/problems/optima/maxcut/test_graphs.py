"""``optimum(graph=...)``: networkx graphs, lists of edges and adjacency matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import optimum
from perceptron_lab.core.errors import InputError
from perceptron_lab.problems.optima.maxcut.program import program_of_graph
from tests.problems.optima.maxcut.small_graphs import dense

networkx = pytest.importorskip("networkx")
TRIANGLE = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 0.5], [2.0, 0.5, 0.0]])
LAPLACIAN = (np.diag(TRIANGLE.sum(axis=1)) - TRIANGLE) / 4.0
EDGES = [("a", "b", 1.0), ("a", (2, 3), 2.0), ("b", (2, 3), 0.5)]


def weighted() -> Any:
    graph = networkx.Graph()
    graph.add_weighted_edges_from(EDGES)
    return graph


def multiple() -> Any:
    graph = networkx.MultiGraph()
    graph.add_weighted_edges_from([*EDGES, ("a", "b", 0.25), ("b", "a", -0.25)])
    return graph


@pytest.mark.parametrize(
    "graph",
    [
        weighted(), multiple(), EDGES, iter(EDGES), TRIANGLE, sp.csr_array(TRIANGLE),
        sp.csc_matrix(TRIANGLE), sp.coo_array(TRIANGLE),
    ],
)  # fmt: skip
def test_every_form_is_the_same_program(graph: Any) -> None:
    np.testing.assert_array_equal(dense(program_of_graph(graph)), LAPLACIAN)


def test_a_graph_has_a_cut_and_its_adjacency_matrix_as_c_has_none() -> None:
    graph = networkx.petersen_graph()
    matrix = networkx.to_numpy_array(graph)
    for graph_form in (graph, matrix, list(graph.edges)):
        result = optimum(graph=graph_form)
        assert result.optimum_upper == pytest.approx(12.5, abs=1e-6)
        assert result.certificate["figures"]["cut"] == 12.0
    with pytest.warns(UserWarning, match=r"adjacency matrix.*optimum\(graph=C\)"):
        result = optimum(matrix)
    assert "cut" not in result.certificate["figures"]


def test_isolated_vertices_count_and_loops_do_not() -> None:
    graph = weighted()
    graph.add_node(frozenset({1}))
    assert program_of_graph(graph).order == 4
    graph.add_edge("a", "a", weight=7.0)
    with pytest.warns(UserWarning, match="1 edges join a vertex to itself"):
        assert dense(program_of_graph(graph))[:3, :3].tolist() == LAPLACIAN.tolist()
    with pytest.warns(UserWarning, match="to itself"):
        program_of_graph(TRIANGLE + np.eye(3))


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (networkx.DiGraph([(1, 2)]), r"directed; give graph.to_undirected\(\)"),
        (networkx.Graph(), "no vertices"),
        ([], "no vertices"),
        ([(1, 2), (3,)], "edge 2 is"),
        ([(1, 2, 3, 4)], "edge 1 is"),
        (["ab"], "edge 1 is"),
        ([(1, 2, "x")], "edge 1 is"),
        ([([1], 2)], "edge 1 is"),
        ([(1, 2, np.nan)], "edge 1 has the weight nan"),
        (np.triu(TRIANGLE), "symmetric"),
        (sp.csr_array(np.triu(TRIANGLE)), "symmetric"),
        (TRIANGLE[:2], "shape"),
        (np.full((2, 2), "x"), "no numbers"),
        ("graph.rud", "str is not a graph"),
        (3, "int is not a graph"),
    ],
)
def test_objects_that_are_no_graph_are_refused(graph: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        optimum(graph=graph)


def test_a_graph_passed_as_a_program_is_refused_with_the_parameter_name() -> None:
    with pytest.raises(InputError, match="graph="):
        optimum(weighted())
    for arguments in ({}, {"path_or_system": TRIANGLE, "graph": TRIANGLE}):
        with pytest.raises(InputError, match="either a program or graph"):
            optimum(**arguments)


def test_nested_lists_are_a_matrix_or_refused_where_they_may_be_edges() -> None:
    square = [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]
    program = program_of_graph(square)
    np.testing.assert_array_equal(dense(program), dense(program_of_graph(np.array(square))))
    for ambiguous in ([[0, 1], [1, 0]], TRIANGLE.tolist()):
        with pytest.raises(InputError, match="may be edges or an adjacency matrix; give edges as"):
            program_of_graph(ambiguous)
    assert program_of_graph([[0, 1], [1, 2], [2, 0], [0, 3]]).order == 4
