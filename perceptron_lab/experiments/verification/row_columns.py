"""The columns of a row beside its claims: compared with its certificate and with the problem."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Status
from perceptron_lab.core.saved_answers.fields import Check, Contents, Kind
from perceptron_lab.core.saved_answers.kinds import row_fields
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.experiments.configuration.rows import Row
from perceptron_lab.experiments.storage.certificate_files import Certificate
from perceptron_lab.experiments.verification.claims import OPTIMUM

_COUNTS: Final = ("updates", "queries", "iterations", "products")
# Fields of a certificate that are columns of its row as well
_TWICE: Final = ("counts.", "bound.", "problem.", "algorithm.", "certificate.figures.")


def check_types(row: Row) -> None:
    """Raise a ``DataError`` for a column whose value is of another type, or no status."""
    for field in row_fields("cone"):
        for name in (name for name in row if field.covers(name)):
            if not field.values.allows(row[name]):
                shown = f"{row[name]!r:.60}"
                raise DataError(f"its row has {name} {shown}; allowed: {field.values.words}")
    if row.get("status") not in set(Status):
        raise DataError(f"its row has status {row.get('status')!r:.60}, which is no status")


def differences(row: Row, certificate: Certificate) -> Iterator[str]:
    """Yield the columns that are not what the certificate has."""
    bound = certificate.bound.value
    stated: dict[str, Any] = {name: certificate.counts[name] for name in _COUNTS}
    stated |= {"message": certificate.message, "algorithm": certificate.algorithm["name"]}
    stated |= {"seed": certificate.problem["seed"], "cell": certificate.cell}
    stated["bound"] = None if bound is None or math.isinf(bound) else bound
    for name, value in stated.items():
        if name in row and row[name] != value:
            yield f"its row has {name} {row[name]!r:.60}, its certificate {value!r:.60}"


def size_faults(row: Row, problem: Problem) -> Iterator[str]:
    """Yield the columns of the problem's size that are not those of the problem."""
    sizes = {"constraints": problem.system.constraints, "dimension": problem.system.unknowns}
    for name, size in sizes.items():
        if row.get(name) != size:
            yield f"its row has {name} {row.get(name)}, the problem {size}"
    if row.get("optimum_width") is not None and row["optimum_width"] != _width(row):
        yield f"its row has optimum_width {row['optimum_width']}, its bounds {_width(row)}"


def _width(row: Row) -> float | None:
    lower, upper = (row.get(name) for name in OPTIMUM)
    return None if lower is None or upper is None else (upper - lower) / max(1.0, abs(upper))


def columns_first(columns: Sequence[str], paths: Sequence[str]) -> list[str]:
    """Return columns, and after them those paths of the certificate that have no column."""
    return [*columns, *(one for one in paths if one not in columns and not one.startswith(_TWICE))]


def not_verified(row: Row, kind: Kind, verified: Collection[Check | str] = ()) -> tuple[str, ...]:
    """Return the columns of a row that no check has covered."""
    filled = {name: value for name, value in row.items() if value is not None}
    measured = {
        path.replace("certificate.figures.", "measure.") for path in verified if type(path) is str
    }
    return Contents(kind, row_fields(kind), filled).not_verified({*verified, *measured})
