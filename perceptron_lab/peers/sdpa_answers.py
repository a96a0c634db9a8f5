"""The answers of programs that read SDPA's format, parsed: CSDP's and DSDP's files, and SDPA's."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from perceptron_lab.errors import NumericalError
from perceptron_lab.peers.sdpa_program import BlockAnswer, Blocks
from perceptron_lab.results import FloatArray

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
    words = rest.split()
    if len(words) % 5:
        raise NumericalError(
            f"the answer holds {len(words)} numbers of entries, no multiple of 5: it is truncated"
        )
    table = _numbers(words, "the entries").reshape(-1, 5)
    matrices = (_empty(blocks), _empty(blocks))
    for matrix, block, row, column, value in table:
        try:
            if not (matrix in (1, 2) and min(block, row, column) >= 1):
                raise IndexError
            part = matrices[int(matrix) - 1][int(block) - 1]
            i, j = int(row) - 1, int(column) - 1
            if part.ndim == 1:
                if i != j:
                    raise IndexError
                part[i] = value
            else:
                part[i, j] = part[j, i] = value
        except IndexError:
            place = f"{matrix:g} {block:g} {row:g} {column:g}"
            raise NumericalError(f"the answer has an entry at {place}: there is none") from None
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


def _numbers(words: Sequence[str], where: str) -> FloatArray:
    try:
        values = np.array([float(word.replace("D", "e").replace("d", "e")) for word in words])
    except ValueError as error:
        raise NumericalError(f"the answer holds no number in {where}: {error}") from None
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
