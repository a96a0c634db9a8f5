"""Data of certificates: a user's own file in one of the checker's forms, or a file to be written.

The part ``data`` of a certificate names a form, and its keys other than ``file`` and ``sha256``:

- ``sdpa``: an SDPA file, its decimals as printed; ``question``: "feasibility" or "recession";
- ``table``: a text of rows, decimals as printed; ``separator``;
- ``labelled``: such a text with a ``column`` of two labels, ``negative`` and ``positive``: the rows
  s_i (x_i, 1);
- ``cone``: a matrix in numpy's format, each entry the double that it is; ``blocks`` lists
  [kind, order] of the blocks of the cone, whose scores are the rows in this order;
- ``gram``: such a matrix of inner products <psi_i, psi_j> of features: (6) of
  docs/notes/how-to-distrust-us.md;
- ``squares``: such a matrix of vectors (x, 1), of which the first ``inside`` are inside.

Linear conditions a_k'x >= b_k or a_k'x = b_k: their data, and claims about them.

Claims are points, contradictions and partitions.

In the unknowns (x_0, x) the conditions are rows a_k'x - b_k x_0 >= 0 together with x_0 > 0, and an
equation is two of them, one of each sign: so weights of any sign become weights >= 0. Farkas'
weights with sum w_k a_k = 0 and sum w_k b_k > 0 give x_0 the weight sum w_k b_k: (3) and (9) of
docs/notes/how-to-distrust-us.md.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from perceptron_lab.algorithms.linear.proofs import LinearProof, Weights
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.base import Operator
from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.cones.operators.gram import Gram
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite, matrix_positions
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.formats.columns import Contents
from perceptron_lab.datasets.formats.sdpa import plain_text
from perceptron_lab.datasets.parts import files_of
from perceptron_lab.exact.checker import checker
from perceptron_lab.exact.whole_numbers import (
    CheckedSystem,
    Claim,
    by_places,
    whole_multiples,
    whole_weights,
)
from perceptron_lab.numerics.class_labels import plain_label
from perceptron_lab.numerics.doubles import Doubles
from perceptron_lab.numerics.exact_texts import exact_text
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.conditions import Condition, over_common

# Entries of dense data that are written at most: 800 MB
MOST_ENTRIES = 100_000_000
_SEPARATORS = (",", ";", "\t", " ")
# Of texts in other forms than the checker's, besides its own refusals, which are values
_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, OverflowError)


@dataclass(frozen=True)
class Reading:
    """The data of a certificate.

    Parameters
    ----------
    fields
        The form, and its keys.
    content
        Their bytes.
    path
        The file that they are, which is a user's own or a collection's; None if it is to be
        written.
    more
        The bytes of further parts, if the path is a folder or a pattern.
    parts
        The names of all parts; empty of a single file.
    """

    fields: dict[str, Any]
    content: bytes
    path: Path | None = None
    more: tuple[bytes, ...] = ()
    parts: tuple[str, ...] = ()

    def system(self) -> CheckedSystem:
        """Return the checker's system; the last one is kept, for the next answer on its data."""
        return _system(json.dumps(self.fields), self.content, *self.more)


@lru_cache(maxsize=1)
def _system(fields: str, content: bytes, *more: bytes) -> CheckedSystem:
    data = json.loads(fields)
    read = checker().sdpa_system if data["form"] == "sdpa" else checker().table_system
    system: CheckedSystem = read(content, data, *more)
    return system


def of_sdpa(path: Path, question: Literal["feasibility", "recession"]) -> Reading:
    """Return the reading of an SDPA file; to be written in the plain form if it has another one."""
    unchanged = Reading({"form": "sdpa", "question": question}, path.read_bytes(), path)
    try:
        if path.name.endswith(".dat-s") and all(order for _, order in unchanged.system().blocks):
            return unchanged
    except _UNREADABLE:
        pass
    return Reading(unchanged.fields, plain_text(unchanged.content, str(path)).encode())


