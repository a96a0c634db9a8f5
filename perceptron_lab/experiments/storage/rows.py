"""The rows of ``runs.csv``: one per cell, as text, as a frame, and as they are stored."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
"""Column -> value; None is an empty field."""

COLUMNS: Final = (
    "cell",
    "problem",
    "constraints",
    "dimension",
    "algorithm",
    "label",
    "oracle",
    "parameters",
    "seed",
    "status",
    "proved",
    "goal",
    "goal_reached",
    "margin_lower",
    "margin_upper",
    "updates",
    "queries",
    "iterations",
    "products",
    "seconds",
    "proof_seconds",
    "total_seconds",
    "bound",
    "message",
    "environment",
    "core",
)
"""The columns of runs.csv; ``measure.*`` follow."""

CLOCKS: Final = ("seconds", "proof_seconds", "total_seconds")
"""The columns that differ from run to run on one machine."""

_TRUTH = {"true": True, "false": False}
_COUNTS = ("constraints", "dimension", "updates", "queries", "iterations")
_REALS = ("margin_lower", "margin_upper", "products", *CLOCKS, "bound")
_FORMULAS = ("=", "+", "-", "@", "\t")


def rendered(rows: Iterable[Row]) -> str:
    """Return rows as the text of runs.csv.

    Numbers have every digit. Text that begins with ``= + - @`` or a tab gets an apostrophe before
    it, since a spreadsheet would take it for a formula; carriage returns become line feeds, since
    readers do not agree on them.
    """
    rows = list(rows)
    measures = sorted({key for row in rows for key in row if key not in COLUMNS})
    text = io.StringIO()
    writer = csv.DictWriter(text, [*COLUMNS, *measures], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _field(value) for key, value in row.items()} for row in rows)
    return text.getvalue()


def parsed(text: str) -> pd.DataFrame:
    """Return the text of runs.csv as a frame.

    Text stays as it is (a cell ``1234e567`` is no number, an apostrophe before a formula remains),
    counts are nullable integers. ``goal_reached`` is missing for learners, and for rows that were
    written before it was kept.
    """
    import pandas as pd

    frame = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    for column in frame.columns:
        if column in _COUNTS:
            frame[column] = pd.to_numeric(frame[column].replace("", None)).astype("Int64")
        elif column in _REALS or column.startswith("measure."):
            frame[column] = reals(frame[column])
    frame["seed"] = frame["seed"].astype("int64")
    frame["proved"] = frame["proved"] == "true"
    frame["goal_reached"] = frame["goal_reached"].map(_TRUTH).astype("boolean")
    return frame


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
