"""Irreducible conflicts of blocks, rows and constraints, by name and with exact weights."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import cvxpy
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import block_diag

from perceptron_lab import ConicSystem, Status, solve
from perceptron_lab.algorithms.interior_point.interior_point import InteriorPoint
from perceptron_lab.cli.main import main
from perceptron_lab.core.run_options import RunOptions
from perceptron_lab.datasets.formats.sdpa import parse_sdpa
from perceptron_lab.solving.entry import drive_named
from perceptron_lab.systems.conflicts import irreducible, with_conflict
from perceptron_lab.systems.pencil import homogenised

# x_1 >= 4, x_2 >= 4, x_1 + x_2 <= 20, x_1 >= -9; discs of radius 5 around (0, 0) and (40, 40)
ROWS = [([1, 0], 4), ([0, 1], 4), ([-1, -1], -20), ([1, 0], -9)]
CENTRES = [(0, 0), (40, 40)]
CONFLICT = ("block 1, row 1", "block 1, row 2", "block 2")


def arrow(centre: Sequence[int]) -> list[tuple[int, int, int, int]]:
    """Return the entries (matrix, row, column, value) of norm(x - centre) <= 5."""
    entries = [(0, i, i, -5) for i in (1, 2, 3)]
    entries += [(0, j, 3, c) for j, c in enumerate(centre, start=1) if c]
    return [*entries, (1, 1, 3, 1), (2, 2, 3, 1)]


def text_of(centres: Sequence[Sequence[int]] = CENTRES) -> str:
    lines = ["2", str(1 + len(centres)), " ".join([f"-{len(ROWS)}", *["3"] * len(centres)]), "0 0"]
    for i, (a, b) in enumerate(ROWS, start=1):
        lines += [f"{j} 1 {i} {i} {value}" for j, value in enumerate([b, *a]) if value]
    for block, centre in enumerate(centres, start=2):
        lines += [f"{k} {block} {i} {j} {value}" for k, i, j, value in arrow(centre)]
    return "\n".join([*lines, ""])


def require_exact(weights: dict[str, Any], text: str) -> None:
    """Check in fractions that the weights of an SDPA file's blocks are in K* and prove it."""
    data = parse_sdpa(text)
    sums = [Fraction()] * (1 + len(data.objective))
    for k, b, i, j, value in zip(
        *(a.tolist() for a in (data.matrix, data.block, data.row, data.column, data.value)),
        strict=True,
    ):
        if data.blocks[b] < 0:
            (number,) = weights.get(f"block {b + 1}, row {i + 1}", ["0"])
            sums[k] += Fraction(value) * Fraction(number)
        elif f"block {b + 1}" in weights:
            weight = Fraction(weights[f"block {b + 1}"][i][j])
            sums[k] += Fraction(value) * weight * (1 + (i != j))
    assert not any(sums[1:])
    assert sums[0] >= 0
    for part in weights.values():
        if isinstance(part[0], list):
            matrix = np.array([[float(Fraction(x)) for x in row] for row in part])
            assert (matrix == matrix.T).all()
            assert np.linalg.eigvalsh(matrix).min() > -1e-12
        else:
            assert Fraction(part[0]) > 0


@pytest.mark.parametrize("count", [1, 2])
def test_rows_and_blocks_of_a_file_are_named(count: int) -> None:
    """Two discs that are apart are a conflict as well; only one is reported."""
    text = text_of(CENTRES[:count])
    result = solve(homogenised(parse_sdpa(text)))
    entries = result.certificate["conflict"]
    others = [("block 2", "block 3"), ("block 1, row 3", "block 3")]
    assert result.conflict in [CONFLICT, *others[: 2 * count - 2]]
    assert entries["not proved necessary"] == []
    assert tuple(sorted(entries["weights"])) == tuple(sorted(result.conflict))
    require_exact(entries["weights"], text)
    assert f"in conflict: {'; '.join(result.conflict)} (irreducible)" in str(result)


def dense_and_sparse(
    as_matrix: Any,
) -> tuple[list[cvxpy.Constraint], tuple[str, ...]]:
    x = cvxpy.Variable(2, name="x")
    rows = [as_matrix(np.array([a], dtype=float)) @ x >= b for a, b in ROWS]
    disc = cvxpy.norm(x) <= 5
    for name, constraint in zip("abcdn", [*rows, disc], strict=True):
        constraint.set_label(name)
    return [*rows, disc], ("a", "b", "n")


@pytest.mark.parametrize("as_matrix", [np.array, sp.csr_array], ids=["dense", "sparse"])
def test_constraints_of_cvxpy_are_named(as_matrix: Any) -> None:
    constraints, names = dense_and_sparse(as_matrix)
    result = solve(cvxpy.Problem(cvxpy.Minimize(0), constraints))
    assert [label.split(":")[0] for label in result.conflict] == list(names)
    entries = result.certificate["conflict"]
    assert entries["not proved necessary"] == []
    assert {label.split(":")[0] for label in entries["weights"]} == {*names, "auxiliary"}


