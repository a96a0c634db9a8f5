"""MPS and LP files: every number as printed, nothing dropped or changed in silence."""

from __future__ import annotations

import gzip
from fractions import Fraction
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import pytest

from perceptron_lab.core.errors import DataError
from perceptron_lab.datasets.collections.problem_files import FileProblem, read_problem
from perceptron_lab.systems.conditions import Condition
from perceptron_lab.systems.linear_system import LinearSystem

MPS = """* a comment
NAME          EXAMPLE
OBJSENSE
    MAX
ROWS
 N  COST
 G  LOW
 L  RANGED
 E  EQUAL
 E  BELOW
 N  SPARE
COLUMNS
    X         COST         1.0   LOW          0.1
    X         RANGED       1.0
    MARKER                 'MARKER'                 'INTORG'
    Y         LOW          1.0   EQUAL        -1D0
    MARKER                 'MARKER'                 'INTEND'
    Z         EQUAL        1.0   SPARE        1.0
    Z         BELOW        12345678901234567890.5
RHS
    RHS       LOW          1.0   RANGED       0.1
    RHS       EQUAL        7.0   COST         3
RANGES
    RNG       RANGED       0.2   BELOW        -0.3
BOUNDS
 UP BND       X            4.0
 LO BND       Y           -1.5
 PL BND       Y
 FR BND       Z
ENDATA
"""

LP = """\\ a comment
minimize
 obj: x + y
subject to
 low: 0.1 x + y >= 1
 other: x - 3.25 y - z <= 3
 equal: 2 y + z = 0.7
bounds
 x <= 4
 y free
 -2 <= z <= 8
general
 x
end
"""


def read(folder: Path, text: str, name: str = "model.mps") -> FileProblem:
    path = folder / name
    path.write_text(text)
    return read_problem(path)


def conditions(problem: FileProblem) -> dict[str, Condition]:
    assert isinstance(problem.system, LinearSystem)
    return {condition.name: condition for condition in problem.system.conditions}


def numbers(condition: Condition) -> tuple[dict[int, Fraction], Fraction]:
    pairs = zip(condition.columns, condition.coefficients, strict=True)
    return {j: Fraction(value, condition.scale) for j, value in pairs}, Fraction(
        condition.right, condition.scale
    )


def test_every_part_of_an_mps_file_is_read_exactly(tmp_path: Path) -> None:
    problem = read(tmp_path, MPS)
    named = conditions(problem)
    tenth = Fraction(1, 10)
    assert problem.features == ("X", "Y", "Z")
    assert list(named) == [
        *("LOW", "RANGED (>=)", "RANGED (<=)", "BELOW (>=)", "BELOW (<=)", "EQUAL"),
        *("X >= 0", "Y >= -1.5", "X <= 4"),
    ]
    assert numbers(named["LOW"]) == ({0: tenth, 1: 1}, 1)
    assert numbers(named["RANGED (>=)"]) == ({0: 1}, -tenth)
    assert numbers(named["RANGED (<=)"]) == ({0: -1}, -tenth)
    assert numbers(named["BELOW (>=)"]) == ({2: Fraction(24691357802469135781, 2)}, -3 * tenth)
    assert numbers(named["EQUAL"]) == ({1: -1, 2: 1}, 7)
    assert named["EQUAL"].equation
    assert [condition.bound for condition in named.values()] == [False] * 6 + [True] * 3


def test_notes_list_ignored_sections_and_relaxed_integers(tmp_path: Path) -> None:
    assert read(tmp_path, MPS).notes == (
        "1 integer column relaxed to real numbers: Y",
        "if the relaxation is infeasible, so is the program; a point of it need not be integer",
        "the objective is left out: the question is whether there is a point",
        "1 free row left out: SPARE",
    )
    negative = MPS.replace(" UP BND       X            4.0", " UP BND       X            -4.0")
    problem = read(tmp_path, negative)
    assert problem.notes[-1] == (
        "column X has a negative upper bound, and no lower one: its lower bound is taken as "
        "-infinity; --negative-upper zero takes 0"
    )
    assert "X >= 0" not in conditions(problem)


