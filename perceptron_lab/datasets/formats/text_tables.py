"""Rows of numbers as text: separators found, columns named, numbers as the decimals printed."""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from perceptron_lab.datasets.formats.columns import (
    LONGEST_TEXT,
    Columns,
    Contents,
    allowed_bytes,
    as_labels,
    is_number,
)
from perceptron_lab.errors import InputError
from perceptron_lab.printed_numbers import PrintedNumbers

if TYPE_CHECKING:
    import pandas as pd

STANDARD_INPUT: Final = Path("-")
"""The path that stands for standard input."""

_MISSING: Final = frozenset({"", "?", "na", "n/a", "<na>", "nan", "null", "none"})
_DECIMAL_COMMA: Final = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([ T].*)?|\d{1,2}([./])\d{1,2}\2\d{2,4}")
_SAMPLE: Final = 20  # Lines that tell the separator
_CHUNK: Final = 200_000  # Fields that are converted at a time
# What may stand between fields, by the end of a file's name
_SEPARATORS: Final = {".csv": ",;\t", ".tsv": "\t;,", ".txt": "\t;, "}


def read_text(path: Path, kind: str, columns: Columns, *, exact: bool = False) -> Contents:
    """Return the numbers of a text, as the decimals printed, with names and labels of columns.

    Parameters
    ----------
    path
        The file, which may be packed by gzip, or :data:`STANDARD_INPUT`.
    kind
        ``.csv``, ``.tsv`` or ``.txt``: the separator that is preferred where several would do.
    columns
        Which of them holds labels, and what is done about missing entries and texts.
    exact
        Whether decimals are kept that no doubles are equal to.
    """
    table = _opened(_text_of(path), _SEPARATORS[kind], columns)
    contents = table.read(exact=exact)
    if table.header is not None:
        assert contents.features is not None
        columns.refuse_hidden_labels(contents.features, contents.rows.values[:, -1])
    return contents


def _text_of(path: Path) -> str:
    """Return a file's text, unpacked if its first bytes are gzip's."""
    content = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        allowed = allowed_bytes()
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
                content = file.read(allowed + 1 if allowed else -1)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"it cannot be unpacked ({error}); pack it anew") from None
        if len(content) > allowed > 0:
            raise InputError(
                f"unpacked it takes more than {allowed / 2**30:.3g} GiB, half of this machine's "
                "memory; save the rows as .npy"
            )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} is no UTF-8; save it as UTF-8") from None


def _fields(lines: Sequence[str], separator: str) -> list[list[str]]:
    """Return the fields of lines that are not blank, without the spaces around them."""
    if separator == " ":
        return [line.split() for line in lines if line.strip()]
    split = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    stripped = ([field.strip() for field in fields] for fields in split)
    return [fields for fields in stripped if any(fields)]


def _opened(text: str, separators: str, columns: Columns) -> _Table:
    """Find the separator, the names and the labels of columns, by the first lines of a text."""
    sample = [line for _, line in zip(range(_SAMPLE), io.StringIO(text), strict=False)]
    found = {separator: _fields(sample, separator) for separator in separators}
    first = next(iter(found.values()))
    if not first:
        raise InputError("the file is empty; give rows of numbers")
    # The first that divides every line into as many fields, two or more; or else its own.
    agreed = [s for s, lines in found.items() if len({*map(len, lines)}) == 1 < len(lines[0])]
    separator = agreed[0] if agreed else separators[0]
    names = found[separator][0]
    place = columns.place_in(names)
    named = columns.labels in names and not str(columns.labels).isdigit()
    named |= not any(is_number(_pointed(x, separator)) for j, x in enumerate(names) if j != place)
    return _Table(text, separator, names if named else None, len(names), place, columns)


def _pointed(field: str, separator: str) -> str:
    """Return a number with a decimal point, where no comma separates fields."""
    comma = separator != "," and _DECIMAL_COMMA.fullmatch(field)
    return field.replace(",", ".") if comma else field


