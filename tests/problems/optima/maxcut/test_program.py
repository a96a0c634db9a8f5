"""What a MAXCUT program is, and which systems are recognised as one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from perceptron_lab.core.errors import InputError
from perceptron_lab.datasets.formats.sdpa import read_sdpa
from perceptron_lab.datasets.generated.maxcut import generate, graph_of, laplacian
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram
from perceptron_lab.systems.pencil import SdpaData, homogenised
from tests.problems.optima.maxcut.small_graphs import dense
from tests.problems.optima.small_programs import dense_program


def recognised(text: str, folder: Path) -> MaxCutProgram | None:
    path = folder / "p.dat-s"
    path.write_text(text)
    return MaxCutProgram.of_system(homogenised(read_sdpa(path)))


@pytest.mark.parametrize("name", ["random-12-25", "random-80-300", "torus-3x4"])
def test_a_relaxation_of_maxcut_is_recognised_entry_by_entry(name: str) -> None:
    program = MaxCutProgram.of_system(homogenised(generate(name, 3)))
    assert program is not None
    np.testing.assert_array_equal(dense(program), laplacian(graph_of(name, 3)).toarray() / 4)
    assert program.roundings == 0
    rows, columns, values = program.edges
    other = MaxCutProgram.of_graph(program.order, columns, rows, -4 * values)
    np.testing.assert_array_equal(dense(other), dense(program))


def test_permuted_variables_and_several_blocks_are_recognised(tmp_path: Path) -> None:
    text = (
        "4\n3\n2 1 -1\n1 1 1 1\n0 1 1 1 5.0\n0 1 1 2 -2.0\n0 2 1 1 7.0\n"
        "3 1 1 1 1.0\n1 1 2 2 1.0\n2 2 1 1 1.0\n4 3 1 1 1.0\n"
    )
    program = recognised(text, tmp_path)
    assert program is not None
    expected = np.zeros((4, 4))
    expected[2, 2], expected[1, 1], expected[0, 2], expected[2, 0] = 5.0, 7.0, -2.0, -2.0
    np.testing.assert_array_equal(dense(program), expected)


def test_decimals_that_are_no_doubles_are_rounded_and_marked(tmp_path: Path) -> None:
    text = "2\n1\n2\n1 1\n0 1 1 2 {}\n1 1 1 1 1\n2 1 2 2 1\n"
    for value, roundings in (("0.5", 0), ("0.1", 1)):
        program = recognised(text.format(value), tmp_path)
        assert program is not None
        assert program.roundings == roundings


@pytest.mark.parametrize(
    "text",
    [
        "2\n1\n2\n1 2\n0 1 1 2 1\n1 1 1 1 1\n2 1 2 2 1\n",  # another objective
        "2\n1\n2\n1 1\n0 1 1 2 1\n1 1 1 1 1\n2 1 2 2 2\n",  # an entry that is not 1
        "2\n1\n2\n1 1\n0 1 1 2 1\n1 1 1 1 1\n2 1 1 1 1\n",  # one place twice
        "2\n1\n2\n1 1\n0 1 1 2 1\n1 1 1 1 1\n2 1 1 2 1\n",  # beside the diagonal
        "2\n1\n3\n1 1\n0 1 1 2 1\n1 1 1 1 1\n2 1 2 2 1\n",  # a place without a variable
    ],
)
def test_other_programs_are_not_recognised(text: str, tmp_path: Path) -> None:
    assert recognised(text, tmp_path) is None


def test_other_systems_are_not_recognised() -> None:
    assert MaxCutProgram.of_system(homogenised(dense_program(1))) is None
    system = homogenised(
        SdpaData.from_entries(np.ones(1), [1], np.array([[0, 0, 0, 0], [1, 0, 0, 0]]), np.ones(2))
    )
    program = MaxCutProgram.of_system(system)
    assert program is not None
    assert program.order == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, [], [], []), "n >= 1"),
        ((2, [0], [1, 1], [1.0]), "one shape"),
        ((2, [0], [2], [1.0]), "outside 0 to 1"),
        ((2, [0], [1], [np.nan]), "finite"),
    ],
)
def test_malformed_graphs_are_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        MaxCutProgram.of_graph(*arguments)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="symmetric"):
        MaxCutProgram.of_matrix([[0.0, 1.0], [2.0, 0.0]])


def test_edges_given_twice_add_up_and_loops_have_no_effect() -> None:
    program = MaxCutProgram.of_graph(2, [0, 1, 1], [1, 0, 1], [1.0, 2.0, 9.0])
    np.testing.assert_array_equal(dense(program), [[0.75, -0.75], [-0.75, 0.75]])
