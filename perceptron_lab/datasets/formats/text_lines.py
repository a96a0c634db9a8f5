"""Lines of text as rows of fields: the separator found, rows by their line numbers."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from perceptron_lab.datasets.formats.number_texts import DECIMAL_COMMA
from perceptron_lab.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

_SAMPLE: Final = 20  # Lines that tell the separator
_CHUNK: Final = 200_000  # Fields that are read at a time
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*\n)*")
_TOO_LONG: Final = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")
_UNCLOSED: Final = re.compile(r"EOF inside string starting at row (\d+)")


@dataclass(frozen=True)
class Lines:
    """Lines of as many fields each.

    Parameters
    ----------
    text
        The lines; the first one is not blank.
    separator
        What stands between fields; a space for any white space.
    before
        How many blank lines of the file come before the first one.
    sample
        The fields of some lines, the first one among them, without the spaces around them.
    """

    text: str
    separator: str
    before: int
    sample: Sequence[Sequence[str]]

    @classmethod
    def of(cls, text: str, separators: str) -> Lines:
        """Return the lines of a text, by the separator that suits it.

        That is the first of those given that divides each of some lines into as many fields, two
        or more. The comma gives way to another one that does so too, and leaves commas as decimal
        commas alone: as the semicolon of ``0,5;1``.
        """
        blank = _BLANK_LINES.match(text)
        assert blank is not None
        text = text[blank.end() :]
        lines = list(islice(io.StringIO(text), _SAMPLE))
        found = {separator: _fields(lines, separator) for separator in separators}
        first = next(iter(found.values()))
        if not first:
            raise InputError("the file is empty; give rows of numbers")
        agreed = [s for s, rows in found.items() if len({*map(len, rows)}) == 1 < len(rows[0])]
        chosen = agreed[0] if agreed else separators[0]
        if chosen == ",":
            chosen = next((s for s in agreed[1:] if _leaves_decimal_commas(found[s])), chosen)
        return cls(text, chosen, blank[0].count("\n"), found[chosen])

    @property
    def first(self) -> int:
        """The number of the first line in the file, from 1 on."""
        return self.before + 1

    @property
    def width(self) -> int:
        """How many fields a line has."""
        return len(self.sample[0])

    def frames(self) -> Iterator[pd.DataFrame]:
        """Yield the fields of lines that are not blank, as texts, by the numbers of lines."""
        import pandas as pd  # it takes longer to load than most files to read

        try:
            frames = pd.read_csv(
                io.StringIO(self.text),
                sep=r"\s+" if self.separator == " " else self.separator,
                header=None,
                dtype=str,
                keep_default_na=False,
                skip_blank_lines=False,
                skipinitialspace=True,
                chunksize=max(1, _CHUNK // self.width),
            )
            spaced = " " in self.text or "\t" in self.text
            for frame in frames:
                texts = frame.fillna("")
                if spaced:
                    texts = texts.apply(lambda column: column.str.strip())
                texts.index += self.first
                texts = texts[(texts != "").any(axis=1)]
                if len(texts):
                    yield texts
        except pd.errors.ParserError as error:
            raise InputError(self._explained(str(error))) from None

    def count_in(self, line: int) -> int:
        """Return how many fields a line of the file has."""
        return len(self._fields_of(line))

    def empty_columns(self) -> frozenset[int]:
        """Return the columns, by their places, that have neither a name nor an entry."""
        found = {
            j for j in range(self.width) if not any(j < len(row) and row[j] for row in self.sample)
        }
        if found:
            for frame in self.frames():
                found = {j for j in found if not frame[j].any()}
        return frozenset(found)

    def _fields_of(self, line: int) -> list[str]:
        at = line - self.first
        if self.separator == " ":
            return self.text.split("\n")[at].split()
        rows = csv.reader(io.StringIO(self.text), delimiter=self.separator, skipinitialspace=True)
        return next(islice(rows, at, None), [])

    def _explained(self, error: str) -> str:
        """Return what pandas found wrong, and how to mend it."""
        if found := _UNCLOSED.search(error):
            line = int(found[1]) + self.first
            return f"line {line} opens a quotation mark that nothing closes; close or delete it"
        found = _TOO_LONG.search(error)
        if found is None:
            return f"{error}; mend it"
        line = int(found[2]) + self.before
        said = f"line {line} has {found[3]} fields, the first has {found[1]}"
        fields = self._fields_of(line)
        if fields and not fields[-1].strip():
            return f"{said}; delete the separator at its end, or end the first so too"
        if self.separator == "," and DECIMAL_COMMA.fullmatch(",".join(fields)):
            return f"{said}; give every row as many, and a decimal comma as a point"
        return f"{said}; give every row as many, and nothing but the names of columns above them"


def _fields(lines: Sequence[str], separator: str) -> list[list[str]]:
    """Return the fields of lines that are not blank, without the spaces around them."""
    if separator == " ":
        return [line.split() for line in lines if line.strip()]
    split = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    stripped = ([field.strip() for field in fields] for fields in split)
    return [fields for fields in stripped if any(fields)]


def _leaves_decimal_commas(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the only commas in fields are decimal commas."""
    return all(DECIMAL_COMMA.fullmatch(x) for row in rows for x in row if "," in x)
