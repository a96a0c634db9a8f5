"""PRA against EA by the density of the graph and by the margin, as numbers and as a table.

Novikoff's bound has the perceptron make at most 1 / rho^2 updates for unit cuts; the ellipsoid
method needs a query for each of the n vertices at least, as long as its cuts concern one vertex
each. So n rho^2 compares the two: it is at most 1 on every MAXCUT relaxation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from perceptron_lab.core.errors import DataError
from perceptron_lab.experiments.configuration.rows import reals
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.printing import drawing, typesetting
from perceptron_lab.reporting.printing.columns import Column, counts, numbers, texts
from perceptron_lab.reporting.printing.looks import Line, Style, distinct_looks
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.summary import Summary, by_label, summaries

RIVALS: Final = {"PRA": "rescaled-perceptron", "EA": "ellipsoid"}
"""The labels that are compared, with their algorithms."""
_NAME: Final = re.compile(r"random-(\d+)-(\d+)(?:-(0?\.\d+))?")


@dataclass(frozen=True)
class Graph:
    """The runs of both rivals on the graphs of one name.

    Parameters
    ----------
    problem
        The name.
    vertices, edges
        How many.
    margin
        What the weights were chosen for; None where they are 1.
    ends
        The least lower and the largest upper bound of rho over the seeds, both proved.
    entries
        Label -> its runs.
    """

    problem: str
    vertices: int
    edges: int
    margin: float | None
    ends: tuple[float, float]
    entries: dict[str, Summary]

    @property
    def degree(self) -> float:
        """The mean degree as the experiment's names round it: 2.5 for 63 edges of 50 vertices."""
        # In steps of 0.5, by which the experiment sets out its graphs
        return round(4.0 * self.edges / self.vertices) / 2.0

    @property
    def answered(self) -> bool:
        """Whether all runs ended with a proved feasible point."""
        return all(entry.feasible for entry in self.entries.values())

    @property
    def ratio(self) -> float | None:
        """Median queries of PRA over those of EA; None unless all are proved."""
        pra, ea = (self.entries[label].median("queries") for label in RIVALS)
        return pra / ea if pra and ea and self.answered else None

    @property
    def relative(self) -> float:
        """N rho^2, by the geometric mean of both ends."""
        # The product of both ends is the square of their geometric mean
        return self.vertices * self.ends[0] * self.ends[1]


def require_both_labels(outline: Outline) -> None:
    """Refuse experiments that lack a rival, or graphs whose margin is enclosed."""
    methods = outline.methods()
    for label, algorithm in RIVALS.items():
        if label not in methods or methods[label].algorithm != algorithm:
            raise DataError(
                f"maxcut_density: no label {label} with the algorithm {algorithm}; add it"
            )
    for problem in outline.problems():
        match = _NAME.fullmatch(outline.instance(problem))
        if match is None or not (match[3] or outline.parameters(problem).get("enclose")):
            raise DataError(
                f"maxcut_density: {problem} is not a random graph with verified bounds of its "
                "margin; use {{dataset: maxcut, enclose: true}} with instances such as "
                "random-100-250, or random-100-250-0.03"
            )


def graphs_of(evidence: Evidence) -> list[Graph]:
    """Return the graphs of an experiment, in its order."""
    frame = evidence.frame
    ends = {end: reals(frame[f"measure.rho_{end}"], invalid="coerce") for end in ("lower", "upper")}
    entries = by_label(entry for entry in summaries(frame) if entry.label in RIVALS)
    graphs = []
    for rivals in zip(*(entries[label] for label in RIVALS), strict=True):
        problem, rows_of_problem = rivals[0].problem, frame["problem"] == rivals[0].problem
        lower, upper = (
            ends["lower"][rows_of_problem].dropna(),
            ends["upper"][rows_of_problem].dropna(),
        )
        if lower.empty:
            raise DataError(f"maxcut_density: no run on {problem} has a result; run it again")
        name = _NAME.fullmatch(evidence.instance(problem))
        assert name is not None
        graphs.append(
            Graph(
                problem,
                int(name[1]),
                int(name[2]),
                float(name[3]) if name[3] else None,
                # Seeds are different graphs of one name: the ends enclose the margins of all
                (float(lower.min()), float(upper.max())),
                dict(zip(RIVALS, rivals, strict=True)),
            )
        )
    return graphs