def test_numbers_that_stand_for_infinity_are_noted(tmp_path: Path) -> None:
    note = "limits of 1e20 or more stand for infinity: {}"
    infinite = MPS.replace(" UP BND       X            4.0", " UP BND       X            7e20")
    problem = read(tmp_path, infinite)
    assert problem.notes[-1] == note.format("X")
    assert "X <= 4" not in conditions(problem)
    text = "minimize x\nsubject to\n r: x + y <= 3e25\nbounds\n -1e30 <= x <= 5\n y <= inf\nend\n"
    assert read(tmp_path, text, "model.lp").notes[-1] == note.format("r, x")


def test_a_packed_mps_file_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "model.mps.gz"
    path.write_bytes(gzip.compress(MPS.encode()))
    assert conditions(read_problem(path)) == conditions(read(tmp_path, MPS))


def test_an_lp_file_is_read_as_printed(tmp_path: Path) -> None:
    problem = read(tmp_path, LP, "model.lp")
    named = conditions(problem)
    assert list(named) == ["low", "other", "equal", "x >= 0", "z >= -2", "x <= 4", "z <= 8"]
    assert numbers(named["low"]) == ({0: Fraction(1, 10), 1: 1}, 1)
    assert numbers(named["other"]) == ({0: -1, 1: Fraction(13, 4), 2: 1}, -3)
    assert numbers(named["equal"]) == ({1: 2, 2: 1}, Fraction(7, 10))
    assert problem.notes[0] == "1 integer column relaxed to real numbers: x"


def test_numbers_of_many_digits_in_an_lp_file_stay_exact(tmp_path: Path) -> None:
    problem = read(tmp_path, LP.replace("3.25", "3.2512345678901234567"), "model.lp")
    assert numbers(conditions(problem)["other"])[0][1] == Fraction("3.2512345678901234567")
    assert not any("rounded" in note for note in problem.notes)


