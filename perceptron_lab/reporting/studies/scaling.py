"""The growth of the time to an answer with the rows, or with the dimension."""

from __future__ import annotations

from typing import Literal, NamedTuple

from matplotlib.figure import Figure

from perceptron_lab.core.errors import DataError
from perceptron_lab.experiments.configuration.rows import as_json
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.summary import common, summaries

MOST_PANELS = 6
"""The most panels that are drawn: three beside each other, in two rows."""

_Size = Literal["rows", "dimension"]


class Series(NamedTuple):
    """Problems of one kind that differ in one size alone, and share the fixed other one.

    ``kind`` is their name, with a star in the place of the shape; ``problems`` are called by the
    size.
    """

    kind: str
    size: _Size
    fixed: int
    problems: dict[int, str]

    @property
    def title(self) -> str:
        """The kind and the fixed size."""
        fixed = f"dimension {self.fixed}" if self.size == "rows" else f"{self.fixed} rows"
        return f"{self.kind}, {fixed}"


@needs(lambda outline: series_of(outline))
def scaling(evidence: Evidence) -> Figure:
    """Seconds against the rows of each dimension, and against the dimension, on log axes.

    A panel holds problems of datasets whose parameters differ in ``rows`` or in ``dimension``
    alone, such as those of margin-sets. Markers are medians over the seeds, joined by a line per
    label; bars reach from the lower to the upper quartile. A cross is a median over cells of which
    some have no proved answer, at the lower edge where there is no number at all: at a limit, the
    number is where the run was cut off. Of more than six panels the first six are drawn, and the
    figure says so.
    """
    found = series_of(evidence)
    drawn = found[:MOST_PANELS]
    known = drawing.looks(list(evidence.frame["label"].unique()))
    entries = {(entry.problem, entry.label): entry for entry in summaries(evidence.frame)}
    head = 0.6 + 0.05 * len(known)
    figure, panels = drawing.panels(len(drawn), 2.6, head, 2.4, sharey=True)
    for axes, series in zip(panels, drawn, strict=True):
        axes.set_title(series.title, loc="left")
        axes.set(xlabel=series.size, ylabel="seconds")
        mine = [
            (float(size), entries[problem, label])
            for size, problem in series.problems.items()
            for label in known
        ]
        drawing.draw_medians(axes, known, mine, "seconds", lambda entry: entry.answered)
    shown = {problem for series in drawn for problem in series.problems.values()}
    answered = all(one.answered for one in entries.values() if one.problem in shown)
    names = drawing.spelt_out(evidence.algorithms())
    drawing.legend_above(figure, drawing.handles(known, answered, names=names))
    drawing.name_left_out(figure, drawn, found, "panels")
    return figure


def series_of(outline: Outline) -> list[Series]:
    """Return the problems of each kind and dimension by their rows, and likewise the other way.

    Runs in which no two problems differ in rows or dimension alone are refused.
    """
    grown: dict[tuple[_Size, str, int], dict[int, str]] = {}
    sizes = {"rows", "dimension"}
    # By their shapes, so that sizes increase along each line
    for problem, (dimension, rows) in sorted(outline.shapes().items(), key=lambda pair: pair[1]):
        given = outline.parameters(problem)
        if sizes <= {name for name, value in given.items() if value is not None}:
            kind = as_json({name: given[name] for name in given if name not in sizes})
            grown.setdefault(("rows", kind, dimension), {})[rows] = problem
            grown.setdefault(("dimension", kind, rows), {})[dimension] = problem
    found = [
        Series("-".join(common(problems.values(), "-")), size, fixed, problems)
        for (size, _, fixed), problems in grown.items()
        if len(problems) > 1
    ]
    if not found:
        raise DataError(
            "scaling: no two problems differ in the rows of their shape alone, or in its dimension "
            "alone; it draws sweeps over `rows` or `dimension`, as of the dataset margin-sets"
        )
    return sorted(found, key=lambda series: (series.size == "dimension", series[:3]))
