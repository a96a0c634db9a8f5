"""Maximum cut of generated graphs: seconds, memory and proved width against the vertices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.datasets.generated.graphs import GraphName, graph_name
from perceptron_lab.experiments.configuration.rows import reals
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.papers.thesis.figure_6_1 import optimisers_among
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers, seconds, texts
from perceptron_lab.reporting.printing.looks import Line, Look, distinct_looks
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import lower_bound, upper_bound
from perceptron_lab.reporting.studies.optima import TIME
from perceptron_lab.reporting.summary import Summary, grouped, summaries

_NOTE = (
    "Seconds: time of the search. Proof seconds: time to verify its bounds and the cut. Neither "
    "includes loading. Megabytes: peak memory of the process with interpreter and libraries, in "
    "millions of bytes. Width: (upper - lower) / max(1, |upper|), from verified bounds. Goal: "
    "the requested width. Cut: the verified weight of a cut that is rounded from the relaxation. "
    "Cut ratio: a verified lower bound of this weight over that of the largest cut. Medians over "
    "the seeds; memory and width are the largest."
)

MILLION = 1e6

_NUMBERS = (
    *(f"optimum_{end}" for end in ("lower", "upper", "width")),
    "measure.cut",
    "measure.cut_ratio",
)


@dataclass(frozen=True)
class ScaledRuns:
    """The runs of one label on one graph.

    Parameters
    ----------
    graph
        The graph, as its name describes it.
    entry
        The runs.
    memory
        The most bytes that a process of theirs held; None where that is not known.
    goal
        The relative width that was asked for, or None.
    """

    graph: GraphName
    entry: Summary
    memory: float | None
    goal: float | None

    @property
    def kind(self) -> str:
        """Family, dimension of a torus, and weights; with the label where there are several."""
        graph = self.graph
        name = f"{len(graph.sizes)}-D torus" if graph.family == "torus" else graph.family
        # one triangulation, or two
        if graph.family == "planar" and graph.edges > 3 * graph.vertices - 6:
            name = "planar union"
        return f"{name} ±1" if graph.signed else name

    @property
    def seconds(self) -> float | None:
        """The median of seconds and seconds of proofs together."""
        runs = self.entry.runs
        # Summed seed by seed: the median of sums is not the sum of medians
        value = (runs["seconds"] + runs["proof_seconds"]).dropna().median()
        return None if math.isnan(value) else float(value)

    @property
    def width(self) -> float | None:
        """The largest proved width; None where a run has not both bounds."""
        return self.entry.largest("optimum_width")

    @property
    def reached(self) -> bool:
        """Whether the proved width meets the goal."""
        width = self.width
        # Without a goal, any proved width is what was asked for
        return width is not None and (self.goal is None or width <= self.goal)


def require_generated_graphs(outline: Outline) -> None:
    """Refuse experiments that minimise nothing, or on other problems than generated graphs."""
    optimisers_among(outline)
    for problem in outline.problems():
        _graph(outline, problem)


def _graph(outline: Outline, problem: str) -> GraphName:
    try:
        return graph_name(outline.instance(problem))
    except InputError:
        raise DataError(
            f"maxcut_scaling: {problem} is not a generated graph; use {{dataset: maxcut}} with "
            "instances such as random-1000-2500, planar-1000-2994 and torus-40x25"
        ) from None


def scaled(evidence: Evidence) -> list[ScaledRuns]:
    """Return every graph and optimiser of an experiment, in its order."""
    memory, methods, frame = evidence.peak_memory(), evidence.methods(), evidence.frame
    labels = optimisers_among(evidence)
    frame = frame.assign(**{name: reals(frame[name]) for name in _NUMBERS if name in frame})
    lines = []
    for entry in summaries(frame[frame["label"].isin(labels)]):
        peaks = [memory.get(cell) for cell in entry.runs["cell"]]
        # One unknown peak may be the largest
        most = None if not peaks or None in peaks else float(max(peak for peak in peaks if peak))
        width = methods[entry.label].parameters.get("width")
        goal = None if width is None else float(width)
        lines.append(ScaledRuns(_graph(evidence, entry.problem), entry, most, goal))
    # Pairs that were not run would be lines without a point
    return [line for line in lines if line.entry.seeds]


@needs(require_generated_graphs)
def maxcut_scaling_table(evidence: Evidence) -> Table:
    """Seconds, memory, proved width and cut of each graph.

    Columns: ``problem``, ``vertices``, ``edges``, ``label``, ``seconds``, ``proof seconds``,
    ``megabytes``, ``lower`` and ``upper`` (proved bounds of the optimum), ``width``, ``goal``,
    ``cut``, ``cut ratio``, ``status``.
    """
    lines = scaled(evidence)
    entries = [line.entry for line in lines]

    def of_measure(name: str) -> list[float | None]:
        column = f"measure.{name}"
        # Cuts are a measure of some optimisers: others leave no column
        return [e.median(column) if column in e.runs else None for e in entries]

    memory = [None if line.memory is None else line.memory / MILLION for line in lines]
    columns = [
        texts("problem", [entry.problem for entry in entries]),
        counts("vertices", [line.graph.vertices for line in lines]),
        counts("edges", [line.graph.edges for line in lines]),
        texts("label", [entry.label for entry in entries]),
        seconds("seconds", [entry.median("seconds") for entry in entries]),
        seconds("proof seconds", [entry.median("proof_seconds") for entry in entries]),
        numbers("megabytes", memory),
        numbers("lower", [e.median("optimum_lower") for e in entries], lower_bound),
        numbers("upper", [e.median("optimum_upper") for e in entries], upper_bound),
        numbers("width", [line.width for line in lines], upper_bound),
        numbers("goal", [line.goal for line in lines]),
        # Cuts and their ratios are proved from below
        numbers("cut", of_measure("cut"), lower_bound),
        numbers("cut ratio", of_measure("cut_ratio"), lower_bound),
        texts("status", [entry.status_counts for entry in entries]),
    ]
    return Table("maxcut_scaling", columns, 1, notes=[_NOTE], long=True, widest=20)


@needs(require_generated_graphs)
def maxcut_scaling_figure(evidence: Evidence) -> Figure:
    """Seconds, memory and proved width against the number of vertices, on log axes.

    A line joins graphs of one kind (family, dimension of a torus, weights), and of one label where
    there are several. Seconds are those of the search and of its proofs together, memory is that of
    the whole process. A cross: the width that was asked for is not proved.
    """
    lines = scaled(evidence)
    # The label tells nothing where there is one only
    several = len({line.entry.label for line in lines}) > 1
    kinds = grouped(
        lines, lambda line: f"{line.kind}, {line.entry.label}" if several else line.kind
    )
    looks = distinct_looks(list(kinds))
    figure = drawing.canvas(7.2, 2.9)
    panels = figure.subplots(1, 3)
    for axes, name in zip(panels, (TIME, "gigabytes", "proved relative width"), strict=True):
        axes.set(xscale="log", yscale="log", xlabel="vertices", ylabel=name)
    for name, look in looks.items():
        label_lines = sorted(kinds[name], key=lambda line: line.graph.vertices)
        memory = [None if line.memory is None else line.memory / 1e9 for line in label_lines]
        _draw(panels[0], label_lines, [line.seconds for line in label_lines], look)
        _draw(panels[1], label_lines, memory, look)
        _draw(panels[2], label_lines, [line.width for line in label_lines], look)
    for axes in panels:
        for which in ("x", "y"):
            drawing.rule_logarithmic(axes, which)
    drawing.legend_above(figure, _handles(looks, all(line.reached for line in lines)))
    return figure


def _draw(
    axes: Axes, lines: Sequence[ScaledRuns], values: Sequence[float | None], look: Look
) -> None:
    """Draw positive values against the vertices; a cross marks a missed goal."""
    # 0 and what is unknown have no place on a logarithmic axis
    defined = [(line, y) for line, y in zip(lines, values, strict=True) if y]
    xs = [line.graph.vertices for line, _ in defined]
    axes.plot(xs, [y for _, y in defined], color=look["color"], ls=_dashes(look), lw=0.9, zorder=2)
    for reached in (True, False):
        points = [(line.graph.vertices, y) for line, y in defined if line.reached is reached]
        marker = look["marker"] if reached else "x"
        drawing.points(axes, points, marker, {**look, "marker": marker}, 4.0, "none")


def _dashes(look: Look) -> Line:
    """Return the line style of a marker, so that lines can be distinguished in greyscale."""
    dashes: dict[str, Line] = {"o": "-", "s": "--", "D": ":", "^": "-."}
    # By looks alone the first seven lines would all be solid
    return dashes.get(look["marker"], "-")


def _handles(looks: dict[str, Look], reached: bool) -> list[Line2D]:
    lines = [
        Line2D(
            [],
            [],
            label=name,
            color=look["color"],
            marker=look["marker"],
            linestyle=_dashes(look),
            fillstyle="none",
            linewidth=0.9,
            markersize=4.0,
        )
        for name, look in looks.items()
    ]
    cross = Line2D([], [], label="goal not proved", color="0.3", marker="x", linestyle="none")
    return lines if reached else [*lines, cross]
