"""SDPA's formats, sparse and dense: semidefinite programs as text.

A file states, with symmetric block-diagonal matrices F_0, ..., F_m,

    minimise c'x  subject to  F(x) = x_1 F_1 + ... + x_m F_m - F_0  positive semidefinite.

The sign of F_0 is SDPA's own. The file holds m, the number of blocks, their orders (a negative
order is a diagonal block), c, and one line ``matrix block row column value`` per entry. In the
dense format the entries of F_0, ..., F_m follow instead: of each block all rows, of a diagonal
block the diagonal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from perceptron_lab.core.errors import DataError, InputError, MissingDataError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.datasets.formats.text_files import GZIP, unpacked
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
_PUNCTUATION = str.maketrans(",;(){}[]", " " * 8)
_FORTRAN_EXPONENT = str.maketrans("dD", "ee")
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_REMARKS = re.compile(r"[=\"*#%:].*")
_IGNORED = re.compile(r"(?mi)^[ \t]*\*[ \t]*(INTEGER|RANK1)\b")


def read_sdpa(path: str | Path) -> SdpaData:
    """Read a file in SDPA's formats (``.dat-s``; dense: ``.dat``); see :func:`parse_sdpa`."""
    return decode_sdpa(read_content(Path(path)), str(path))


def read_with_notes(path: Path) -> tuple[SdpaData, tuple[str, ...]]:
    """Return the program of a file, and sentences on what was left out."""
    reader = _reader(read_content(path), str(path))
    return reader.program(), reader.notes()


def plain_text(content: bytes, source: str) -> str:
    """Return a program in the plain sparse format, its decimals as printed.

    Comments, zeros and blocks of order 0 are left out.
    """
    reader = _reader(content, source)
    reader.program()
    return reader.plain()


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
    """Read a program from the bytes of a file, called ``source`` in messages.

    They may be packed by gzip; the format is dense if ``source`` ends with ``.dat`` or ``.dat.gz``.
    """
    return _reader(content, source).program()


def _reader(content: bytes, source: str) -> _SdpaReader:
    if content.startswith(GZIP):
        try:
            content = unpacked(content)
        except InputError as error:
            raise DataError(f"{source}:1: {error}") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise DataError(
            f"{source}:{line}: byte 0x{content[error.start]:02x} is not UTF-8 text; give the "
            "text file, saved as UTF-8, or packed by gzip"
        ) from error
    return _SdpaReader(text, source, dense=source.lower().removesuffix(".gz").endswith(".dat"))


def parse_sdpa(text: str, source: str = "<text>", *, dense: bool = False) -> SdpaData:
    """Read a program from text in SDPA's sparse or dense format.

    Accepted beyond the plain form: comments and remarks, which begin with one of ``"*=:#%`` and
    end with the line, and words after the counts and lists; brackets of any kind, commas and
    semicolons, explicit signs, Fortran exponents (``1.0D+00``), lists and entries that run over
    several lines, blocks of order 0. Explicit zeros are dropped, an entry of the lower triangle
    stands for its mirror image, and an exact repetition counts once.
    Numbers are the decimals printed: where these are not doubles, the data record it.

    Parameters
    ----------
    text
        The text of the file.
    source
        Its name in messages, each a ``DataError`` with source, line, reason and remedy.
    dense
        Whether the format is the dense one.
    """
    return _SdpaReader(text, source, dense=dense).program()


