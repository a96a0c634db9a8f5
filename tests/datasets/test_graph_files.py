"""Graphs in the G-set's format and Matrix Market's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.io import mmwrite

from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.datasets.collections.problem_files import parse_graph, read_graph, read_system
from perceptron_lab.datasets.generated.maxcut import graph_of


def test_both_formats_hold_the_graph(tmp_path: Path) -> None:
    weights = graph_of("random-30-80-pm1", 0)
    edges = weights.tocoo()
    rows, columns = edges.coords
    listed = [
        f"{i + 1} {j + 1} {int(w)}"
        for i, j, w in zip(rows.tolist(), columns.tolist(), edges.data.tolist(), strict=True)
        if i < j
    ]
    (tmp_path / "g.rud").write_text("30 80\n" + "\n".join(listed) + "\n")
    mmwrite(tmp_path / "g.mtx", edges.astype(np.int64), symmetry="symmetric")
    for kind in (".rud", ".mtx"):
        graph = read_graph(tmp_path / f"g{kind}", kind)
        assert (graph.toarray() == weights.toarray()).all()
        assert read_system(tmp_path / f"g{kind}").dimension == 31


def test_edges_without_weights_have_weight_one() -> None:
    assert parse_graph("3 2\n1 2\n3 2\n").sum() == 4.0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the first line"),
        ("3 x\n", "the first line"),
        ("3 2 1\n1 2 1\n", "the first line"),
        ("3 2\n1 2 1\n", "2 edges are promised, and 1 lines follow"),
        ("3 2\n1 2 1\n2 3\n", "lines `i j weight`"),
        ("3 1\n1 b 1\n", "something else than numbers"),
        ("3 1\n1 4 1\n", "edge 1 joins 1 and 4; vertices are whole numbers from 1 to 3"),
        ("3 1\n0 1 1\n", "from 1 to 3"),
        ("3 1\n1.5 2 1\n", "whole numbers from 1 to 3"),
        ("3 1\n2 2 1\n", "edge 1 joins a vertex with itself"),
        ("3 2\n1 2 1\n2 1 1\n", "edge 2 joins two vertices that are joined already"),
        ("3 1\n1 2 0.5\n", "weights have to be whole numbers"),
        ("3 1\n1 2 nan\n", "weights have to be whole numbers"),
        ("3 1\n1 2 1e16\n", "in sum"),
        ("2000000 0\n", "allowed: 1 to 1000000"),
    ],
)
def test_texts_of_no_graph(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        parse_graph(text)


@pytest.mark.parametrize(
    ("head", "entries", "reason"),
    [
        ("integer general", "2 3 1\n1 2 1\n", "shape"),
        ("integer general", "2 2 1\n1 2 1\n", "not real and symmetric"),
        ("real symmetric", "2 2 1\n2 1 0.5\n", "whole numbers"),
        ("real symmetric", "2 2 2\n2 1 1\n", "not a .mtx file"),
    ],
)
def test_matrices_of_no_graph(head: str, entries: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "a.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate {head}\n{entries}")
    with pytest.raises(DataError, match=reason):
        read_system(path)
