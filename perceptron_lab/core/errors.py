"""The exceptions of the package, and helpers that word their messages.

Each message says where, what was received, what is allowed and how to correct it. The command line
prints it without a traceback and exits with 2.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import Final
from zipfile import BadZipFile
from zlib import error as ZlibError


class PlabError(Exception):
    """Base of every error that this package raises on purpose.

    Examples
    --------
    >>> from perceptron_lab import solve
    >>> try:
    ...     solve([[1.0, float("nan")]])
    ... except PlabError as error:
    ...     print(error)
    row 0 holds NaN or infinity (1 such entries); remove or replace them
    """


class InputError(PlabError, ValueError):
    """An invalid array, label vector or parameter.

    Examples
    --------
    >>> from perceptron_lab import solve
    >>> try:
    ...     solve([[1.0]], goal="decid")
    ... except InputError as error:
    ...     print(error)
    goal 'decid'; give decide, budget, margin_upper, margin_ratio or width alone
    """


class MissingProgramError(InputError):
    """A solver that is not there: its name, the reason, and how to install it."""

    def __init__(self, name: str, reason: str, remedy: str) -> None:
        super().__init__(name, reason, remedy)
        self.name, self.reason, self.remedy = name, reason, remedy

    def __str__(self) -> str:
        return f"{self.name} {self.reason}; {self.remedy}"


class RowError(InputError):
    """An invalid row: its index, counted from 0, and the reason."""

    def __init__(self, row: int, fault: str) -> None:
        super().__init__(row, fault)
        self.row, self.fault = row, fault

    def __str__(self) -> str:
        return f"row {self.row} {self.fault}"


class DataError(PlabError):
    """A data file that is missing, unreadable, truncated or not the registered one.

    Examples
    --------
    >>> from perceptron_lab import solve
    >>> try:
    ...     solve("absent.csv")
    ... except DataError as error:
    ...     print(error)
    absent.csv: no such file in the current folder
    """


class MissingDataError(DataError):
    """A data file that is missing or cannot be obtained: the reason, and what to do."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason, remedy)
        self.reason, self.remedy = reason, remedy

    def __str__(self) -> str:
        return "; ".join(filter(None, (self.reason, self.remedy)))


class ConfigError(PlabError):
    """An invalid configuration file or command line.

    Examples
    --------
    >>> from perceptron_lab import check
    >>> try:
    ...     check({"experiment": "mine"})
    ... except ConfigError as error:
    ...     print(error)
    algorithms: missing; add it
    problems: missing; add it
    """


class UnknownNameError(ConfigError):
    """An unregistered name, and whether the message suggests a similar one."""

    def __init__(self, text: str, suggests: bool) -> None:
        super().__init__(text, suggests)
        self.text, self.suggests = text, suggests

    def __str__(self) -> str:
        return self.text


class MissingPackageError(PlabError, ModuleNotFoundError):
    """A package that is imported where it is used, and is not installed."""

    def __init__(self, module: str, requirement: str) -> None:
        super().__init__(module, requirement)
        self.name, self.requirement = module, requirement

    def __str__(self) -> str:
        return f"{self.name} is not installed; run `pip install '{self.requirement}'`"


class NumericalError(PlabError, ArithmeticError):
    """An algorithm's own quantities left the range in which its step is defined."""


class ArithmeticModeError(PlabError, ArithmeticError):
    """The processor computes in a mode in which the proofs' error bounds do not hold."""


class StoreError(PlabError):
    """Results that could not be written; those stored before are intact."""


def did_you_mean(word: str, names: Iterable[str], most: int = 1) -> str:
    """Return ``" (did you mean 'x'?)"`` for the closest known words, or an empty string."""
    close = get_close_matches(word, list(names), n=most, cutoff=0.6)
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""


def listed_by(names: Collection[str], command: str) -> str:
    """Return the known words, or the command that lists them if they are many: ``known: ...``."""
    return f"known: {', '.join(names)}" if len(names) <= 8 else f"`{command}` lists them"


def refuse_flags(**flags: object) -> None:
    """Refuse arguments that are not true or false: texts such as "no" would count as true."""
    for name, value in flags.items():
        # numpy's truth values as well, without an import of numpy
        if type(value).__name__ not in ("bool", "bool_"):
            raise InputError(f"{name}={value!r}; allowed: true or false")


def counted(number: int, singular: str, several: str = "") -> str:
    """Return a number with its noun in the singular or plural: ``1 cell``, ``2 cells``."""
    return f"{number} {singular if number == 1 else several or f'{singular}s'}"


NOT_RECORDED: Final = "no data recorded; pass --data FILE, and --labels COLUMN for labelled rows"
"""The message on a saved answer that does not say which data it is of."""
# From zip archives, from compression, from headers of arrays, and from lists cut short.
BROKEN: Final = (
    *(OSError, EOFError, BadZipFile, ZlibError, struct.error, NotImplementedError, RuntimeError),
    *(KeyError, TypeError, ValueError, ArithmeticError, MemoryError),
)
"""The errors of damaged arrays when they are read."""
