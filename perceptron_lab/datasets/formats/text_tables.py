"""Rows of numbers in text files: separators, names of columns, and exact decimals.

Readers of libraries divide the lines into fields (:mod:`.text_lines`). All else is done here, since
they have no option for it: decimal commas are distinguished from separators of thousands, and
printed decimals from the doubles nearest to them (a proof is about the decimals); row names, labels
and levels of texts are found; and each refusal names the line, the column and what to write
instead.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from perceptron_lab.core.errors import InputError, counted
from perceptron_lab.core.results import AnyArray, FloatArray
from perceptron_lab.datasets.formats.columns import (
    LONGEST_TEXT,
    Columns,
    Contents,
    NoRowsError,
    as_labels,
    decimal_commas,
    is_consecutive,
    is_number,
    number_text,
    refuse_repeated,
    suggested_number,
    with_decimal_point,
)
from perceptron_lab.datasets.formats.text_files import text_of
from perceptron_lab.datasets.formats.text_lines import SEPARATORS, Fields, Lines
from perceptron_lab.numerics.doubles import PrintedNumbers

_MISSING: Final = frozenset(
    {"", ".", "?", "na", "n/a", "<na>", "nan", "null", "none", "nat", "#n/a", "#div/0!", "#num!"}
)
_TRUTHS: Final = frozenset({"true", "false"})
_SEPARATED: Final = re.compile(r"[-+.\w]\s*[|:; ]\s*[-+.\w]")
_NAMED_BY_NUMBERS: Final = "if the line names the columns, let each name begin with a letter"
# What may stand between fields, by the end of a file's name
_SEPARATORS: Final = {".csv": ",;\t| ", ".tsv": "\t;,| ", ".txt": "\t;,| "}
_UNNAMED: Final = ("", "Unnamed: 0")  # of a row index: as files hold it, and as pandas reads it
_ROW_NAMES: Final = ("rownames", "row.names", "row_names", "rowname")
_REMARK: Final = re.compile(r"(.*\S)\s+#.*")
_MOST_NAMES: Final = 8  # in a sentence
_FEW: Final = 3  # Rows that may count on by chance


def read_text(path: Path, kind: str, columns: Columns, *, exact: bool = False) -> Contents:
    """Return the numbers of a text, as the decimals printed, with names and labels of columns.

    Where no comma separates fields, commas of numbers are decimal commas, with a note. A
    first column without a name whose entries differ holds row names or a row index: it is left out,
    with a note. Lines that begin with # are comments.

    Parameters
    ----------
    path
        The file, which may be packed by gzip, or :data:`.text_files.STANDARD_INPUT`.
    kind
        ``.csv``, ``.tsv`` or ``.txt``: the separator that is preferred where several would do.
    columns
        Which of them holds labels, and what is done about missing entries and texts.
    exact
        Whether decimals are kept that no doubles are equal to.
    """
    table = _opened(Lines.of(text_of(path), _SEPARATORS[kind]), columns)
    contents = table.read(exact=exact)
    if table.header is not None:
        assert contents.features is not None
        columns.refuse_hidden_labels(contents.features, contents.rows.values[:, -1])
    return contents


def _opened(lines: Lines, columns: Columns) -> _Table:
    """Return the table of lines, with names and labels determined from the first line."""
    names, empty = list(lines.sample[0]), lines.empty_columns()
    _refuse_comment_of_names(lines, columns)
    label_column = columns.label_index(names, empty)
    named = lines.row_names or not {*columns.named}.isdisjoint(names)
    features = [name for j, name in enumerate(names) if j != label_column and j not in empty]
    named |= not any(is_number(number_text(name, lines.separator)) for name in features)
    # Names of a frame that pandas wrote with a column that counts the rows
    named |= len(names) > 1 and names == ["", *map(str, range(len(names) - 1))]
    if named:
        refuse_repeated(names)
    else:
        label_column = columns.label_index([str(j + 1) for j in range(lines.width)], empty)
    return _Table(lines, names if named else None, label_column, empty, columns)


def _refuse_comment_of_names(lines: Lines, columns: Columns) -> None:
    """Raise an error if requested column names occur in a comment only."""
    for comment in lines.comments:
        words = re.split(r"[,;|\s]+", comment.lstrip("# \t"))
        missing = [name for name in columns.named if name not in lines.sample[0] and name in words]
        if missing:
            raise InputError(
                f"no column is called {missing[0]!r}, but the comment {comment[:60]!r} names it; "
                "delete its # if it names the columns"
            )


def _entries(chunk: Fields, columns: Sequence[int]) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield (line, column) and text of each entry of the given columns."""
    for j in columns:
        for line, text in zip(chunk.lines.tolist(), chunk.texts[:, j], strict=True):
            yield (line, j), text


