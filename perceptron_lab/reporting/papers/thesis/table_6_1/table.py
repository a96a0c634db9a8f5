"""Table 6.1 of the thesis: one row per problem, with our numbers and the thesis's.

The thesis calls "updates" a count of oracle queries (updates + 1: the last query certifies), so
its numbers are compared with our queries.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from operator import add
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Status
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing import drawing, typesetting
from perceptron_lab.reporting.printing.columns import Column, counts, numbers, texts
from perceptron_lab.reporting.printing.looks import Look, Style, looks_of
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import DAGGER, escape
from perceptron_lab.reporting.summary import Summary, by_label, status_text, summaries

THESIS_LABELS = ("PRA", "EA")
"""Perceptron rescaling algorithm and ellipsoid algorithm: the labels that Table 6.1 has."""
ROUNDING = files(__package__) / "rounding.csv"
"""The spreads, as measured."""


class Thesis(NamedTuple):
    """One entry of the thesis's Table 6.1: oracle queries and seconds (on a 2.6 GHz machine)."""

    queries: int
    seconds: float


@dataclass(frozen=True)
class QueryEntry(Summary):
    """One label on one problem, with the thesis's entry."""

    @property
    def thesis(self) -> Thesis | None:
        """The thesis's entry, or None."""
        return thesis_table().get((self.problem, self.label))

    @property
    def status(self) -> str:
        """The statuses of the cells that are no proved feasible points."""
        if not self.seeds:
            return "not run"
        statuses = Counter(
            status_text(status, proved)
            for status, proved in self.runs[["status", "proved"]].to_numpy()
            if not proved or status != Status.FEASIBLE
        )
        if self.seeds == 1:
            # A single seed needs no count
            return "".join(statuses)
        return ", ".join(f"{name} ({count} of {self.seeds})" for name, count in statuses.items())

    @property
    def deviation(self) -> float | None:
        """Percent by which our queries exceed the thesis's; None if unproved or not in it."""
        queries = self.median("queries")
        # The count of an unproved answer is not comparable with the thesis's
        if self.thesis is None or queries is None or not self.feasible:
            return None
        return 100.0 * (queries - self.thesis.queries) / self.thesis.queries


class RoundingSpread(NamedTuple):
    """The least and the largest number of queries of one entry of Table 6.1.

    Parameters
    ----------
    least, most
        Over the kernels of OpenBLAS for Prescott, Nehalem, Sandybridge, Haswell and SkylakeX, and
        numba's generic target.
    noisy_least, noisy_most
        With noise of 2^-52 times the largest entry in every point that is queried (two seeds).
        No zero stays one then, neither an entry of the matrix nor a pivot.
    """

    least: int
    most: int
    noisy_least: int
    noisy_most: int

    @property
    def hangs_on_kernel(self) -> bool:
        """Whether BLAS kernels differ in it."""
        return self.least < self.most

    @property
    def hangs_on_zeros(self) -> bool:
        """Whether it is another one where zeros are not exact."""
        return not self.least == self.noisy_least == self.noisy_most

    @property
    def change(self) -> float:
        """Percent by which noise changes it, at most."""
        largest_change = max(abs(self.noisy_least - self.least), abs(self.noisy_most - self.least))
        return 100.0 * largest_change / self.least


def entries_of(runs: pd.DataFrame) -> dict[str, list[QueryEntry]]:
    """Return label -> its entries, problem by problem; pairs that were not run are marked.

    Parameters
    ----------
    runs
        The checked table of runs of homogenised systems, one row per cell.
    """
    return by_label(QueryEntry(entry.problem, entry.label, entry.runs) for entry in summaries(runs))


def has_thesis(entries: Iterable[QueryEntry]) -> bool:
    """Whether the thesis has at least one of the entries."""
    return any(entry.thesis for entry in entries)


def sizes_of(runs: pd.DataFrame, column: str) -> list[int | None]:
    """Return ``dimension`` or ``constraints`` of each problem, before homogenisation.

    These are m, the number of unknowns, and n, the order of the matrix (of several blocks, their
    sum); both are one less than in the run. None where no run got so far.
    """
    sizes: list[int | None] = []
    for problem, runs_of_problem in runs.groupby("problem", sort=False):
        values = runs_of_problem[column].dropna().unique()
        if len(values) > 1:
            listed = ", ".join(f"{value:g}" for value in values)
            raise DataError(
                f"the table of runs: problem {problem!r} has several {column.rstrip('s')}s "
                f"({listed}); give different problems different names"
            )
        # Homogenisation adds one unknown and one condition, x_0 > 0
        sizes.append(int(values[0]) - 1 if len(values) else None)
    return sizes


@cache
def thesis_table() -> dict[tuple[str, str], Thesis]:
    """Return Table 6.1 of Kharechko2009 as (problem, label) -> queries and seconds."""
    text = (files(__package__) / "thesis.csv").read_text("utf-8")
    return {
        # The thesis's updates are queries: the last one certifies the point
        (row["problem"], label): Thesis(
            int(row[f"{label.lower()}_updates"]), float(row[f"{label.lower()}_seconds"])
        )
        for row in csv.DictReader(text.splitlines())
        for label in THESIS_LABELS
    }


