"""Linear programs of files as linear systems; those in LP files, by HiGHS's reader."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from perceptron_lab.core.errors import InputError, counted
from perceptron_lab.numerics.doubles import DIGITS
from perceptron_lab.systems.conditions import (
    Condition,
    Entries,
    bound_conditions,
    condition,
)
from perceptron_lab.systems.linear_system import LinearSystem

# What is as large stands for infinity in files of linear programs (HiGHS's and others' convention)
INFINITE = Fraction(10**20)


@dataclass(frozen=True)
class ModelRow:
    """lower <= a'x <= upper; None for no limit."""

    name: str
    entries: Entries
    lower: Fraction | None
    upper: Fraction | None


@dataclass(frozen=True)
class LinearModel:
    """A linear program without its objective.

    Parameters
    ----------
    variables
        Their names.
    rows
        The constraints; rows without limits are left out.
    lower, upper
        One bound per variable; None for none.
    notes
        Sentences on what was left out or relaxed.
    """

    variables: tuple[str, ...]
    rows: tuple[ModelRow, ...]
    lower: tuple[Fraction | None, ...]
    upper: tuple[Fraction | None, ...]
    notes: tuple[str, ...] = field(default=())

    def system(self) -> LinearSystem:
        """Return the linear system: inequalities, equations, bounds."""
        if not self.variables:
            raise InputError("it has no variables; a linear program has some")
        conditions = [one for row in self.rows for one in _conditions(row)]
        conditions.sort(key=lambda one: one.equation)
        bounds = bound_conditions(self.lower, self.upper, self.variables)
        return LinearSystem.of_conditions([*conditions, *bounds], self.variables)


def _conditions(row: ModelRow) -> list[Condition]:
    lower, upper = row.lower, row.upper
    if lower is not None and lower == upper:
        return [condition(row.entries, lower, row.name, equation=True)]
    both = lower is not None and upper is not None
    found = []
    if lower is not None:
        found.append(condition(row.entries, lower, f"{row.name} (>=)" if both else row.name))
    if upper is not None:
        columns, numbers = row.entries
        negated = columns, tuple(-number for number in numbers)
        found.append(condition(negated, -upper, f"{row.name} (<=)" if both else row.name))
    return found


def lower_limit(number: Fraction | None, name: str) -> Fraction | None:
    """Return a lower limit of a row or a column; None where it stands for -infinity."""
    if number is not None and number >= INFINITE:
        raise InputError(f"{name} is to be at least 1e20 or more, which stands for infinity")
    return None if number is None or number <= -INFINITE else number


def upper_limit(number: Fraction | None, name: str) -> Fraction | None:
    """Return an upper limit of a row or a column; None where it stands for infinity."""
    if number is not None and number <= -INFINITE:
        raise InputError(f"{name} is to be at most -1e20 or less, which stands for -infinity")
    return None if number is None or number >= INFINITE else number


def relaxed(names: Sequence[str]) -> list[str]:
    """Return the note on integer columns."""
    if not names:
        return []
    some = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    return [f"{counted(len(names), 'integer column')} relaxed to real numbers: {some}"]


_MANY_DIGITS: Final = re.compile(rf"(?<![\w.])(?=[\d.]{{{DIGITS + 1}}})\d*\.?\d+")
# HiGHS ignores entries of at most this size, and says so
_SMALLEST: Final = 1e-12