class _SdpaReader:
    """A cursor over the lines of a file: first its counts and lists, then its table of entries."""

    # A count that promises too much allocates nothing: numbers are only made of text that is there

    def __init__(self, text: str, source: str, *, dense: bool) -> None:
        self._source, self._characters, self._dense = source, len(text), dense
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        self._ignored = sorted({word.upper() for word in _IGNORED.findall(text)})
        self._lines = _REMARKS.sub("", text).split("\n")
        self._line = 0  # the number of the line read last, from 1
        self._orders: list[int] = []
        self._costs: list[str] = []
        self._entries: list[str] = []

    def program(self) -> SdpaData:
        """Read the whole text."""
        variables = self.count("the number of variables m")
        blocks = self.integers(self.count("the number of blocks"), "block orders")
        if not any(blocks) or sum(map(abs, blocks)) > LARGEST_ORDER:
            raise self.error(
                f"block orders {shortened(blocks)}; allowed: at least one that is not 0, at most "
                f"{LARGEST_ORDER} in all"
            )
        self._orders = blocks
        objective = self.reals(variables, "the objective")
        indices_read, value = self._dense_table() if self._dense else self.table(5)
        indices_read = indices_read - [0, 1, 1, 1]
        fault = entry_fault(indices_read, value.values, variables, blocks)
        if fault is not None:
            raise self.error(fault[1], self._entry_line(fault[0]))
        indices: IntArray = indices_read.astype(np.int64)
        self._refuse_conflict(indices, value.values)
        if not value.values.any():
            raise self.error(
                "every entry is 0, so there is no program; correct the file", self.table_line(0)
            )
        # A block of order 0 has no entries
        orders = np.array(blocks)
        indices[:, 1] = (np.cumsum(orders != 0) - 1)[indices[:, 1]]
        sizes = orders[orders != 0].tolist()
        data = SdpaData.from_entries(objective.values, sizes, indices, value.values)
        return replace(
            data,
            roundings=value.roundings,
            objective_roundings=objective.roundings,
            # Then they have 15 digits at most
            decimals=value.integers is not None,
        )

    def _refuse_conflict(self, indices: IntArray, value: FloatArray) -> None:
        """Raise an error if two entries give one position different values."""
        conflict = first_conflict(indices, value)
        if conflict is not None:
            first, second = (self._entry_line(entry) for entry in conflict)
            values = " and ".join(repr(float(value[entry])) for entry in conflict)
            raise self.error(
                f"this entry and the one on line {first} give one position the values {values}; "
                "keep one of them",
                second,
            )

    def _entry_line(self, entry: int) -> int:
        return self.table_line(entry if self._dense else 5 * entry + 4)

    def notes(self) -> tuple[str, ...]:
        """Return sentences on what was left out of the program."""
        empty = [str(at) for at, order in enumerate(self._orders, 1) if not order]
        notes = [f"*{word} is ignored: unknowns are real, of any rank" for word in self._ignored]
        if empty:
            notes.append(f"blocks of order 0 are left out, and not counted: {', '.join(empty)}")
        return tuple(notes)

    def plain(self) -> str:
        """Return the text that was read in the plain sparse format."""
        block_numbers = np.cumsum(np.array(self._orders) != 0)
        orders = [str(order) for order in self._orders if order]
        head = [str(len(self._costs)), str(len(orders)), " ".join(orders), " ".join(self._costs)]
        words = " ".join(self._entries).translate(_FORTRAN_EXPONENT).split()
        lines = ((map(float, words[at : at + 4]), words[at + 4]) for at in range(0, len(words), 5))
        table = [
            f"{matrix:.0f} {block_numbers[int(block) - 1]} {row:.0f} {column:.0f} {value}"
            for (matrix, block, row, column), value in lines
            if float(value)
        ]
        return "\n".join([*head, *table, ""]).translate(_FORTRAN_EXPONENT)

    def error(self, reason: str, line: int | None = None) -> DataError:
        """Return the error that blames a line, by default the one read last."""
        line = self._line if line is None else line
        widths = {len(text.translate(_PUNCTUATION).split()) for text in self._lines} - {0}
        remedy = "the name of a table has to end with .txt"
        # The number m of matrices stands alone: with as many numbers in every line it is none
        if self._dense and len(widths) == 1 and widths != {1}:
            line, reason = 1, f"each line holds {widths.pop()} numbers, as in a table; {remedy}"
        elif self._dense and line < 3:
            reason = f"{reason}; {remedy}"
        return DataError(f"{self._source}:{line}: {reason}")

    def count(self, quantity: str) -> int:
        """Read a positive number; the rest of its line is the file's own remark."""
        number = self._integer(self._content(quantity).split()[0], quantity)
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
        return [self._integer(word, quantity) for word in self._words(count, quantity, words=True)]

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
        self._costs = words
        return self._printed(words, np.array(numbers), self._line)

    def table(self, width: int) -> tuple[FloatArray, Doubles]:
        """Read all that is left, numbers separated by any white space, as rows of ``width``.

        Returned are the columns but the last, and the last as the decimals printed. NaN and
        infinities pass; the caller knows what each column allows.
        """
        words, numbers = self._remaining("matrix block row column value")
        self._entries = words
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

    def _remaining(self, allowed: str) -> tuple[list[str], FloatArray]:
        """Read all numbers that are left."""
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
                f"found {words[first][:40]!r} among the entries; allowed: {allowed}",
                self.table_line(first),
            )
        return words, numbers

    def _dense_table(self) -> tuple[FloatArray, Doubles]:
        """Read all that is left, entries of whole matrices, as :meth:`table` returns them."""
        words, numbers = self._remaining("numbers")
        blocks, matrices = self._orders, len(self._costs) + 1
        each = sum(-order if order < 0 else order**2 for order in blocks)
        if len(numbers) != matrices * each:
            raise self.error(
                f"{len(numbers)} entries follow, but {matrices} matrices of blocks of orders "
                f"{shortened(blocks)} have {each} each; allowed: all rows of each block, of a "
                "diagonal block the diagonal; a file of lines `matrix block row column value` "
                "ends with .dat-s",
                len(self._lines),
            )
        positions = [
            (block, i, j)
            for block, order in enumerate(blocks, 1)
            for i in range(1, abs(order) + 1)
            for j in ([i] if order < 0 else range(1, order + 1))
        ]
        indices = np.column_stack(
            [np.repeat(np.arange(matrices), each), np.tile(np.array(positions), (matrices, 1))]
        )
        self._entries = [
            word
            for at in np.flatnonzero(numbers).tolist()
            for word in (*map(str, indices[at].tolist()), words[at])
        ]
        if not np.isfinite(numbers).all():
            return indices.astype(float), Doubles(numbers)  # the caller refuses them
        return indices.astype(float), self._printed(words, numbers, self._line + 1)

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

    def _words(self, count: int, quantity: str, *, words: bool = False) -> Iterator[str]:
        """Yield the words of a list; its lines must contain exactly ``count`` numbers."""
        numbers_read, first = 0, self._line + 1
        while numbers_read < count:
            progress = f" (found {numbers_read} of {count} numbers)"
            for word in self._content(quantity, progress).split():
                if word[0].isalpha() and (words or numbers_read == count):
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
