"""The results of an experiment: its rows, with their tables and figures."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

from perceptron_lab.experiments.running.runner import Rows
from perceptron_lab.experiments.running.wording import counted
from perceptron_lab.reporting import report
from perceptron_lab.reporting.evidence import Evidence

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_SHOWN: Final = ("problem", "label", "seed", "status", "proved", "margin_lower", "margin_upper")
_COSTS: Final = ("updates", "queries", "seconds", "message")
_MOST = 60
"""Rows that a notebook shows."""


@dataclass(frozen=True)
class Results(Rows):
    """The rows of an experiment, with its tables and figures.

    Parameters
    ----------
    folder, rows
        As in :class:`~perceptron_lab.experiments.running.runner.Rows`.
    title
        Of the experiment.
    cautions
        To be known before the rows are compared; empty if nothing is amiss.
    """

    title: str = ""
    cautions: tuple[str, ...] = ()

    def table(self, name: str) -> pd.DataFrame:
        """Return a table by its name, such as ``table_6_1``, in full precision.

        Raises
        ------
        ConfigError
            If there is no such table.
        DataError
            If it cannot be made of these runs.
        """
        return report.table(name, Evidence.of_folder(self.folder)).frame

    def figure(self, name: str) -> Figure:
        """Return a figure by its name, such as ``figure_2``; errors as of :meth:`table`."""
        return report.figure(name, Evidence.of_folder(self.folder))

    def __str__(self) -> str:
        rows = counted(len(self.rows), "row")
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"{self.title or self.folder.name}: {rows}{failed}, in {self.folder}"

    def _repr_html_(self) -> str:
        """Return a table for notebooks; every text in it is escaped."""
        frame = self.to_frame()
        shown = frame[[column for column in (*_SHOWN, *_COSTS) if column in frame.columns]]
        table = shown.head(_MOST).to_html(index=False, escape=True, na_rep="", border=0)
        more = f"<p>and {len(frame) - _MOST} more rows</p>" if len(frame) > _MOST else ""
        amiss = "".join(f"<p><b>{escape(caution)}</b></p>" for caution in self.cautions)
        return f"<div><p>{escape(str(self))}</p>{amiss}{table}{more}</div>"
