"""Tables for CSV: functions of the table of runs, by name, with full precision."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pandas as pd

from perceptron_lab.errors import DataError
from perceptron_lab.reporting.comparison import Comparison, compare


def table_6_1(runs: pd.DataFrame) -> pd.DataFrame:
    """Return Table 6.1: one row per problem, ours beside the thesis's.

    Parameters
    ----------
    runs
        The table of runs of homogenised systems, one row per cell.

    Returns
    -------
    DataFrame
        Columns ``problem``, ``m`` (unknowns before homogenisation; on MAXCUT the order of the
        matrix), then per label L: ``L seeds`` (if there are several), ``L updates``,
        ``L queries``, ``L seconds`` (medians over the seeds); where the thesis has L on some of
        the problems, ``L thesis queries``, ``L thesis seconds`` and ``L deviation percent`` (of
        our queries from the thesis's; empty unless proved); ``L status``, empty where every cell
        is proved feasible; at the end ``proved``: whether every cell of the row is.

    Raises
    ------
    DataError
        If the runs are empty, incomplete or contradict one another.
    """
    comparison = compare(runs)
    columns = [
        ("problem", pd.Series(list(comparison.orders), dtype=str)),
        ("m", _numbers(comparison.orders.values())),
    ]
    for label in comparison.labels:
        columns += [(f"{label} {name}", values) for name, values in _columns(comparison, label)]
    proved = [all(e.proved for e in comparison.row(problem)) for problem in comparison.orders]
    columns.append(("proved", pd.Series(proved, dtype=bool)))
    return _unique(columns)


def _columns(comparison: Comparison, label: str) -> list[tuple[str, pd.Series]]:
    entries = comparison.column(label)
    columns = []
    if comparison.several_seeds:
        columns.append(("seeds", _numbers(e.seeds for e in entries)))
    columns += [
        ("updates", _numbers(e.updates for e in entries)),
        ("queries", _numbers(e.queries for e in entries)),
        ("seconds", _reals(e.seconds for e in entries)),
    ]
    if comparison.has_thesis(label):
        thesis = [e.thesis for e in entries]
        columns += [
            ("thesis queries", _numbers(t.queries if t else None for t in thesis)),
            ("thesis seconds", _reals(t.seconds if t else None for t in thesis)),
            ("deviation percent", _reals(e.deviation for e in entries)),
        ]
    columns.append(("status", pd.Series([e.status for e in entries], dtype=str)))
    return columns


def _reals(values: Iterable[float | None]) -> pd.Series:
    return pd.Series(list(values), dtype="Float64")


def _numbers(values: Iterable[float | None]) -> pd.Series:
    """Counts as whole numbers, unless a median lies between two of them."""
    reals = _reals(values)
    whole = (reals.dropna() % 1 == 0).all()
    return reals.astype("Int64") if whole else reals


def _unique(columns: list[tuple[str, pd.Series]]) -> pd.DataFrame:
    names = [name for name, _ in columns]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise DataError(
            f"table_6_1: two columns would be called {repeated!r}; rename one of the labels"
        )
    return pd.DataFrame(dict(columns))


TABLES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {"table_6_1": table_6_1}
"""Name in a configuration -> function of the table of runs."""
