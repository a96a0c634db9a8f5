"""Figure 6.1 of `Kharechko2009`: programs as sequences of levels, and the proved optimum."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.outward_rounding import text_above, text_below
from perceptron_lab.core.registry import names
from perceptron_lab.core.results import FloatArray, Trace
from perceptron_lab.experiments.configuration.rows import reals
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, medians, numbers, seconds, texts
from perceptron_lab.reporting.printing.looks import Look, looks_of, nested
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import lower_bound, upper_bound
from perceptron_lab.reporting.summary import Summary, known_or_none, median_of, summaries

_MEASURES = ("level", "objective", "optimum_upper")
_BOUNDS = ("optimum_lower", "optimum_upper")


@dataclass(frozen=True)
class Optimum:
    """The best proved bounds of a problem's optimum over all labels, or None."""

    lower: float | None
    upper: float | None

    def above(self, objective: float | None) -> float | None:
        """Return by which part of the optimum an objective is above it at most, or None.

        The optimum v is between ``lower`` and the least of ``upper`` and the objective z. On each
        side of 0, (z - v) / abs(v) is monotone in v: it is largest at one of these ends.
        """
        if objective is None or self.lower is None:
            return None
        upper = objective if self.upper is None else min(self.upper, objective)
        # An optimum that may be 0 has no bound of its relative distance
        if self.lower <= 0.0 <= upper:
            return None
        return max((objective - end) / abs(end) for end in (self.lower, upper))


@dataclass(frozen=True)
class Step:
    """One level of a sequence, with the objective that was found and its cost.

    ``level`` and ``objective`` are NaN where they are missing.
    """

    level: float
    objective: float
    updates: int
    queries: int
    seconds: float

    @property
    def outcome(self) -> str:
        """``feasible`` where a point below the level is proved, else ``not reached``."""
        if math.isnan(self.objective):
            return "not reached"
        # The first level is the program without its objective, which any feasible point answers
        return "feasible" if math.isnan(self.level) or self.objective < self.level else "above"


def optimisers_among(outline: Outline) -> list[str]:
    """Return the labels of optimisers; a DataError where there are none."""
    optimisers = names("optimiser")
    labels = [
        label for label, method in outline.methods().items() if method.algorithm in optimisers
    ]
    if not labels:
        raise DataError(
            "no label is an optimiser, and only optimisers have levels and objectives; add one "
            f"(`plab list optimisers`), such as {optimisers[0]}"
        )
    return labels


def minimised(evidence: Evidence) -> list[Summary]:
    """Return the summaries of the labels that are optimisers."""
    labels = optimisers_among(evidence)
    return [entry for entry in summaries(_numbered(evidence)) if entry.label in labels]


def _numbered(evidence: Evidence) -> pd.DataFrame:
    """Return the runs with the bounds of optima as numbers."""
    frame = evidence.frame
    return frame.assign(**{name: reals(frame[name]) for name in _BOUNDS if name in frame})


def traces_of(evidence: Evidence, entry: Summary) -> Iterator[Trace]:
    """Yield the traces with levels of a summary's cells."""
    for cell in entry.runs["cell"]:
        trace = evidence.trace(str(cell))
        if trace is not None and all(name in trace.measures for name in _MEASURES):
            yield trace


def best_objectives(trace: Trace) -> FloatArray:
    """Return the least proved objective at each record; NaN before there is one."""
    return np.array(trace.measures["optimum_upper"], dtype=float)


def steps_of(trace: Trace) -> list[Step]:
    """Return the levels of a run, in their order."""
    steps = []
    for k in range(1, len(trace)):
        if trace.phase[k].startswith("level "):
            steps.append(
                Step(
                    float(trace.measures["level"][k]),
                    float(trace.measures["objective"][k]),
                    # Traces have running totals; a level has its own cost
                    trace.updates[k] - trace.updates[k - 1],
                    trace.queries[k] - trace.queries[k - 1],
                    trace.seconds[k] - trace.seconds[k - 1],
                )
            )
    return steps


def optima(evidence: Evidence) -> dict[Hashable, Optimum]:
    """Return (problem, seed) -> the best bounds of its optimum that any label has proved.

    Generated problems of one name are different programs for different seeds.
    """
    optimum_of: dict[Hashable, Optimum] = {}
    for program, rows in _numbered(evidence).groupby(["problem", "seed"], sort=False):
        lower, upper = (
            rows[column].dropna().tolist() if column in rows else [] for column in _BOUNDS
        )
        # Proved bounds hold for the program, whichever label proved them
        optimum_of[program] = Optimum(max(lower, default=None), min(upper, default=None))
    return optimum_of


