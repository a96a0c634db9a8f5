"""Checks of the fields, columns and arrays of an answer that are not claims."""

from __future__ import annotations

import math
import re
from collections import UserDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from perceptron_lab.cones.operators.base import ENCLOSED, EXACT
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray, Status, relative_width
from perceptron_lab.core.saved_answers.fields import AnswerContents, Check, Kind
from perceptron_lab.core.saved_answers.kinds import row_fields
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.experiments.configuration.rows import Row
from perceptron_lab.experiments.storage.certificate_files import Certificate
from perceptron_lab.experiments.verification.claims import OPTIMUM, ProofOutcome
from perceptron_lab.systems import ConicSystem

_COUNTS: Final = ("updates", "queries", "iterations", "products")
# Fields of a certificate that are columns of its row as well
_TWICE: Final = ("counts.", "bound.", "problem.", "algorithm.", "certificate.figures.")
_NUMBER: Final = re.compile(r"[0-9][0-9.]*(?:e[+-]?[0-9]+)?")


class ReadArrays(UserDict[str, FloatArray]):
    """Arrays by name that record in ``read`` which of them were used.

    An array that no proof reads is not verified, whatever it holds.
    """

    def __init__(self, arrays: Mapping[str, FloatArray]) -> None:
        super().__init__(arrays)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> FloatArray:
        array = super().__getitem__(name)
        self.read.add(name)
        return array


def stated(finding: ProofOutcome, certificate: Certificate, system: ConicSystem) -> ProofOutcome:
    """Return a finding with the faults and checks of ``certificate.data`` and ``margin``.

    A number in ``data`` (the part by which a kernel matrix was raised) depends on the machine: it
    is not verified where it is another. Nor is "enclosed" where the numbers are read exactly, as
    decimals of a table that the answer has read in blocks.
    """
    faults, verified = list(finding.faults), set(finding.verified)
    data = certificate.certificate.get("data")
    if data == system.provenance:
        verified.add(Check.PROVENANCE)
    elif (data, system.provenance) == (ENCLOSED, EXACT):
        pass
    elif data is not None and _NUMBER.sub("#", data) != _NUMBER.sub("#", system.provenance):
        faults.append(f"the data are called {data[:80]!r}, and they are {system.provenance!r}")
    margin = certificate.certificate.get("margin")
    if (margin is None and not system.margin_name) or margin == system.margin_name:
        verified.add(Check.MARGIN_NAME)
    elif margin is not None:
        faults.append(f"the margin is called {margin[:20]!r}, and it is {system.margin_name!r}")
    return replace(finding, faults=tuple(faults), verified=frozenset(verified))


def check_types(row: Row) -> None:
    """Raise a ``DataError`` for a column whose value is of another type, or no status."""
    for field in row_fields("cone"):
        for name in (name for name in row if field.covers(name)):
            if not field.values.allows(row[name]):
                printed = f"{row[name]!r:.60}"
                raise DataError(
                    f"its row has {name} {printed}; allowed: {field.values.description}"
                )
    if row.get("status") not in set(Status):
        raise DataError(f"its row has status {row.get('status')!r:.60}, which is no status")


def differences(row: Row, certificate: Certificate) -> Iterator[str]:
    """Yield the columns that are not what the certificate has."""
    bound = certificate.bound.value
    stated: dict[str, object] = {name: certificate.counts[name] for name in _COUNTS}
    stated |= {"message": certificate.message, "algorithm": certificate.algorithm["name"]}
    stated |= {"seed": certificate.problem["seed"], "cell": certificate.cell}
    stated["bound"] = None if bound is None or math.isinf(bound) else bound
    for name, value in stated.items():
        if name in row and row[name] != value:
            yield f"its row has {name} {row[name]!r:.60}, its certificate {value!r:.60}"


def size_faults(row: Row, problem: Problem) -> Iterator[str]:
    """Yield the columns whose size differs from that of the problem."""
    sizes = {"constraints": problem.system.constraints, "dimension": problem.system.unknowns}
    for name, size in sizes.items():
        if row.get(name) != size:
            yield f"its row has {name} {row.get(name)}, the problem {size}"
    width = relative_width(*(row.get(name) for name in OPTIMUM))
    if row.get("optimum_width") is not None and row["optimum_width"] != width:
        yield f"its row has optimum_width {row['optimum_width']}, its bounds {width}"


def columns_first(columns: Sequence[str], paths: Sequence[str]) -> list[str]:
    """Return columns, and after them those paths of the certificate that have no column."""
    return [
        *columns,
        *(path for path in paths if path not in columns and not path.startswith(_TWICE)),
    ]


def not_verified(row: Row, kind: Kind, verified: Collection[Check | str] = ()) -> tuple[str, ...]:
    """Return the columns of a row that no check has covered."""
    filled = {name: value for name, value in row.items() if value is not None}
    measured = {
        path.replace("certificate.figures.", "measure.") for path in verified if type(path) is str
    }
    return AnswerContents(kind, row_fields(kind), filled).not_verified({*verified, *measured})
