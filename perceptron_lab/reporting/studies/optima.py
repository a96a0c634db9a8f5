"""Proved intervals of optima: what solvers' answers prove, and the best of each program.

Of generated graphs also the growth of seconds, memory and proved width with the vertices.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib import resources
from typing import Any, Final

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.claims import UNPROVED
from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.core.outward_rounding import text_above, text_below
from perceptron_lab.core.registry import names
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.generated.graphs import GraphName, graph_name
from perceptron_lab.experiments.configuration.rows import Row, reals
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.papers.thesis.figure_6_1 import optimisers_among
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers, seconds, texts
from perceptron_lab.reporting.printing.looks import Line, Look, distinct_looks, looks_of
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import NOTHING, lower_bound, upper_bound
from perceptron_lab.reporting.summary import (
    Summary,
    grouped,
    known_or_none,
    largest_known,
    status_text,
    summaries,
)


@dataclass(frozen=True)
class ListedOptimum:
    """A listed value: as printed, and what it is corrected to, or empty."""

    printed: str
    corrected: str

    @property
    def value(self) -> float:
        """The corrected value, if there is one, else the printed one."""
        return float(self.corrected or self.printed)

    def agrees(self, lower: float, upper: float) -> bool:
        """Return whether [lower, upper] and the printed value have a number in common.

        A printed value stands for all that are nearer than a unit of its last digit.
        """
        # Exact decimals: in doubles the printed value and its neighbours would be rounded
        printed = Decimal(self.printed)
        exponent = printed.as_tuple().exponent
        assert isinstance(exponent, int)
        # A whole unit allows for values that were rounded and for values that were cut off
        unit = Decimal(1).scaleb(exponent)
        return Decimal(lower) < printed + unit and printed - unit < Decimal(upper)


@cache
def sdplib_optima() -> dict[str, ListedOptimum]:
    """Return instance -> listed optimum, without the instances listed as infeasible."""
    text = resources.files(__package__).joinpath("sdplib_optima.csv").read_text("ascii")
    rows = csv.DictReader(text.splitlines())
    return {row["instance"]: ListedOptimum(row["listed"], row["corrected"]) for row in rows}


LOWER, UPPER, WIDTH = "optimum_lower", "optimum_upper", "optimum_width"
_ERRORS = tuple(f"measure.{UNPROVED}dimacs_{number}" for number in range(1, 7))
_OBJECTIVE = f"measure.{UNPROVED}objective"
_DIGITS = 10

_CELLS = (
    "Lower, upper: verified bounds of the optimum in SDPA's sign convention, min $c'x$. Width: "
    "(upper - lower) / max(1, |upper|). Seconds: time to the answer. Proof seconds: time to "
    "repair and verify it. Claimed error: the largest of the six DIMACS errors of the answer as "
    "the solver returned it. Claimed objective: its objective. Both are empty for methods that "
    "claim none. Unproved: the bounds that could not be verified."
)
_BEST = (
    "Lower, upper: the best verified bounds over all labels. Lower by, upper by: the labels that "
    "proved them. Width: (upper - lower) / max(1, |upper|). Two-sided: number of labels with "
    "both bounds. Asked: number of labels that were not skipped. Listed: the optimum in SDPLIB's "
    "README; its values for maxG51 and maxG55 are misprints (4003.809 and 9999.210) and are "
    "corrected here. Agrees: whether the interval contains a number less than one unit of the "
    "last digit away from the printed value."
)


def optima_of(evidence: Evidence) -> list[Row]:
    """Return the rows of optimisers, bounds and figures as numbers or NaN."""
    frame, optimisers = evidence.frame, names("optimiser")
    frame = frame[frame["algorithm"].isin(optimisers)]
    columns = [LOWER, UPPER, WIDTH, _OBJECTIVE, *_ERRORS]
    read = {
        # A measure that no run stated has no column
        name: reals(frame[name]) if name in frame else pd.Series(float("nan"), frame.index)
        for name in columns
    }
    rows: list[Any] = frame.assign(**read).to_dict("records")
    return rows


@needs(of_plan=[optimisers_among])
def proved_optima_table(evidence: Evidence) -> Table:
    """The claimed and the verified optimum of each answer.

    Columns: ``problem``, ``label``, ``lower``, ``upper``, ``width``, ``seconds``, ``proof
    seconds``, ``claimed error`` (the largest DIMACS error), ``claimed objective``, ``unproved``
    (``lower``, ``upper``, ``both`` or empty), ``status``.
    """
    rows = optima_of(evidence)
    columns = [
        texts("problem", [str(row["problem"]) for row in rows]),
        texts("label", [str(row["label"]) for row in rows]),
        numbers("lower", [known_or_none(row[LOWER]) for row in rows], long_below),
        numbers("upper", [known_or_none(row[UPPER]) for row in rows], long_above),
        # A width rounded down would claim more than is proved
        numbers("width", [known_or_none(row[WIDTH]) for row in rows], upper_bound),
        seconds("seconds", [known_or_none(row["seconds"]) for row in rows]),
        seconds("proof seconds", [known_or_none(row["proof_seconds"]) for row in rows]),
        numbers(
            "claimed error",
            [largest_known([known_or_none(row[name]) for name in _ERRORS]) for row in rows],
        ),
        numbers("claimed objective", [known_or_none(row[_OBJECTIVE]) for row in rows], _long),
        texts("unproved", [_unproved(row) for row in rows]),
        texts("status", [status_text(row["status"], row["proved"]) for row in rows]),
    ]
    return Table("proved_optima", columns, keys=2, notes=[_CELLS], long=True)


@needs(of_plan=[optimisers_among])
def best_optima(evidence: Evidence) -> Table:
    """The best proved interval of each program, compared with the listed optimum.

    Columns: ``problem``, ``seed`` (of experiments with several), ``lower``, ``lower by``,
    ``upper``, ``upper by``, ``width``, ``two-sided``, ``asked`` (labels that were not skipped),
    ``listed``, ``agrees``. Problems of which every cell was skipped are left out.
    """
    # Skipped cells were never asked: their data are not there, or the method does not apply
    rows = [row for row in optima_of(evidence) if row["status"] != Status.SKIPPED]
    # Seeds of a generated problem are different programs. Each has one optimum, whoever bounds it:
    # the best of each side may come from two labels
    by_program = grouped(rows, lambda row: (str(row["problem"]), row["seed"]))
    groups, problems = list(by_program.values()), [problem for problem, _ in by_program]
    seeds = [seed for _, seed in by_program]
    lowers = [_best(group, LOWER, max) for group in groups]
    uppers = [_best(group, UPPER, min) for group in groups]
    listed = [sdplib_optima().get(problem) for problem in problems]
    both = list(zip(lowers, uppers, strict=True))
    # Empty without both bounds: from one side nothing contradicts a value far beyond it
    agreed = [
        ""
        if optimum is None or lower[0] is None or upper[0] is None
        else "yes"
        if optimum.agrees(lower[0], upper[0])
        else "no"
        for optimum, (lower, upper) in zip(listed, both, strict=True)
    ]
    two_sided = [sum(not _unproved(row) for row in group) for group in groups]
    columns = [
        texts("problem", problems),
        *([counts("seed", seeds)] if len(set(seeds)) > 1 else []),
        numbers("lower", [bound for bound, _ in lowers], long_below),
        texts("lower by", [label for _, label in lowers]),
        numbers("upper", [bound for bound, _ in uppers], long_above),
        texts("upper by", [label for _, label in uppers]),
        numbers("width", [_width(lower[0], upper[0]) for lower, upper in both], upper_bound),
        counts("two-sided", two_sided),
        counts("asked", [len(group) for group in groups]),
        numbers(
            "listed", [None if optimum is None else optimum.value for optimum in listed], _long
        ),
        texts("agrees", agreed),
    ]
    return Table("best_optima", columns, notes=[_BEST], long=True)


def long_below(value: float | None) -> str:
    """Return a proved lower bound with ten digits, rounded down."""
    return NOTHING if value is None else text_below(value, _DIGITS)


def long_above(value: float | None) -> str:
    """Return a proved upper bound with ten digits, rounded up."""
    return NOTHING if value is None else text_above(value, _DIGITS)


def _long(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.{_DIGITS}g}"


def _best(
    rows: list[Row], name: str, better: Callable[[Iterable[float]], float]
) -> tuple[float | None, str]:
    bounds = [(float(row[name]), str(row["label"])) for row in rows if not pd.isna(row[name])]
    if not bounds:
        return None, ""
    bound = better(value for value, _ in bounds)
    return bound, next(label for value, label in bounds if value == bound)


def _width(lower: float | None, upper: float | None) -> float | None:
    if lower is None or upper is None:
        return None
    # Relative for large optima and absolute near 0, where a relative width means nothing
    return (upper - lower) / max(1.0, abs(upper))


def _unproved(row: Row) -> str:
    missing = [
        name for name, column in (("lower", LOWER), ("upper", UPPER)) if pd.isna(row[column])
    ]
    # What was not run has failed to prove nothing
    if row["status"] == Status.SKIPPED or not missing:
        return ""
    return "both" if len(missing) == 2 else missing[0]


_LEAST = 1e-16
TIME: Final = "time to a verified answer, seconds"
"""Name of the axis of times that include the proofs."""


def _spent(row: Row) -> float:
    """Return the seconds of the search and of its proofs."""
    return float(row["seconds"]) + (known_or_none(row["proof_seconds"]) or 0.0)


@needs(of_plan=[optimisers_among])
def proved_optima_figure(evidence: Evidence) -> Figure:
    """Relative width of the proved interval against the time to its proof, on log axes.

    A marker for each problem and label with both bounds; left and low is better. Answers of which
    one bound or none is proved are counted in the legend.
    """
    rows = optima_of(evidence)
    named = evidence.methods() if "parameters" in evidence.frame else {}
    methods = {
        label: str(method.parameters.get("solver", method.algorithm))
        for label, method in named.items()
    }
    looks = looks_of(evidence, dict.fromkeys(str(row["label"]) for row in rows), methods)
    figure, axes = drawing.panel(4.6, 3.4)
    axes.set(
        xscale="log", yscale="log", xlabel=TIME, ylabel="relative width of the proved interval"
    )
    names, drawn_points = {}, 0
    for label, look in looks.items():
        label_rows = [row for row in rows if row["label"] == label]
        widths = [(_spent(row), known_or_none(row[WIDTH])) for row in label_rows]
        # A logarithmic axis has no place for a width of 0
        points = [(time, max(width, _LEAST)) for time, width in widths if width is not None]
        names[label] = f"{label} ({len(points)} of {len(label_rows)})"
        drawn_points += len(points)
        if points:
            axes.plot(
                [time for time, _ in points],
                [width for _, width in points],
                linestyle="none",
                marker=look["marker"],
                color=look["color"],
                markersize=3.5,
                fillstyle="none",
            )
    if not drawn_points:
        raise DataError("nothing to draw: no run has proved both bounds of an optimum")
    drawing.rule_logarithmic(axes, "both")
    handles = drawing.handles(looks, names=names)
    for handle in handles:
        handle.set(linestyle="none", fillstyle="none")
    drawing.legend_above(figure, handles, 2)
    return figure


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