def test_matrices_are_named_by_their_rows() -> None:
    """x >= 1 and x <= 0 in rows 1 and 4; the matrix of rows 2 and 3 is no part of the conflict."""
    constant = block_diag(1.0, -np.eye(2), 0.0)
    matrices = [np.diag([1.0, 0.0, 0.0, -1.0]), np.diag([0.0, 1.0, 0.0, 0.0])]
    matrices[1][1, 2] = matrices[1][2, 1] = 1.0
    result = solve(ConicSystem.from_matrices(constant, matrices))
    assert result.conflict == ("row 1", "row 4")
    assert result.certificate["conflict"]["weights"] == {"row 1": ["1"], "row 4": ["1"]}


def test_second_order_blocks_are_named_by_their_numbers() -> None:
    """norm(y_1) < y_2 and -y_2 > 0; y_1 > 0 is not needed."""
    matrix = [[1, 0], [0, 1], [0, -1], [1, 0]]
    result = solve(ConicSystem.second_order(np.array(matrix, dtype=float), [2, 1, 1]))
    assert result.conflict == ("block 1", "block 2")
    weights = result.certificate["conflict"]["weights"]
    assert weights["block 1"][1] == weights["block 2"][0]


def test_rows_alone_may_be_the_conflict() -> None:
    """x_1 >= 4 and x_1 <= 0, which hold in no closed set either."""
    text = text_of([]).replace("1 1 4 4 1\n", "1 1 4 4 -1\n").replace("0 1 4 4 -9", "0 1 4 4 0")
    text = text.replace("2\n1\n-4\n", "2\n2\n-4 2\n") + "0 2 1 1 -1\n0 2 2 2 -1\n0 2 1 2 0\n"
    result = solve(homogenised(parse_sdpa(text)))
    assert result.conflict == ("block 1, row 1", "block 1, row 4")
    weights = result.certificate["conflict"]["weights"]
    assert set(weights) == set(result.conflict)


def test_a_constraint_whose_removal_is_not_decided_is_reported() -> None:
    """The time of the first run is not enough for further ones."""
    system = homogenised(parse_sdpa(text_of([CENTRES[0]])))
    first = solve(system)
    undecided = replace(first, status=Status.TIME_LIMIT, weights=None)
    named = with_conflict(system, first, lambda part: undecided)
    assert named.certificate["conflict"]["not proved necessary"] == list(named.conflict)
    assert set(CONFLICT) <= set(named.conflict)
    assert "(not proved necessary: block 1, row 1;" in str(named)


def test_the_filter_finds_a_minimal_set() -> None:
    """Sets that contain one of a family are in conflict; the family is drawn."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        size = int(rng.integers(1, 7))
        subsets = [frozenset(s) for r in range(1, size + 1) for s in combinations(range(size), r)]
        family = [subsets[k] for k in rng.integers(0, len(subsets), 3)]

        def decide(rest: list[int]) -> tuple[Status, list[int]]:
            infeasible = any(part <= set(rest) for part in family)  # noqa: B023
            return (Status.INFEASIBLE if infeasible else Status.FEASIBLE), rest

        conflict, unproved = irreducible(list(range(size)), decide)
        assert not unproved
        assert frozenset(conflict) in family
        assert not any(part < set(conflict) for part in family)


def test_the_command_line_names_the_conflict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.dat-s"
    path.write_text(text_of([CENTRES[0]]))
    assert main(["solve", str(path), "--conflict"]) == 0
    assert (
        "in conflict: block 1, row 1; block 1, row 2; block 2 (irreducible)"
        in capsys.readouterr().out
    )
    assert main(["solve", str(path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["conflict"] == list(CONFLICT)
    require_exact(answer["certificate"]["conflict"]["weights"], path.read_text())


def test_other_algorithms_name_a_conflict_if_it_is_asked_for() -> None:
    system = homogenised(parse_sdpa(text_of([CENTRES[0]])))
    assert drive_named(system, InteriorPoint(), RunOptions()).conflict == ()
    assert drive_named(system, InteriorPoint(), RunOptions(), conflict=True).conflict == CONFLICT


def test_rows_that_hold_as_equations_are_no_conflict_without_the_cone() -> None:
    """x_1 >= 4 and x_1 <= 4 have a point, and x_1 >= 4 leaves the disc of radius 3."""
    lines = ["2", "2", "3 -2", "0 0"]
    entries = [(k, i, j, {-5: -3}.get(value, value)) for k, i, j, value in arrow((0, 0))]
    lines += [f"{k} 1 {i} {j} {value}" for k, i, j, value in entries]
    lines += ["0 2 1 1 4", "1 2 1 1 1", "0 2 2 2 -4", "1 2 2 2 -1", ""]
    result = solve(homogenised(parse_sdpa("\n".join(lines))))
    assert result.conflict == ("block 1", "block 2, row 1")