def of_table(path: Path, system: ConicSystem) -> Reading | None:
    """Return a reading of a user's own table, or its parts, that yields the rows of a system.

    None if no reading yields them. The nearest doubles of the numbers read have to be the rows of
    the system.
    """
    operator = system.operator
    if isinstance(operator, Gram):
        return None
    files = files_of(path)
    suffix, parts = files[0].suffix, tuple(file.name for file in files if file != path)
    if suffix == ".npy" and isinstance(operator, Matrix):
        content, *more = (file.read_bytes() for file in files)
        form = {"form": "cone", "blocks": _blocks(system.cone)}
        reading = Reading(form, content, path, tuple(more), parts)
        return reading if _yields(reading, _rows_of(operator)) else None
    if suffix not in (".csv", ".tsv", ".txt"):
        return None
    rows = _rows_of(operator)
    content, *more = (file.read_bytes() for file in files)
    readings = (
        Reading(fields, content, path, tuple(more), parts)
        for fields in _fields_of_text(rows, content, *more)
    )
    return next((reading for reading in readings if _yields(reading, rows)), None)


def of_contents(contents: Contents, system: ConicSystem) -> Reading | None:
    """Return the rows of a text that no checker reads as it is, to be written, or None.

    The numbers are the decimals that were read, without the columns and rows that were left out.
    They are compared with a system as for :func:`of_table`.
    """
    table = _decimals_of(contents)
    if table is None or table.size > MOST_ENTRIES:
        return None
    names = list(contents.features or [])
    if contents.classes is not None:
        labels = [str(plain_label(label)) for label in np.asarray(contents.classes).tolist()]
        if any(re.search(r"[,\s]", label) for label in labels):
            # The checker divides lines at commas and knows no quotation marks
            labels = [str(sorted({*labels}).index(label)) for label in labels]
        table, names = np.column_stack([table, np.array(labels, object)]), [*names, "label"]
    named = contents.features is not None and not any(
        re.fullmatch(checker().NO_NAME, name, re.IGNORECASE) or re.search(r'[",\s]', name)
        for name in names
    )
    lines = [",".join(line) for line in ([names] * named) + table.tolist()]
    content = ("\n".join(lines) + "\n").encode()
    rows = _rows_of(system.operator)
    readings = (Reading(fields, content) for fields in _fields_of_text(rows, content))
    return next((reading for reading in readings if _yields(reading, rows)), None)


def _decimals_of(contents: Contents) -> Any:
    """Return the numbers of a text as decimals in texts, shape ``(m, n)``; None if unknown."""
    rows = contents.rows
    if contents.decimals is not None:
        decimals = contents.decimals
    elif not isinstance(rows, Doubles) or not isinstance(rows.values, np.ndarray):
        return None
    elif rows.integers is not None:
        digits = len(str(int(rows.multiple))) - 1
        decimals = np.vectorize(lambda x: Decimal(int(x)).scaleb(-digits), [object])(rows.integers)
    elif rows.roundings:
        return None
    else:
        decimals = np.vectorize(Decimal, [object])(rows.values)
    return np.vectorize(lambda x: format(x, "f"), [object])(decimals)


def _fields_of_text(rows: FloatArray, *contents: bytes) -> Iterator[dict[str, Any]]:
    """Yield the forms in which a text, or its parts, may be read as so many rows."""
    try:
        # Spreadsheets begin files with a byte order mark
        texts = [text.decode("utf-8-sig").replace("\r\n", "\n").split("\n") for text in contents]
    except UnicodeDecodeError:
        return
    for separator in _SEPARATORS:
        tables = [[line.split(separator) for line in lines if line] for lines in texts]
        width = len(tables[0][0]) if tables[0] else 0
        names, odd = divmod(sum(map(len, tables)) - len(rows), len(tables))
        if width != rows.shape[1] or names not in (0, 1) or odd:
            continue
        for labels in _labels_of([line for table in tables for line in table[names:]]):
            yield {"form": "labelled", "separator": separator} | labels
        yield {"form": "table", "separator": separator}


def _labels_of(body: list[list[str]]) -> Iterator[dict[str, Any]]:
    """Yield the keys of the columns of two texts, of which each may be the positive one."""
    for column in range(min(map(len, body), default=0)):
        texts = sorted({line[column].strip(" \t") for line in body})
        if len(texts) == 2:
            # Which class is positive is not in the file: the rows of the system tell
            for negative, positive in (texts, texts[::-1]):
                yield {"column": column, "negative": negative, "positive": positive}


def _yields(reading: Reading, rows: FloatArray) -> bool:
    """Return whether the nearest doubles of the numbers read are the rows of a system."""
    try:
        system = reading.system()
        for i, (*_, values) in enumerate(system.rows):
            if [value / system.scale for value in values] != rows[i].tolist():
                return False
    except (checker().Refuted, *_UNREADABLE):
        return False
    return True