@needs(require_both_labels)
def maxcut_density_table(evidence: Evidence) -> Table:
    """Queries of PRA and EA on random graphs, by density and by margin.

    Columns ``problem``, ``vertices`` n, ``mean degree``, ``rho lower`` and ``rho upper`` (the least
    and the largest proved bound of the margin over the seeds), ``n rho squared``; per label L
    ``L queries`` (median over the seeds) and ``L per vertex``; ``ratio``, PRA over EA; ``status``
    of what is not proved feasible.
    """
    graphs = graphs_of(evidence)
    columns = [
        texts("problem", [graph.problem for graph in graphs]),
        counts("vertices", [graph.vertices for graph in graphs]),
        numbers("mean degree", [graph.degree for graph in graphs], typesetting.real),
        numbers("rho lower", [graph.ends[0] for graph in graphs]),
        numbers("rho upper", [graph.ends[1] for graph in graphs]),
        numbers("n rho squared", [graph.relative for graph in graphs]),
    ]
    for label in RIVALS:
        queries = [graph.entries[label].median("queries") for graph in graphs]
        each = [None if q is None else q / g.vertices for q, g in zip(queries, graphs, strict=True)]
        columns += [counts(f"{label} queries", queries), numbers(f"{label} per vertex", each)]
    columns += [
        numbers("ratio", [graph.ratio for graph in graphs]),
        Column("status", list(map(_status, graphs)), None, align="l"),
    ]
    return Table("maxcut_density", columns, notes=list(_notes(graphs)), widest=20)


def _status(graph: Graph) -> str:
    failed = [
        f"{name}: {entry.status_counts}"
        for name, entry in graph.entries.items()
        if not entry.feasible
    ]
    return "; ".join(failed)


def _notes(graphs: list[Graph]) -> Iterator[str]:
    yield "Numbers are medians over the seeds; the bounds of $\\rho$ are verified for every seed."
    if any(not graph.answered for graph in graphs):
        yield "Ratios are left out where an answer is not a proved feasible point."
    else:
        yield "Every answer is a point proved feasible on the original data."


_RATIOS: Final = (1, 1.5, 2, 3, 4, 6)
"""Where the axis of ratios has its ticks: they span less than a decade."""


@needs(require_both_labels)
def maxcut_density_figure(evidence: Evidence) -> Figure:
    """Ratio of the queries of PRA and EA against n (left) and against n rho^2 (right).

    Lines on the left join graphs of one kind: of unit weights and one mean degree, or of one margin
    and mean degree, these dashed and hollow. Medians over the seeds; graphs with an answer that is
    not proved are left out, as the figure states.
    """
    graphs = graphs_of(evidence)
    complete = [graph for graph in graphs if graph.ratio is not None]
    kinds = list(dict.fromkeys((graph.margin, graph.degree) for graph in complete))
    degrees = list(dict.fromkeys(graph.degree for graph in complete))
    # A colour per degree: lines of one degree compare by their weights
    looks = dict(zip(degrees, distinct_looks([f"{d:g}" for d in degrees]).values(), strict=True))
    figure = drawing.canvas(7.0, 3.4)
    left, right = figure.subplots(1, 2, sharey=True)
    handles = []
    for margin, degree in kinds:
        selected = [graph for graph in complete if (graph.margin, graph.degree) == (margin, degree)]
        style: Style = {
            "color": looks[degree]["color"],
            "marker": looks[degree]["marker"],
            "fillstyle": "full" if margin is None else "none",
            "markersize": 4.0,
        }
        dashes: Line = "-" if margin is None else "--"
        _plot(
            left,
            selected,
            [float(graph.vertices) for graph in selected],
            {**style, "linestyle": dashes},
        )
        _plot(
            right, selected, [graph.relative for graph in selected], {**style, "linestyle": "none"}
        )
        fixed = "unit weights" if margin is None else f"$\\rho$ = {margin:g}"
        label = f"mean degree {degree:g}, {fixed}"
        handles.append(Line2D([], [], label=label, linewidth=0.8, **style, ls=dashes))
    left.set(
        xlabel="vertices n", ylabel="queries of PRA / queries of EA", xscale="log", yscale="log"
    )
    right.set(xlabel="n $\\rho^2$", xscale="log")
    for axes in (left, right):
        # Below this line PRA needs fewer queries
        axes.axhline(1.0, color="0.5", linewidth=0.8)
        drawing.rule_logarithmic(axes, "x")
    drawing.rule_logarithmic(left, "y", steps=_RATIOS)
    # The sizes that were run lie between the round numbers of an automatic axis
    left.xaxis.set_major_locator(FixedLocator(sorted({graph.vertices for graph in complete})))
    left.xaxis.set_minor_locator(NullLocator())
    drawing.rule(right, "both", "0.9")
    drawing.legend_above(figure, handles, 2)
    if len(complete) < len(graphs):
        left_out = len(graphs) - len(complete)
        figure.supxlabel(f"left out: {left_out} graphs without proved answers", fontsize=7)
    return figure


def _plot(axes: Axes, graphs: list[Graph], positions: list[float], style: Style) -> None:
    axes.plot(positions, [graph.ratio or 0.0 for graph in graphs], linewidth=0.8, **style)