@pytest.mark.parametrize("end", ["mps", "lp"])
@pytest.mark.parametrize("seed", range(5))
def test_files_written_by_highs_are_read(end: str, seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    shape = rows, width = int(rng.integers(1, 6)), int(rng.integers(1, 6))
    matrix = np.round(rng.normal(size=shape) * (rng.random(shape) < 0.7), 3)
    matrix[:, 0] += 1.0  # no row is empty, which HiGHS would leave out of an LP file
    matrix = np.round(matrix, 3)
    limits = np.round(rng.normal(size=rows), 2)
    kinds = rng.integers(0, 3, rows)
    lower = np.where(rng.random(width) < 0.5, np.round(rng.normal(size=width), 1), -np.inf)
    path = tmp_path / f"model.{end}"
    written(path, matrix, np.where(kinds == 1, -np.inf, limits), limits, kinds, lower)
    expected = []
    for i in sorted(range(rows), key=lambda i: kinds[i] == 2):
        sign = -1 if kinds[i] == 1 else 1
        entries = {j: sign * entry for j, entry in enumerate(matrix[i]) if entry}
        expected.append((entries, sign * limits[i]))
    expected += [({j: 1.0}, bound) for j, bound in enumerate(lower) if bound > -np.inf]
    problem = read_problem(path)
    assert isinstance(problem.system, LinearSystem)
    read_back = [numbers(condition) for condition in problem.system.conditions]
    # As doubles: some releases of HiGHS print the fewest digits that determine one, others 17.
    assert [
        ({j: float(entry) for j, entry in entries.items()}, float(limit))
        for entries, limit in read_back
    ] == expected


def written(path: Path, matrix: Any, low: Any, limits: Any, kinds: Any, lower: Any) -> None:
    rows, width = matrix.shape
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.silent()
    for j in range(width):
        solver.addVar(lower[j], np.inf)
        solver.passColName(j, f"col{j}")
    for i in range(rows):
        indices = np.flatnonzero(matrix[i])
        high = np.inf if kinds[i] == 0 else limits[i]
        solver.addRow(low[i], high, len(indices), indices.astype(np.int32), matrix[i, indices])
        solver.passRowName(i, f"row{i}")
    solver.writeModel(str(path))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("RANGED       0.1", "RANGED       abc", "line 21: 'abc' is no number"),
        ("RANGED       0.1", "RANGED       nan", "line 21: 'nan' is no number"),
        ("RANGED       0.1", "RANGED     1e9999", "line 21: 1e9999 has an exponent beyond 400"),
        ("LOW          0.1", "LOWE         0.1", "no row is called 'LOWE' (did you mean 'LOW'?)"),
        ("Y           -1.5", "W           -1.5", "line 27: no column is called 'W'"),
        (
            "    Z         BELOW ",
            "    Z         EQUAL ",
            "column Z has a second entry in row EQUAL",
        ),
        ("RHS       EQUAL", "RHS       LOW  ", "row LOW has a second number in RHS"),
        (" G  LOW", " Q  LOW", "row LOW is of kind Q; allowed: N, L, G, E"),
        (" E  BELOW", " E  LOW", "a second row is called LOW"),
        ("ENDATA", "", "it ends without ENDATA"),
        ("BOUNDS", "SOS1", "the section SOS1"),
        (" FR BND", " SC BND", "a bound of kind SC makes a column semicontinuous"),
        (" FR BND", " XX BND", "a bound of kind XX; allowed"),
        ("'INTEND'", "'SOSEND'", "the marker SOSEND; allowed: INTORG, INTEND"),
        ("-1.5", "", "line 27: the bound LO of column Y has no number; give one"),
        ("Y           -1.5", "Y           1e20", "line 27: column Y is to be at least 1e20"),
        ("BOUNDS", "QCMATRIX  LOW", "a linear program has no quadratic constraints"),
        ("BOUNDS", "QSECTION  LOW", "row LOW is quadratic"),
        ("    MAX", "    BEST", "the sense of the objective is BEST; allowed: MIN, MAX"),
        ("EQUAL        7.0", "EQUAL        1e21", ": row EQUAL is to be at least 1e20"),
        ("    X         RANGED       1.0", "    X         RANGED", "give a column, and one or two"),
    ],
)
def test_a_damaged_mps_file_is_refused_with_the_line(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    assert old in MPS
    with pytest.raises(DataError) as refused:
        read(tmp_path, MPS.replace(old, new))
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("garbage\nfoo\n", "line 1: 'garbage' before the first section"),
        (LP.replace("y >= 1", "y + 0.2 >= "), "in the place of a number or a variable"),
        (
            LP.replace("general", "semi-continuous"),
            "line 13: a linear program has no semicontinuous",
        ),
        (
            LP.replace("general", "semis"),
            "leave the section out, which makes the file a relaxation",
        ),
        (LP.replace("low: 0.1 x", "low: 2 (x + y)"), "line 5: '(x' in the place of a name"),
        (LP.replace("<= 3", "<= 3,5"), "line 6: ',5' in the place of a name"),
        (LP.replace(">= 1", ">= 1e20"), "line 5: low is to be at least 1e20 or more"),
        (LP.replace("x <= 4", "x <= -1e21"), "line 9: x is to be at most -1e20 or less"),
        (LP.replace("<= 3", "<= 3 + x y"), "line 6: 'y' in the place of + or -; write a sign"),
        (
            LP.replace("0.1 x", "1/3 x"),
            "line 5: 1/3 is a fraction, which LP files do not have; mult",
        ),
        (LP.replace("0.1 x", "1e-999 x"), "line 5: 1e-999 has an exponent beyond 400"),
        (LP.replace("<= 3", ""), "line 7: 'equal' in the place of <=, >= or =; give every"),
        (LP.replace("low: ", "low: b = 1 -> "), "line 5: a linear program has no indicator"),
        (LP.replace("low: 0.1 x", "low: [ x * y ]"), "line 5: '[' in the place of a linear term"),
        (LP.replace("x <= 4", "2 x <= 4"), "line 9: a bound is that of one variable by a number"),
        (LP.replace(">= 1", ">= 1 <= 4"), "line 5: two relations that are no range"),
        (LP.replace("general", "sos1"), "a linear program has no special ordered sets"),
        (LP.replace("end", ""), "it ends without 'end'"),
        (
            LP.replace("0.1 x", "0.1 \N{CURRENCY SIGN} x\x01"),
            r"unexpected '\x01 + y >= 1'; allowed are",
        ),
    ],
)
def test_an_lp_file_that_is_none_is_refused_with_its_place(
    text: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as refused:
        read(tmp_path, text, "model.lp")
    assert message in str(refused.value)