def of_system(system: ConicSystem) -> Reading:
    """Return data that state a system, to be written: the doubles stored."""
    operator = system.operator
    # SDPA's format has an objective, and no second-order cones
    program = system.homogenised and system.objective is not None
    if program and not any(isinstance(part, SecondOrder) for part, _ in system.cone.blocks):
        assert isinstance(operator, Matrix)
        text = _sdpa_text(system, operator)
        return Reading({"form": "sdpa", "question": "feasibility"}, text.encode())
    if isinstance(operator, Gram):
        return Reading({"form": "gram"}, _array_file(_rows_of(operator)))
    return of_rows(_rows_of(operator), system.cone)


def of_rows(rows: FloatArray, cone: Cone | None = None) -> Reading:
    """Return the data of the rows of a cone's scores, to be written; without a cone of rows."""
    blocks = _blocks(Orthant(len(rows)) if cone is None else cone)
    return Reading({"form": "cone", "blocks": blocks}, _array_file(rows))


def of_squares(positives: FloatArray, negatives: FloatArray) -> Reading:
    """Return the data of the vectors (x, 1) of two classes, to be written: of x'Ex for any E."""
    rows = np.vstack([positives, negatives])
    content = _array_file(np.column_stack([rows, np.ones(len(rows))]))
    return Reading({"form": "squares", "inside": len(positives)}, content)


def _array_file(rows: FloatArray) -> bytes:
    target = io.BytesIO()
    # The same bytes on every machine, whatever its order of bytes
    wide = np.ascontiguousarray(rows, dtype="<f8")
    np.lib.format.write_array(target, wide, version=(1, 0))
    return target.getvalue()


def _blocks(cone: Cone) -> list[list[Any]]:
    """Return [kind, order] of the blocks of a cone."""
    kinds = [(_kind_of(part), part) for part, _ in cone.blocks]
    return [[kind, part.rank if kind == "matrix" else part.size] for kind, part in kinds]


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
    assert system.objective is not None
    blocks = system.cone.blocks[1:]
    orders = [-part.size if part.of_rows else part.rank for part, _ in blocks]
    lines = [str(operator.unknowns - 1), str(len(orders)), " ".join(map(str, orders))]
    lines.append(" ".join(_printed(value) for value in system.objective.values.tolist()))
    data: Any = operator.data
    for number, (part, span) in enumerate(blocks, 1):
        entries = data[span].tocoo()
        rows, columns, _ = matrix_positions([(part, span)])
        for position, matrix, value in zip(*entries.coords, entries.data.tolist(), strict=True):
            # SDPA's format has F(x) = sum_i x_i F_i - F_0
            number_text = _printed(-value if matrix == 0 else value)
            lines.append(
                f"{matrix} {number} {rows[position] + 1} {columns[position] + 1} {number_text}"
            )
    return "\n".join(lines) + "\n"


def _printed(value: float) -> str:
    """Return the decimal that a double is equal to."""
    return format(Decimal(value), "f")


def of_conditions(
    conditions: Sequence[Condition], unknowns: int, costs: Mapping[int, Fraction] | None = None
) -> Reading:
    """Return linear conditions as an SDPA file of diagonal matrices, to be written.

    Each condition is multiplied so that its numbers are whole: a'x - b is an entry of F(x), and of
    an equation b - a'x is the next one. The objective is a multiple of the costs, in whole
    numbers: see :func:`whole_costs`.
    """
    rows = [
        (condition, sign)
        for condition in conditions
        for sign in ((1, -1) if condition.equation else (1,))
    ]
    multiples = whole_costs(costs or {})[0]
    # No block has order 0: without conditions there is a row of zeros, 0 >= 0; and without unknowns
    # the file has one that no condition contains
    width = max(1, unknowns)
    objective = " ".join(exact_text(multiples.get(j, 0)) for j in range(width))
    lines = [str(width), "1", str(-max(1, len(rows))), objective]
    for at, (row_condition, sign) in enumerate(rows, 1):
        entries = [
            (0, row_condition.right),
            *zip((j + 1 for j in row_condition.columns), row_condition.coefficients, strict=True),
        ]
        lines += [
            f"{matrix} 1 {at} {at} {exact_text(sign * value)}" for matrix, value in entries if value
        ]
    text = "\n".join(lines) + "\n"
    return Reading({"form": "sdpa", "question": "feasibility"}, text.encode())


