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
    """Read the rows of an experiment from its store and check them, as :func:`checked_runs` does.

    Raises
    ------
    DataError
        If there is no store, or it is damaged, or its rows are not a table of runs.
    ConfigError
        If it is of another version.
    """
    with Reader.open(folder) as reader:
        return runs_of(reader.rows(), str(folder))


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
        The name of the table in error messages.

    Raises
    ------
    DataError
        If there are no rows, columns are missing, a value does not belong into its column, a
        feasible cell lacks its counts, or two rows share problem, label and seed.
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
        text = checked[column].where(checked[column].notna(), "").astype(str)
        _refuse(text == "", text, where, "a non-empty text")
        checked[column] = text
    for column in (*NUMBERS, *SIGNED):
        given = checked[column].astype(object)
        given = given.where(given.notna() & (given.astype(str) != ""), None)
        numbers = reals(given, invalid="coerce")
        signed = column in SIGNED
        wrong = given.notna() & ~(np.isfinite(numbers) & (signed | (numbers >= 0)))
        allowed = f"a finite number, {'' if signed else '0 or more, '}or nothing"
        _refuse(wrong, checked[column], where, allowed)
        checked[column] = numbers
    given = checked["proved"].astype(object)
    truth = given.where(given.notna(), "").astype(str).map(_TRUTH)
    _refuse(truth.isna(), checked["proved"], where, "true or false")
    checked["proved"] = truth.astype(bool)
    _refuse(~checked["status"].isin(list(Status)), checked["status"], where, ", ".join(Status))
    for column in COUNTS:
        wrong = (checked["status"] == Status.FEASIBLE) & checked[column].isna()
        _refuse(wrong, checked[column], where, "a number, since the cell is FEASIBLE")
    repeated = checked[checked.duplicated(["problem", "label", "seed"])]
    for problem, label, seed in repeated[["problem", "label", "seed"]].head(1).to_numpy():
        raise DataError(
            f"{where}: problem {problem!r}, label {label!r}, seed {seed:g} occurs twice; give each "
            "algorithm of the experiment its own label"
        )
    return checked


def _refuse(wrong: pd.Series, values: pd.Series, where: str, allowed: str) -> None:
    if wrong.any():
        row = int(wrong.to_numpy().argmax())
        raise DataError(
            f"{where}, row {row + 1}, column {values.name}: {values.iloc[row]!r} is not allowed; "
            f"allowed: {allowed}"
        )
