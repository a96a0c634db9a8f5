"""The SDPA sparse format: semidefinite programs as text.

A file states, with symmetric block-diagonal matrices F_0, ..., F_m,

    minimise c'x  subject to  F(x) = x_1 F_1 + ... + x_m F_m - F_0  positive semidefinite.

The sign of F_0 is SDPA's own. The file holds comments, m, the number of blocks, their orders (a
negative order is a diagonal block), c, and one line ``matrix block row column value`` per entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import numpy as np

from perceptron_lab.core.errors import DataError, InputError, MissingDataError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.datasets.regular_files import read_regular
from perceptron_lab.numerics.doubles import Doubles, PrintedNumbers
from perceptron_lab.systems.pencil import (
    LARGEST_ORDER,
    SdpaData,
    entry_fault,
    first_conflict,
    shortened,
)

# Bytes; no program of more can be treated
_LARGEST_FILE = 2**30
_PUNCTUATION = str.maketrans(",(){}", "     ")
_FORTRAN_EXPONENT = str.maketrans("dD", "ee")
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_REMARK = re.compile(r"[=A-Za-z\"*]")


def read_sdpa(path: str | Path) -> SdpaData:
    """Read a file in the SDPA sparse format (``.dat-s``); see :func:`parse_sdpa`."""
    return decode_sdpa(read_content(Path(path)), str(path))


def read_content(path: Path) -> bytes:
    """Return the bytes of a program's file; every error is a ``DataError``."""
    try:
        return read_regular(path, _LARGEST_FILE)
    except (OSError, ValueError) as error:  # ValueError: a path with the character NUL
        if isinstance(error, FileNotFoundError):
            raise MissingDataError(f"{path}: no such file; check the path") from error
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise DataError(f"{path} cannot be read ({reason}); check the path") from error


