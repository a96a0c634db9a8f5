"""Optima of programs whose feasible points are all on the boundary of the cone."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from perceptron_lab import Result, Status, optimum, verify
from perceptron_lab.cli.main import main
from perceptron_lab.datasets.formats.sdpa import parse_sdpa
from perceptron_lab.numerics.exact_texts import read_exact
from perceptron_lab.systems.exact_pencil import ExactPencil
from perceptron_lab.systems.face_equations import semidefinite_terms
from perceptron_lab.systems.facial_reduction import substituted
from perceptron_lab.systems.pencil import homogenised

# Entries "matrix block row column value" of F(x), objectives, and optima over the closed cone
CASES = {
    "diag(0, x), objective 0": ("1\n1\n2\n0\n0 1 1 1 0\n1 1 2 2 1\n", 0.0),
    "[[x, y], [y, -x]], objective 0": ("2\n1\n2\n0 0\n1 1 1 1 1\n1 1 2 2 -1\n2 1 1 2 1\n", 0.0),
    "[[x - 1, y], [y, 0]], x + y": ("2\n1\n2\n1 1\n0 1 1 1 1\n1 1 1 1 1\n2 1 1 2 1\n", 1.0),
    # The last row makes y = 2, and then x >= 2
    "[[x, y, y - 2], [y, x, 0], [y - 2, 0, 0]], x": (
        "2\n1\n3\n1 0\n0 1 1 3 2\n1 1 1 1 1\n1 1 2 2 1\n2 1 1 2 1\n2 1 1 3 1\n",
        2.0,
    ),
    # x_33 = 0 makes x_23 = y - 1 = 0; then 3 x >= 1 in the other rows
    "[[3 x, y, 0], [y, 1, y - 1], [0, y - 1, 0]], -x and x <= 5": (
        "2\n2\n3 -1\n-1 0\n0 1 2 2 -1\n0 1 2 3 1\n0 2 1 1 -5\n"
        "1 1 1 1 3\n1 2 1 1 -1\n2 1 1 2 1\n2 1 2 3 1\n",
        -5.0,
    ),
}


def at(text: str, x: list[Fraction]) -> tuple[list[list[list[Fraction]]], Fraction]:
    """Return the blocks of F(x), and c'x, exactly."""
    data = parse_sdpa(text)
    blocks = [[[Fraction()] * abs(k) for _ in range(abs(k))] for k in data.blocks]
    numbers = (a.tolist() for a in (data.matrix, data.block, data.row, data.column, data.value))
    for k, b, i, j, value in zip(*numbers, strict=True):
        blocks[b][i][j] += Fraction(value) * ([Fraction(-1), *x][k])
        blocks[b][j][i] = blocks[b][i][j]
    costs = map(Fraction, data.objective.tolist())
    return blocks, sum((c * entry for c, entry in zip(costs, x, strict=True)), Fraction())


@pytest.mark.parametrize("name", CASES)
def test_both_bounds_are_those_of_the_closed_cone(name: str) -> None:
    text, value = CASES[name]
    result = optimum(homogenised(parse_sdpa(text)))
    assert (result.status, result.infeasibility) == (Status.INFEASIBLE, "boundary only")
    assert result.optimum_lower is not None
    assert result.optimum_upper is not None
    assert result.optimum_lower <= value <= result.optimum_upper
    assert result.optimum_upper - result.optimum_lower < 1e-6
    blocks, objective = at(text, list(map(read_exact, result.certificate["boundary_point"])))
    assert value <= objective <= Fraction(result.optimum_upper)
    for block in blocks:
        assert semidefinite_terms(block, np.eye(len(block), dtype=int).tolist()) is not None


def test_kinds_of_programs_without_a_point_are_told() -> None:
    """diag(-1, x) and [[x, 1], [1, 0]]: no upper bound."""
    for text, kind in [
        ("1\n1\n2\n1\n0 1 1 1 1\n1 1 2 2 1\n", "strong"),
        ("1\n1\n2\n1\n0 1 1 2 -1\n1 1 1 1 1\n", "weak"),
    ]:
        result = optimum(homogenised(parse_sdpa(text)))
        assert (result.infeasibility, result.optimum_upper) == (kind, None)


def test_saved_bounds_are_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, value = CASES["[[x - 1, y], [y, 0]], x + y"]
    (tmp_path / "p.dat-s").write_text(text)
    saved = tmp_path / "answer.npz"
    assert main(["solve", str(tmp_path / "p.dat-s"), "--optimum", "--save", str(saved)]) == 0
    assert "the optimum over the closed cones is in [0.99999" in capsys.readouterr().out
    (cell,) = verify(saved).cells
    assert cell.verdict == "PROVED", cell
    assert cell.optimum_upper is not None
    assert cell.optimum_upper >= value
    loaded, source = Result.load(saved), json.loads(np.load(saved)["json"].item())["source"]
    lower = {"optimum_upper": 0.5, "optimum_lower": 0.4}
    figures = loaded.certificate["figures"] | lower
    unproved = {k: v for k, v in loaded.certificate.items() if k not in ("chain", "sequence")}
    unproved |= {
        "infeasibility": "no strict point",
        "boundary_point": ["-9", "0"],
        "figures": figures | {"optimum_upper": -9.0},
    }
    unproved["figures"].pop("optimum_lower")
    forgeries = [
        replace(loaded, optimum_lower=None, optimum_upper=-9.0, proof={}, certificate=unproved),
        replace(loaded, **lower, certificate=loaded.certificate | {"figures": figures}),
        replace(loaded, certificate=loaded.certificate | {"boundary_point": ["1/2", "0"]}),
        replace(loaded, certificate=loaded.certificate | {"infeasibility": "no strict point"}),
    ]
    for forged in forgeries:
        forged.save(tmp_path / "forged.npz", source=source)
        (cell,) = verify(tmp_path / "forged.npz").cells
        assert cell.verdict == "NOT PROVED", cell


@pytest.mark.parametrize("first", [(2, 3), (-2, 3), (0, -5), (0, 4)])
def test_x_0_becomes_an_unknown(first: tuple[int, int]) -> None:
    """x_0 = a'z; the columns of T span all z, and the first has x_0 > 0, the others x_0 = 0."""
    rows = [
        (0, 0, 0, tuple(j for j in (0, 1) if first[j]), tuple(filter(None, first))),
        (1, 0, 0, (0, 1), (7, -1)),
    ]
    pencil, columns = substituted(ExactPencil(2, [("rows", 1), ("rows", 1)], rows, True))
    masses = [first[0] * z[0] + first[1] * z[1] for z in columns]
    assert masses[0] > 0 == masses[1]
    assert columns[0][0] * columns[1][1] != columns[0][1] * columns[1][0]
    scores = dict(zip(pencil.rows[1][3], pencil.rows[1][4], strict=True))
    assert [scores.get(k, 0) for k in (0, 1)] == [7 * z[0] - z[1] for z in columns]
