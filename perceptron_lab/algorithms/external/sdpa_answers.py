"""The answers of programs that read SDPA's format, parsed: CSDP's and DSDP's files, and SDPA's."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

import numpy as np

from perceptron_lab.algorithms.external.sdpa_program import BlockAnswer, Blocks
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import FloatArray

_PUNCTUATION = str.maketrans("{},", "   ")
_SECTIONS = re.compile(r"^\s*(xVec|xMat|yMat)\s*=", re.M)


def parse_entries(text: str, variables: int, blocks: Sequence[int]) -> BlockAnswer:
    """Return the answer in a file as CSDP and DSDP write it.

    The first line holds x; the others are ``matrix block row column value``, of matrix 1, which is
    X = F(x), and matrix 2, which is Y; entries on and above the diagonal, those left out are 0.
    """
    head, _, rest = text.partition("\n")
    found = _numbers(head.split(), "the first line")
    if len(found) != variables:
        raise NumericalError(
            f"the answer's first line holds {len(found)} numbers; expected: {variables}"
        )
    values = _numbers_of(rest, "the entries")
    if len(values) % 5:
        raise NumericalError(
            f"the answer holds {len(values)} numbers of entries, no multiple of 5: it is truncated"
        )
    table = values.reshape(-1, 5)
    places = table[:, :4]
    sizes = np.array(blocks, dtype=np.int64)
    with np.errstate(invalid="ignore"):
        known = (places >= 1.0).all(axis=1) & (places == np.floor(places)).all(axis=1)
    known &= (places[:, 0] <= 2.0) & (places[:, 1] <= len(sizes))
    size = sizes[np.where(known, places[:, 1] - 1.0, 0.0).astype(np.int64)]
    known &= (places[:, 2:].max(axis=1, initial=0.0) <= np.abs(size)) & (
        (size > 0) | (places[:, 2] == places[:, 3])
    )
    if not known.all():
        place = " ".join(f"{number:g}" for number in places[np.argmin(known)])
        raise NumericalError(f"the answer has an entry at {place}: there is none")
    matrix, block, row, column = places.astype(np.int64).T - 1
    matrices = (_empty(blocks), _empty(blocks))
    for number, parts in enumerate(matrices):
        for k, part in enumerate(parts):
            here = (matrix == number) & (block == k)
            i, j, value = row[here], column[here], table[here, 4]
            if part.ndim == 1:
                part[i] = value
            else:
                part[i, j] = part[j, i] = value
    return BlockAnswer(found, *matrices)


def parse_sections(text: str, variables: int, blocks: Sequence[int]) -> BlockAnswer:
    """Return the answer in a file as SDPA writes it: ``xVec =``, ``xMat =`` and ``yMat =``.

    Matrices are whole, in braces, row by row; diagonal blocks are their diagonal.
    """
    parts = _SECTIONS.split(text)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    missing = [name for name in ("xVec", "xMat", "yMat") if name not in sections]
    if missing:
        raise NumericalError(f"the answer has no {', '.join(missing)}: it is truncated")
    counts = {"xVec": variables} | dict.fromkeys(("xMat", "yMat"), _entries(blocks))
    found = {}
    for name, count in counts.items():
        # Times follow the last matrix: numbers end with its last brace.
        inside = sections[name][: sections[name].rfind("}") + 1]
        found[name] = _numbers(inside.translate(_PUNCTUATION).split(), name)
        if len(found[name]) != count:
            raise NumericalError(
                f"the answer's {name} holds {len(found[name])} numbers; expected: {count}"
            )
    return BlockAnswer(found["xVec"], _split(found["xMat"], blocks), _split(found["yMat"], blocks))


def _numbers_of(text: str, where: str) -> FloatArray:
    """Return the numbers of a text, which may be those of some thousand rows by as many columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            values = np.fromstring(text, dtype=np.float64, sep=" ")
        except (ValueError, DeprecationWarning):
            return _numbers(text.split(), where)  # exponents after a D, or no numbers
    return _finite(values, where)


def _numbers(words: Sequence[str], where: str) -> FloatArray:
    try:
        values = np.array([float(word.replace("D", "e").replace("d", "e")) for word in words])
    except ValueError as error:
        raise NumericalError(f"the answer holds no number in {where}: {error}") from None
    return _finite(values, where)


def _finite(values: FloatArray, where: str) -> FloatArray:
    if not np.isfinite(values).all():
        raise NumericalError(f"the answer holds NaN or infinity in {where}")
    return values


def _empty(blocks: Sequence[int]) -> Blocks:
    return [np.zeros(-size if size < 0 else (size, size)) for size in blocks]


def _entries(blocks: Sequence[int]) -> int:
    return sum(-size if size < 0 else size**2 for size in blocks)


def _split(values: FloatArray, blocks: Sequence[int]) -> Blocks:
    found: Blocks = []
    first = 0
    for part in _empty(blocks):
        found.append(values[first : first + part.size].reshape(part.shape))
        first += part.size
    return found
