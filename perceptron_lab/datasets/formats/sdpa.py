"""The SDPA sparse format: semidefinite programs as text.

A file states, with symmetric block-diagonal matrices F_0, ..., F_m,

    minimise c'x  subject to  F(x) = x_1 F_1 + ... + x_m F_m - F_0  positive semidefinite.

The sign of F_0 is SDPA's own. The file holds comments, m, the number of blocks, their orders (a
negative order is a diagonal block), c, and one line ``matrix block row column value`` per entry.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np

from perceptron_lab.datasets.formats.sdpa_data import (
    LARGEST_ORDER,
    SdpaData,
    entry_fault,
    first_conflict,
    shortened,
)
from perceptron_lab.datasets.formats.sdpa_text import SdpaText
from perceptron_lab.doubles import LEAST_NORMAL
from perceptron_lab.errors import DataError
from perceptron_lab.results import IntArray

__all__ = ["SdpaData", "format_sdpa", "parse_sdpa", "read_sdpa", "sha256_of_text", "write_sdpa"]

_LARGEST_FILE = 2**30


def parse_sdpa(text: str, source: str = "<text>") -> SdpaData:
    """Read a program from text in the SDPA sparse format.

    Accepted beyond the plain form: comment lines (``"`` or ``*``) at the top, text after the
    counts and the block orders, braces, parentheses and commas, explicit signs, Fortran exponents
    (``1.0D+00``), lists and entries that run over several lines. Explicit zeros are dropped, an
    entry of the lower triangle stands for its mirror image, and an exact repetition counts once.
    Numbers are the decimals printed: where these are no doubles, the data say so.

    Parameters
    ----------
    text
        The text of the file.
    source
        Its name, for messages.

    Raises
    ------
    DataError
        If the text is not such a program; the message names source, line, reason and mend.
    """
    reader = SdpaText(text, source)
    variables = reader.count("the number of variables m")
    blocks = reader.integers(reader.count("the number of blocks"), "block orders")
    if not all(blocks) or sum(map(abs, blocks)) > LARGEST_ORDER:
        raise reader.error(
            reader.line,
            f"block orders {shortened(blocks)}; allowed: none 0, at most {LARGEST_ORDER} in all",
        )
    objective = reader.reals(variables, "the objective")
    places, value = reader.table(5)
    places = places - [0, 1, 1, 1]
    fault = entry_fault(places, value.values, variables, blocks)
    if fault is not None:
        raise reader.error(reader.table_line(5 * fault[0] + 4), fault[1])
    indices: IntArray = places.astype(np.int64)
    conflict = first_conflict(indices, value.values)
    if conflict is not None:
        first, second = (reader.table_line(5 * entry + 4) for entry in conflict)
        values = " and ".join(repr(float(value.values[entry])) for entry in conflict)
        raise reader.error(
            second,
            f"this entry and the one on line {first} give one position the values {values}; "
            "keep one of them",
        )
    if not value.values.any():
        raise reader.error(
            reader.table_line(0), "every entry is 0, so there is no program; mend the file"
        )
    data = SdpaData.from_entries(objective.values, blocks, indices, value.values)
    return replace(data, roundings=value.roundings, objective_roundings=objective.roundings)


def read_sdpa(path: str | Path) -> SdpaData:
    """Read a file in the SDPA sparse format (``.dat-s``); see :func:`parse_sdpa`.

    Raises
    ------
    DataError
        If there is no such file, or it is not a program in this format.
    """
    path, source = Path(path), str(path)
    try:
        if path.exists() and not path.is_file():
            raise DataError(f"{path} is not a regular file; name a .dat-s file")
        if path.stat().st_size > _LARGEST_FILE:
            raise DataError(
                f"{path} is larger than 1 GiB, more than any program this package can treat"
            )
        content = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a path with the character NUL
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise DataError(f"{path} cannot be read ({reason}); check the path") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise DataError(
            f"{path}:{line}: byte 0x{content[error.start]:02x} is not UTF-8 text; give the "
            "uncompressed text file, saved as UTF-8"
        ) from error
    return parse_sdpa(text, source)


def format_sdpa(data: SdpaData) -> str:
    """Return the program as canonical text, so that equal data give equal text.

    Numbers are written with the fewest digits that read back as the same double, subnormal ones in
    full; ``parse_sdpa(format_sdpa(data)) == data``.
    """
    entries = zip(
        data.matrix.tolist(),
        (data.block + 1).tolist(),
        (data.row + 1).tolist(),
        (data.column + 1).tolist(),
        data.value.tolist(),
        strict=True,
    )
    head = [
        str(len(data.objective)),
        str(len(data.blocks)),
        " ".join(map(str, data.blocks)),
        " ".join(map(_printed, data.objective.tolist())),
    ]
    return "\n".join(head + [f"{i} {b} {r} {c} {_printed(v)}" for i, b, r, c, v in entries]) + "\n"


def _printed(value: float) -> str:
    return repr(value) if value == 0.0 or abs(value) >= LEAST_NORMAL else str(Decimal(value))


def write_sdpa(data: SdpaData, path: str | Path) -> None:
    """Write the program as canonical text; see :func:`format_sdpa`."""
    try:
        Path(path).write_text(format_sdpa(data), encoding="ascii", newline="\n")
    except OSError as error:
        raise DataError(
            f"{path} cannot be written ({error.strerror}); choose another place"
        ) from error


def sha256_of_text(data: SdpaData) -> str:
    """Return the sha256 of the canonical text, the identity of generated data."""
    return hashlib.sha256(format_sdpa(data).encode("ascii")).hexdigest()