def whole_costs(costs: Mapping[int, Fraction]) -> tuple[dict[int, int], Fraction]:
    """Return t c in whole numbers, as small as they can be, and t > 0."""
    multiples = dict(zip(costs, whole_multiples(costs.values()), strict=True))
    return multiples, next((Fraction(m) / costs[j] for j, m in multiples.items() if m), Fraction(1))


def condition_claims(
    conditions: Sequence[Condition],
    proof: LinearProof,
    costs: Mapping[int, Fraction] | None = None,
) -> Iterator[tuple[str, Claim]]:
    """Yield the claims of a proof, each with the name of what it proves.

    A point whose tight inequalities are all proved to be tight everywhere makes a partition; a
    point that is strict everywhere is strictly feasible. Without costs there are no claims about an
    objective; one of zeros is at least 0 by no weights at all.
    """
    if proof.weights:
        yield "infeasible", _infeasible(conditions, proof.weights)
    if proof.point is None:
        return
    numerators, denominator = over_common(proof.point)
    point = [denominator, *(numerators or [0])]  # see of_conditions
    # An equation is never strict: it is two inequalities, both tight
    strict = not proof.tight and not any(condition.equation for condition in conditions)
    strict = strict and len(conditions) > 0
    name = "feasible" if strict else "closed feasible"
    yield "feasible", {"claim": name, "point": point, "factors": []}
    if costs is not None and proof.ray is not None:
        ray = over_common(proof.ray)[0]
        yield "unbounded", {"claim": "closed objective unbounded", "point": point, "ray": ray}
    elif costs is not None and (proof.dual or not costs):
        yield from _optimum_claims(conditions, proof, costs, point)
    if proof.complete and not strict and conditions:
        weights = _of_rows(conditions, proof.always, Fraction(1))
        sides = {"point": point, "weights": [[[], []], whole_weights(weights)]}
        yield "always tight", {"claim": "partition"} | sides


def _optimum_claims(
    conditions: Sequence[Condition],
    proof: LinearProof,
    costs: Mapping[int, Fraction],
    point: list[int],
) -> Iterator[tuple[str, Claim]]:
    """Yield that t c'x reaches a bound, and the bound of the dual weights; see whole_costs."""
    multiples, factor = whole_costs(costs)
    reached = Fraction(sum(m * point[j + 1] for j, m in multiples.items()), point[0])
    pair = list(reached.as_integer_ratio())
    claim: Claim = {"claim": "closed objective at most", "bound": pair}
    yield "optimum_upper", claim | {"point": point, "factors": []}
    bound = sum(
        (w * conditions[k].right / conditions[k].scale for k, w in proof.dual.items()), Fraction()
    )
    weights = _of_rows(conditions, proof.dual, Fraction())
    unit = math.lcm(*((factor * weight).denominator for weight in weights.values()))
    scaled = {row: int(unit * factor * weight) for row, weight in weights.items()}
    pair = list((factor * bound).as_integer_ratio())
    parts = [[[], []], by_places(scaled)]
    lower: Claim = {"claim": "objective at least", "bound": pair, "unit": unit, "weights": parts}
    yield "optimum_lower", lower


def _infeasible(conditions: Sequence[Condition], multipliers: Weights) -> Claim:
    weights = _of_rows(conditions, multipliers, Fraction())
    right = sum(
        (w * conditions[k].right / conditions[k].scale for k, w in multipliers.items()), Fraction()
    )
    first, *multiples = whole_multiples([right, *weights.values()])
    listed = [[[0], [first]], by_places(zip(weights, multiples, strict=True))]
    return {"claim": "closed infeasible", "weights": listed}


def _of_rows(
    conditions: Sequence[Condition], multipliers: Weights, more: Fraction
) -> dict[int, Fraction]:
    """Return weights of the rows of conditions in whole numbers; ``more`` on both of equations."""
    weights, at = dict[int, Fraction](), 0
    for k, condition in enumerate(conditions):
        weight = multipliers.get(k, Fraction()) / condition.scale
        if condition.equation:
            weights |= {at: max(weight, Fraction()) + more, at + 1: max(-weight, Fraction()) + more}
        else:
            weights[at] = weight
        at += 1 + condition.equation
    return {row: weight for row, weight in weights.items() if weight}
