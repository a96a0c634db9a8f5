"""The rows of ``runs.csv``: made of a run by the columns declared here, as text, and as a frame."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.findings import NOTHING, Finding
from perceptron_lab.core.visible_text import visible

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from perceptron_lab.core.goals import Goal
    from perceptron_lab.core.results import Result, Status, Trace
    from perceptron_lab.experiments.configuration.components import Component

Row = dict[str, Any]
"""Column -> value; None is an empty field."""

_TRUTH: Final = {"true": True, "false": False}
_WHOLE: Final = r"-?[0-9]{1,18}"
_FORMULAS: Final = ("=", "+", "-", "@", "\t")


@dataclass(frozen=True)
class Run:
    """One run of an algorithm or learner on a problem, from which its row is made.

    Parameters
    ----------
    problem, label
        As tables call the problem and the algorithm.
    constraints, dimension
        The rank of the problem's cone, and its unknowns; None where its data are missing.
    algorithm
        The algorithm or learner.
    oracles
        The oracles that were asked, with their parameters.
    seed
        The source of randomness.
    status, message, finding
        How it ended.
    goal
        What was to be proved; None for a learner.
    result
        None if the run ended without one.
    partial
        The trace of a run without a result, as far as it is known.
    measures
        The problem's own figures of the last point.
    problem_parameters
        Those of the dataset, without those that choose instances.
    cell, environment
        Identifiers of the run, and of machine and software; empty outside of experiments.
    """

    problem: str
    label: str
    constraints: int | None
    dimension: int | None
    algorithm: Component
    oracles: Sequence[str]
    seed: int
    status: Status
    message: str
    finding: Finding = NOTHING
    goal: Goal | None = None
    result: Result | None = None
    partial: Trace | None = None
    measures: Mapping[str, float] = field(default_factory=dict)
    problem_parameters: Mapping[str, object] = field(default_factory=dict)
    cell: str = ""
    environment: str = ""


class ColumnKind(StrEnum):
    """The type of a column's values."""

    TEXT = "text"
    COUNT = "count"
    REAL = "real"
    CLOCK = "clock"
    """Seconds, which differ from run to run on one machine."""
    TRUTH = "truth"


@dataclass(frozen=True)
class RunColumn:
    """A column of runs.csv.

    Parameters
    ----------
    name
        In the first line of the file.
    kind
        The type of its values.
    value
        Of a run; None is an empty field.
    """

    name: str
    kind: ColumnKind
    value: Callable[[Run], object]


def _result(
    name: str, kind: ColumnKind, other: Callable[[Run], object] = lambda run: None
) -> RunColumn:
    """Return the column of a result's attribute; ``other`` gives the value without a result."""
    return RunColumn(
        name, kind, lambda run: getattr(run.result, name) if run.result else other(run)
    )


def _cost(name: str, kind: ColumnKind) -> RunColumn:
    """Return a cost, which is known of an unfinished run as well: that of its last record."""
    return _result(name, kind, lambda run: getattr(run.partial, name)[-1] if run.partial else None)


def _bound(run: Run) -> float | None:
    bound = None if run.result is None else run.result.bound.value
    # JSON has no infinity, and an infinite bound says nothing
    return None if bound is None or math.isinf(bound) else bound


COLUMNS: Final = {
    column.name: column
    for column in (
        RunColumn("cell", ColumnKind.TEXT, attrgetter("cell")),
        RunColumn("problem", ColumnKind.TEXT, attrgetter("problem")),
        RunColumn("constraints", ColumnKind.COUNT, attrgetter("constraints")),
        RunColumn("dimension", ColumnKind.COUNT, attrgetter("dimension")),
        RunColumn("algorithm", ColumnKind.TEXT, attrgetter("algorithm.name")),
        RunColumn("label", ColumnKind.TEXT, attrgetter("label")),
        RunColumn("oracle", ColumnKind.TEXT, lambda run: " + ".join(run.oracles)),
        RunColumn("parameters", ColumnKind.TEXT, lambda run: json.dumps(run.algorithm.parameters)),
        RunColumn("seed", ColumnKind.COUNT, attrgetter("seed")),
        RunColumn("status", ColumnKind.TEXT, attrgetter("status.value")),
        _result("proved", ColumnKind.TRUTH, lambda run: False),
        RunColumn("goal", ColumnKind.TEXT, lambda run: None if run.goal is None else str(run.goal)),
        _result("goal_reached", ColumnKind.TRUTH, lambda run: None if run.goal is None else False),
        _result("margin_lower", ColumnKind.REAL),
        _result("margin_upper", ColumnKind.REAL),
        _cost("updates", ColumnKind.COUNT),
        _cost("queries", ColumnKind.COUNT),
        _cost("iterations", ColumnKind.COUNT),
        _cost("products", ColumnKind.REAL),
        _cost("seconds", ColumnKind.CLOCK),
        _result("proof_seconds", ColumnKind.CLOCK),
        _result("total_seconds", ColumnKind.CLOCK),
        RunColumn("bound", ColumnKind.REAL, _bound),
        RunColumn("message", ColumnKind.TEXT, attrgetter("message")),
        RunColumn("finding", ColumnKind.TEXT, lambda run: finding_text(run.finding)),
        RunColumn("environment", ColumnKind.TEXT, attrgetter("environment")),
        # The digest of the numeric code is known to the store alone.
        RunColumn("core", ColumnKind.TEXT, lambda run: None),
    )
}
"""The columns of every runs.csv by name, in their order; those of :data:`PREFIXES` follow."""

