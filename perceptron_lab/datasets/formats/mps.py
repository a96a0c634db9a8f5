"""Linear programs of MPS files, in free or fixed format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Final

from perceptron_lab.core.errors import InputError, counted, did_you_mean
from perceptron_lab.datasets.formats.linear_programs import (
    LEFT_OUT,
    LinearModel,
    ModelRow,
    NegativeUpper,
    infinite,
    limits_of,
    lines_of,
    lower_limit,
    number_of,
    relaxed,
    some_of,
    upper_limit,
)
from perceptron_lab.systems.conditions import Entries, LinearObjective

_HEADS: Final = ("NAME", "OBJSENSE", "OBJNAME", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS")
_SENSES: Final = ("OBJSENSE", "OBJ_SENSE")
_ROW_HEADS: Final = ("ROWS", "LAZYCONS", "DELAYEDROWS", "USERCUTS", "MODELCUTS")
_CUTS: Final = ("USERCUTS", "MODELCUTS")
_OBJECTIVES: Final = ("QUADOBJ", "QMATRIX", "QSECTION")
_REFUSED: Final = {
    **dict.fromkeys(("SOS", "SOS1", "SOS2", "SETS"), "special ordered sets"),
    "QCMATRIX": "quadratic constraints",
    "CSECTION": "cones",
    "INDICATORS": "indicator constraints",
    **dict.fromkeys(("GENCONS", "PWLOBJ", "PWLNAM", "PWLCON"), "functions that are not linear"),
}
_READ: Final = (*_HEADS, "ENDATA", "OBJ_SENSE", *_ROW_HEADS[1:], *_OBJECTIVES)
_FIELDS: Final = ((1, 3), (4, 12), (14, 22), (24, 36), (39, 47), (49, 61))
_VALUED: Final = {"UP": 1, "LO": 1, "FX": 1, "LI": 1, "UI": 1, "FR": 0, "MI": 0, "PL": 0, "BV": 0}
_SEMICONTINUOUS: Final = ("SC", "SI", "SN")


def read_mps(path: Path, negative_upper: NegativeUpper = "free") -> LinearModel:
    """Return the linear program of an MPS file.

    Fields are separated by spaces; a file that cannot be read so and has names with spaces is read
    by the columns of fixed format. Of a row's right-hand side r and range R the other limit is
    r + |R| or r - |R|, exactly. Columns are >= 0 unless BOUNDS say otherwise. What is 1e20 or more
    is infinite.

    Parameters
    ----------
    path
        The file, which may be packed (.gz).
    negative_upper
        The lower bound of a column with a negative upper bound and no lower bound.

    Raises
    ------
    InputError
        If it is none, with the number of the line.
    """
    lines = lines_of(path)
    try:
        return _read(lines, _MpsReader(negative_upper), str.split)
    except InputError:
        # Names with spaces are possible in fixed columns alone
        fixed = _MpsReader(negative_upper)
        with suppress(InputError):
            model = _read(lines, fixed, _fixed_fields)
            if any(" " in name for name in (*fixed.kinds, *fixed.columns)):
                return model
        raise


def _read(
    lines: Sequence[str], reader: _MpsReader, divided: Callable[[str], list[str]]
) -> LinearModel:
    for number, line in enumerate(lines, start=1):
        try:
            if reader.take(line, divided):
                break
        except InputError as error:
            raise InputError(f"line {number}: {error}") from None
    return reader.model()


def _fixed_fields(line: str) -> list[str]:
    """Return the fields of a line that are not empty; ``$`` begins a comment in fields 3 and 5."""
    fields = []
    for first, last in _FIELDS:
        text = line[first:last].strip()
        if text.startswith("$") and first in (14, 39):
            break
        fields += [text] if text else []
    return fields


class _MpsReader:
    """The sections of a file that was read so far."""

    def __init__(self, negative_upper: NegativeUpper) -> None:
        self.negative_upper = negative_upper
        self.section, self.ended, self.maximise, self.objective = "", False, False, ""
        self.kinds: dict[str, str] = {}
        self.entries: dict[str, dict[int, Fraction]] = {}
        self.columns: dict[str, int] = {}
        self.integers: set[str] = set()
        self.marked = False
        self.cuts: dict[str, None] = {}
        self.sets: dict[str, str] = {}
        self.unread_sets: set[str] = set()
        self.right: dict[str, Fraction] = {}
        self.ranges: dict[str, Fraction] = {}
        self.lower: dict[str, Fraction | None] = {}
        self.upper: dict[str, Fraction | None] = {}
        self.quadratic = False
        self._readers: dict[str, Callable[[list[str]], None]] = {
            **dict.fromkeys(_ROW_HEADS, self._row),
            **dict.fromkeys(_SENSES, self._sense),
            "OBJNAME": self._objective,
            "COLUMNS": self._column,
            "RHS": lambda fields: self._limits(fields, "RHS", self.right),
            "RANGES": lambda fields: self._limits(fields, "RANGES", self.ranges),
            "BOUNDS": self._bound,
        }

    def take(self, line: str, divided: Callable[[str], list[str]]) -> bool:
        """Read a line; True at the end."""
        fields = line.split()
        if not fields or line.startswith("*"):
            return False
        if self._is_head(fields, indented=line[0].isspace()):
            return self._head(fields)
        fields = self._uncommented(divided(line if line[0].isspace() else f" {line}"))
        read = self._readers.get(self.section)
        if read is not None and fields:
            read(fields)
        elif self.section in ("", "NAME"):
            raise InputError(f"{line.strip()[:40]!r} before the first section, such as ROWS")
        return False

    def _is_head(self, fields: list[str], *, indented: bool) -> bool:
        """Return whether a line begins a section; heads may be indented, and data may not be."""
        word = fields[0].upper()
        if len(fields) == 1:
            return word in _READ or not (indented or self.section in (*_SENSES, "OBJNAME"))
        is_name = word in (*_READ, *_REFUSED) and word != self.section
        return not indented and (is_name or self.section in ("", "NAME"))

    def _uncommented(self, fields: list[str]) -> list[str]:
        """Return the fields before a comment: ``*`` or ``$`` first, or ``$`` in field 3 or 5."""
        if fields and (fields[0] == "$" or fields[0].startswith("*")):
            # Names may begin with these marks: a known row in the second field shows data
            is_data = len(fields) in (3, 5) and fields[1] in self.kinds
            return fields if is_data else []
        first = 2 if self.section in (*_ROW_HEADS, "BOUNDS") else 1
        for position, field in enumerate(fields[first:], first):
            if field.startswith("$") and field not in self.kinds and field not in self.columns:
                if self.section == "COLUMNS" and position == 1:
                    self._number_of_column(fields[0])
                    return []
                return fields[:position]
        return fields

    def _number_of_column(self, name: str) -> int:
        """Return the number of a column, which is a new one where it has not occurred yet."""
        if self.marked:
            self.integers.add(name)
        return self.columns.setdefault(name, len(self.columns))

    def _head(self, fields: list[str]) -> bool:
        word = fields[0].upper()
        if word == "ENDATA":
            self.ended = True
            return True
        if word in _REFUSED:
            raise InputError(
                f"the section {word}: a linear program has no {_REFUSED[word]}; without this "
                "section the file states a relaxation"
            )
        if word not in _READ:
            fault = f"the section {fields[0][:40]}{did_you_mean(word, _READ)}"
            raise InputError(f"{fault} is none of a linear program: {', '.join(_HEADS)}, ENDATA")
        if word in _OBJECTIVES:
            self._quadratic(fields[1:])
        self.section = word
        if word in (*_SENSES, "OBJNAME") and len(fields) > 1:
            self._readers[word](fields[1:])
        return False

    def _quadratic(self, rows: list[str]) -> None:
        """Note a quadratic objective; one of a constraint is refused."""
        if any(self.kinds.get(row, "N") != "N" for row in rows):
            raise InputError(f"row {rows[0]} is quadratic; a linear program has linear rows")
        self.quadratic = True

    def _sense(self, fields: list[str]) -> None:
        sense = fields[0].upper()
        if sense[:3] not in ("MIN", "MAX"):
            raise InputError(f"the sense of the objective is {fields[0][:40]}; allowed: MIN, MAX")
        self.maximise = sense.startswith("MAX")

    def _objective(self, fields: list[str]) -> None:
        self.objective = fields[0]

    def _row(self, fields: list[str]) -> None:
        kind, name = _sized(fields, (2,), "a kind and the name of a row")
        if kind.upper() not in ("N", "L", "G", "E"):
            raise InputError(f"row {name} is of kind {kind}; allowed: N, L, G, E")
        if name in self.kinds:
            raise InputError(f"a second row is called {name}; give each a different name")
        self.kinds[name] = kind.upper()
        self.entries[name] = {}
        if self.section in _CUTS:
            self.cuts[name] = None

    def _column(self, fields: list[str]) -> None:
        if len(fields) == 3 and fields[1].strip("'\"").upper() == "MARKER":
            marker = fields[2].strip("'\"").upper()
            if marker not in ("INTORG", "INTEND"):
                raise InputError(f"the marker {marker[:40]}; allowed: INTORG, INTEND")
            self.marked = marker == "INTORG"
            return
        name, *pairs = _sized(fields, (3, 5), "a column, and one or two rows with their numbers")
        j = self._number_of_column(name)
        for row, number in _pairs(pairs):
            column_entries = self.entries[self._declared(row, self.kinds, "row")]
            if j in column_entries:
                raise InputError(f"column {name} has a second entry in row {row}; give one")
            column_entries[j] = number_of(number)

    def _limits(self, fields: list[str], section: str, limits: dict[str, Fraction]) -> None:
        # The name of the set may be left out; pairs make the count even then
        name = fields.pop(0) if len(fields) % 2 else ""
        _sized(fields, (2, 4), "one or two rows with their numbers")
        if not self._first(section, name):
            return
        for row, number in _pairs(fields):
            if self._declared(row, self.kinds, "row") in limits:
                raise InputError(f"row {row} has a second number in {section}; give one")
            limits[row] = number_of(number)
            # Here and not in the model, for the number of the line
            if section == "RHS" and self.kinds[row] in "GE":
                lower_limit(limits[row], f"row {row}")
            if section == "RHS" and self.kinds[row] in "LE":
                upper_limit(limits[row], f"row {row}")

    def _first(self, section: str, name: str) -> bool:
        """Return whether a line belongs to the first set of its section."""
        if self.sets.setdefault(section, name) == name:
            return True
        self.unread_sets.add(f"{section} {name}")
        return False

    def _bound(self, fields: list[str]) -> None:
        kind = fields.pop(0).upper()
        if kind in _SEMICONTINUOUS:
            raise InputError(
                f"a bound of kind {kind} makes a column semicontinuous: 0 or within its bounds, "
                "which no linear condition says; give an UP bound for the relaxation"
            )
        if kind not in _VALUED:
            raise InputError(f"a bound of kind {kind}; allowed: {', '.join(_VALUED)}")
        if not _VALUED[kind] and len(fields) == 3:
            fields.pop()  # a number that means nothing
        least = 1 + _VALUED[kind]
        _sized(fields, (least, least + 1), "a column" + (" and a number" if least == 2 else ""))
        name = fields.pop(0) if len(fields) > least else ""
        if least == 2 and fields[0] not in self.columns and fields[1] in self.columns:
            raise InputError(f"the bound {kind} of column {fields[1]} has no number; give one")
        column = self._declared(fields[0], self.columns, "column")
        if not self._first("BOUNDS", name):
            return
        value = number_of(fields[1]) if _VALUED[kind] else None
        if kind in ("LO", "LI", "FX", "MI", "FR"):
            lower_limit(value, f"column {column}")
            self.lower[column] = value
        if kind in ("UP", "UI", "FX", "PL", "FR"):
            upper_limit(value, f"column {column}")
            self.upper[column] = value
        if kind == "BV":
            self.lower[column], self.upper[column] = Fraction(0), Fraction(1)
        if kind in ("LI", "UI", "BV"):
            self.integers.add(column)

    def _declared(self, name: str, names: dict[str, str] | dict[str, int], kind: str) -> str:
        if name not in names:
            raise InputError(f"no {kind} is called {name[:40]!r}{did_you_mean(name, names)}")
        return name

    def model(self) -> LinearModel:
        """Return the linear program, once the file has ended."""
        if not self.ended:
            raise InputError("it ends without ENDATA; add it, or fetch a truncated file again")
        limits = [limits_of(x, (self.lower, self.upper), self.negative_upper) for x in self.columns]
        notes = [*self._notes(), *(note for _, _, note in limits if note)]
        lower, upper = tuple(low for low, _, _ in limits), tuple(high for _, high, _ in limits)
        return LinearModel(
            tuple(self.columns), tuple(self._rows()), lower, upper, tuple(notes), self._costs()
        )

    def _free(self) -> list[str]:
        """Return the free rows, the objective first."""
        free = [name for name, kind in self.kinds.items() if kind == "N"]
        return sorted(free, key=lambda name: name != self.objective)

    def _costs(self) -> LinearObjective:
        free = self._free()
        if not free:
            return LinearObjective(maximise=self.maximise, quadratic=self.quadratic)
        constant = -self.right.get(free[0], Fraction(0))
        entries = _nonzero(self.entries[free[0]])
        return LinearObjective(entries, constant, self.maximise, self.quadratic)

    def _notes(self) -> Iterator[str]:
        integers = [name for name in self.columns if name in self.integers]
        yield from relaxed(integers)
        unbounded = [name for name in integers if name not in self.upper]
        if unbounded:
            yield f"integer columns without an upper bound have none, not 1: {some_of(unbounded)}"
        free = self._free()
        if any(self.entries[name] for name in free) or self.quadratic:
            yield LEFT_OUT
        if len(free) > 1:
            yield f"{counted(len(free) - 1, 'free row')} left out: {', '.join(free[1:4])}"
        if self.cuts:
            yield f"{counted(len(self.cuts), 'user cut')} left out: {some_of(list(self.cuts))}"
        if self.unread_sets:
            yield f"further sets of numbers left out: {', '.join(sorted(self.unread_sets))}"
        rows = (*self.right.items(), *self.ranges.items())
        of_rows = ((name, number) for name, number in rows if self.kinds.get(name) != "N")
        yield from infinite((*of_rows, *self.lower.items(), *self.upper.items()))

    def _rows(self) -> Iterator[ModelRow]:
        for name, kind in self.kinds.items():
            if kind == "N" or name in self.cuts:
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
            low, high = lower_limit(low, name), upper_limit(high, name)
            if low is not None or high is not None:
                yield ModelRow(name, _nonzero(self.entries[name]), low, high)


def _nonzero(entries: dict[int, Fraction]) -> Entries:
    nonzero = {j: number for j, number in sorted(entries.items()) if number}
    return tuple(nonzero), tuple(nonzero.values())


def _sized(fields: list[str], sizes: tuple[int, ...], expected: str) -> list[str]:
    if len(fields) not in sizes:
        count = counted(len(fields), "field")
        raise InputError(f"{' '.join(fields)[:40]!r} has {count}; give {expected}")
    return fields


def _pairs(fields: list[str]) -> Iterator[tuple[str, str]]:
    return zip(fields[::2], fields[1::2], strict=True)
