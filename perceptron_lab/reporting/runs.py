"""The table of runs as a store holds it, read and checked before anything is made of it."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

from perceptron_lab.errors import DataError
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.experiments.storage.rows import Row, reals, rendered
from perceptron_lab.results import Status

TEXT: Final = ("cell", "problem", "label", "status")
COUNTS: Final = ("updates", "queries", "seconds")
NUMBERS: Final = (
    "constraints",
    "dimension",
    "seed",
    *COUNTS,
    "proof_seconds",
    "products",
    "margin_upper",
    "bound",
)
SIGNED: Final = ("margin_lower",)
REQUIRED: Final = (*TEXT, "proved", *NUMBERS, *SIGNED)
"""The columns that reports need; further ones are carried along unchecked."""

_TRUTH = {"true": True, "True": True, "false": False, "False": False, "": False}


def read_runs(folder: Path) -> pd.DataFrame:
    """Read the rows of an experiment from its store and check them.

    Parameters
    ----------
    folder
        The experiment's folder.

    Returns
    -------
    DataFrame
        As :func:`checked_runs` returns it.

    Raises
    ------
    DataError
        If there is no store, or it is damaged, or its rows are not a table of runs.
    ConfigError
        If it is of another version.
    """
    with Reader.open(folder) as reader:
        rows = reader.rows()
    return runs_of(rows, str(folder))


def runs_of(rows: Iterable[Row], where: str) -> pd.DataFrame:
    """Return rows as runs.csv holds them, checked as :func:`checked_runs` does."""
    runs = pd.read_csv(io.StringIO(rendered(rows)), dtype=str, keep_default_na=False)
    return checked_runs(runs, where)


def checked_runs(runs: pd.DataFrame, where: str = "the table of runs") -> pd.DataFrame:
    """Return the runs with numbers as floats (missing: NaN) and ``proved`` as booleans.

    A missing ``proved`` is false: no proof was given.

    Parameters
    ----------
    runs
        One row per cell, with at least the columns :data:`REQUIRED`; values as text, as read from
        a file, or as Python objects.
    where
        What error messages call the table.

    Raises
    ------
    DataError
        If there are no rows, columns are missing, a value is not what its column holds, a feasible
        cell lacks its counts, or two rows share problem, label and seed.
    """
    missing = [column for column in REQUIRED if column not in runs.columns]
    if missing:
        raise DataError(
            f"{where}: no column {', '.join(missing)}; a table of runs has {', '.join(REQUIRED)}"
        )
    if runs.empty:
        raise DataError(f"{where}: it has no rows; run the experiment first (`plab run CONFIG`)")
    checked = runs.reset_index(drop=True)
    for column in TEXT:
        checked[column] = _text(checked[column], where)
    for column in (*NUMBERS, *SIGNED):
        checked[column] = _numbers(checked[column], where, signed=column in SIGNED)
    checked["proved"] = _truth(checked["proved"], where)
    _refuse(~checked["status"].isin(list(Status)), checked["status"], where, ", ".join(Status))
    _refuse_incomplete(checked, where)
    _refuse_repeated(checked, where)
    return checked


def _text(values: pd.Series, where: str) -> pd.Series:
    text = values.where(values.notna(), "").astype(str)
    _refuse(text == "", text, where, "a non-empty text")
    return text


def _numbers(values: pd.Series, where: str, signed: bool) -> pd.Series:
    given = values.astype(object).where(values.notna() & (values.astype(str) != ""), None)
    numbers = reals(given, invalid="coerce")
    wrong = given.notna() & ~(np.isfinite(numbers) & (signed | (numbers >= 0)))
    _refuse(wrong, values, where, f"a finite number, {'' if signed else '0 or more, '}or nothing")
    return numbers


def _truth(values: pd.Series, where: str) -> pd.Series:
    text = values.astype(object).where(values.notna(), "").astype(str)
    truth = text.map(_TRUTH)
    _refuse(truth.isna(), values, where, "true or false")
    return truth.astype(bool)


def _refuse(wrong: pd.Series, values: pd.Series, where: str, allowed: str) -> None:
    if wrong.any():
        row = int(wrong.to_numpy().argmax())
        raise DataError(
            f"{where}, row {row + 1}, column {values.name}: {values.iloc[row]!r} is not allowed; "
            f"allowed: {allowed}"
        )


def _refuse_incomplete(runs: pd.DataFrame, where: str) -> None:
    feasible = runs["status"] == Status.FEASIBLE
    for column in COUNTS:
        wrong = feasible & runs[column].isna()
        _refuse(wrong, runs[column], where, "a number, since the cell is FEASIBLE")


def _refuse_repeated(runs: pd.DataFrame, where: str) -> None:
    repeated = runs.duplicated(["problem", "label", "seed"])
    if repeated.any():
        first = runs[repeated].iloc[0]
        raise DataError(
            f"{where}: problem {first['problem']!r}, label {first['label']!r}, seed "
            f"{first['seed']:g} occurs twice; give each algorithm of the experiment its own label"
        )