CLOCKS: Final = tuple(name for name, column in COLUMNS.items() if column.kind is ColumnKind.CLOCK)
"""The columns that differ from run to run on one machine."""

PARAMETERS: Final = ("problem.", "algorithm.")
"""The prefixes of parameters of datasets and of algorithms: columns of the runs that have them."""
ORACLE: Final = "oracle."
"""The prefix of counts of answers by the way in which an oracle found them."""
PREFIXES: Final = (*PARAMETERS, ORACLE, "optimum_", "measure.")
"""Those of all further columns, in their order."""
_OPTIMUM: Final = ("optimum_lower", "optimum_upper", "optimum_width")


def ordered(names: Iterable[str]) -> list[str]:
    """Return names of columns in the order of runs.csv; further columns sorted by prefix, name."""
    return list(_ordered(frozenset(names)))


@lru_cache(maxsize=64)  # the rows of an experiment have few sets of columns
def _ordered(present: frozenset[str]) -> tuple[str, ...]:
    return (
        *(name for name in COLUMNS if name in present),
        *sorted(
            present - COLUMNS.keys(), key=lambda n: ([not n.startswith(p) for p in PREFIXES], n)
        ),
    )


def row_of(run: Run) -> Row:
    """Return the row of a run: all columns, those of its parameters, optimum and measures.

    Where oracles had several ways, ``oracle.NAME`` counts the answers that were found by the way of
    the oracle of this name.
    """
    row = {name: column.value(run) for name, column in COLUMNS.items()}
    row |= parameter_columns(run.problem_parameters, run.algorithm.parameters)
    answers = run.result.certificate.get("answers", {}) if run.result else {}
    row |= {f"{ORACLE}{way}": answers[way] for way in sorted(answers)}
    if run.algorithm.kind == "optimiser":
        row |= {name: getattr(run.result, name, None) for name in _OPTIMUM}
    return row | {f"measure.{name}": run.measures[name] for name in sorted(run.measures)}


def parameter_columns(problem: Mapping[str, object], algorithm: Mapping[str, object]) -> Row:
    """Return the columns ``problem.NAME`` and ``algorithm.NAME``; nested values are JSON."""
    return {
        f"{prefix}.{name}": as_json(value) if isinstance(value, dict | list | tuple) else value
        for prefix, parameters in (("problem", problem), ("algorithm", algorithm))
        for name, value in sorted(parameters.items())
    }


def rendered(rows: Iterable[Row]) -> str:
    """Return rows as the text of runs.csv, made visible; numbers have every digit."""
    # Read twice: for the columns, and for the values
    rows = list(rows)
    text = io.StringIO()
    writer = csv.DictWriter(text, _columns_of(rows), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _field(value) for key, value in row.items()} for row in rows)
    return visible(text.getvalue())


def frame_of(rows: Iterable[Row]) -> pd.DataFrame:
    """Return rows as a frame of objects, as if runs.csv were read; what is missing is empty text.

    Numbers of the declared columns, measures and counts are numbers; all else is text as it is in
    the file, parameters among them.
    """
    import pandas as pd

    rows = list(rows)
    columns = {
        name: [_field(row.get(name)) for row in rows]
        if _is_numeric(name)
        else _texts([row.get(name) for row in rows])
        for name in _columns_of(rows)
    }
    return pd.DataFrame(columns, dtype=object)


def _texts(values: Iterable[object]) -> list[str]:
    """Return the fields of a column of text; equal texts are made visible once."""
    text_of = cache(_text)
    # Others may be equal and have different texts: 1, 1.0 and True, -0.0 and 0.0
    return [
        text_of(value) if value is None or isinstance(value, str) else _text(value)
        for value in values
    ]