@dataclass
class _Table:
    """A text whose columns are known.

    Parameters
    ----------
    text, separator
        Its lines, and what stands between their fields.
    header
        The names of the columns; None if the first line holds numbers.
    width
        How many fields a line has.
    place
        The column of the labels, or None.
    columns
        What was asked of the columns.
    """

    text: str
    separator: str
    header: list[str] | None
    width: int
    place: int | None
    columns: Columns

    def read(self, *, exact: bool = False) -> Contents:
        """Return the numbers of all lines; ``exact`` as for :func:`read_text`."""
        index = self._counts_rows()
        kept = [j for j in range(self.width) if j not in (self.place, index)]
        if not kept:
            raise InputError("no column but that of the labels; give one of numbers or more")
        categories = self._categories(kept) if self.columns.one_hot else {}
        printed, arrays, classes, count = PrintedNumbers(), [], [], 0
        kept_words = list[Any]()
        for chunk in self._chunks():
            count += len(chunk)
            complete, words, values = self._converted(chunk, kept, categories)
            printed.add(words.ravel().tolist(), values.ravel())
            arrays.append(values)
            kept_words += [words] * exact
            classes += [] if self.place is None else complete[self.place].tolist()
        if not sum(map(len, arrays)):
            raise InputError(
                "only names of columns are in the file; give rows of numbers below"
                if not count
                else "every row lacks an entry; fill them, or leave columns out"
            )
        names = self.header or [str(j + 1) for j in range(self.width)]
        contents = Contents(printed.doubles(np.concatenate(arrays)))
        if exact and contents.rows.roundings and contents.rows.whole is None:
            contents.decimals = np.vectorize(Decimal, otypes=[object])(np.concatenate(kept_words))
        if self.header is not None:
            contents.features = [
                f"{names[j]}={value}" if j in categories else names[j]
                for j in kept
                for value in categories.get(j, [""])
            ]
        if self.place is not None:
            contents.classes, contents.label = as_labels(classes), names[self.place]
        if index is not None:
            contents.notes.append("the first column, without a name, counts the rows: left out")
        if dropped := count - len(contents.rows.values):
            contents.notes.append(f"{dropped} of {count} rows lack an entry: left out")
        return contents

    def _chunks(self) -> Iterator[pd.DataFrame]:
        """Yield lines as frames of texts, by their numbers; blank ones are left out."""
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
            wanting, spaced = self.header is not None, " " in self.text or "\t" in self.text
            for frame in frames:
                texts = frame.fillna("")
                if spaced:
                    texts = texts.apply(lambda column: column.str.strip())
                texts.index += 1
                texts = texts[(texts != "").any(axis=1)]
                if wanting and len(texts):  # the first line that is not blank
                    texts, wanting = texts.iloc[1:], False
                if len(texts):
                    yield texts
        except pd.errors.ParserError as error:
            found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
            if found is None:
                raise InputError(f"{error}; mend it") from None
            raise InputError(
                f"line {found[2]} has {found[3]} fields, the first has {found[1]}; give every row "
                "as many"
            ) from None

    def _converted(
        self, chunk: pd.DataFrame, kept: Sequence[int], categories: dict[int, list[str]]
    ) -> tuple[pd.DataFrame, Any, Any]:
        """Return the rows that lack no entry, their printed numbers, and the nearest doubles."""
        texts = [*categories, *([] if self.place is None else [self.place])]
        if not self._lacking(chunk, texts).to_numpy().any():
            words = self._words(chunk, kept, categories)
            with suppress(ValueError):
                values = words.astype(float)
                if np.isfinite(values).all():
                    return chunk, words, values
        complete = self._complete(chunk, kept)
        words = self._words(complete, kept, categories)
        return complete, words, self._numbers(complete, words, kept)

    @staticmethod
    def _lacking(chunk: pd.DataFrame, columns: Sequence[int]) -> pd.DataFrame:
        """Return where columns hold no value."""
        found: pd.DataFrame = chunk[list(columns)].apply(
            lambda column: column.str.lower().isin(_MISSING)
        )
        return found

    def _complete(self, chunk: pd.DataFrame, kept: Sequence[int]) -> pd.DataFrame:
        """Return the rows that lack no entry; refuse the others if they are not to be left out."""
        used = [*kept, *([] if self.place is None else [self.place])]
        lacking = self._lacking(chunk, used)
        if not lacking.to_numpy().any():
            return chunk
        if self.columns.drop_missing:
            complete: pd.DataFrame = chunk[~lacking.any(axis=1)]
            return complete
        row, at = np.argwhere(lacking.to_numpy())[0].tolist()
        j = used[at]
        raise InputError(
            f"line {chunk.index[row]}, {self._named(j)}: received {chunk[j].iloc[row]!r}, no "
            "value; fill it, or leave such rows out: --drop-missing"
        )

    def _words(
        self, chunk: pd.DataFrame, kept: Sequence[int], categories: dict[int, list[str]]
    ) -> Any:
        """Return the printed numbers of rows, shape ``(m, n)``; categories become 0 and 1."""
        parts = []
        for j in kept:
            texts = chunk[j].to_numpy(dtype=object)
            if j in categories:
                parts += [np.where(texts == value, "1", "0") for value in categories[j]]
            elif self.separator != "," and any("," in text for text in texts):
                parts.append(np.array([_pointed(text, self.separator) for text in texts], object))
            else:
                parts.append(texts)
        return np.array(parts, dtype=object).T.reshape(len(chunk), len(parts))

    def _numbers(self, chunk: pd.DataFrame, words: Any, kept: Sequence[int]) -> Any:
        """Return the doubles nearest to printed numbers; refuse what is none, or not finite."""
        try:
            values = words.astype(float)
        except ValueError:
            j, line, word = next(
                (j, line, word)
                for j in kept
                for line, word in chunk[j].items()
                if not is_number(_pointed(word, self.separator))
            )
            raise InputError(self._no_number(f"line {line}, {self._named(j)}", j, word)) from None
        if not np.isfinite(values).all():
            row, place = np.argwhere(~np.isfinite(values))[0]
            where = f"line {chunk.index[row]}"
            if words.shape[1] == len(kept):
                where += f", {self._named(kept[place])}"
            raise InputError(
                f"{where}: received {words[row, place][:LONGEST_TEXT]!r}; give finite numbers, or "
                "remove the row"
            )
        return values

    def _no_number(self, where: str, j: int, word: str) -> str:
        said = f"{where}: received {word[:LONGEST_TEXT]!r}, which is no number"
        if _DECIMAL_COMMA.fullmatch(word):
            return f"{said}; write it with a decimal point, or separate the columns by semicolons"
        if _DATE.fullmatch(word.strip()):
            mend = "give dates as numbers, such as days since the first one"
            return f"{said}; {mend}, or leave the column out"
        if self.place is not None:
            return f"{said}; mend it, or make columns of 0 and 1 of texts: --one-hot"
        name = str(j + 1) if self.header is None else self.header[j]
        return (
            f"{said}; say --labels {name} if the column holds the labels, or --rows --one-hot if "
            "it is a coordinate"
        )

    def _named(self, j: int) -> str:
        return f"column {j + 1 if self.header is None else repr(self.header[j])}"

    def _counts_rows(self) -> int | None:
        """Return 0 if the first column has no name and counts the rows, as pandas writes them."""
        if self.header is None or self.header[0] not in ("", "Unnamed: 0") or self.width < 2:
            return None
        counted = [text for chunk in self._chunks() for text in chunk[0]]
        starts = (counted == [str(start + k) for k in range(len(counted))] for start in (0, 1))
        return 0 if any(starts) else None

    def _categories(self, kept: Sequence[int]) -> dict[int, list[str]]:
        """Return the values of each column of texts, sorted, by its place."""
        seen: dict[int, set[str]] = {j: set() for j in kept}
        for chunk in self._chunks():
            for j in kept:
                seen[j].update(chunk[j])
        return {
            j: sorted(text for text in values if text.lower() not in _MISSING)
            for j, values in seen.items()
            if not all(
                text.lower() in _MISSING or is_number(_pointed(text, self.separator))
                for text in values
            )
        }
