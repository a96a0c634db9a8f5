"""The checker of exact certificates, one file that imports nothing of this package, as a module.

One of its functions may be compiled for large matrices: the same tests, in whole numbers.

What takes the checker's time are the products LL' of (1) of docs/notes/how-to-distrust-us.md. Here
the entries of L are two words of b bits each, sums of their products stay below 2^61, and M is
compared with them in two words of 2 b bits. No number is rounded. Where words are too short, and
where the compiled test refuses, the checker's own is asked: so nothing is accepted that the file
does not accept, if numba compiles what is written.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from perceptron_lab.core.results import IntArray
from perceptron_lab.numerics.compiled.whole_words import undominated_row

_PACKAGE = Path(__file__).parents[1]
# Smaller matrices take the checker no time; larger ones might overflow sums of words
SMALLEST, LARGEST = 300, 1 << 17
# Bits of a word at most, and of sums; those that squares are rounded up by
_WORD, _SUM, _SHORTER = 26, 61, 12


def checker_path() -> Path:
    """Return the file: in the folder ``checker`` of a checkout, or in that of the package."""
    candidates = [folder / "checker" / "plab_check.py" for folder in (_PACKAGE.parent, _PACKAGE)]
    return next((path for path in candidates if path.is_file()), candidates[-1])


def kinds_path() -> Path:
    """Return the file in its folder that checks kinds of infeasibility."""
    return checker_path().with_name("plab_check_kinds.py")


@cache
def checker() -> Any:
    """Return the checker as a module: its functions are what its command line calls."""
    return loaded()


@cache
def kinds_checker() -> Any:
    """Return the checker of kinds of infeasibility as a module, which imports the other one."""
    sys.modules.setdefault("plab_check", checker())
    return loaded(kinds_path())


def loaded(path: Path | None = None) -> Any:
    """Return a new instance of the checker's module, which callers may modify."""
    path = path or checker_path()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def compiled_checker() -> Any:
    """Return the checker as a module, its products compiled where matrices are large."""
    module = loaded()
    # A separate instance, so that the checker's module stays unchanged
    plain = module.require_definite

    def require_definite(
        entries: dict[tuple[int, int], int], factor: list[object], strict: bool = True
    ) -> None:
        order = 1 + max(row for row, _ in entries)
        if not SMALLEST <= order <= LARGEST or not _dominated(module, entries, order, factor):
            plain(entries, factor, strict)

    module.require_definite = require_definite
    return module


def _dominated(
    module: Any, entries: dict[tuple[int, int], int], order: int, factor: list[Any]
) -> bool:
    """Return whether 2^s M - LL', or M - 2^-s LL', is dominated by its diagonal, for sure."""
    shift = module.whole(factor[0], -module.SHIFT, module.SHIFT)
    columns = [module.entries(column, order, module.SHORT) for column in factor[1:]]
    lengths = [len(column) for column in columns]
    flat = [value for column in columns for value in column.values()]
    longest = max(map(abs, flat), default=0).bit_length()
    bits = (longest + 1) // 2
    if not flat or bits > _WORD:
        return False
    positions = np.array([position for column in columns for position in column])
    of, values = np.repeat(np.arange(len(columns)), lengths), np.array(flat)
    # Stable: columns stay in increasing order within a row
    by_row = np.argsort(positions, kind="stable")
    counts = np.bincount(positions, minlength=order)
    half = np.int64(1) << (bits - 1)
    # Rounded, not cut: the low word is at most half as large, of either sign
    high = (values + half) >> bits
    starts = np.concatenate([[0], np.cumsum(lengths)])
    ends = np.concatenate([[0], np.cumsum(counts)])
    matrix = _two_words(entries, order, shift, 2 * bits)
    if matrix is None:
        return False
    low = values - (high << bits)
    # By Cauchy and Schwarz no sum of products of two rows is above these, nor any part of it
    squares = _row_squares(high, positions, order), _row_squares(low, positions, order)
    # The two mixed sums are at most 2 sqrt(squares[0] squares[1]) together
    if max(*squares, 4 * squares[0] * squares[1] >> _SUM) >> _SUM:
        return False
    slack = int(shift < 0)  # M / 2^-s, rounded down: entries may be larger by less than 1
    by_columns = starts, positions, high, low
    row = undominated_row(by_columns, (ends, of[by_row]), matrix, bits, slack)
    return int(row) < 0


def _row_squares(values: IntArray, positions: IntArray, order: int) -> int:
    """Return an upper bound of the sums of squares of the rows, of values up to 2^26."""
    sums = np.zeros(order, dtype=np.int64)
    # Squares of up to 52 bits are shortened, so that sums of 2^17 of them fit in 63 bits
    np.add.at(sums, positions, (values * values >> _SHORTER) + 1)
    return int(sums.max()) << _SHORTER


def _two_words(
    entries: dict[tuple[int, int], int], order: int, shift: int, bits: int
) -> tuple[IntArray, IntArray, IntArray, IntArray] | None:
    """Return the entries of 2^s M, rounded down, row by row, as high 2^bits + low; or None."""
    positions = sorted(position for position, value in entries.items() if value)
    shifted = [
        entries[position] << shift if shift >= 0 else entries[position] >> -shift
        for position in positions
    ]
    high = [value >> bits for value in shifted]
    if max((abs(value).bit_length() for value in high), default=0) >= _SUM:
        return None
    low = [value & ((1 << bits) - 1) for value in shifted]
    rows = np.bincount([row for row, _ in positions], minlength=order)
    columns = np.array([column for _, column in positions], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(rows)])
    return starts, columns, np.array(high, dtype=np.int64), np.array(low, dtype=np.int64)