@cache
def spreads() -> dict[tuple[str, str], RoundingSpread]:
    """Return the spreads as (problem, label) -> spread."""
    return {
        (row["problem"], row["label"]): RoundingSpread(
            *(int(row[name]) for name in RoundingSpread._fields)
        )
        for row in csv.DictReader(ROUNDING.read_text("utf-8").splitlines())
    }


def table_6_1(evidence: Evidence) -> Table:
    """Updates, queries and seconds per problem, compared with Table 6.1 of the thesis.

    Columns ``problem``, ``m`` (unknowns before homogenisation), ``n`` (order of the matrix; on
    MAXCUT equal to m, and the thesis has one column for both), then per label L: ``L seeds`` (if
    there are several), ``L updates``, ``L queries``, ``L seconds`` (medians over the seeds); where
    the thesis has L on some of the problems, ``L thesis queries``, ``L thesis seconds`` and
    ``L deviation percent`` (of our queries from the thesis's; empty unless proved); ``L status``,
    empty where every cell is proved feasible; at the end ``proved``: whether every cell of the row
    is.

    Bold in print, as in the thesis: the fewest queries and seconds of a problem, among the answers
    that are proved. A dagger marks an entry that is no proved feasible point; a note says why.
    """
    labels = entries_of(evidence.frame)
    rows = list(zip(*labels.values(), strict=True))
    entries = [entry for row in rows for entry in row]
    several = any(entry.seeds > 1 for entry in entries)
    columns = [
        texts("problem", [row[0].problem for row in rows]),
        replace(counts("m", sizes_of(evidence.frame, "dimension")), head="$m$"),
        replace(counts("n", sizes_of(evidence.frame, "constraints")), head="$n$"),
    ]
    for label, entries_of_label in labels.items():
        columns += [
            replace(column, name=f"{label} {column.name}", group=label)
            for column in _columns(entries_of_label, rows, several)
        ]
    columns.append(Column("proved", [all(e.feasible for e in row) for row in rows], None))
    return Table("table_6_1", columns, keys=3, notes=list(_notes(labels, entries, several)))


def _columns(
    entries: Sequence[QueryEntry], rows: Sequence[Sequence[QueryEntry]], several: bool
) -> list[Column]:
    """Return the columns of one label, under the names that they have for every label."""
    columns = [counts("seeds", [entry.seeds for entry in entries])] if several else []
    marks = ["" if entry.feasible else DAGGER for entry in entries]
    for name, show, integral in _COSTS:
        values = [entry.median(name) for entry in entries]
        written = [show(value) for value in values]
        bold = []
        for entry, row, text in zip(entries, rows, written, strict=True):
            # Unproved answers may be cheap because they stopped early
            best = min((e.median(name) or 0.0 for e in row if e.feasible), default=None)
            ours = name != "updates" and len(row) > 1 and entry.feasible
            # By what is printed: equal numbers in print are ties
            bold.append(ours and text == show(best))
        texts = list(map(add, written, marks))
        columns.append(Column(name, values, texts, bold=bold, whole=integral))
    if has_thesis(entries):
        queries, spent = zip(*(entry.thesis or (None, None) for entry in entries), strict=True)
        deviations = [entry.deviation for entry in entries]
        off = ["0" if value == 0 else typesetting.signed(value) for value in deviations]
        columns += [
            counts("thesis queries", queries),
            # Printed there with one digit after the point, whole numbers included
            replace(numbers("thesis seconds", spent, typesetting.percent), whole=False),
            Column("deviation percent", deviations, off, head="\\%", whole=False),
        ]
    return [*columns, Column("status", [entry.status for entry in entries], None, align="l")]


# Column of the runs, print, and whether it is a count
_COSTS = (
    ("updates", typesetting.count, True),
    ("queries", typesetting.count, True),
    ("seconds", typesetting.seconds, False),
)


def _notes(
    labels: Mapping[str, Sequence[QueryEntry]], entries: Sequence[QueryEntry], several: bool
) -> Iterator[str]:
    if has_thesis(entries):
        yield (
            "Columns ``thesis'': Table 6.1 of Kharechko2009, whose ``updates'' count oracle "
            "queries, on a machine of 2.6\\,GHz. Columns \\%: deviation of our queries from the "
            "thesis's."
        )
        yield from _rounding(entries)
    if several:
        yield "Numbers are medians over the seeds."
    if len(labels) > 1:
        yield "Bold: the fewest queries and seconds of a problem among the proved answers."
    unproved = [
        f"{escape(entry.problem)}, {escape(entry.label)}: {escape(entry.status)}"
        for entry in entries
        if not entry.feasible
    ]
    every = "Every answer is a point proved feasible on the original data."
    yield f"{DAGGER} Not a proved feasible point: {'; '.join(unproved)}." if unproved else every


