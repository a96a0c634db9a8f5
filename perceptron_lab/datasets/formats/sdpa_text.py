"""The numbers of an SDPA file, and the line on which each stands."""

from __future__ import annotations

import re

import numpy as np

from perceptron_lab.doubles import Doubles
from perceptron_lab.errors import DataError, InputError
from perceptron_lab.printed_numbers import PrintedNumbers
from perceptron_lab.results import FloatArray

_PUNCTUATION = str.maketrans(",(){}", "     ")
_FORTRAN_EXPONENT = str.maketrans("dD", "ee")
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_TRAILING_TEXT = re.compile(r"[=A-Za-z\"*]")


class SdpaText:
    """A cursor over the lines of a file: first its counts and lists, then its table of entries.

    Every method raises a ``DataError`` with file, line, reason and mend. What a count promises is
    never allocated: numbers are only made of text that is there. Comments at the top are skipped;
    ``source`` names the file in messages.
    """

    def __init__(self, text: str, source: str) -> None:
        self._source = source
        self._lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._characters = len(text)
        self._next = 0
        while self._next < len(self._lines):
            line = self._lines[self._next].lstrip()
            if line and not line.startswith(('"', "*")):
                break
            self._next += 1

    @property
    def line(self) -> int:
        """The number of the line read last, from 1."""
        return self._next

    def error(self, line: int, reason: str) -> DataError:
        """Return the error that blames a line."""
        return DataError(f"{self._source}:{line}: {reason}")

    def count(self, what: str) -> int:
        """Read a positive number; the rest of its line is the file's own remark."""
        words = re.split(r"[\s=]", self._content(what).strip(), maxsplit=1)
        number = self._integer(words[0], what)
        if number < 1:
            raise self.error(self.line, f"{what} is {number}; allowed: 1 or more")
        if number > self._characters:
            raise self.error(
                self.line,
                f"{what} is {number}, but the whole file has only {self._characters} characters; "
                "mend the count, or fetch the file again",
            )
        return number

    def integers(self, count: int, what: str) -> list[int]:
        """Read a list of integers; text after the last one of a line is a remark."""
        numbers: list[int] = []
        first = self.line + 1
        while len(numbers) < count:
            for word in self._content(what, len(numbers), count).split():
                if _TRAILING_TEXT.match(word):
                    break
                numbers.append(self._integer(word, what))
        self._check_length(len(numbers), count, what, first)
        return numbers

    def reals(self, count: int, what: str) -> Doubles:
        """Read a list of finite numbers, shape ``(count,)``."""
        words: list[str] = []
        numbers: list[float] = []
        first = self.line + 1
        while len(numbers) < count:
            found = self._content(what, len(numbers), count).split()
            numbers += [self._real(word, what) for word in found]
            words += found
        self._check_length(len(numbers), count, what, first)
        return self._printed(words, np.array(numbers), self.line)

    def table(self, width: int) -> tuple[FloatArray, Doubles]:
        """Read all that is left, numbers separated by any white space, as rows of ``width``.

        NaN and infinities pass; the caller knows what each column allows.

        Returns
        -------
        tuple
            The columns but the last, and the last as the decimals printed.
        """
        words = "\n".join(self._lines[self._next :]).translate(_PUNCTUATION).split()
        if not words:
            raise self.error(
                len(self._lines), "the file ends before its first entry; fetch it again"
            )
        numbers = self._table_numbers(words)
        if len(numbers) % width:
            raise self.error(
                self.table_line(len(numbers) - 1),
                f"the entries end after {len(numbers)} numbers, which is no multiple of {width} "
                f"(matrix block row column value); {self._uneven_line(width)}",
            )
        rows = numbers.reshape(-1, width)
        values = rows[:, -1]
        if not np.isfinite(values).all():
            return rows[:, :-1], Doubles(values)  # the caller refuses them
        return rows[:, :-1], self._printed(words[width - 1 :: width], values, self.line + 1)

    def _printed(self, words: list[str], values: FloatArray, line: int) -> Doubles:
        """Return numbers with what became of them when they were made doubles."""
        printed = PrintedNumbers()
        try:
            printed.add([word.translate(_FORTRAN_EXPONENT) for word in words], values)
            return printed.doubles(values)
        except InputError as error:
            raise self.error(line, str(error)) from None

    def table_line(self, word: int) -> int:
        """Return the line on which a number of the table stands (numbers counted from 0)."""
        seen = 0
        for number in range(self._next, len(self._lines)):
            seen += len(self._lines[number].translate(_PUNCTUATION).split())
            if seen > word:
                return number + 1
        return len(self._lines)

    def _content(self, what: str, found: int = 0, promised: int = 0) -> str:
        """Return the next line that is not blank, without punctuation."""
        while self._next < len(self._lines):
            content = self._lines[self._next].translate(_PUNCTUATION)
            self._next += 1
            if content.strip():
                return content
        progress = f" (found {found} of {promised} numbers)" if promised else ""
        raise self.error(
            len(self._lines),
            f"the file ends before {what}{progress}; it is truncated, fetch it again",
        )

    def _integer(self, word: str, what: str) -> int:
        if not _INTEGER.fullmatch(word):
            raise self.error(self.line, f"found {word[:40]!r} in {what}; allowed: a whole number")
        return int(word)

    def _real(self, word: str, what: str) -> float:
        number = _float(word)
        if number is None or not np.isfinite(number):
            raise self.error(self.line, f"found {word[:40]!r} in {what}; allowed: a finite number")
        return number

    def _check_length(self, found: int, promised: int, what: str, first: int) -> None:
        if found > promised:
            where = f"lines {first} to {self.line} hold" if self.line > first else "this line holds"
            raise self.error(
                self.line,
                f"{where} {found} numbers for {what}, but {promised} are promised above; mend the "
                "list or the count",
            )

    def _table_numbers(self, words: list[str]) -> FloatArray:
        """Convert all words at once; only where that fails look for the word that is to blame."""
        text = " ".join(words)
        if text.isascii() and "_" not in text:
            try:
                plain = text.translate(_FORTRAN_EXPONENT).split(" ")
                return np.fromiter(map(float, plain), np.float64, len(plain))
            except ValueError:
                pass
        wrong = next(number for number, word in enumerate(words) if _float(word) is None)
        reason = (
            f"found {words[wrong][:40]!r} among the entries; allowed: matrix block row column value"
        )
        raise self.error(self.table_line(wrong), reason)

    def _uneven_line(self, width: int) -> str:
        for number in range(self._next, len(self._lines)):
            found = len(self._lines[number].translate(_PUNCTUATION).split())
            if found not in (0, width):
                return f"line {number + 1} holds {found}: complete it, or fetch the file again"
        return "fetch the file again"


def _float(word: str) -> float | None:
    """Convert one word; Python's own extras (underscores, other scripts' digits) do not count."""
    if not word.isascii() or "_" in word:
        return None
    try:
        return float(word.translate(_FORTRAN_EXPONENT))
    except ValueError:
        return None
