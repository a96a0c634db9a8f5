"""The rows of ``runs.csv``: made of a run, as text, and as a frame."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from perceptron_lab.experiments.storage.columns import COLUMNS, Kind, Run, ordered

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
"""Column -> value; None is an empty field."""

_TRUTH = {"true": True, "false": False}
_WHOLE = r"-?[0-9]{1,18}"
_FORMULAS = ("=", "+", "-", "@", "\t")


def row_of(run: Run) -> Row:
    """Return the row of a run: all columns, and those of its parameters and measures."""
    row = {name: column.value(run) for name, column in COLUMNS.items()}
    row |= parameter_columns(run.problem_parameters, run.algorithm.parameters)
    return row | {f"measure.{name}": run.measures[name] for name in sorted(run.measures)}


def parameter_columns(problem: Mapping[str, Any], algorithm: Mapping[str, Any]) -> Row:
    """Return the columns ``problem.NAME`` and ``algorithm.NAME``; nested values are JSON.

    Parameters
    ----------
    problem, algorithm
        Parameters of the dataset and of the algorithm, as JSON values.
    """
    return {
        f"{prefix}.{name}": as_json(value) if isinstance(value, dict | list | tuple) else value
        for prefix, parameters in (("problem", problem), ("algorithm", algorithm))
        for name, value in sorted(parameters.items())
    }


def rendered(rows: Iterable[Row]) -> str:
    """Return rows as the text of runs.csv.

    Numbers have every digit. Text that begins with ``= + - @`` or a tab gets an apostrophe before
    it, since a spreadsheet would take it for a formula; carriage returns become line feeds, since
    readers do not agree on them.
    """
    rows = list(rows)
    columns = ordered([*COLUMNS, *(name for row in rows for name in row)])
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _field(value) for key, value in row.items()} for row in rows)
    return text.getvalue()


def parsed(text: str) -> pd.DataFrame:
    """Return the text of runs.csv as a frame.

    Text stays as it is (a cell ``1234e567`` is no number, an apostrophe before a formula remains),
    counts are nullable integers. ``goal_reached`` is missing for learners, and for rows that were
    written before it was kept. A parameter's column has numbers or truth values where all that it
    holds are such, and text otherwise.
    """
    import pandas as pd

    frame = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    for column in frame.columns:
        kind = COLUMNS[column].kind if column in COLUMNS else None
        if kind is Kind.COUNT:
            frame[column] = pd.to_numeric(frame[column].replace("", None)).astype("Int64")
        elif kind in (Kind.REAL, Kind.CLOCK) or column.startswith("measure."):
            frame[column] = reals(frame[column])
        elif kind is None:
            frame[column] = _parameter(frame[column])
    frame["seed"] = frame["seed"].astype("int64")
    frame["proved"] = frame["proved"] == "true"
    frame["goal_reached"] = frame["goal_reached"].map(_TRUTH).astype("boolean")
    return frame


def _parameter(values: pd.Series) -> pd.Series:
    """Return the values of a parameter, typed as far as all of them are of one type."""
    import pandas as pd

    given = values[values != ""]
    if given.empty:
        return values
    if given.isin(_TRUTH).all():
        return values.map(_TRUTH).astype("boolean")
    if given.str.fullmatch(_WHOLE).all():
        return pd.to_numeric(values.replace("", None)).astype("Int64")
    if pd.to_numeric(given, errors="coerce").notna().all():
        return reals(values)
    return values


def reals(values: pd.Series, *, invalid: Literal["raise", "coerce"] = "raise") -> pd.Series:
    """Return numbers, or their text, as doubles; empty text and None become NaN.

    Text becomes the nearest double: pandas' own conversion misses it by one in the last place for
    every third number, before its release 3.

    Parameters
    ----------
    values
        Numbers, text or None.
    invalid
        Whether text that is no number raises a ValueError, or becomes NaN.
    """
    import pandas as pd

    given = values.astype(object)
    given = given.where(given.notna() & (given != ""), None)
    known = pd.to_numeric(given, errors=invalid).notna()
    exact = [float(one) if fine else math.nan for one, fine in zip(given, known, strict=True)]
    return pd.Series(exact, index=values.index, name=values.name, dtype="float64")


def as_json(content: Any) -> str:
    """Return JSON in which equal contents are equal texts; numpy's scalars are numbers."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not a value of JSON")


def _field(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        text = value.replace("\r\n", "\n").replace("\r", "\n")
        return f"'{text}" if text.startswith(_FORMULAS) else text
    return "" if value is None else value
