"""Graphs in the G-set's format and Matrix Market's."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy.io import mmwrite

from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.datasets.collections.problem_files import read_system
from perceptron_lab.datasets.formats.file_contents import kind_of
from perceptron_lab.datasets.formats.graphs import graph_of_file, parse_graph, read_graph
from perceptron_lab.datasets.generated.maxcut import graph_of
from perceptron_lab.problems.optima.maxcut.program import program_of_graph
from perceptron_lab.problems.optima.optimum import optimum
from perceptron_lab.systems import ConicSystem


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


TRIANGLE = "3 3\n1 2 1\n2 3 1\n1 3 1\n"
MATRIX = "%%MatrixMarket matrix coordinate"
FILES = {
    "G7": TRIANGLE,
    "a_G1": f"\n{TRIANGLE}",
    "toruspm3-8-50": TRIANGLE,
    "a.mc": TRIANGLE,
    "a.txt": TRIANGLE,
    "a.gset": "3 3\n1 2\n2 3\n1 3\n",
    "hash.rud": f"# triangle\n{TRIANGLE}".replace("1\n", "1 # edge\n"),
    "percent.rud": f"% triangle\n{TRIANGLE}% end\n",
    "letter.mc": f"c a triangle\nc\n{TRIANGLE}",
    "star.rud": f"* triangle\n! \n{TRIANGLE}",
    "commas.rud": "3, 3\n1,2,1.0\n2,3,1e0\n1,3,+1\n",
    "windows.rud": TRIANGLE.replace("\n", "\r\n"),
    "general.mtx": f"{MATRIX} real general\n3 3 6\n2 1 1\n3 2 1\n3 1 1\n1 2 1\n2 3 1\n1 3 1\n",
    "lower.mtx": f"{MATRIX} integer symmetric\n% a\n3 3 4\n2 1 1\n3 2 1\n3 1 1\n2 2 9\n",
    "pattern.mtx": f"{MATRIX} pattern symmetric\n3 3 3\n2 1\n3 2\n3 1\n",
}


@pytest.mark.parametrize(("name", "text"), FILES.items(), ids=FILES.keys())
def test_file_variants_state_the_same_system(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, newline="")
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    triangle = optimum(program_of_graph([(0, 1), (1, 2), (0, 2)]))
    for file in (path, packed):
        assert (
            ConicSystem.of(read_system(file)).operator.data.toarray()
            == program_of_graph([(0, 1), (1, 2), (0, 2)]).system().operator.data.toarray()
        ).all()
    found = optimum(packed)
    assert (found.optimum_lower, found.optimum_upper) == (
        triangle.optimum_lower,
        triangle.optimum_upper,
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", "4 3\n1 2\n2 3\n1 3\n"),  # rows of two numbers
        ("a.txt", "3 0\n"),
        ("a.txt", "1 2 3\n1 2 1\n"),
    ],
)
def test_tables_are_no_graphs(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert kind_of(path) == ".txt"


def test_damaged_packed_texts_are_no_graphs(tmp_path: Path) -> None:
    path, packed = tmp_path / "G1.gz", bytearray(gzip.compress(TRIANGLE.encode()))
    packed[12] ^= 255
    path.write_bytes(packed)
    with pytest.raises(DataError, match="nothing is known of such files"):
        kind_of(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "edges.col"
    for content in (b"p edge 3 1\ne 1 2\n", b"\xff\xfe\x00", b"", b"\x1f\x8b", b"a b\nc d e\n"):
        path.write_bytes(content)
        with pytest.raises(DataError, match="nothing is known of such files"):
            kind_of(path)


@pytest.mark.parametrize("kind", [".rud", ".mtx"])
def test_sums_of_decimals_are_exact(kind: str, tmp_path: Path) -> None:
    """0.1 + 0.2 - 0.3 is 0, which sums of doubles are not."""
    path, words = tmp_path / f"a{kind}", ["0.1", "0.2", "-0.3"]
    edges = "".join(f"{i} 1 {word}\n" for i, word in enumerate(words, 2))
    path.write_text(
        f"4 3\n{edges}" if kind == ".rud" else f"{MATRIX} real symmetric\n4 4 3\n{edges}"
    )
    graph = graph_of_file(path, kind)
    assert graph.degrees.tolist() == [0.0, 0.1, 0.2, -0.3]
    assert graph.roundings == 1
    operator = ConicSystem.of(read_system(path)).operator
    assert operator.roundings == 1
    assert parse_graph("2 1\n1 2 0.375\n").sum() == 0.75
    path.write_text(
        "2 1\n1 2 0.375\n" if kind == ".rud" else f"{MATRIX} real symmetric\n2 2 1\n2 1 0.375\n"
    )
    assert graph_of_file(path, kind).roundings == 0


def test_graphs_without_edges(tmp_path: Path) -> None:
    for name, text in {
        "a.rud": "3 0\n",
        "a.mtx": f"{MATRIX} pattern symmetric\n3 3 0\n",
        "a": "3 0\n",
    }.items():
        (tmp_path / name).write_text(text)
        found = optimum(tmp_path / name)
        assert (found.optimum_lower, found.optimum_upper) == (0.0, 0.0)
        assert found.certificate["figures"]["cut"] == 0.0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the first line"),
        ("3 x\n", "the first line"),
        ("3 2 1\n1 2 1\n", "the first line"),
        ("3 2\n1 2 1\n", "2 edges are promised, and 1 lines follow"),
        ("3 2\n1 2 1\n2 3\n", "lines `i j weight`"),
        ("3 1\n1 b 1\n", "line 2: 'b' is no number; edges have to be lines"),
        ("3 1\n1 2 heavy\n", "line 2: 'heavy' is no number"),
        ("3 1\n1 4 1\n", "edge 1 joins 1 and 4; vertices are whole numbers from 1 to 3"),
        ("3 1\n0 1 1\n", "from 1 to 3"),
        ("3 1\n1.5 2 1\n", "whole numbers from 1 to 3"),
        ("3 1\n2 2 1\n", "edge 1 joins a vertex with itself"),
        ("3 2\n1 2 1\n2 1 1\n", "edge 2 joins two vertices that are joined already"),
        ("3 1\n1 2 nan\n", "line 2: the weight nan; weights have to be finite"),
        ("3 1\n1 2 1e-320\n", "outside the range of doubles"),
        ("3 2\n1 2 1e308\n1 3 1e308\n", "sums of the weights are beyond"),
        ("# a\n3 1\n% b\n1 2 1 4\n", "line 4: '1 2 1 4'; edges have to be lines"),
        ("3.0 1\n1 2 1\n", "line 1: '3.0 1'; the first line holds"),
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
        ("real symmetric", "2 2 1\n2 1 nan\n", "line 3: the weight nan"),
        ("real symmetric", "2 2 2\n2 1 1\n", "not a .mtx file"),
    ],
)
def test_matrices_of_no_graph(head: str, entries: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "a.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate {head}\n{entries}")
    with pytest.raises(DataError, match=reason):
        read_system(path)
