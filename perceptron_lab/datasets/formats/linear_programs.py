"""Linear programs of files as linear systems: MPS, fixed or free, and LP.

Of MPS files every number is exactly as printed; LP files are read by HiGHS. Why not HiGHS's reader
for both: it gives the doubles nearest to the numbers printed, and answers here are about these
numbers.
"""

from __future__ import annotations

import gzip
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from perceptron_lab.core.errors import InputError, counted, did_you_mean
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
        conditions = [condition for row in self.rows for condition in _conditions(row)]
        conditions.sort(key=lambda row_condition: row_condition.equation)
        bounds = bound_conditions(self.lower, self.upper, self.variables)
        return LinearSystem.of_conditions([*conditions, *bounds], self.variables)


def _conditions(row: ModelRow) -> list[Condition]:
    lower, upper = row.lower, row.upper
    if lower is not None and lower == upper:
        return [condition(row.entries, lower, row.name, equation=True)]
    both = lower is not None and upper is not None
    conditions = []
    if lower is not None:
        conditions.append(condition(row.entries, lower, f"{row.name} (>=)" if both else row.name))
    if upper is not None:
        columns, numbers = row.entries
        negated = columns, tuple(-number for number in numbers)
        conditions.append(condition(negated, -upper, f"{row.name} (<=)" if both else row.name))
    return conditions


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
# HiGHS ignores entries of at most this size, with a warning
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
    long = next(
        (number for number in _MANY_DIGITS.finditer(text) if len(_digits(number[0])) > DIGITS), None
    )
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
        log_lines = log.read_text(errors="replace").splitlines() if log.is_file() else []
    warned = [line for line in log_lines if line.startswith(("WARNING", "ERROR"))]
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
        for position in range(starts[j], starts[j + 1]):
            if values[position]:
                entries[indices[position]][0].append(j)
                entries[indices[position]][1].append(_exact(values[position]))
    names = list(program.row_names_) or [f"row {i + 1}" for i in range(program.num_row_)]
    limits = zip(program.row_lower_, program.row_upper_, strict=True)
    rows = []
    for name, (columns, numbers), (low, high) in zip(names, entries, limits, strict=True):
        lower, upper = _lower(low, name), _upper(high, name)
        if lower is not None or upper is not None:
            rows.append(ModelRow(name, (tuple(columns), tuple(numbers)), lower, upper))
    return tuple(rows)


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


