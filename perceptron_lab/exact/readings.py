"""How a checker reads the data of a system: a file of a user's own, as printed, or one written.

A reading is the part ``data`` of a certificate but for the file's name and sha256:

- ``{"kind": "sdpa", "question": "feasibility" or "recession", "digits": d}``: an SDPA file, its
  decimals times 10^d whole numbers;
- ``{"kind": "csv", "separator", "skip": lines, "digits", "labels": [column, negative, positive] or
  null, "width", "cone"}``: a text of rows, decimals as printed; with labels the rows s_i (x_i, 1);
- ``{"kind": "npy", "bits": k, "width", "cone"}``: a matrix in numpy's format, each entry the double
  that it is, times 2^k a whole number. With ``"form": "gram"`` the rows are inner products
  <psi_i, psi_j> of features, k even: (6) of docs/notes/how-to-distrust-us.md; with
  ``"form": "squares"`` they are vectors (x, 1), those inside first.

``cone`` lists [kind, order] of the blocks, whose scores are the rows in this order.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.errors import InputError
from perceptron_lab.exact.checker import checker
from perceptron_lab.exact.whole_numbers import common_bits
from perceptron_lab.numerics.exact_texts import exact_text
from perceptron_lab.operators.base import Operator
from perceptron_lab.operators.classes import Classes
from perceptron_lab.operators.gram import Gram
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.results import FloatArray
from perceptron_lab.system import ConicSystem
from perceptron_lab.system.conditions import Condition

# Entries of dense data that are written at most: 800 MB
MOST_ENTRIES = 100_000_000
_PLACES = re.compile(r"(?:\.([0-9]*)|(?<=[0-9]))(?:[eEdD]([+-]?[0-9]+))?(?![0-9.])")
_SEPARATORS = (",", ";", "\t", " ")


@dataclass(frozen=True)
class Reading:
    """The data of a certificate.

    Parameters
    ----------
    said
        How they are read.
    content
        Their bytes.
    path
        The file that they are, which is a user's own or a collection's; None if it is to be
        written.
    """

    said: dict[str, Any]
    content: bytes
    path: Path | None = None

    def system(self) -> Any:
        """Return the checker's system; the last one is kept, for the next answer on its data."""
        return _system(self.content, json.dumps(self.said))


@lru_cache(maxsize=1)
def _system(content: bytes, said: str) -> Any:
    read = json.loads(said)
    reads = checker().sdpa_system if read["kind"] == "sdpa" else checker().table_system
    return reads(content, read)


def digits_of(text: str) -> int:
    """Return the least d for which 10^d times every decimal in a text is whole."""
    needed = (
        len((after or "").rstrip("0")) - int(exponent or 0)
        for after, exponent in _PLACES.findall(text)
    )
    return max(0, max(needed, default=0))


def of_sdpa(path: Path, question: Literal["feasibility", "recession"]) -> Reading:
    """Return the reading of an SDPA file."""
    content = path.read_bytes()
    digits = digits_of(content.decode("utf-8-sig"))
    return Reading({"kind": "sdpa", "question": question, "digits": digits}, content, path)


def of_table(path: Path, system: ConicSystem) -> Reading | None:
    """Return a reading of a user's own table that yields the rows of a system, or None.

    It is compared with the system: nearest doubles of the decimals have to be its rows.
    """
    operator = system.operator
    if isinstance(operator, Gram):
        return None
    content = path.read_bytes()
    if path.suffix == ".npy" and isinstance(operator, Matrix):
        if not isinstance(operator.stored, np.ndarray) or operator.stored.dtype.kind != "f":
            return None
        found = Reading(_of_array(np.asarray(operator.stored), system.cone), content, path)
        return found if _yields(found, _rows_of(operator)) else None
    if path.suffix not in (".csv", ".tsv", ".txt"):
        return None
    rows = _rows_of(operator)
    for said in _said_of_text(content, rows):
        found = Reading(said, content, path)
        if _yields(found, rows):
            return found
    return None


def _said_of_text(content: bytes, rows: FloatArray) -> Iterator[dict[str, Any]]:
    """Yield the ways in which a text may be read as so many rows."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return
    for separator in _SEPARATORS:
        lines = [line for line in csv.reader(text.splitlines(), delimiter=separator) if line]
        for skip in (0, 1):
            body = lines[skip:]
            if len(body) != len(rows) or len({len(line) for line in body}) != 1:
                continue
            said: dict[str, Any] = {"kind": "csv", "separator": separator, "skip": skip}
            said |= {"width": rows.shape[1], "cone": [["rows", len(rows)]]}
            for labels in _labels_of(body) if len(body[0]) == rows.shape[1] else ():
                features = (v for line in body for k, v in enumerate(line) if k != labels[0])
                yield said | {"labels": labels, "digits": digits_of(" ".join(features))}
            if len(body[0]) == rows.shape[1]:
                yield said | {"labels": None, "digits": digits_of(" ".join(map(" ".join, body)))}


def _labels_of(body: list[list[str]]) -> Iterator[list[Any]]:
    """Yield [column, negative, positive] of the columns of two texts."""
    for column in range(len(body[0])):
        texts = sorted({line[column].strip() for line in body})
        if len(texts) == 2:
            yield [column, *texts]
            yield [column, *texts[::-1]]


def _yields(reading: Reading, rows: FloatArray) -> bool:
    """Return whether the nearest doubles of the numbers read are the rows of a system."""
    try:
        system = reading.system()
        for i, (*_, values) in enumerate(system.rows):
            if [value / system.scale for value in values] != rows[i].tolist():
                return False
    except (checker().Refuted, ValueError, LookupError, TypeError, AttributeError, OverflowError):
        return False
    return True


def of_system(system: ConicSystem) -> Reading:
    """Return data that state a system, to be written: the doubles stored."""
    operator = system.operator
    if system.homogenised and isinstance(operator, Matrix):
        text = _sdpa_text(system, operator)
        said = {"kind": "sdpa", "question": "feasibility", "digits": digits_of(text)}
        return Reading(said, text.encode())
    found = of_rows(_rows_of(operator), system.cone)
    if isinstance(operator, Gram):
        found.said.update(form="gram", bits=found.said["bits"] + found.said["bits"] % 2)
    return found


def of_rows(rows: FloatArray, cone: Cone | None = None) -> Reading:
    """Return the data of the rows of a cone's scores, to be written; without a cone of rows."""
    target = io.BytesIO()
    np.lib.format.write_array(target, np.ascontiguousarray(rows), version=(1, 0))
    return Reading(_of_array(rows, Orthant(len(rows)) if cone is None else cone), target.getvalue())