def _text(value: object) -> str:
    return visible(str(_field(value)))


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of objects, or of the fields of runs.csv, with a type for each column.

    Text stays as it is (a cell ``1234e567`` is no number, an apostrophe before a formula remains),
    counts are nullable integers. ``goal_reached`` is missing for learners, and for rows that were
    written before it was kept. A parameter's column has numbers or truth values where all that it
    holds are such, and text otherwise.
    """
    import pandas as pd

    frame = frame.copy()
    for column in frame.columns:
        kind = COLUMNS[column].kind if column in COLUMNS else None
        if kind is ColumnKind.COUNT or column.startswith(ORACLE):
            frame[column] = pd.to_numeric(frame[column].replace("", None)).astype("Int64")
        elif _is_numeric(column):
            frame[column] = reals(frame[column])
        elif kind is None:
            frame[column] = _parameter(frame[column].astype(str))
        elif kind is ColumnKind.TEXT:
            frame[column] = frame[column].astype(str)
    frame["seed"] = frame["seed"].astype("int64")
    frame["proved"] = frame["proved"] == "true"
    frame["goal_reached"] = frame["goal_reached"].map(_TRUTH).astype("boolean")
    return frame


def _columns_of(rows: Iterable[Row]) -> list[str]:
    """Return the columns of runs.csv for these rows."""
    return ordered([*COLUMNS, *(name for row in rows for name in row)])


def _is_numeric(name: str) -> bool:
    """Return whether a column holds numbers only: a declared one, a measure, a count."""
    if name in COLUMNS:
        return COLUMNS[name].kind in (ColumnKind.COUNT, ColumnKind.REAL, ColumnKind.CLOCK)
    return name.startswith(PREFIXES[len(PARAMETERS) :])


def _parameter(values: pd.Series) -> pd.Series:
    """Return the values of a parameter, typed as far as all of them are of one type."""
    import pandas as pd

    stated = values[values != ""]
    if stated.empty:
        return values
    if stated.isin(_TRUTH).all():
        return values.map(_TRUTH).astype("boolean")
    if stated.str.fullmatch(_WHOLE).all():
        return pd.to_numeric(values.replace("", None)).astype("Int64")
    if pd.to_numeric(stated, errors="coerce").notna().all():
        return reals(values)
    return values


def reals(values: pd.Series, *, invalid: Literal["raise", "coerce"] = "raise") -> pd.Series:
    """Return numbers, or their text, as doubles; what :func:`blank` finds becomes NaN.

    Text that is no number raises a ValueError, or becomes NaN as well if it is coerced.
    """
    import pandas as pd

    exact = doubles(values.to_numpy(dtype=object), invalid=invalid)
    return pd.Series(exact, index=values.index, name=values.name)


def doubles(
    values: NDArray[np.object_], *, invalid: Literal["raise", "coerce"] = "raise"
) -> NDArray[np.float64]:
    """Return an array's values as :func:`reals` does those of a column."""
    import pandas as pd

    numbers = values.copy()
    numbers[blank(values)] = None
    numeric = pd.notna(pd.to_numeric(numbers, errors=invalid))
    # The nearest doubles: before its release 3 pandas' own conversion misses every third number by
    # one in the last place.
    exact = [
        float(value) if fine else math.nan for value, fine in zip(values, numeric, strict=True)
    ]
    return np.array(exact, dtype=np.float64)


def blank(values: NDArray[np.object_]) -> NDArray[np.bool_]:
    """Return where values are missing: NaN, None, pandas' NA or an empty text."""
    import pandas as pd

    absent = pd.isna(values)
    empty = [isinstance(value, str) and not value for value in values]
    return np.asarray(absent | np.array(empty, dtype=bool), dtype=bool)


def finding_text(finding: Finding) -> str | None:
    """Return the field of a finding in runs.csv, JSON; None, an empty one, without facts."""
    return as_json(finding.values()) if finding else None


def finding_in(field: object) -> Finding:
    """Return the finding in a field of runs.csv, or of a frame of runs; empty ones have no facts.

    Raises
    ------
    DataError
        If the field holds something else.
    """
    if not (isinstance(field, str) and field):
        return NOTHING
    try:
        return Finding.of_values(json.loads(field))
    except (TypeError, ValueError, AttributeError):
        raise DataError(f"the table of runs, column finding: {field[:60]!r} is none") from None


def as_json(content: object) -> str:
    """Return JSON in which equal contents are equal texts; numpy's scalars are numbers."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not a value of JSON")


def _field(value: object) -> object:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case str():
            # Readers do not agree on carriage returns; spreadsheets take some texts for formulas.
            text = value.replace("\r\n", "\n").replace("\r", "\n")
            return f"'{text}" if text.startswith(_FORMULAS) else text
    return value