def _rounding(entries: Sequence[QueryEntry]) -> Iterator[str]:
    """Yield which counts depend on the BLAS kernel or on exact zeros, as far as it is known.

    The records are of the thesis's oracle and constants: of entries with those counts.
    """
    measured = [
        (entry, spread)
        for entry in entries
        if (spread := spreads().get((entry.problem, entry.label))) is not None
        and entry.feasible
        # With other counts an entry is not the one that the spreads were measured on
        and spread.least <= (entry.median("queries") or 0) <= spread.most
    ]
    if measured:
        differing = _listed([entry for entry, spread in measured if spread.hangs_on_kernel])
        other = f", but for {differing}" if differing else ""
        count, total = len(measured), len(entries)
        whose = (
            "All queries" if count == total else f"The queries of {count} of the {total} entries"
        )
        yield (
            f"{whose} are the same under OpenBLAS's kernels for Prescott, Nehalem, Sandybridge, "
            f"Haswell and SkylakeX{other}."
        )
    changed = [(entry, spread) for entry, spread in measured if spread.hangs_on_zeros]
    if changed:
        yield (
            f"Noise of $2^{-52}$ in the query points changes the counts that depend on exact "
            f"zeros by up to {max(spread.change for _, spread in changed):.1f}\\,\\%: "
            f"{_listed([entry for entry, _ in changed])}."
        )


def _listed(entries: Sequence[QueryEntry]) -> str:
    """Name problems, each with its labels."""
    labels: dict[str, list[str]] = {}
    for entry in entries:
        labels.setdefault(entry.problem, []).append(entry.label)
    return "; ".join(f"{escape(name)} {', '.join(problems)}" for name, problems in labels.items())


def table_6_1_figure(evidence: Evidence) -> Figure:
    """Queries above and seconds below, per problem: ours and those of Table 6.1 of the thesis.

    Filled markers are ours, hollow ones of the same colour and shape are the thesis's. A cross is
    an entry that is not a proved feasible point, at the lower edge where it has no number at all.

    Parameters
    ----------
    evidence
        Of runs of homogenised systems.
    """
    labels = entries_of(evidence.frame)
    problems = [entry.problem for entry in next(iter(labels.values()))]
    # Half a page wide, and wider only where the markers would no longer keep apart.
    width = min(7.2, max(3.5, 0.07 * len(problems) * (1 + len(labels))))
    figure = drawing.canvas(width, 4.2)
    upper, lower = figure.subplots(2, 1, sharex=True)
    looks = looks_of(evidence, labels)
    _draw(upper, labels, looks, "queries")
    _draw(lower, labels, looks, "seconds")
    upper.set_ylabel("oracle queries")
    lower.set_ylabel("seconds")
    # Names are turned where they would run into each other
    fitting = max(map(len, problems)) * drawing.LETTER < 0.8 * width / len(problems)
    lower.set_xticks(range(len(problems)), problems, rotation=0 if fitting else 90)
    lower.set_xlim(-0.6, len(problems) - 0.4)
    names = drawing.spelt_out(evidence.algorithms())
    named = []
    for label, look in looks.items():
        style: Style = {"label": names.get(label, label), **look}
        named.append(Line2D([], [], markersize=3.2, markeredgewidth=0.8, **style))
        if has_thesis(labels[label]):
            name = f"{label}, thesis"
            named.append(Line2D([], [], label=name, markersize=6, fillstyle="none", **look))
    for handle in named:
        # Its markers are not joined in the panels either.
        handle.set_linestyle("none")
    every = [entry for entries in labels.values() for entry in entries]
    named += drawing.handles({}, all(entry.feasible for entry in every))
    # Ours above the thesis's
    drawing.legend_above(figure, named, 2 if has_thesis(every) else 1)
    return figure


def _draw(
    axes: Axes,
    labels: Mapping[str, Sequence[QueryEntry]],
    looks: Mapping[str, Look],
    column: str,
) -> None:
    axes.set_yscale("log")
    position = Thesis._fields.index(column)
    for i, (label, look) in enumerate(looks.items()):
        # Side by side within the width of a problem, so that equal numbers do not hide each other.
        shift = (i - (len(labels) - 1) / 2) * 0.7 / len(labels)
        entries = [(j + shift, entry) for j, entry in enumerate(labels[label])]
        answers = [(x, entry.median(column)) for x, entry in entries if entry.feasible]
        unproved = [(x, entry.median(column)) for x, entry in entries if not entry.feasible]
        printed = [(x, float(entry.thesis[position])) for x, entry in entries if entry.thesis]
        drawing.points(axes, answers, f"{label} proved", look, markersize=3.2)
        drawing.points(axes, printed, f"{label} thesis", look, markersize=6, fillstyle="none")
        cross: Look = {**look, "marker": "x"}
        drawing.points(axes, unproved, f"{label} not proved", cross, markersize=5)
    drawing.rule_logarithmic(axes, "y")
    drawing.rule(axes, "x", "0.95")
    axes.tick_params(axis="x", length=0)
