"""The syntax of MPS and LP files in practice, compared with HiGHS's reader.

Each file is read by ours, and a twin of the same meaning by HiGHS: the file itself where HiGHS
reads it correctly, else one in the syntax that HiGHS reads.
"""

from __future__ import annotations

import gzip
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import highspy
import pytest

from perceptron_lab import optimum
from perceptron_lab.algorithms.linear.highs import QuietHighs
from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.datasets.collections.problem_files import read_problem
from perceptron_lab.datasets.formats.linear_programs import LinearModel
from perceptron_lab.datasets.formats.lp import read_lp
from perceptron_lab.datasets.formats.mps import read_mps

MPS = """NAME          T
ROWS
 N  COST
 L  R1
 G  R2
 E  R3
COLUMNS
    X         COST      1.5            R1        1.0
    X         R2        1.0            R3        1.0
    Y         COST      1.0            R1        1.0
    Y         R3        -1.0
RHS
    RHS       R1        4.0            R2        1.0
    RHS       R3        1.0            COST      -2.5
RANGES
    RNG       R1        2.0            R3        -0.5
BOUNDS
 UP BND       X         3.0
 MI BND       Y
ENDATA
"""
LP = """minimize
 obj: x + 2 y
subject to
 c1: x + y >= 2
 c2: x - y <= 3
bounds
 x <= 4
end
"""


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    """Return a text with parts replaced; all occur."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


Limits = tuple[float | None, float | None]
Content = tuple[Any, ...]


def of_ours(model: LinearModel) -> Content:
    """Return variables, bounds, rows and objective, as doubles."""
    rows = [
        ({j: float(a) for j, a in zip(*row.entries, strict=True)}, limits(row.lower, row.upper))
        for row in model.rows
    ]
    bounds = [limits(low, high) for low, high in zip(model.lower, model.upper, strict=True)]
    costs = {j: float(a) for j, a in zip(*model.objective.entries, strict=True)}
    constant = float(model.objective.constant)
    return model.variables, bounds, rows, costs, constant, model.objective.maximise


def limits(low: Fraction | None, high: Fraction | None) -> Limits:
    return None if low is None else float(low), None if high is None else float(high)


def of_highs(path: Path) -> Content:
    """Return the same, as HiGHS reads it."""
    solver: Any = QuietHighs()  # type: ignore[no-untyped-call]
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    program = solver.getLp()
    entries: list[dict[int, float]] = [{} for _ in range(program.num_row_)]
    matrix = program.a_matrix_
    for j in range(program.num_col_):
        for k in range(matrix.start_[j], matrix.start_[j + 1]):
            entries[matrix.index_[k]][j] = float(matrix.value_[k])
    ends = zip(program.row_lower_, program.row_upper_, strict=True)
    rows = [(row, finite(*end)) for row, end in zip(entries, ends, strict=True)]
    bounds = [finite(*end) for end in zip(program.col_lower_, program.col_upper_, strict=True)]
    costs = {j: float(cost) for j, cost in enumerate(program.col_cost_) if cost}
    maximise = program.sense_ == highspy.ObjSense.kMaximize
    names = tuple(program.col_names_)
    return names, bounds, rows, costs, float(program.offset_), maximise


def finite(low: float, high: float) -> Limits:
    return None if math.isinf(low) else float(low), None if math.isinf(high) else float(high)


def both_read(folder: Path, text: str, twin: str, end: str) -> tuple[Content, Content]:
    """Return the program of a text as we read it, and that of its twin as HiGHS reads it."""
    path, other = folder / f"ours.{end}", folder / f"twin.{end}"
    path.write_text(text)
    other.write_text(twin)
    return of_ours((read_mps if end == "mps" else read_lp)(path)), of_highs(other)


BOUND = " UP BND       X         3.0"
SAME_MPS = {
    "plain": [],
    "maximise in a line": [("ROWS", "OBJSENSE\n    MAX\nROWS")],
    "maximise behind the head": [("ROWS", "OBJSENSE MAX\nROWS")],
    "heads in small letters": [("ROWS", "rows"), ("COLUMNS", "columns")],
    "heads behind blanks": [("ROWS", "  ROWS"), ("BOUNDS", " BOUNDS")],
    "data from the first character on": [("\n    ", "\n"), ("\n ", "\n")],
    "tabs": [("    X  ", "\tX\t"), ("COST  ", "COST\t")],
    "comments and empty lines": [("RHS\n", "* RHS follows\n\nRHS\n")],
    "no names of sets": [("    RHS  ", "    "), (" UP BND", " UP"), (" MI BND", " MI")],
    "exponents": [("4.0", "+.4E+1"), ("-1.0", "-10.e-1")],
    "fixed": [("UP BND", "FX BND")],
    "free": [("UP BND       X         3.0", "FR BND       X")],
    "lower": [("UP BND", "LO BND")],
    "two bounds": [(BOUND, f" LO BND       X         -2\n{BOUND}")],
    "infinite bounds": [("3.0", "1e30"), (" MI BND       Y", " LO BND       Y -Inf")],
    "windows": [("\n", "\r\n")],
}


@pytest.mark.parametrize("case", SAME_MPS)
def test_mps_is_read_as_highs_reads_it(case: str, tmp_path: Path) -> None:
    text = replaced(MPS, *SAME_MPS[case])
    ours, of_solver = both_read(tmp_path, text, text, "mps")
    assert ours == of_solver


TWIN_MPS = {
    "$ in field 5": ("R2        1.0            R3        1.0", "R2  1.0  $ tail\n  X  R3  1.0"),
    "$ behind two pairs": ("COST      1.0            R1        1.0", "COST 1.0 R1 1.0 $ 5"),
    "$ in bounds": (BOUND, f"{BOUND} $ a comment"),
    "$ in field 3, of rows": (" G  R2", " G  R2 $ at least"),
    "$ alone": (BOUND, f"  $ a comment\n{BOUND}"),
    "indented comment": (BOUND, f"  * a comment of words\n{BOUND}"),
    "indented comment of columns": ("COLUMNS\n", "COLUMNS\n    * of X\n"),
    "byte-order mark": ("NAME ", "\ufeffNAME "),
    "lazy constraints": (" E  R3", "LAZYCONS\n E  R3"),
    "delayed rows": (" E  R3", "DELAYEDROWS\n E  R3"),
    "user cuts": ("COLUMNS\n", "USERCUTS\n L  CUT\nCOLUMNS\n    X         CUT       1.0\n"),
    "quadratic objective": ("ENDATA", "QSECTION  COST\n    X X 2.0\nENDATA"),
    "quadratic objective, all entries": ("ENDATA", "QMATRIX\n    X X 2.0\n    X Y 1\nENDATA"),
    "objective sense": ("ROWS\n", "OBJ_SENSE\n    MIN\nROWS\n"),
    "minimise, at the first character": ("ROWS\n", "OBJSENSE\nMINIMIZE\nROWS\n"),
    "name of the objective": (" N  COST", " N  OTHER\n N  COST"),
}


@pytest.mark.parametrize("case", TWIN_MPS)
def test_mps_that_highs_does_not_read_has_its_meaning(case: str, tmp_path: Path) -> None:
    text = replaced(MPS, TWIN_MPS[case])
    if case == "name of the objective":
        text = replaced(text, ("ROWS\n", "OBJNAME\n    COST\nROWS\n"))
    ours, of_solver = both_read(tmp_path, text, MPS, "mps")
    assert ours == of_solver


def test_names_with_blanks_are_read_by_the_columns_of_fixed_format(tmp_path: Path) -> None:
    fixed = {"COST": "MY COST", "R1": "ROW ONE", "R2": "2 ROW", " X ": " A X", "BND": "B D"}
    lines = []
    for line in MPS.splitlines():
        if line.startswith("    ") or line[:4].strip() in ("N", "L", "G", "E", "UP", "MI"):
            words = [line[i:j].strip() for i, j in ((1, 3), (4, 12), (14, 22), (24, 36))]
            words += [line[39:47].strip(), line[49:61].strip()]
            words = [fixed.get(word, fixed.get(f" {word} ", word)).strip() for word in words]
            kind, *rest_words = words
            widths = (10, 10, 15, 10, 12)
            rest = "".join(f"{w:{n}}" for w, n in zip(rest_words, widths, strict=True))
            line = f" {kind:3}{rest}".rstrip()
        lines.append(line)
    text = "\n".join(lines) + "\n"
    assert "2 ROW" in text
    path, twin = tmp_path / "fixed.mps", tmp_path / "twin.mps"
    path.write_text(text)
    twin.write_text(MPS)
    names, *ours = of_ours(read_mps(path))
    assert names == ("A X", "Y")
    assert tuple(ours) == of_highs(twin)[1:]
    path.write_text(text.replace("A X       MY COST", "A X       NO COST"))
    with pytest.raises(DataError, match=r"line 3: .* has 3 fields; give a kind and the name"):
        read_problem(path)


def test_a_comment_in_field_3_leaves_a_column_without_entries(tmp_path: Path) -> None:
    first, other = MPS.split("COLUMNS\n")
    path = tmp_path / "comment.mps"
    path.write_text(f"{first}COLUMNS\n    NEW       $ no entry yet\n{other}")
    names = of_ours(read_mps(path))[0]
    assert names[0] == "NEW"
    (tmp_path / "plain.mps").write_text(MPS)
    assert names[1:] == of_ours(read_mps(tmp_path / "plain.mps"))[0]


SAME_LP = {
    "plain": [],
    "maximise": [("minimize", "MAX")],
    "short heads": [("minimize", "min"), ("subject to", "st"), ("bounds", "bound")],
    "points in heads": [("subject to", "s.t.")],
    "such that": [("subject to", "such that")],
    "relations": [(">=", "=>"), ("<= 3", "=< 3"), ("<= 4", "< 4")],
    "no names": [(" c1: ", " "), (" c2: ", " "), (" obj: ", " ")],
    "a sign begins a row": [(" c1: ", " "), (" c2: x", " - x")],
    "coefficients without blanks": [("x - y", "2x - 3y")],
    "products": [("x - y", "2*x - 3 * y")],
    "several lines": [("x + y >= 2", "\n x +\n y\n >=\n 2")],
    "a line between terms": [("x + y >= 2", "x\n + y >= 2")],
    "two signs": [("x - y", "x + - 2 y"), ("<= 3", "<= - 3")],
    "a constant in the objective": [("x + 2 y", "x + 2 y + 5")],
    "terms of the objective repeated": [("x + 2 y", "x + 2 y + x")],
    "no objective": [("obj: x + 2 y", "obj:")],
    "bounds on both sides": [("x <= 4", "-1 <= x <= 4\n 2 <= y")],
    "free and fixed": [("x <= 4", "x free\n y = 3")],
    "infinite bounds": [("x <= 4", "-inf <= x <= 4\n y >= -Infinity\n y <= +inf")],
    "negative upper bound": [("x <= 4", "x <= -4")],
    "integers": [("end", "general\n x\nbinary\n y\nend")],
    "comments": [("c1: x", "c1: \\ the first\n x"), ("bounds", "\\ bounds\nBounds")],
    "names of signs": [("y", "y_$#%&(1)!.e")],
    "names like exponents": [("x", "e1")],
    "an entry 0": [("x + y", "0 x + y")],
    "windows": [("\n", "\r\n")],
}


@pytest.mark.parametrize("case", SAME_LP)
def test_lp_is_read_as_highs_reads_it(case: str, tmp_path: Path) -> None:
    text = replaced(LP, *SAME_LP[case])
    ours, of_solver = both_read(tmp_path, text, text, "lp")
    assert ours == of_solver


TWIN_LP = {
    "a range": ("c1: 1 <= x + y <= 4", "c1: x + y >= 1\n c1b: x + y <= 4"),
    "a range downwards": ("c1: 4 >= x + y >= 1", "c1: x + y >= 1\n c1b: x + y <= 4"),
    "a range in lines": ("c1: 1 <= x + y\n <= 4", "c1: x + y >= 1\n c1b: x + y <= 4"),
    "the number first": ("c1: 2 <= x + y", "c1: x + y >= 2"),
    "both sides": ("c1: 2 x >= x - y + 2", "c1: x + y >= 2"),
    "a variable alone on the right": ("c1: x >= - y\n + 2", "c1: x + y >= 2"),
    "repeated": ("c1: x + 3 y - 2 y >= 2", "c1: x + y >= 2"),
    "repeated to nothing": ("c1: x + y - x >= 2", "c1: 0 x + y >= 2"),
    "constants": ("c1: x + y - 1 >= 0 + 1", "c1: x + y >= 2"),
    "byte-order mark": ("c1: x + y >= 2", "c1: x + y >= 2"),
    "two in a line": ("c1: x + y >= 2 c1b: x - 3 y = 1", "c1: x + y >= 2\n c1b: x - 3 y = 1"),
    "lazy constraints": ("lazy constraints\n c1: x + y >= 2", "c1: x + y >= 2"),
    "brackets in names": ("c1[2,1]: x + y >= 2", "c1: x + y >= 2"),
    "two of one name": ("c2: x + y >= 2", "c1: x + y >= 2"),
    "a second unit": ("c1: x + y >= 2.00", "c1: x + y >= 2"),
}


@pytest.mark.parametrize("case", TWIN_LP)
def test_lp_that_highs_does_not_read_has_its_meaning(case: str, tmp_path: Path) -> None:
    text, twin = (replaced(LP, ("c1: x + y >= 2", row)) for row in TWIN_LP[case])
    if case.startswith("a range"):
        path, other = tmp_path / "ours.lp", tmp_path / "twin.lp"
        path.write_text(text)
        other.write_text(twin)
        ours, highs = of_ours(read_lp(path)), of_highs(other)
        (row, (low, high)), below, *_ = ours[2][0], highs[2][1]
        assert [(row, (low, None)), (row, (None, high)), *ours[2][1:]] == highs[2]
        assert below == (row, (None, high))
        return
    ours, of_solver = both_read(tmp_path, "\ufeff" * (case == "byte-order mark") + text, twin, "lp")
    assert ours == of_solver


def test_a_quadratic_objective_is_left_out_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "quadratic.lp"
    path.write_text(replaced(LP, ("x + 2 y\n", "x + [ x^2 + 3 x * y ] / 2 + 2 y\n")))
    model = read_lp(path)
    assert of_ours(model)[3] == {0: 1.0, 1: 2.0}
    assert model.notes == ("the objective is left out: the question is whether there is a point",)


def test_the_optimum_of_a_quadratic_objective_is_refused(tmp_path: Path) -> None:
    lp, mps = tmp_path / "quadratic.lp", tmp_path / "quadratic.mps"
    lp.write_text(replaced(LP, ("x + 2 y\n", "x + [ x^2 ] / 2 + 2 y\n")))
    mps.write_text(replaced(MPS, ("ENDATA", "QSECTION  COST\n    X X 2.0\nENDATA")))
    for path in (lp, mps):
        with pytest.raises(InputError, match="the objective has quadratic terms"):
            optimum(read_problem(path).system)


def test_what_is_taken_by_a_convention_is_said(tmp_path: Path) -> None:
    path = tmp_path / "model.lp"
    path.write_text(replaced(LP, ("c2: x - y", "c1: x - y + x"), ("x <= 4", "x <= -4")))
    assert read_problem(path).notes[1:] == (
        "repeated terms are added: x in c1",
        "rows of one name are distinguished by their lines: c1",
        "column x has a negative upper bound, and no lower one: its lower bound is taken as 0; "
        "--negative-upper free takes -infinity",
    )
    assert read_lp(path, "free").lower == (None, 0)
    assert read_lp(path, "zero").lower == (0, 0)
    assert [row.name for row in read_lp(path).rows] == ["c1 (line 4)", "c1 (line 5)"]
    marked = replaced(
        MPS, ("COLUMNS\n", "COLUMNS\n    M 'MARKER' 'INTORG'\n"), (" UP BND ", " LO BND ")
    )
    path = tmp_path / "model.mps"
    path.write_text(marked)
    assert "integer columns without an upper bound have none, not 1: X, Y" in read_mps(path).notes


def test_packed_lp_files_are_read(tmp_path: Path) -> None:
    path, packed = tmp_path / "model.lp", tmp_path / "packed.lp.gz"
    path.write_text(LP)
    packed.write_bytes(gzip.compress(LP.encode()))
    assert read_problem(packed) == read_problem(path)


def test_a_program_may_have_no_variables(tmp_path: Path) -> None:
    path = tmp_path / "none.lp"
    path.write_text("min\nst\n c1: 0 <= 3\nend\n")
    system = read_problem(path).system
    assert (system.constraints, system.unknowns) == (1, 0)
