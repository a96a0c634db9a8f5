"""The columns of a user's table: labels, coordinates, row names and columns of texts."""

from __future__ import annotations

import csv
import json
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from shlex import quote
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from perceptron_lab.cones.operators.row_source import RowSource
from perceptron_lab.core.errors import InputError, did_you_mean, refuse_flags
from perceptron_lab.core.results import AnyArray, IntArray
from perceptron_lab.numerics.class_labels import TwoClasses, labels_of, plain_label, two_classes
from perceptron_lab.numerics.doubles import Doubles
from perceptron_lab.numerics.input_checks import doubles_of_rows

if TYPE_CHECKING:
    from perceptron_lab.datasets.formats.linear_programs import NegativeUpper

Place = TypeVar("Place")


class NoRowsError(InputError):
    """A table of names of columns without rows: the features, and the name of the labels."""

    def __init__(self, features: list[str] | None, label: str | None) -> None:
        super().__init__(features, label)
        self.features, self.label = features, label

    def __str__(self) -> str:
        return "only names of columns are in the file; give rows of numbers below"


DECIMAL_COMMA: Final = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
"""A number with a decimal comma, as ``0,5``; ``1,234`` may as well be 1234."""

_GROUPED_BY_COMMA: Final = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_GROUPED_BY_POINT: Final = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")
_THOUSANDS: Final = re.compile(
    r"([+-]?\d{1,3}(?:([,.'’ _\u00a0\u2009\u202f])\d{3})(?:\2\d{3})*)(.*)"
)
_REST: Final = re.compile(r"(?:[.,]\d+)?(?:[eE][+-]?\d+)?")
_REMEDIES: Final = (
    (DECIMAL_COMMA, "write it with a decimal point, or separate the columns by semicolons"),
    (re.compile(r"[\u2010-\u2015\u2212]\s*[\d.,]+"), "write the minus sign as -"),
    (re.compile(r"[+-]?[\d.]+(?:_[\d.]+)+"), "write {plain}"),
    (
        re.compile(r"[$€£¥]\s*[+-]?[\d.,]+|[+-]?[\d.,]+\s*[%‰$€£¥]"),
        "write the number alone, in one unit for the column",
    ),
    (
        re.compile(r"\d{4}-\d{1,2}-\d{1,2}([ T].*)?|\d{1,2}([./])\d{1,2}\2\d{2,4}"),
        "give dates as numbers, such as days since the first one, or leave the column out",
    ),
)