_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d{1,4})?")
_INFINITE: Final = re.compile(r"[+-]?inf(inity)?", re.I)
_HEADS: Final = ("NAME", "OBJSENSE", "OBJNAME", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS")
_OBJECTIVES: Final = ("QUADOBJ", "QMATRIX")
# Numbers with larger exponents are refused: as fractions they would fill the memory
_LARGEST_EXPONENT: Final = 400
_BEYOND: Final = Fraction(10**_LARGEST_EXPONENT)


def read_mps(path: Path) -> LinearModel:
    """Return the linear program of an MPS file; its objective is left out.

    Words are separated by spaces, so that names have none. Of a row's right-hand side r and range R
    the other limit is r + |R| or r - |R|, exactly. Columns are >= 0 unless BOUNDS say otherwise; a
    negative upper bound without a lower one leaves none. What is 1e20 or more is infinite.

    Raises
    ------
    InputError
        If it is none, with the number of the line.
    """
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", errors="strict") as file:
        reader = _MpsReader()
        for number, line in enumerate(file, start=1):
            try:
                if reader.take(line.rstrip("\r\n")):
                    break
            except InputError as error:
                raise InputError(f"line {number}: {error}") from None
        return reader.model()


class _MpsReader:
    """The sections of a file that was read so far."""

    def __init__(self) -> None:
        self.section, self.ended, self.objective = "", False, ""
        self.kinds: dict[str, str] = {}
        self.entries: dict[str, dict[int, Fraction]] = {}
        self.columns: dict[str, int] = {}
        self.integers: set[str] = set()
        self.marked = False
        self.sets: dict[str, str] = {}
        self.others: set[str] = set()
        self.right: dict[str, Fraction] = {}
        self.ranges: dict[str, Fraction] = {}
        self.lower: dict[str, Fraction | None] = {}
        self.upper: dict[str, Fraction | None] = {}
        self.quadratic = False
        self._readers: dict[str, Callable[[list[str]], None]] = {
            "ROWS": self._row,
            "COLUMNS": self._column,
            "RHS": lambda words: self._limits(words, "RHS", self.right),
            "RANGES": lambda words: self._limits(words, "RANGES", self.ranges),
            "BOUNDS": self._bound,
        }

    def take(self, line: str) -> bool:
        """Read a line; True at the end."""
        words = line.split()
        if not words or line.startswith("*"):
            return False
        if not line[0].isspace():
            return self._head(words)
        read = self._readers.get(self.section)
        if read is not None:
            read(words)
        elif not self.section:
            raise InputError(f"{line.strip()[:40]!r} before the first section, such as ROWS")
        return False

    def _head(self, words: list[str]) -> bool:
        word = words[0].upper()
        if word == "ENDATA":
            self.ended = True
            return True
        if word in _OBJECTIVES:
            self.quadratic = True
        elif word not in _HEADS:
            fault = f"the section {words[0][:40]}{did_you_mean(word, (*_HEADS, 'ENDATA'))}"
            raise InputError(f"{fault} is none of a linear program: {', '.join(_HEADS)}, ENDATA")
        self.section = word
        return False

    def _row(self, words: list[str]) -> None:
        kind, name = _sized(words, (2,), "a kind and the name of a row")
        if kind.upper() not in ("N", "L", "G", "E"):
            raise InputError(f"row {name} is of kind {kind}; allowed: N, L, G, E")
        if name in self.kinds:
            raise InputError(f"a second row is called {name}; give each a different name")
        self.kinds[name] = kind.upper()
        self.entries[name] = {}

    def _column(self, words: list[str]) -> None:
        if len(words) == 3 and words[1].strip("'\"").upper() == "MARKER":
            self.marked = words[2].strip("'\"").upper() == "INTORG"
            return
        name, *pairs = _sized(words, (3, 5), "a column, and one or two rows with their numbers")
        j = self.columns.setdefault(name, len(self.columns))
        if self.marked:
            self.integers.add(name)
        for row, number in _pairs(pairs):
            column_entries = self.entries[self._known(row, self.kinds, "row")]
            if j in column_entries:
                raise InputError(f"column {name} has a second entry in row {row}; give one")
            column_entries[j] = _number(number)

    def _limits(self, words: list[str], section: str, limits: dict[str, Fraction]) -> None:
        name = words.pop(0) if len(words) % 2 else ""
        _sized(words, (2, 4), "one or two rows with their numbers")
        if not self._first(section, name):
            return
        for row, number in _pairs(words):
            if self._known(row, self.kinds, "row") in limits:
                raise InputError(f"row {row} has a second number in {section}; give one")
            limits[row] = _number(number)

    def _first(self, section: str, name: str) -> bool:
        """Return whether a line belongs to the first set of its section."""
        if self.sets.setdefault(section, name) == name:
            return True
        self.others.add(f"{section} {name}")
        return False

    def _bound(self, words: list[str]) -> None:
        kind = words.pop(0).upper()
        valued = {"UP": 1, "LO": 1, "FX": 1, "LI": 1, "UI": 1, "FR": 0, "MI": 0, "PL": 0, "BV": 0}
        if kind not in valued:
            raise InputError(f"a bound of kind {kind}; allowed: {', '.join(valued)}")
        if not valued[kind] and len(words) == 3:
            words.pop()  # a number that means nothing
        least = 1 + valued[kind]
        _sized(words, (least, least + 1), "a column" + (" and a number" if valued[kind] else ""))
        name = words.pop(0) if len(words) > least else ""
        column = self._known(words[0], self.columns, "column")
        if not self._first("BOUNDS", name):
            return
        value = _number(words[1]) if valued[kind] else None
        if kind in ("LO", "LI", "FX", "MI", "FR"):
            self.lower[column] = value
        if kind in ("UP", "UI", "FX", "PL", "FR"):
            self.upper[column] = value
        if kind == "BV":
            self.lower[column], self.upper[column] = Fraction(0), Fraction(1)
        if kind in ("LI", "UI", "BV"):
            self.integers.add(column)

    def _known(self, name: str, names: dict[str, str] | dict[str, int], kind: str) -> str:
        if name not in names:
            raise InputError(f"no {kind} is called {name[:40]!r}{did_you_mean(name, names)}")
        return name

    def model(self) -> LinearModel:
        """Return the linear program, once the file has ended."""
        if not self.ended:
            raise InputError("it ends without ENDATA; it may be truncated")
        notes = relaxed([name for name in self.columns if name in self.integers])
        free = [name for name, kind in self.kinds.items() if kind == "N"]
        if any(self.entries[name] for name in free) or self.quadratic:
            notes.append("the objective is left out: the question is whether there is a point")
        if len(free) > 1:
            notes.append(f"{counted(len(free) - 1, 'free row')} left out: {', '.join(free[1:4])}")
        if self.others:
            notes.append(f"further sets of numbers left out: {', '.join(sorted(self.others))}")
        lower, upper = [], []
        for name in self.columns:
            high = upper_limit(self.upper.get(name), name)
            low: Fraction | None = Fraction(0)
            if name in self.lower:
                low = lower_limit(self.lower[name], name)
            elif high is not None and high < 0:
                low = None
                notes.append(f"column {name} has a negative upper bound, and no lower one")
            lower.append(low)
            upper.append(high)
        rows = tuple(self._rows())
        return LinearModel(tuple(self.columns), rows, tuple(lower), tuple(upper), tuple(notes))

    def _rows(self) -> Iterator[ModelRow]:
        for name, kind in self.kinds.items():
            if kind == "N":
                continue
            right, width = self.right.get(name, Fraction(0)), self.ranges.get(name)
            low = None if kind == "L" else right
            high = None if kind == "G" else right
            if width is not None and kind == "E":
                low, high = min(right, right + width), max(right, right + width)
            elif width is not None:
                low, high = (
                    (right - abs(width), right) if kind == "L" else (right, right + abs(width))
                )
            row_entries = {j: number for j, number in sorted(self.entries[name].items()) if number}
            entries = tuple(row_entries), tuple(row_entries.values())
            low, high = lower_limit(low, name), upper_limit(high, name)
            if low is not None or high is not None:
                yield ModelRow(name, entries, low, high)


def _sized(words: list[str], sizes: tuple[int, ...], expected: str) -> list[str]:
    if len(words) not in sizes:
        raise InputError(f"{' '.join(words)[:40]!r} has {len(words)} words; give {expected}")
    return words


def _pairs(words: list[str]) -> Iterator[tuple[str, str]]:
    return zip(words[::2], words[1::2], strict=True)


def _number(word: str) -> Fraction:
    """Return a number as printed; infinity as a number beyond all limits."""
    if _INFINITE.fullmatch(word):
        return -_BEYOND if word.startswith("-") else _BEYOND
    match = _NUMBER.fullmatch(word)
    if match is None:
        raise InputError(f"{word[:40]!r} is no number")
    exponent = match.group(2)
    if exponent and abs(int(exponent[1:])) > _LARGEST_EXPONENT:
        raise InputError(f"{word[:40]} has an exponent beyond {_LARGEST_EXPONENT}; rescale")
    return Fraction(Decimal(word.upper().replace("D", "E")))  # of any number of digits
