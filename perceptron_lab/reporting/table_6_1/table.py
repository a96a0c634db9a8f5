"""Table 6.1 of the thesis: one row per problem, ours beside the thesis's own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from perceptron_lab.errors import DataError
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.table_6_1 import latex as table_6_1_latex
from perceptron_lab.reporting.table_6_1.comparison import Comparison, compare


def table_6_1(evidence: Evidence) -> ThesisTable:
    """Return Table 6.1 of the runs of homogenised systems.

    Raises
    ------
    DataError
        If one problem has several dimensions.
    """
    return ThesisTable(compare(evidence.frame))


@dataclass(frozen=True)
class ThesisTable:
    """Table 6.1, ours beside the thesis's.

    Parameters
    ----------
    comparison
        Its numbers.
    """

    comparison: Comparison

    @property
    def frame(self) -> pd.DataFrame:
        """One row per problem, with full precision.

        Columns ``problem``, ``m`` (unknowns before homogenisation; on MAXCUT the order of the
        matrix), then per label L: ``L seeds`` (if there are several), ``L updates``,
        ``L queries``, ``L seconds`` (medians over the seeds); where the thesis has L on some of
        the problems, ``L thesis queries``, ``L thesis seconds`` and ``L deviation percent`` (of
        our queries from the thesis's; empty unless proved); ``L status``, empty where every cell
        is proved feasible; at the end ``proved``: whether every cell of the row is.

        Raises
        ------
        DataError
            If labels would share a column.
        """
        orders, labels = self.comparison.orders, self.comparison.labels
        columns = [
            ("problem", pd.Series(list(orders), dtype=str)),
            ("m", _numbers(orders.values())),
        ]
        for label in labels:
            named = _columns(self.comparison, label)
            columns += [(f"{label} {name}", values) for name, values in named]
        proved = [all(e.proved for e in self.comparison.row(problem)) for problem in orders]
        columns.append(("proved", pd.Series(proved, dtype=bool)))
        return _unique(columns)

    def latex(self, title: str) -> str:
        """Return a ``table`` environment; its preamble needs booktabs."""
        return table_6_1_latex.latex(self.comparison, title)


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