def read_lp(path: Path) -> LinearModel:
    """Return the linear program of an LP file; its objective is left out.

    HiGHS reads it. A decimal of at most 15 digits is the shortest one that its double has, and so
    stays what is printed; longer ones are rounded to doubles, as a note says. What HiGHS would
    only warn of is refused.

    Raises
    ------
    InputError
        If it is none, or HiGHS would change a number.
    """
    program, integers, quadratic = _read(path)
    if not program.num_col_:
        raise InputError("HiGHS finds no variables in it; see its documentation of the LP format")
    variables = tuple(program.col_names_) or tuple(f"x_{j + 1}" for j in range(program.num_col_))
    notes = relaxed([variables[j] for j in integers])
    if quadratic or any(program.col_cost_):
        notes.append("the objective is left out: the question is whether there is a point")
    text = path.read_text(encoding="utf-8", errors="replace")
    long = next((one for one in _MANY_DIGITS.finditer(text) if len(_digits(one[0])) > DIGITS), None)
    if long is not None:
        notes.append(f"numbers of more than {DIGITS} digits are rounded to doubles: {long[0][:40]}")
    lower = tuple(map(_lower, program.col_lower_, variables))
    upper = tuple(map(_upper, program.col_upper_, variables))
    return LinearModel(variables, _rows(program), lower, upper, tuple(notes))


def _read(path: Path) -> tuple[Any, list[int], bool]:
    """Return HiGHS's program, the integer columns, and whether there is a quadratic objective."""
    # Imported here: configurations that name files are checked without it.
    import highspy

    from perceptron_lab.algorithms.linear.floating_rows import QuietHighs

    solver: Any = QuietHighs()  # type: ignore[no-untyped-call]
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        for name, value in {
            "log_file": str(log),
            "small_matrix_value": _SMALLEST,
        }.items():
            solver.setOptionValue(name, value)
        status = solver.readModel(str(path))
        solver.setOptionValue("log_file", "")
        said = log.read_text(errors="replace").splitlines() if log.is_file() else []
    warned = [line for line in said if line.startswith(("WARNING", "ERROR"))]
    if warned or status != highspy.HighsStatus.kOk:
        reason = " ".join((warned or ["it cannot be read"])[0].split())
        raise InputError(f"HiGHS does not take it as it is ({reason.replace(str(path), 'it')})")
    program = solver.getLp()
    kinds = highspy.HighsVarType
    other = [
        j
        for j, kind in enumerate(program.integrality_)
        if kind not in (kinds.kContinuous, kinds.kInteger)
    ]
    if other:
        raise InputError("it has semi-continuous columns; a linear program has real ones")
    integers = [j for j, kind in enumerate(program.integrality_) if kind == kinds.kInteger]
    return program, integers, bool(solver.getModel().hessian_.dim_)


def _rows(program: Any) -> tuple[ModelRow, ...]:
    """Return the rows of a program that is kept by columns."""
    entries: list[tuple[list[int], list[Fraction]]] = [([], []) for _ in range(program.num_row_)]
    starts, matrix = list(program.a_matrix_.start_), program.a_matrix_
    indices, values = list(matrix.index_), list(matrix.value_)
    for j in range(program.num_col_):
        for place in range(starts[j], starts[j + 1]):
            if values[place]:
                entries[indices[place]][0].append(j)
                entries[indices[place]][1].append(_exact(values[place]))
    names = list(program.row_names_) or [f"row {i + 1}" for i in range(program.num_row_)]
    limits = zip(program.row_lower_, program.row_upper_, strict=True)
    found = []
    for name, (columns, numbers), (low, high) in zip(names, entries, limits, strict=True):
        lower, upper = _lower(low, name), _upper(high, name)
        if lower is not None or upper is not None:
            found.append(ModelRow(name, (tuple(columns), tuple(numbers)), lower, upper))
    return tuple(found)


def _exact(value: float) -> Fraction:
    """Return the shortest decimal that a double is nearest to."""
    return Fraction(repr(float(value)))


def _lower(value: float, name: str) -> Fraction | None:
    return None if value == -math.inf else lower_limit(_finite(value, name), name)


def _upper(value: float, name: str) -> Fraction | None:
    return None if value == math.inf else upper_limit(_finite(value, name), name)


def _finite(value: float, name: str) -> Fraction:
    if not math.isfinite(value):
        raise InputError(f"{name} has the limit {value}; give a number")
    return _exact(value)


def _digits(word: str) -> str:
    return word.replace(".", "").strip("0")