def is_number(text: str) -> bool:
    """Return whether a text is a number; Python's 1_000 is none here: ``1_1`` may be a name."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def with_decimal_point(text: str) -> str:
    """Return a number with its decimal comma replaced by a point; other texts unchanged."""
    return text.replace(",", ".") if DECIMAL_COMMA.fullmatch(text) else text


def number_text(field: str, separator: str) -> str:
    """Return a number with a decimal point, unless commas separate fields."""
    return field if separator == "," else with_decimal_point(field)


def decimal_commas(entries: Iterable[tuple[Place, str]]) -> tuple[str, tuple[Place, str] | None]:
    """Return the first number with a certain decimal comma, and the first ambiguous one.

    The comma of ``1,234`` is doubtful where no other one shows that commas come before decimals;
    where one does, the point of ``1.234`` is.

    Parameters
    ----------
    entries
        The texts between separators that are no commas, each with its place.
    """
    sure, comma, point = "", None, None
    for position, text in entries:
        if _GROUPED_BY_COMMA.fullmatch(text):
            comma = comma or (position, text)
        elif DECIMAL_COMMA.fullmatch(text):
            sure = sure or text
        elif _GROUPED_BY_POINT.fullmatch(text):
            point = point or (position, text)
    return sure, point if sure else comma


def suggested_number(text: str) -> str:
    """Return advice on writing a text as a number; empty if there is no suggestion."""
    text = text.strip()
    remedy = next((words for pattern, words in _REMEDIES if pattern.fullmatch(text)), "")
    return _thousands(text) or remedy.format(plain=text.replace("_", ""))


def _thousands(text: str) -> str:
    """Explain separators of thousands, and the comma that may be one."""
    match = _THOUSANDS.fullmatch(text)
    if _GROUPED_BY_COMMA.fullmatch(text):
        plain, decimal = text.replace(",", ""), text.replace(",", ".")
        return f"write {plain} if the comma stands between thousands, {decimal} if before decimals"
    if match is None or not _REST.fullmatch(match[3]):
        return ""
    plain = match[1].replace(match[2], "") + match[3].replace(",", ".")
    return f"write {plain}, with nothing between thousands"


_LONGEST_COUNT: Final = 18  # Digits
_SHOWN: Final = 10  # Names in a message
LAST: Final = "last"
"""The word for the last column."""
LONGEST_TEXT: Final = 200
"""Characters of a file that a message shows at most."""
NAMES_OF_LABELS: Final = frozenset({"label", "labels", "target", "class", "y"})
"""Names of columns that would be mistaken for coordinates."""


@dataclass(frozen=True)
class Columns:
    """Selection and treatment of the columns of a table.

    Parameters
    ----------
    labels
        The column that holds the labels: its name, its number from 1 on, or ``last``; or None.
    rows
        Whether there are no labels, whatever the columns look like.
    drop_missing
        Whether rows that lack an entry are left out; otherwise they are refused.
    one_hot
        Whether each level (value) of a column of texts but one becomes a column of zeros and ones;
        otherwise texts are refused.
    drop
        Columns that are left out, each by its name or its number from 1 on.
    columns
        The columns that are coordinates, in the same form, or a text with commas between them;
        empty for all but those of labels, of row names and of ``drop``. They keep the order of the
        file.
    reference
        ``COLUMN=LEVEL`` each: with ``one_hot``, the level of a column of texts that gets no column;
        by default the first one in sorted order.
    positive
        The label of the positive class, against all others; None for the later one of two.
    negative_upper
        Of linear programs: the lower bound of a column with a negative upper bound and no lower
        bound, ``zero`` or ``free``; None for the convention of the format.
    variables
        Variable of a model, such as ``weights`` -> the column that holds it, in the same form.
    """

    labels: str | None = None
    rows: bool = False
    drop_missing: bool = False
    one_hot: bool = False
    drop: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()
    positive: str | None = None
    negative_upper: NegativeUpper | None = None
    variables: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        refuse_flags(rows=self.rows, drop_missing=self.drop_missing, one_hot=self.one_hot)
        object.__setattr__(self, "reference", tuple(self.reference))  # JSON has lists
        if self.reference and not self.one_hot:
            raise InputError(
                f"{self.option('reference', self.reference[0])} without "
                f"{self.option('one_hot')}, which gives the levels of a column columns of 0 and 1: "
                "add it, or leave the reference out"
            )
        if not all(isinstance(text, str) for pair in self.variables.items() for text in pair):
            raise InputError("variables of a model are named by texts, and so are their columns")
        if self.labels is not None and self.rows:
            raise InputError("labels and rows both; rows have no labels: leave one out")
        object.__setattr__(self, "drop", listed_columns(self.drop))
        object.__setattr__(self, "columns", listed_columns(self.columns, divided=True))

    def option(self, name: str, value: str = "") -> str:
        """Return the command-line option for a field, with its value: ``--labels kind``."""
        return " ".join(filter(None, (f"--{name.replace('_', '-')}", value and quote(value))))

    def label_index(self, names: Sequence[str], empty: Collection[int] = ()) -> int | None:
        """Return the index of the column of labels, from 0, or None without labels.

        Columns whose places are in ``empty`` are never the last one.
        """
        return None if self.labels is None else column_index(self.labels, names, empty)

    def variable_indices(self, names: Sequence[str]) -> dict[str, int]:
        """Return the index of the column of each variable, from 0."""
        return {role: column_index(name, names) for role, name in self.variables.items()}

    @property
    def named(self) -> list[str]:
        """The columns that are selected by name and not by number."""
        labels = [] if self.labels is None else [self.labels]
        columns = (*labels, *self.drop, *self.columns, *self.variables.values())
        return [name for name in columns if not name.isdigit()]

    def features_in(self, names: Sequence[str], labels: int | None) -> list[int]:
        """Return the indices of the columns that are coordinates, by ``drop`` and ``columns``.

        Parameters
        ----------
        names
            Of all columns.
        labels
            The place of the labels, or None.
        """
        dropped = {column_index(name, names) for name in self.drop}
        selected = {column_index(name, names) for name in self.columns} or {*range(len(names))}
        both = sorted(dropped & ({labels} | (selected if self.columns else set())) - {None})
        if both:
            raise InputError(
                f"column {names[both[0]]!r} is to be left out and used; delete one of the two"
            )
        omitted = {labels, *self.variable_indices(names).values()} | dropped
        return [j for j in range(len(names)) if j in selected and j not in omitted]

    def reference_levels(
        self, levels: Mapping[str, Sequence[str]], *, intercept: bool
    ) -> dict[str, str]:
        """Return which level of each column of texts gets no column of zeros and ones.

        Parameters
        ----------
        levels
            Column -> its levels, in order.
        intercept
            Whether there is an intercept. Without one the first column of texts keeps all levels,
            unless a reference level of it is asked for, as in R and patsy.
        """
        stated = dict(_column_and_level(reference, levels) for reference in self.reference)
        default = {name: column_levels[0] for name, column_levels in levels.items()}
        if not intercept and default:
            del default[next(iter(levels))]
        return {name: level for name, level in (default | stated).items() if level in levels[name]}

    def chosen_class(self, classes: AnyArray | None) -> object:
        """Return the label of a file that ``positive`` denotes, or None if it is not set."""
        if self.positive is None:
            return None
        option = self.option("positive", self.positive)
        if classes is None:
            raise InputError(f"{option} chooses a class, and there are no labels; say which column")
        labels = np.unique(labels_of(classes, len(classes))).tolist()
        for label in labels:
            numbers = not isinstance(label, str) and is_number(self.positive)
            if str(label) == self.positive or (numbers and float(self.positive) == label):
                return label
        plain = [str(plain_label(label)) for label in labels]
        listed = ", ".join(plain[:_SHOWN]) + ", ..." * (len(plain) > _SHOWN)
        raise InputError(
            f"{option}: no label is {self.positive!r}{did_you_mean(self.positive, plain)}; the "
            f"labels are {listed}"
        )

    def refuse_hidden_labels(self, names: Sequence[str], last: AnyArray) -> None:
        """Raise an error if a named column looks like labels but is not selected as such.

        Parameters
        ----------
        names
            Of the columns.
        last
            The entries of the last one.
        """
        if self.rows or self.labels is not None or len(names) < 2:
            return
        suspect = next((name for name in names if name.strip().lower() in NAMES_OF_LABELS), None)
        reason = "by its name"
        if suspect is None and len(last) > 2 and len(np.unique(last)) == 2:
            suspect, reason = names[-1], "with two values"
        if suspect is not None:
            raise InputError(
                f"column {suspect!r} looks like labels, {reason}; say "
                f"{self.option('labels', suspect)} "
                f"if it holds them, or {self.option('rows')} if every column is a coordinate"
            )


@dataclass(frozen=True)
class ConfiguredColumns(Columns):
    """The columns selected by a configuration; messages name its keys, e.g. ``labels: kind``."""

    def option(self, name: str, value: str = "") -> str:
        """Return the key with its value, ``labels: kind`` or ``rows: true``."""
        plain = re.fullmatch(r"[A-Za-z][\w.-]*", value)
        return f"{name}: {value if plain else json.dumps(value) if value else 'true'}"


@dataclass
class Contents:
    """The numbers of a file.

    Parameters
    ----------
    rows
        Shape ``(m, n)``: dense, scipy.sparse, Doubles or a source of rows.
    classes
        A label each, shape ``(m,)``; None where there are none.
    features
        The names of the coordinates; None where the file has none.
    label
        The name of the column of labels, or None.
    notes
        Sentences on what was left out.
    reading
        How a text was read, in a sentence; empty for other files.
    lines
        The number of the line that each row begins in, shape ``(m,)``; None where there are none.
    decimals
        The rows as decimals, an array of objects, where they were asked for, and neither the
        doubles of ``rows`` nor a multiple of them are exact; None otherwise.
    positive
        The label of the positive class, where it was asked for.
    reference_levels
        Column of texts -> the level that got no column of zeros and ones.
    variables
        Variable of a model -> its values, shape ``(m,)``.
    """

    rows: Any
    classes: AnyArray | None = None
    features: list[str] | None = None
    label: str | None = None
    notes: list[str] = field(default_factory=list)
    decimals: AnyArray | None = None
    positive: object = None
    reference_levels: dict[str, str] = field(default_factory=dict)
    variables: dict[str, AnyArray] = field(default_factory=dict)

    def two_classes(self) -> TwoClasses:
        """Return the labels, which have to exist, as two classes."""
        assert self.classes is not None
        return two_classes(self.classes, len(self.classes), self.positive)

    reading: str = ""
    lines: IntArray | None = None

    def in_memory(self) -> Doubles:
        """Return the rows as an array or a CSR array."""
        if isinstance(self.rows, Doubles):
            return self.rows
        if isinstance(self.rows, RowSource):
            every = self.rows[np.arange(self.rows.shape[0])]
            return Doubles(every, self.rows.roundings)
        return doubles_of_rows(self.rows)


def _column_and_level(reference: str, levels: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    """Return the column and the level of ``COLUMN=LEVEL``, either of which may hold ``=``."""
    marks = [i for i, character in enumerate(reference) if character == "="]
    pairs = [(reference[:i], reference[i + 1 :]) for i in marks]
    for column, level in pairs:
        if level in levels.get(column, ()):
            return column, level
    listed = "; ".join(
        f"{name}: {', '.join(column_levels[:_SHOWN])}{', ...' * (len(column_levels) > _SHOWN)}"
        for name, column_levels in levels.items()
    )
    if not pairs:
        fault = "give COLUMN=LEVEL"
    elif pair_of_column := next((pair for pair in pairs if pair[0] in levels), None):
        fault = f"column {pair_of_column[0]!r} has no level {pair_of_column[1]!r}"
        fault += did_you_mean(pair_of_column[1], levels[pair_of_column[0]])
    else:
        fault = f"no column of texts is called {pairs[0][0]!r}{did_you_mean(pairs[0][0], levels)}"
    raise InputError(f"reference {reference!r}: {fault}; the levels are {listed or '(none)'}")


def column_index(name: str, names: Sequence[str], empty: Collection[int] = ()) -> int:
    """Return the index of a column, from 0, by its name, its number from 1 on, or ``last``.

    Parameters
    ----------
    names
        Of all columns.
    empty
        Places of columns that are never the last one.
    """
    if name in names:
        if names.count(name) > 1:
            raise InputError(f"{names.count(name)} columns are called {name!r}; rename one")
        return names.index(name)
    if name == LAST:
        return max((j for j in range(len(names)) if j not in empty), default=0)
    if not (name.isascii() and name.isdigit()):
        raise InputError(
            f"no column is called {name!r}{did_you_mean(name, names)}; give a name of the "
            f"first line, a number from 1 to {len(names)}, or {LAST}"
        )
    if len(name) > _LONGEST_COUNT or not 1 <= int(name) <= len(names):
        printed = f"{name[:_LONGEST_COUNT]}{'...' * (len(name) > _LONGEST_COUNT)}"
        raise InputError(f"there is no column {printed}; give 1 to {len(names)}, or {LAST}")
    return int(name) - 1


def listed_columns(columns: str | Sequence[str], *, divided: bool = False) -> tuple[str, ...]:
    """Return names of columns; a text is one name, or with ``divided`` several, between commas.

    A name with a comma is put in quotation marks: ``"a, b",c``.
    """
    if isinstance(columns, str):
        columns = next(csv.reader([columns], skipinitialspace=True), []) if divided else [columns]
    names = tuple(map(str, columns))
    if not all(names):
        raise InputError("a column without a name is asked for; give a name, or a number from 1 on")
    return names


def refuse_repeated(names: Sequence[str]) -> None:
    """Refuse repeated names of columns, as answers name coordinates by them."""
    for name, count in Counter(filter(None, names)).items():
        if count > 1:
            positions = [str(j + 1) for j, other in enumerate(names) if other == name]
            raise InputError(
                f"columns {', '.join(positions[:-1])} and {positions[-1]} are called {name!r}; "
                "rename all but one"
            )


def is_consecutive(fields: Sequence[str]) -> bool:
    """Return whether fields are consecutive integers, other than 1, 2, which may be a row."""
    if len(fields) < 2 or not fields[0].isdecimal() or list(fields) == ["1", "2"]:
        return False
    return list(fields) == [str(int(fields[0]) + j) for j in range(len(fields))]


def as_labels(texts: Sequence[str]) -> AnyArray:
    """Return labels as numbers if all are numeric, so that 10 is larger than 9."""
    return np.array(list(map(float, texts)) if all(map(is_number, texts)) else texts)


def allowed_bytes() -> int:
    """Return the memory limit of unpacked data, half of the machine's; 0 if it is unknown."""
    with suppress(AttributeError, ValueError, OSError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    return 0