def decode_sdpa(content: bytes, source: str) -> SdpaData:
    """Read a program from the bytes of a file, called ``source`` in messages."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise DataError(
            f"{source}:{line}: byte 0x{content[error.start]:02x} is not UTF-8 text; give the "
            "uncompressed text file, saved as UTF-8"
        ) from error
    return parse_sdpa(text, source)


def parse_sdpa(text: str, source: str = "<text>") -> SdpaData:
    """Read a program from text in the SDPA sparse format.

    Accepted beyond the plain form: comment lines (``"`` or ``*``) at the top, text after the
    counts and the block orders, braces, parentheses and commas, explicit signs, Fortran exponents
    (``1.0D+00``), lists and entries that run over several lines. Explicit zeros are dropped, an
    entry of the lower triangle stands for its mirror image, and an exact repetition counts once.
    Numbers are the decimals printed: where these are not doubles, the data record it.

    Parameters
    ----------
    text
        The text of the file.
    source
        Its name in messages, each a ``DataError`` with source, line, reason and remedy.
    """
    reader = _SdpaReader(text, source)
    variables = reader.count("the number of variables m")
    blocks = reader.integers(reader.count("the number of blocks"), "block orders")
    if not all(blocks) or sum(map(abs, blocks)) > LARGEST_ORDER:
        raise reader.error(
            f"block orders {shortened(blocks)}; allowed: none 0, at most {LARGEST_ORDER} in all"
        )
    objective = reader.reals(variables, "the objective")
    indices_read, value = reader.table(5)
    indices_read = indices_read - [0, 1, 1, 1]
    fault = entry_fault(indices_read, value.values, variables, blocks)
    if fault is not None:
        raise reader.error(fault[1], reader.table_line(5 * fault[0] + 4))
    indices: IntArray = indices_read.astype(np.int64)
    conflict = first_conflict(indices, value.values)
    if conflict is not None:
        first, second = (reader.table_line(5 * entry + 4) for entry in conflict)
        values = " and ".join(repr(float(value.values[entry])) for entry in conflict)
        raise reader.error(
            f"this entry and the one on line {first} give one position the values {values}; "
            "keep one of them",
            second,
        )
    if not value.values.any():
        raise reader.error(
            "every entry is 0, so there is no program; correct the file", reader.table_line(0)
        )
    data = SdpaData.from_entries(objective.values, blocks, indices, value.values)
    return replace(data, roundings=value.roundings, objective_roundings=objective.roundings)


class _SdpaReader:
    """A cursor over the lines of a file: first its counts and lists, then its table of entries."""

    # A count that promises too much allocates nothing: numbers are only made of text that is there

    def __init__(self, text: str, source: str) -> None:
        self._source, self._characters = source, len(text)
        self._lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        stripped = map(str.lstrip, self._lines)
        comments = takewhile(lambda line: not line or line.startswith(('"', "*")), stripped)
        self._line = len(list(comments))  # the number of the line read last, from 1

    def error(self, reason: str, line: int | None = None) -> DataError:
        """Return the error that blames a line, by default the one read last."""
        return DataError(f"{self._source}:{self._line if line is None else line}: {reason}")

    def count(self, quantity: str) -> int:
        """Read a positive number; the rest of its line is the file's own remark."""
        words = re.split(r"[\s=]", self._content(quantity).strip(), maxsplit=1)
        number = self._integer(words[0], quantity)
        if number < 1:
            raise self.error(f"{quantity} is {number}; allowed: 1 or more")
        if number > self._characters:
            raise self.error(
                f"{quantity} is {number}, but the whole file has only {self._characters} "
                "characters; "
                "correct the count, or fetch the file again"
            )
        return number

    def integers(self, count: int, quantity: str) -> list[int]:
        """Read a list of integers; text after the last one of a line is a remark."""
        return [
            self._integer(word, quantity) for word in self._words(count, quantity, remarks=True)
        ]

    def reals(self, count: int, quantity: str) -> Doubles:
        """Read a list of finite numbers, shape ``(count,)``."""
        words: list[str] = []
        numbers: list[float] = []
        for word in self._words(count, quantity):
            number = _numbers([word])
            if number is None or not np.isfinite(number).all():
                raise self.error(f"found {word[:40]!r} in {quantity}; allowed: a finite number")
            words.append(word)
            numbers += number.tolist()
        return self._printed(words, np.array(numbers), self._line)

    def table(self, width: int) -> tuple[FloatArray, Doubles]:
        """Read all that is left, numbers separated by any white space, as rows of ``width``.

        Returned are the columns but the last, and the last as the decimals printed. NaN and
        infinities pass; the caller knows what each column allows.
        """
        words = "\n".join(self._lines[self._line :]).translate(_PUNCTUATION).split()
        if not words:
            raise self.error(
                "the file ends before its first entry; fetch it again", len(self._lines)
            )
        numbers = _numbers(words)
        if numbers is None:
            first = next(
                position for position, word in enumerate(words) if _numbers([word]) is None
            )
            raise self.error(
                f"found {words[first][:40]!r} among the entries; allowed: matrix block row column "
                "value",
                self.table_line(first),
            )
        if len(numbers) % width:
            uneven = (
                f"line {line} holds {count}: complete it, or fetch the file again"
                for line, count in self._counts()
                if count not in (0, width)
            )
            raise self.error(
                f"the entries end after {len(numbers)} numbers, which is no multiple of {width} "
                f"(matrix block row column value); {next(uneven, 'fetch the file again')}",
                self.table_line(len(numbers) - 1),
            )
        rows = numbers.reshape(-1, width)
        values = rows[:, -1]
        if not np.isfinite(values).all():
            return rows[:, :-1], Doubles(values)  # the caller refuses them
        return rows[:, :-1], self._printed(words[width - 1 :: width], values, self._line + 1)

    def table_line(self, word: int) -> int:
        """Return the line on which a number of the table stands (numbers counted from 0)."""
        for line, count in self._counts():
            word -= count
            if word < 0:
                return line
        return len(self._lines)

    def _counts(self) -> Iterator[tuple[int, int]]:
        """Yield the lines of the table, each with its count of numbers."""
        for line, text in enumerate(self._lines[self._line :], self._line + 1):
            yield line, len(text.translate(_PUNCTUATION).split())

    def _printed(self, words: list[str], values: FloatArray, line: int) -> Doubles:
        """Return numbers as doubles, with the rounding of their decimals."""
        printed = PrintedNumbers()
        try:
            printed.add([word.translate(_FORTRAN_EXPONENT) for word in words], values)
            return printed.doubles(values)
        except InputError as error:
            raise self.error(str(error), line) from None

    def _content(self, quantity: str, progress: str = "") -> str:
        """Return the next line that is not blank, without punctuation."""
        while self._line < len(self._lines):
            content = self._lines[self._line].translate(_PUNCTUATION)
            self._line += 1
            if content.strip():
                return content
        raise self.error(
            f"the file ends before {quantity}{progress}; it is truncated, fetch it again",
            len(self._lines),
        )

    def _words(self, count: int, quantity: str, *, remarks: bool = False) -> Iterator[str]:
        """Yield the words of a list; its lines must contain exactly ``count`` numbers."""
        numbers_read, first = 0, self._line + 1
        while numbers_read < count:
            progress = f" (found {numbers_read} of {count} numbers)"
            for word in self._content(quantity, progress).split():
                if remarks and _REMARK.match(word):
                    break
                numbers_read += 1
                yield word
        if numbers_read > count:
            several = self._line > first
            where = f"lines {first} to {self._line} hold" if several else "this line holds"
            raise self.error(
                f"{where} {numbers_read} numbers for {quantity}, but {count} are promised above; "
                "correct the "
                "list or the count"
            )

    def _integer(self, word: str, quantity: str) -> int:
        if not _INTEGER.fullmatch(word):
            raise self.error(f"found {word[:40]!r} in {quantity}; allowed: a whole number")
        return int(word)


def _numbers(words: list[str]) -> FloatArray | None:
    """Return the numbers that words print, or None if one prints none."""
    # Python's own extras, underscores and digits of other scripts, are no numbers in other readers
    text = " ".join(words)
    if not text.isascii() or "_" in text:
        return None
    try:
        plain = text.translate(_FORTRAN_EXPONENT).split(" ")
        return np.fromiter(map(float, plain), np.float64, len(plain))
    except ValueError:
        return None