def of_squares(positives: FloatArray, negatives: FloatArray) -> Reading:
    """Return the data of the vectors (x, 1) of two classes, to be written: of x'Ex for any E."""
    rows = np.vstack([positives, negatives])
    found = of_rows(np.column_stack([rows, np.ones(len(rows))]))
    cone = [["rows", len(positives)], ["rows", len(negatives)]]
    return Reading(found.said | {"form": "squares", "cone": cone}, found.content)


def of_conditions(conditions: Sequence[Condition], unknowns: int) -> Reading:
    """Return linear conditions as an SDPA file of diagonal matrices, to be written.

    Each condition is multiplied so that its numbers are whole: a'x - b is an entry of F(x), and of
    an equation b - a'x is the next one. The objective is 0.
    """
    rows = [(one, sign) for one in conditions for sign in ((1, -1) if one.equation else (1,))]
    lines = [str(unknowns), "1", str(-len(rows)), " ".join(["0"] * unknowns)]
    for at, (one, sign) in enumerate(rows, 1):
        entries = [
            (0, one.right),
            *zip((j + 1 for j in one.columns), one.coefficients, strict=True),
        ]
        lines += [
            f"{matrix} 1 {at} {at} {exact_text(sign * value)}" for matrix, value in entries if value
        ]
    text = "\n".join(lines) + "\n"
    return Reading({"kind": "sdpa", "question": "feasibility", "digits": 0}, text.encode())


def _of_array(rows: FloatArray, cone: Cone) -> dict[str, Any]:
    blocks = [
        [_kind_of(part), part.rank if _is_matrix(part) else part.size] for part in _parts(cone)
    ]
    wide = np.asarray(rows, dtype=np.float64)
    said = {"kind": "npy", "bits": common_bits(wide), "width": rows.shape[1]}
    return said | {"cone": blocks}


def _parts(cone: Cone) -> list[Cone]:
    return [part for part, _ in cone.blocks]


def _is_matrix(part: Cone) -> bool:
    return isinstance(part, Semidefinite)


def _kind_of(part: Cone) -> str:
    """Return the checker's name of a kind of cone."""
    if isinstance(part, Semidefinite):
        if not part.complete:
            raise InputError("a matrix on a sparsity pattern, and no SDPA file; not supported")
        return "matrix"
    return "second-order" if isinstance(part, SecondOrder) else "rows"


def _rows_of(operator: Operator) -> FloatArray:
    """Return the rows of a system's data, dense, without any scale."""
    if operator.size * operator.dimension > MOST_ENTRIES:
        raise InputError(f"data of {operator.size} x {operator.dimension} numbers are not written")
    if isinstance(operator, Gram):
        return np.asarray(operator.kernel * operator.signs * operator.signs[:, None])
    if isinstance(operator, Matrix | Classes):
        plain = operator.unscaled() if isinstance(operator, Matrix) else operator
        if isinstance(plain, Matrix) and isinstance(plain.stored, np.ndarray):
            return np.asarray(plain.stored)
        return plain.rows(np.arange(operator.size))
    raise InputError(f"data of the kind {type(operator).__name__} have no exact proofs yet")


def _sdpa_text(system: ConicSystem, operator: Matrix) -> str:
    """Return a homogenised system in SDPA's format, every double as the decimal that it is."""
    if system.objective is None:
        raise InputError("a homogenised system without an objective is not written")
    blocks = system.cone.blocks[1:]
    orders = [part.rank if _is_matrix(part) else -part.size for part, _ in blocks]
    lines = [str(operator.unknowns - 1), str(len(orders)), " ".join(map(str, orders))]
    lines.append(" ".join(_printed(one) for one in system.objective.values.tolist()))
    data: Any = operator.data
    for number, (part, span) in enumerate(blocks, 1):
        entries = data[span].tocoo()
        places = np.arange(part.size)
        rows = part.pattern.rows if isinstance(part, Semidefinite) else places
        columns = part.pattern.columns if isinstance(part, Semidefinite) else places
        for place, matrix, value in zip(*entries.coords, entries.data.tolist(), strict=True):
            shown = _printed(-value if matrix == 0 else value)
            lines.append(f"{matrix} {number} {rows[place] + 1} {columns[place] + 1} {shown}")
    return "\n".join(lines) + "\n"


def _printed(value: float) -> str:
    """Return the decimal that a double is equal to."""
    return format(Decimal(value), "f")