def above_optimum(entry: Summary, optimum_of: Mapping[Hashable, Optimum]) -> float | None:
    """Return the median over the seeds of how far objectives are above their own optima."""
    pairs = entry.runs[["seed", "optimum_upper"]].itertuples(index=False, name=None)
    return median_of(
        optimum_of[entry.problem, seed].above(known_or_none(upper)) for seed, upper in pairs
    )


_ENDS = (
    "Medians over the seeds. Objective: verified objective of the best point, an upper bound of "
    "the optimum. Lower bound: verified lower bound of the optimum, from an exactly feasible "
    "dual point of the same run. Above the optimum: by at most this many percent, compared with "
    "the best lower bound of any label. The stopping rule of the sequence, a small difference of "
    "consecutive objectives, proves nothing."
)
_LEVELS = (
    "Level: the value that the objective has to fall below; empty for the program without its "
    "objective. Objective: verified upper bound of the objective of the point found. Updates, "
    "queries, seconds: of this level alone."
)


@needs(of_plan=[optimisers_among])
def optima_reached(evidence: Evidence) -> Table:
    """Final bounds of each optimiser, compared with the best proved bounds of the optimum.

    Columns: ``problem``, ``label``, ``seeds``; medians over the seeds of ``levels``, ``updates``,
    ``queries``, ``seconds``, ``objective`` (the proved upper bound of the optimum), ``lower bound``
    (the run's own) and ``above the optimum``, in percent: at most so much, by the best bounds that
    any label has proved for the same seed; ``status``, the statuses of the cells.
    """
    entries, optimum_of = minimised(evidence), optima(evidence)
    uppers = [entry.median("optimum_upper") for entry in entries]
    above = [above_optimum(entry, optimum_of) for entry in entries]
    columns = [
        texts("problem", [entry.problem for entry in entries]),
        texts("label", [entry.label for entry in entries]),
        counts("seeds", [entry.seeds for entry in entries]),
        counts("levels", [_levels(evidence, entry) for entry in entries]),
        counts("updates", [entry.median("updates") for entry in entries]),
        *medians(entries, ["queries", "seconds"]),
        numbers("objective", uppers, upper_bound),
        numbers("lower bound", [e.median("optimum_lower") for e in entries], lower_bound),
        numbers(
            "above the optimum", [None if excess is None else 100.0 * excess for excess in above]
        ),
        texts("status", [entry.status_counts for entry in entries]),
    ]
    return Table("optima_reached", columns, 2, notes=[_ENDS], long=True)


@needs(of_plan=[optimisers_among])
def levels(evidence: Evidence) -> Table:
    """Every level of every sequence, with the objective that was found and its cost.

    Columns: ``problem``, ``label``, ``seed``, ``number``, ``level``, ``objective``, ``outcome``
    (``feasible``: a point below the level is proved; ``above``: a feasible point that is not below
    it; ``not reached``), ``updates``, ``queries``, ``seconds``.
    """
    steps_by_entry: list[tuple[Summary, int, int, Step]] = []
    for entry in minimised(evidence):
        seeds = entry.runs["seed"].tolist()
        for seed, trace in zip(seeds, traces_of(evidence, entry), strict=False):
            steps_by_entry += [
                (entry, int(seed), k, step) for k, step in enumerate(steps_of(trace))
            ]
    steps = [step for *_, step in steps_by_entry]
    columns = [
        texts("problem", [entry.problem for entry, *_ in steps_by_entry]),
        texts("label", [entry.label for entry, *_ in steps_by_entry]),
        counts("seed", [seed for _, seed, *_ in steps_by_entry]),
        counts("number", [number for *_, number, _ in steps_by_entry]),
        numbers("level", _finite_or_none([step.level for step in steps])),
        numbers("objective", _finite_or_none([step.objective for step in steps]), upper_bound),
        texts("outcome", [step.outcome for step in steps]),
        counts("updates", [step.updates for step in steps]),
        counts("queries", [step.queries for step in steps]),
        seconds("seconds", [step.seconds for step in steps]),
    ]
    return Table("levels", columns, 3, notes=[_LEVELS], long=True)