@dataclass
class _Table:
    """A text table with detected columns.

    Parameters
    ----------
    lines
        Its lines.
    header
        The names of the columns; None if the first line holds numbers.
    place
        The column of the labels, or None.
    empty
        The columns that have neither a name nor an entry.
    columns
        The selection and treatment of the columns.
    """

    lines: Lines
    header: list[str] | None
    label_column: int | None
    empty: frozenset[int]
    columns: Columns
    truths: set[int] = field(default_factory=set)  # columns of True and False, filled by reading

    @cached_property
    def _names(self) -> list[str]:
        """The names of the columns, or their numbers."""
        return self.header or [str(j + 1) for j in range(self.lines.width)]

    @cached_property
    def _variables(self) -> dict[str, int]:
        """Variable of a model -> its column."""
        return self.columns.variable_indices(self._names)

    @property
    def _texts(self) -> list[int]:
        """The columns whose entries may be texts: labels and variables."""
        labels = [] if self.label_column is None else [self.label_column]
        return [*labels, *self._variables.values()]

    def read(self, *, exact: bool = False) -> Contents:
        """Return the numbers of all lines; ``exact`` as for :func:`read_text`."""
        index = self._row_names()
        selected = self.columns.features_in(self._names, self.label_column)
        index = index if index in selected else None
        features = [j for j in selected if j != index and j not in self.empty]
        if not features:
            beside = "" if index is None else " and that of row names, which has no name"
            raise InputError(
                f"no column but that of the labels{beside}; give one of numbers or more"
            )
        commas = self._decimal_commas(features)
        categories, references = self._encoding(features) if self.columns.one_hot else ({}, {})
        printed, arrays, count = PrintedNumbers(), [], 0
        kept_words, numbers, texts = list[AnyArray](), list[int](), list[AnyArray]()
        for chunk in self._chunks():
            count += len(chunk)
            complete, words, values = self._converted(chunk, features, categories)
            printed.add(words.ravel().tolist(), values.ravel())
            arrays.append(values)
            kept_words += [words] * exact
            numbers += complete.lines.tolist()
            texts.append(complete.texts[:, self._texts])
        if not count:
            label = None if self.label_column is None else self._name(self.label_column)
            raise NoRowsError([self._name(j) for j in features], label)
        if not sum(map(len, arrays)):
            raise InputError("every row lacks an entry; fill them, or leave columns out")
        contents = Contents(printed.doubles(np.concatenate(arrays)))
        if exact and contents.rows.roundings and contents.rows.integers is None:
            contents.decimals = np.vectorize(Decimal, otypes=[object])(np.concatenate(kept_words))
        if self.header is not None:
            contents.features = [
                f"{self._name(j)}={value}" if j in categories else self._name(j)
                for j in features
                for value in categories.get(j, [""])
            ]
        contents.reference_levels = references
        columns = np.concatenate(texts).T.tolist()
        if self.label_column is not None:
            contents.label = self._name(self.label_column)
            contents.classes = self._labels(columns.pop(0), self.label_column)
        pairs = zip(self._variables, columns, strict=True)
        contents.variables = {role: self._values(column) for role, column in pairs}
        contents.lines, contents.reading = np.array(numbers), self._reading(count, features)
        perhaps = [*self._possible_names_note(), *self._possible_index_note(contents, features)]
        contents.notes = [*self._omission_notes(index, features), *commas, *perhaps]
        contents.notes += self._encoding_notes(references, categories)
        if dropped := count - len(contents.rows.values):
            contents.notes.append(f"{dropped} of {count} rows lack an entry: left out")
        return contents

    def _chunks(self) -> Iterator[Fields]:
        """Yield the fields of the lines of numbers."""
        for part in self.lines.fields():
            named = self.header is not None and part.lines[0] == self.lines.first
            if len(rows := part[int(named) :]):
                yield rows

    def _labels(self, classes: Sequence[str], column: int) -> AnyArray:
        """Return labels, as numbers if all are numeric; refuse one that may be a column's name."""
        counts = Counter(classes)
        named = not is_number(classes[0]) and counts[classes[0]] == 1
        if self.header is None and named and len(counts) == 3:
            raise InputError(
                f"line {self.lines.first}, {self._named(column)}: no other row has the label "
                f"{classes[0]!r}, and there are two besides; {_NAMED_BY_NUMBERS}"
            )
        for text in counts:
            if (remark := _REMARK.fullmatch(text)) and remark[1] in counts:
                raise InputError(
                    f"{self._named(column)}: received {text[:LONGEST_TEXT]!r} beside "
                    f"{remark[1]!r}; "
                    "give a comment a line that begins with #"
                )
        return self._values(classes)

    def _values(self, texts: Sequence[str]) -> AnyArray:
        """Return texts as numbers if all are numeric."""
        numbers = [number_text(text, self.lines.separator) for text in texts]
        return as_labels(numbers if all(map(is_number, numbers)) else texts)

    def _omission_notes(self, index: int | None, features: Sequence[int]) -> Iterator[str]:
        """Yield sentences on omitted columns and lines."""
        if comments := len(self.lines.comments):
            yield f"{counted(comments, 'line')} of comments, which begin with #: left out"
        if index is not None and self.lines.row_names:
            yield (
                f"line {self.lines.first} has one field fewer, as R's write.table writes it: the "
                "first column holds row names, left out"
            )
        elif index is not None:
            texts = self._column(0)
            starts = (texts == [str(start + k) for k in range(len(texts))] for start in (0, 1))
            listed = ", ".join([*texts[:3], *["..."] * (len(texts) > 3)])
            does = "counts the rows" if any(starts) else f"names the rows ({listed[:LONGEST_TEXT]})"
            assert self.header is not None
            name = self.header[0]
            called = "without a name" if name in _UNNAMED else f"called {name}"
            yield f"the first column, {called}, {does}: left out"
        if self.columns.drop:
            yield f"left out as asked: {', '.join(self.columns.drop)}"
        unused = [j for j in range(self.lines.width) if j not in (*features, index, *self._texts)]
        if self.columns.columns and unused:
            yield f"not used, as asked: {', '.join(map(self._name, unused[:_MOST_NAMES]))}"
        if self.empty:
            empty_columns = ", ".join(str(j + 1) for j in sorted(self.empty))
            yield f"without a name and without an entry, left out: column {empty_columns}"

    def _reading(self, count: int, features: Sequence[int]) -> str:
        """Return a sentence on how the file is read."""
        names = [self._name(j) for j in features[:_MOST_NAMES]]
        more = f" and {len(features) - len(names)} more" if len(features) > len(names) else ""
        words = [counted(count, "row")]
        if self.lines.width > 1:
            stated = ", as its line sep= says" * self.lines.stated
            words[0] += f", columns separated by {SEPARATORS[self.lines.separator]}{stated}"
        if self.header is None:
            words.append(f"no names of columns; {counted(len(features), 'coordinate')}")
        else:
            words.append(f"names in line {self.lines.first}; coordinates {', '.join(names)}{more}")
        if self.label_column is not None:
            words.append(f"labels in {self._named(self.label_column)}")
        words += [f"{role} in {self._named(j)}" for role, j in self._variables.items()]
        return "; ".join(words)

    def _possible_names_note(self) -> Iterator[str]:
        """Yield a note if the numbers of the first line may be names of columns."""
        first = self.lines.sample[0]
        if self.header is None and is_consecutive(first):
            listed = ", ".join(first[:3]) + ", ..." * (len(first) > 3)
            yield f"line {self.lines.first} is read as a row, {listed}; {_NAMED_BY_NUMBERS}"

    def _possible_index_note(self, contents: Contents, features: Sequence[int]) -> Iterator[str]:
        """Yield a note if the first column is used as a coordinate, but numbers the rows."""
        first = contents.rows.values[:, 0]
        start = first[0] if len(first) > _FEW and features[0] == 0 else np.nan
        if start in (0, 1) and np.array_equal(first, np.arange(start, start + len(first))):
            drop = self.columns.option("drop", self._name(0))
            yield f"{self._named(0)} counts the rows; if it is no coordinate, leave it out: {drop}"

    def _converted(
        self, chunk: Fields, features: Sequence[int], categories: dict[int, list[str]]
    ) -> tuple[Fields, AnyArray, FloatArray]:
        """Return the complete rows, their printed numbers, and the nearest doubles."""
        if not self._missing_entries(chunk, [*categories, *self._texts]).any():
            words = self._words(chunk, features, categories)
            with suppress(ValueError):
                values = self._doubles(words)
                if np.isfinite(values).all():
                    return chunk, words, values
        complete = self._complete(chunk, features)
        words = self._words(complete, features, categories)
        return complete, words, self._numbers(complete, words, features)

    @staticmethod
    def _missing_entries(chunk: Fields, columns: Sequence[int]) -> AnyArray:
        """Return the mask of missing entries in the columns, shape ``(m, k)``."""
        texts = chunk.texts[:, list(columns)]
        lacking = np.array([text.lower() in _MISSING for text in texts.ravel()], dtype=bool)
        return lacking.reshape(texts.shape)

    def _complete(self, chunk: Fields, features: Sequence[int]) -> Fields:
        """Return the complete rows; raise an error for others unless ``drop_missing``."""
        columns = [*features, *self._texts]
        lacking = self._missing_entries(chunk, columns)
        if not lacking.any():
            return chunk
        if self.columns.drop_missing:
            return chunk[~lacking.any(axis=1)]
        row, at = np.argwhere(lacking)[0].tolist()
        j = columns[at]
        raise InputError(self._no_value(int(chunk.lines[row]), j, chunk.texts[row, j]))

    def _no_value(self, line: int, j: int, word: str) -> str:
        """Return a message for a missing entry, or for a row with too few fields."""
        drop = f"leave such rows out: {self.columns.option('drop_missing')}"
        if not word and (count := self.lines.count_in(line)) <= j:
            return (
                f"line {line} has {counted(count, 'field')}, the first has {self.lines.width}; "
                f"give every row as many, or {drop}"
            )
        return f"line {line}, {self._named(j)}: received {word!r}, no value; fill it, or {drop}"

    def _words(
        self, chunk: Fields, features: Sequence[int], categories: dict[int, list[str]]
    ) -> AnyArray:
        """Return the printed numbers of rows, shape ``(m, n)``; categories become 0 and 1."""
        parts = []
        for j in features:
            texts = chunk.texts[:, j]
            if j in categories:
                parts += [np.where(texts == value, "1", "0") for value in categories[j]]
            elif (truths := _truth_values(texts)) is not None:
                self.truths.add(j)
                parts.append(truths)
            elif self.lines.separator != "," and any("," in text for text in texts):
                parts.append(np.array([with_decimal_point(text) for text in texts], object))
            else:
                parts.append(texts)
        return np.array(parts, dtype=object).T.reshape(len(chunk), len(parts))

    def _doubles(self, words: AnyArray) -> FloatArray:
        """Return the doubles nearest to printed numbers, or raise a ValueError."""
        if "_" in self.lines.text and not all(map(is_number, words.ravel())):
            raise ValueError("1_000 is a number in Python alone")
        return words.astype(float)

    def _numbers(self, chunk: Fields, words: AnyArray, features: Sequence[int]) -> FloatArray:
        """Return the doubles nearest to printed numbers; refuse texts and non-finite numbers."""
        try:
            values = self._doubles(words)
        except ValueError:
            line, j = next(
                position
                for position, word in _entries(chunk, features)
                if not is_number(number_text(word, self.lines.separator))
            )
            raise InputError(self._no_number(line, j, chunk)) from None
        if not np.isfinite(values).all():
            row, column = np.argwhere(~np.isfinite(values))[0]
            where = f"line {chunk.lines[row]}"
            if words.shape[1] == len(features):
                where += f", {self._named(features[column])}"
            raise InputError(
                f"{where}: received {words[row, column][:LONGEST_TEXT]!r}; give finite numbers, or "
                "remove the row"
            )
        return values

    def _no_number(self, line: int, j: int, chunk: Fields) -> str:
        """Return the message that an entry is not a number, and how to fix it."""
        column: list[str] = chunk.texts[:, j].tolist()
        word = column[chunk.lines.tolist().index(line)]
        fault = (
            f"line {line}, {self._named(j)}: received {word[:LONGEST_TEXT]!r}, which is no number"
        )
        if _REMARK.fullmatch(word):
            return f"{fault}; give a comment a line that begins with #"
        if remedy := suggested_number(word[:LONGEST_TEXT]):
            return f"{fault}; {remedy}"
        if _SEPARATED.search(word) and (self.lines.width == 1 or ";" in word):
            return f"{fault}; separate all columns by commas, all by semicolons, or all by tabs"
        if self.header is None and line == self.lines.first:
            return f"{fault}; {_NAMED_BY_NUMBERS}"
        if any(is_number(number_text(other, self.lines.separator)) for other in column):
            return f"{fault}, as the other entries of the column are; correct it, or remove the row"
        one_hot = self.columns.option("one_hot")
        if len({*column}) == len(column) > 2:
            return f"{fault}; {self._leave_out(j)}"
        if self.label_column is not None:
            return f"{fault}; correct it, or encode texts as columns of 0 and 1: {one_hot}"
        name = str(j + 1) if self.header is None else self.header[j]
        labels, rows = self.columns.option("labels", name), self.columns.option("rows")
        return (
            f"{fault}; say {labels} if the column holds the labels, or {rows} and {one_hot} if it "
            "is a coordinate"
        )

    def _decimal_commas(self, features: Sequence[int]) -> list[str]:
        """Return a note on decimal commas; refuse marks that may separate thousands."""
        if self.lines.separator == "," or "," not in self.lines.text:
            return []
        sure, doubtful = decimal_commas(
            entry for chunk in self._chunks() for entry in _entries(chunk, features)
        )
        if doubtful is not None:
            (line, j), word = doubtful
            raise InputError(
                f"line {line}, {self._named(j)}: received {word!r}, whose "
                f"{'point' if sure else 'comma'} may be before decimals or between thousands; "
                "write all numbers with a decimal point and nothing between thousands"
            )
        return (
            [f"commas are read as decimal commas: {sure} as {with_decimal_point(sure)}"]
            if sure
            else []
        )

    def _name(self, j: int) -> str:
        """Return the name of a column, or its number if it has no name."""
        return (self.header[j] if self.header else "") or str(j + 1)

    def _named(self, j: int) -> str:
        return f"column {self.header[j]!r}" if self.header and self.header[j] else f"column {j + 1}"

    def _column(self, j: int) -> list[str]:
        return [text for chunk in self._chunks() for text in chunk.texts[:, j]]

    def _row_names(self) -> int | None:
        """Return 0 if the first column holds row names: it is unnamed, with distinct entries."""
        named = self.header is not None and self.header[0].strip().lower() in _ROW_NAMES
        if self.header is None or not (named or self.header[0] in _UNNAMED):
            return None
        unused = self.label_column == 0 or 0 in self.empty or self.lines.width < 2
        names = self.header
        if (
            unused
            or 0 not in self.columns.features_in(names, self.label_column)
            or self.columns.columns
        ):
            return None
        text, times = Counter(self._column(0)).most_common(1)[0]
        if times == 1 or named:
            return 0 if times == 1 else None
        raise InputError(
            f"the first column has no name, as row names have none, but {text[:LONGEST_TEXT]!r} "
            f"occurs {times} times; name it in line {self.lines.first} if it is a coordinate, or "
            f"leave it out: {self.columns.option('drop', '1')}"
        )

    def _leave_out(self, j: int) -> str:
        """Return a remedy for a column of distinct texts: the options that omit it."""
        names = self.header or [str(k + 1) for k in range(self.lines.width)]
        other_columns = [k for k in self.columns.features_in(names, self.label_column) if k != j]
        listed = ",".join(names[k] or str(k + 1) for k in other_columns[:_MOST_NAMES]) or "A,B"
        drop = self.columns.option("drop", names[j] or str(j + 1))
        return (
            "its texts all differ, as names of rows do, and a column of 0 and 1 for each would "
            f"separate any classes; leave it out: {drop}, or name the coordinates: "
            f"{self.columns.option('columns', listed)}"
        )

    def _encoding(self, features: Sequence[int]) -> tuple[dict[int, list[str]], dict[str, str]]:
        """Return column -> levels with indicator columns, and name -> reference level."""
        levels = self._categories(features)
        named = {self._name(j): column_levels for j, column_levels in levels.items()}
        references = self.columns.reference_levels(named, intercept=self.label_column is not None)
        for j, all_levels in levels.items():
            levels[j] = [level for level in all_levels if level != references.get(self._name(j))]
        return levels, references

    def _encoding_notes(
        self, references: Mapping[str, str], categories: Mapping[int, Sequence[str]]
    ) -> Iterator[str]:
        """Yield notes on columns of truth values and on reference levels."""
        if self.truths:
            names = ", ".join(self._named(j) for j in sorted(self.truths))
            yield f"True and False are read as 1 and 0: {names}"
        if references:
            levels = ", ".join(f"{name}={level}" for name, level in references.items())
            yield f"reference levels, without a column: {levels}"
        for j in (j for j, column_levels in categories.items() if not column_levels):
            yield f"{self._named(j)} holds one text in every row: left out"

    def _categories(self, features: Sequence[int]) -> dict[int, list[str]]:
        """Return column -> sorted values, for each column of texts.

        They are those of the rows that are used: the intercept is the sum of their columns.
        """
        counters: dict[int, Counter[str]] = {j: Counter() for j in features}
        for chunk in self._chunks():
            rows = self._complete(chunk, features) if self.columns.drop_missing else chunk
            for j in features:
                counters[j].update(rows.texts[:, j])
        categories = dict[int, list[str]]()
        for j, counts in counters.items():
            texts = sorted(text for text in counts if text.lower() not in _MISSING)
            numbers = all(is_number(number_text(text, self.lines.separator)) for text in texts)
            if numbers or _truth_values(texts) is not None:
                continue
            if len(texts) > 1 == max(counts[text] for text in texts):
                raise InputError(f"{self._named(j)}: {self._leave_out(j)}")
            categories[j] = texts
        return categories


def _truth_values(texts: AnyArray | Sequence[str]) -> AnyArray | None:
    """Return ``1`` and ``0`` if all texts are True or False, in upper or lower case, or None."""
    if not len(texts) or texts[0].strip().lower() not in _TRUTHS:
        return None
    lowered = [text.strip().lower() for text in texts]
    if not _TRUTHS.issuperset(lowered):
        return None
    return np.array(["1" if text == "true" else "0" for text in lowered], dtype=object)
