"""Norms and depths of the cuts that oracles give, over whole runs, from their traces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray, Trace
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.papers.thesis.table_6_1.oracles import pairs_of
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers, texts
from perceptron_lab.reporting.printing.drawing import Look
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.summary import Summary, summaries

_SHAPE = "cuts: its problems are to have two blocks, x_0 > 0 and one matrix, as MAXCUT's have"


@dataclass(frozen=True)
class CutHistory:
    """The cuts of one run between the records of its trace; block 0 is x_0 > 0, block 1 the matrix.

    Parameters
    ----------
    updates
        At the records, shape ``(records,)``.
    counts, norms, depths
        Of the cuts since the record before, shape ``(records, 2)``; means are NaN where none is.
    """

    updates: FloatArray
    counts: FloatArray
    norms: FloatArray
    depths: FloatArray

    @classmethod
    def of(cls, trace: Trace) -> CutHistory:
        """Return the course in a trace; one without cuts, or of other blocks, is refused."""
        if "cuts" not in trace.measures:
            raise DataError("cuts: a trace has none; run the experiment with trace_cuts: true")
        named = [np.array(trace.measures[name]) for name in ("cuts", "cut_norm", "cut_depth")]
        if named[0].shape[1:] != (2,):
            raise DataError(_SHAPE)
        return cls(np.array(trace.updates, dtype=float), *named)

    def total(self, block: int) -> float:
        """Return the number of cuts of a block."""
        return float(self.counts[:, block].sum())

    def mean(self, values: FloatArray, block: int = 1) -> float | None:
        """Return the mean of norms or depths over all cuts of a block, or None."""
        weights = np.where(np.isnan(values[:, block]), 0.0, self.counts[:, block])
        if not weights.any():
            return None
        return float(weights @ np.nan_to_num(values[:, block]) / weights.sum())


def suits(outline: Outline) -> None:
    """Refuse experiments whose traces have no cuts."""
    if not outline.recorded().trace_cuts:
        raise DataError("cuts: traces have no cuts; run the experiment with trace_cuts: true")


def history_of(evidence: Evidence, entry: Summary) -> CutHistory | None:
    """Return the course of the first seed with a trace, or None."""
    for cell in entry.runs["cell"]:
        trace = evidence.trace(str(cell))
        if trace is not None:
            return CutHistory.of(trace)
    return None


@needs(suits)
def cuts_table(evidence: Evidence) -> Table:
    """Queries by label, and the cuts that they gave.

    Columns ``problem``, ``label``, ``queries``; of the first seed: ``x0 percent``, the part of the
    cuts that are x_0 > 0; ``norm`` and ``depth``, the means over the cuts of the matrix; ``x0
    depth``, over the others; ``ended``.
    """
    entries = summaries(evidence.frame)
    courses = [history_of(evidence, entry) for entry in entries]
    columns = [
        texts("problem", [entry.problem for entry in entries]),
        texts("label", [entry.label for entry in entries]),
        counts("queries", [entry.median("queries") for entry in entries]),
        numbers("x0 percent", [_share(one) for one in courses]),
        numbers("norm", [one.mean(one.norms) if one else None for one in courses]),
        numbers("depth", [one.mean(one.depths) if one else None for one in courses]),
        numbers("x0 depth", [one.mean(one.depths, 0) if one else None for one in courses]),
        texts("ended", [entry.endings for entry in entries]),
    ]
    notes = [
        "The depth of a cut $a$ at $y$ is $-a'y / (\\|a\\| \\|y\\|)$; norms are those of unit "
        "directions $v$, $a = (v'C_0v, v_1^2, \\ldots, v_n^2)$. Means over all matrix cuts of a "
        "run; $x_0$: over the cuts $x_0 > 0$.",
    ]
    return Table("cuts", columns, keys=2, notes=notes)


def _share(course: CutHistory | None) -> float | None:
    if course is None:
        return None
    every = course.total(0) + course.total(1)
    return 100.0 * course.total(0) / every if every else None


@needs(suits, pairs_of)
def cuts_figure(evidence: Evidence) -> Figure:
    """Mean depth above and mean norm below of the matrix cuts between records, against updates.

    PRA on the left, EA on the right, a colour per oracle and a line per problem: the thicker, the
    larger the problem. First seeds only.
    """
    pairs = pairs_of(evidence)
    entries = {(entry.label, entry.problem): entry for entry in summaries(evidence.frame)}
    looks = drawing.looks(list(pairs))
    problems = evidence.problems()
    figure = drawing.canvas(7.0, 4.4)
    panels = figure.subplots(2, 2, sharex="col", sharey="row")
    drawn = 0
    for oracle, pair in pairs.items():
        for column, label in enumerate(pair):
            for place, problem in enumerate(problems):
                course = history_of(evidence, entries[label, problem])
                if course is None:
                    continue
                width = 0.5 + 1.1 * place / max(1, len(problems) - 1)
                _draw(panels[0][column], course, course.depths, looks[oracle], width)
                _draw(panels[1][column], course, course.norms, looks[oracle], width)
                drawn += 1
    if not drawn:
        raise DataError("cuts: no run has a trace; run the experiment again")
    for axes in panels.flat:
        drawing.rule_logarithmic(axes, "x")
        drawing.rule_logarithmic(axes, "y")
    for axes, title in zip(panels[0], ("PRA", "EA"), strict=True):
        axes.set_title(title, loc="left")
    panels[0][0].set_ylabel("mean depth of the cuts")
    panels[1][0].set_ylabel("mean norm of the cuts")
    for axes in panels[1]:
        axes.set_xlabel("updates")
    names = {oracle: oracle or "as in the thesis" for oracle in pairs}
    drawing.legend_above(figure, drawing.handles(looks, names=names))
    if len(problems) > 1:
        figure.supxlabel(f"from thin to thick: {', '.join(problems)}", fontsize=7)
    return figure


def _draw(axes: Axes, course: CutHistory, values: FloatArray, look: Look, width: float) -> None:
    axes.set(xscale="log", yscale="log")
    shown = np.isfinite(values[:, 1]) & (values[:, 1] > 0.0) & (course.updates > 0.0)
    style: drawing.Style = {"color": look["color"], "marker": look["marker"], "markersize": 2.5}
    axes.plot(course.updates[shown], values[shown, 1], linewidth=width, **style)