def _finite_or_none(values: Sequence[float]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values]


def _levels(evidence: Evidence, entry: Summary) -> float | None:
    # The upper median, which is a number of levels that some run has had
    step_counts = [len(steps_of(trace)) for trace in traces_of(evidence, entry)]
    return float(sorted(step_counts)[len(step_counts) // 2]) if step_counts else None


def one_problem(outline: Outline) -> str:
    """Return the only problem of an experiment; a DataError where there are several."""
    problems = outline.problems()
    if len(problems) != 1:
        raise DataError(
            f"{len(problems)} problems, but the figure draws the objectives of one; put the "
            "others into separate experiments"
        )
    return problems[0]


_HIGHEST = 100.0  # Times the optimum: the first point of a sequence may have any objective


@needs(one_problem, of_plan=[optimisers_among])
def figure_6_1(evidence: Evidence) -> Figure:
    """The least objective found so far against updates (left) and seconds (right).

    A marker for each level of a sequence, or each look at a search's bounds, joined in steps: every
    height is the proved objective of a feasible point. The line is the optimum, as far as any label
    has proved it: a band between the best lower and the best upper bound. (The thesis's text has
    the plot against time on the left, its caption that against updates; this is the caption's
    order.) Objectives of more than 100 times the optimum are left out.

    Parameters
    ----------
    evidence
        Of runs of optimisers on one problem.
    """
    problem = one_problem(evidence)
    entries = minimised(evidence)
    methods = {
        label: str(method.parameters.get("method", method.algorithm))
        for label, method in evidence.methods().items()
    }
    looks = looks_of(evidence, [entry.label for entry in entries], methods)
    factors = nested(looks)
    optimum_of_seeds = list(optima(evidence).values())
    uppers = [optimum.upper for optimum in optimum_of_seeds if optimum.upper is not None]
    highest = _HIGHEST * max(uppers) if min(uppers, default=0.0) > 0.0 else math.inf
    figure = drawing.canvas(7.0, 3.2)
    # The same heights in both panels: the same objectives against two costs
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (column, name) in zip(
        panels, (("updates", "updates"), ("seconds", "seconds")), strict=True
    ):
        axes.set(xscale="log", yscale="log", xlabel=name)
        for entry in entries:
            for trace in traces_of(evidence, entry):
                costs = np.array(getattr(trace, column), dtype=float)
                heights = best_objectives(trace)
                # They would press all that is near the optimum into one line
                heights[heights > highest] = math.nan
                _draw(axes, costs, heights, looks[entry.label], factors[entry.label])
    panels[0].set_ylabel(f"objective of {problem}")
    handles = drawing.handles(looks, names=drawing.spelt_out(methods))
    lines = [
        _optimum(list(panels), optimum)
        for optimum in optimum_of_seeds
        if optimum.upper is not None and (optimum.lower or 0.0) > 0.0
    ]
    if len(lines) > 1:
        lines[0].set_label("proved optimum of each seed")
    handles += lines[:1]
    for axes in panels:
        drawing.rule_logarithmic(axes, "both")
    drawing.legend_above(figure, handles, 2)
    return figure


def _draw(axes: Axes, costs: FloatArray, objectives: FloatArray, look: Look, factor: float) -> None:
    # Both axes are logarithmic
    positive = (costs > 0.0) & (objectives > 0.0)
    if positive.any():
        axes.step(
            costs[positive],
            objectives[positive],
            where="post",
            color=look["color"],
            linestyle=look["linestyle"],
            marker=look["marker"],
            markersize=3.2 * factor,
            linewidth=0.8 * factor,
        )


def _optimum(panels: list[Axes], optimum: Optimum) -> Line2D:
    """Draw the optimum across all panels; return its entry of the legend."""
    assert optimum.lower is not None
    assert optimum.upper is not None
    for axes in panels:
        # Often narrower than a line: the dashed one shows where it is
        axes.axhspan(optimum.lower, optimum.upper, color="0.75", linewidth=0)
        axes.axhline(optimum.upper, color="0.4", linewidth=0.8, linestyle="--", zorder=0)
    label = f"optimum, proved in [{text_below(optimum.lower, 9)}, {text_above(optimum.upper, 9)}]"
    return Line2D([], [], label=label, color="0.4", linewidth=0.8, linestyle="--")
