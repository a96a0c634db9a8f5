"""Lines of text as rows of fields, with detected separators and line numbers.

Why not ``csv.Sniffer``: it gives up on a single column, and knows neither the line ``sep=;`` of
spreadsheets, nor the line of names that R writes with one field fewer, nor decimal commas.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import numpy as np

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import AnyArray, IntArray
from perceptron_lab.datasets.formats.columns import DECIMAL_COMMA, is_number

_SAMPLE: Final = 20  # Lines from which the separator is detected
_CHUNK: Final = 200_000  # Fields per batch
_SHORT: Final = 1_000_000  # Characters that take less time to divide than pandas to load
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*\n)*")
# Spreadsheets write #N/A and the like for entries without a value
_COMMENT: Final = re.compile(r"[ \t]*#(?!N/A|DIV/0!|NUM!|VALUE!|REF!|NAME\?|NULL!)")
_STATED: Final = re.compile(r'[ \t]*"?sep=(.)"?[ \t]*(?:\n|$)', re.IGNORECASE)
_WORD: Final = re.compile(r'"((?:[^"]|"")*)"(?!\S)|(\S+)')
_TOO_LONG: Final = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")
_UNCLOSED: Final = re.compile(r"EOF inside string starting at row (\d+)")
SEPARATORS: Final = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "|", " ": "spaces"}
"""What may stand between fields, in words."""


@dataclass(frozen=True)
class Fields:
    """A block of rows of fields.

    Parameters
    ----------
    lines
        The numbers of the lines that they begin in, shape ``(m,)``.
    texts
        Without the spaces around them, shape ``(m, width)``.
    """

    lines: IntArray
    texts: AnyArray

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, rows: Any) -> Fields:
        return Fields(self.lines[rows], self.texts[rows])


@dataclass(frozen=True)
class Lines:
    """Lines with equal numbers of fields.

    Parameters
    ----------
    text
        The lines; the first one is not blank, those of comments are.
    separator
        What stands between fields; a space for any white space.
    before
        How many lines of the file come before the first one.
    sample
        The fields of some lines, the first one among them, without the spaces around them.
    comments
        The comments among the lines of the file, which begin with #.
    stated
        Whether a line ``sep=;`` of the file states the separator, as Excel reads it.
    row_names
        Whether the first line had one field fewer than the others, as R's ``write.table`` writes
        the names of columns next to those of rows; it has an empty one here.
    starts
        The number of the line that each row of fields begins in, less that of the first one; None
        where no quoted field has several lines.
    """

    text: str
    separator: str
    before: int
    sample: Sequence[Sequence[str]]
    comments: Sequence[str] = ()
    stated: bool = False
    row_names: bool = False
    starts: IntArray | None = None

    @classmethod
    def of(cls, text: str, separators: str) -> Lines:
        """Return the lines of a text, with the separator that fits best.

        That is the one of a first line ``sep=;``, or the first of those given that divides each of
        some lines into as many fields, two or more; the line of names may have one field fewer. The
        comma gives way to another one that does so too, and leaves commas as decimal commas alone:
        as the semicolon of ``0,5;1``.
        """
        full_text, (text, comments) = text, _without_comments(text)
        stated = _STATED.match(text, _blank_until(text))
        text = text[stated.end() if stated else 0 :]
        text = text[_blank_until(text) :]
        before = full_text.count("\n") - text.count("\n")
        if stated:
            separators = stated[1]
            if separators not in SEPARATORS:
                raise InputError(
                    f"line {before}: {stated[0].strip()!r} states a separator that is none; "
                    f"allowed: {', '.join(map(repr, SEPARATORS))}"
                )
        # A few lines suffice to detect the separator; later lines that disagree get their own error
        # messages.
        lines = list(islice(io.StringIO(text), _SAMPLE))
        rows_by_separator = {separator: _fields(lines, separator) for separator in separators}
        first = next(iter(rows_by_separator.values()))
        if not first:
            raise InputError("the file is empty; give rows of numbers")
        agreed = [
            s for s, rows in rows_by_separator.items() if len({*map(len, rows)}) == 1 < len(rows[0])
        ]
        short = [
            s for s in separators if not agreed and _has_row_names(rows_by_separator[s], lines, s)
        ]
        best = [*agreed, *short, separators[0]][0]
        # In 0,5;1 both marks divide each line evenly: the comma is then the decimal one.
        if best == ",":
            best = next(
                (s for s in agreed[1:] if _leaves_decimal_commas(rows_by_separator[s])), best
            )
        if short:
            # R's write.table omits the name of the first column: an empty one aligns the names with
            # the rows.
            text = f'""{best}{text}'
            rows_by_separator[best][0] = ["", *rows_by_separator[best][0]]
        starts = _starts_of(text, best)
        stating = bool(stated)
        return cls(
            text, best, before, rows_by_separator[best], comments, stating, bool(short), starts
        )

    @property
    def first(self) -> int:
        """The number of the first line in the file, from 1 on."""
        return self.before + 1

    @property
    def width(self) -> int:
        """The number of fields of a line."""
        return len(self.sample[0])

    def fields(self) -> Iterator[Fields]:
        """Yield the fields of the lines that are not blank, in batches of rows."""
        short, first = self._divided(), 0
        for texts in self._divided_by_pandas() if short is None else [short]:
            nonempty = np.flatnonzero((texts != "").any(axis=1))
            if len(nonempty):
                yield Fields(self._line_of(first + nonempty), texts[nonempty])
            first += len(texts)

    def _divided(self) -> AnyArray | None:
        """Return the fields of a short text, or None for long or ambiguous texts."""
        quoted, separator = '"' in self.text, self.separator
        if len(self.text) > _SHORT or (quoted and (separator == " " or "\t" in self.text)):
            return None
        lines = io.StringIO(self.text.replace("\t", " ") if separator == " " else self.text)
        try:
            rows = [*csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)]
        except csv.Error:
            return None
        if separator == " ":
            rows = [[text for text in row if text] for row in rows]
        # pandas reports the line of such an error, which this fast path does not.
        if not len(rows[0]) == self.width >= max(map(len, rows)):
            return None
        texts = np.full((len(rows), self.width), "", dtype=object)
        for index, row in enumerate(rows):
            texts[index, : len(row)] = [text.strip() for text in row] if self._spaced else row
        return texts

    @property
    def _spaced(self) -> bool:
        return " " in self.text or "\t" in self.text

    def _divided_by_pandas(self) -> Iterator[AnyArray]:
        """Yield the fields in batches of lines; an error refuses lines with too many fields."""
        import pandas as pd  # it takes longer to load than most files to read

        try:
            frames = pd.read_csv(
                io.StringIO(self.text),
                sep=r"\s+" if self.separator == " " else self.separator,
                header=None,
                # Texts, since exact decimals are parsed later: pandas would round them to doubles.
                dtype=str,
                # A level called NA is a text; missing values are recognised elsewhere.
                keep_default_na=False,
                skip_blank_lines=False,
                skipinitialspace=True,
                chunksize=max(1, _CHUNK // self.width),
            )
            for frame in frames:
                texts = frame.fillna("")
                if self._spaced:
                    texts = texts.apply(lambda column: column.str.strip())
                yield texts.to_numpy(dtype=object)
        except pd.errors.ParserError as error:
            raise InputError(self._explained(str(error))) from None

    def count_in(self, line: int) -> int:
        """Return the number of fields in a line of the file."""
        return len(self._fields_of(line))

    def empty_columns(self) -> frozenset[int]:
        """Return the indices of the columns with neither a name nor an entry."""
        empty = {
            j for j in range(self.width) if not any(j < len(row) and row[j] for row in self.sample)
        }
        if empty:
            for part in self.fields():
                empty = {j for j in empty if not part.texts[:, j].any()}
        return frozenset(empty)

    def _fields_of(self, line: int) -> list[str]:
        at = line - self.first
        if self.separator == " ":
            return _words(self.text.split("\n")[at])
        if self.starts is not None:
            at = int(np.searchsorted(self.starts, at))
        rows = csv.reader(io.StringIO(self.text), delimiter=self.separator, skipinitialspace=True)
        return next(islice(rows, at, None), [])

    def _line_of(self, rows: Any) -> Any:
        """Return the line numbers at which rows of fields begin, counting blank lines."""
        return self.first + (rows if self.starts is None else self.starts[rows])

    def _explained(self, error: str) -> str:
        """Return a message for an error that pandas reports, with its remedy."""
        if match := _UNCLOSED.search(error):
            line = self._line_of(int(match[1]))
            return f"line {line} opens a quotation mark that nothing closes; close or delete it"
        match = _TOO_LONG.search(error)
        if match is None:
            return f"{error}; correct it"
        line = self._line_of(int(match[2]) - 1)
        fault = f"line {line} has {match[3]} fields, the first has {match[1]}"
        fields = self._fields_of(line)
        if fields and not fields[-1].strip():
            return f"{fault}; delete the separator at its end, or end the first so too"
        if self.separator == "," and DECIMAL_COMMA.fullmatch(",".join(fields)):
            return f"{fault}; give every row as many, and a decimal comma as a point"
        fault = f"{fault}; give every row as many, and nothing but the names of columns above them"
        if int(match[3]) == self.width + 1 and int(match[2]) == 2:
            fault += (
                f" (if rows begin with their names, begin line {self.first} with {self.separator})"
            )
        return fault


def _blank_until(text: str) -> int:
    """Return the start of the first line that is not blank."""
    blank = _BLANK_LINES.match(text)
    assert blank is not None
    return blank.end()


def _without_comments(text: str) -> tuple[str, list[str]]:
    """Return a text with its comment lines blanked, and these lines; quoted fields are kept."""
    if "#" not in text:
        return text, []
    lines, comments, quoted = text.split("\n"), [], False
    for at, line in enumerate(lines):
        if not quoted and _COMMENT.match(line):
            comments.append(line.strip())
            lines[at] = ""
        # An odd number of quotation marks opens or closes a field of several lines, in which # is
        # text.
        elif line.count('"') % 2:
            quoted = not quoted
    return "\n".join(lines), comments


def _starts_of(text: str, separator: str) -> IntArray | None:
    """Return the lines at which rows of fields begin, or None if each row is one line."""
    if '"' not in text:
        return None
    text = text.replace("\t", " ") if separator == " " else text
    rows = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    try:
        ends = [0, *(rows.line_num for _ in rows)]
    except csv.Error:  # a quotation mark that nothing closes
        return None
    return np.array(ends) if len(ends) <= ends[-1] else None


def _has_row_names(rows: Sequence[Sequence[str]], lines: Sequence[str], separator: str) -> bool:
    """Return whether names of columns stand above one field more of every row.

    The first of commas may be a decimal comma, and a name alone a title: then only names of rows
    count that are texts, or in quotation marks.
    """
    names, body = rows[0], rows[1:]
    if {*map(len, body)} != {len(names) + 1} or any(map(is_number, names)) or not all(names):
        return False
    if not any(row[-1] for row in body):  # separators at the ends of lines
        return False
    quoted = all(line.lstrip().startswith('"') for line in lines[1:] if line.strip())
    texts = len(names) > 1 and not any(is_number(row[0]) for row in body)
    return quoted or texts or (len(names) > 1 and separator != ",")


def _words(line: str) -> list[str]:
    """Return the words of a line; quoted words stay together."""
    return [(quoted or plain).replace('""', '"') for quoted, plain in _WORD.findall(line)]


def _fields(lines: Sequence[str], separator: str) -> list[list[str]]:
    """Return the stripped fields of the lines that are not blank."""
    if separator == " ":
        return [_words(line) for line in lines if line.strip()]
    split = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    stripped = ([field.strip() for field in fields] for fields in split)
    return [fields for fields in stripped if any(fields)]


def _leaves_decimal_commas(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the only commas in fields are decimal commas."""
    return all(DECIMAL_COMMA.fullmatch(x) for row in rows for x in row if "," in x)
