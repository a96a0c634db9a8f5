"""The fraction of the largest margin that runs reach, against time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.outward_rounding import text_below
from perceptron_lab.core.results import FloatArray, Trace
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.printing import drawing, typesetting
from perceptron_lab.reporting.printing.columns import cells, in_bold, medians, numbers, texts
from perceptron_lab.reporting.printing.columns import seconds as seconds_column
from perceptron_lab.reporting.printing.curves import History, quartile_curve
from perceptron_lab.reporting.printing.looks import Look, Style, looks_of, nested
from perceptron_lab.reporting.printing.problem_titles import title_of
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.summary import Summary, summaries

MARKS: Final = (0.9, 0.99, 0.999)
"""The shares to which the table has the time."""


@dataclass(frozen=True)
class Reached:
    """The course of one cell: the share of the best proved bound by seconds, never falling.

    ``share`` is what is proved in the end, ``ratio`` the cell's own proved bracket; None where
    there is no such proof.
    """

    seconds: FloatArray
    shares: FloatArray
    share: float | None
    ratio: float | None

    def time_to(self, part: float) -> float | None:
        """Return the seconds of the first record with this share, or None."""
        reached = np.flatnonzero(self.shares >= part)
        return float(self.seconds[reached[0]]) if len(reached) else None


def methods_with_margins(outline: Outline) -> None:
    """Refuse outlines with learners, whose answers have no margin."""
    learners = [label for label, method in outline.methods().items() if method.learns]
    if learners:
        raise DataError(
            f"{', '.join(learners)}: learners have no margin; leave them out, or use the tables "
            "and figures for learners"
        )


def best_bounds(evidence: Evidence) -> dict[tuple[str, float], float]:
    """Return (problem, seed) -> the least upper bound that any label has proved, if positive.

    Raises a DataError if no bound is proved.
    """
    # The largest margin itself is not known; of the least bound above it no share is overstated
    bounded = evidence.frame.dropna(subset=["margin_upper"])
    least = bounded.groupby(["problem", "seed"], as_index=False)["margin_upper"].min()
    lines = least.itertuples(index=False, name=None)
    # A bound of 0 proves that no point exists: nothing is a share of it
    bound_of = {(str(problem), float(seed)): float(v) for problem, seed, v in lines if v > 0.0}
    if not bound_of:
        raise DataError(
            "no run has proved a positive upper bound of the margin, of which shares are "
            "computed; add minimum-norm-point"
        )
    return bound_of


def histories(
    evidence: Evidence, entry: Summary, bounds: Mapping[tuple[str, float], float]
) -> list[Reached]:
    """Return the histories of a summary's cells that have a result and a bound.

    ``bounds`` are the :func:`best_bounds`.
    """
    histories = []
    for _, run in entry.runs.iterrows():
        bound, trace = bounds.get((entry.problem, float(run["seed"]))), evidence.trace(run["cell"])
        if bound is not None and trace is not None:
            histories.append(_reached(trace, bound, run["margin_lower"], run["margin_upper"]))
    return histories


def _reached(trace: Trace, bound: float, lower: float, upper: float) -> Reached:
    # Records before the first point have no margin: their share is 0
    margins_table = np.nan_to_num(np.array(trace.margin, dtype=float), nan=0.0)
    # A later point may be worse; the best one so far is what the run could return
    shares = np.maximum.accumulate(np.maximum(margins_table, 0.0)) / bound
    proved = None if np.isnan(lower) else max(0.0, lower) / bound
    ratio = None if np.isnan(lower) or not upper > 0.0 else max(0.0, lower) / upper
    return Reached(np.array(trace.seconds), shares, proved, ratio)


@needs(methods_with_margins)
def margins_table(evidence: Evidence) -> Table:
    """Share of the largest margin that each label has reached, and how soon.

    A share is that of the least upper bound that any label has proved on the instance (problem and
    seed): no share is above 1.

    Columns: ``problem``, ``dimension``, ``rows``, ``label``, ``seeds``; medians over the seeds of
    ``share`` (of the margin proved in the end, 0 where none is) and ``own ratio`` (of the two
    bounds that the run itself has proved: by equal weights, where a method has none); ``to 90 %``,
    ``to 99 %`` and ``to 99.9 %``, the seconds after which a point of that share was found, as
    computed, empty unless every seed has one; medians of ``seconds`` and ``epochs``, the products
    with all rows, of which a row looked at is its part; ``status``, the statuses of the cells.
    """
    entries = summaries(evidence.frame)
    bounds = best_bounds(evidence)
    histories_of = [histories(evidence, entry, bounds) for entry in entries]
    problems = [entry.problem for entry in entries]
    # A time is printed only if all seeds have reached the share, so that every number may be the
    # best
    everyone = [True] * len(entries)
    waits = [
        in_bold(
            seconds_column(
                f"to {100 * part:g} %",
                [
                    _median([history.time_to(part) for history in entry_histories], entry)
                    for entry_histories, entry in zip(histories_of, entries, strict=True)
                ],
            ),
            problems,
            everyone,
        )
        for part in MARKS
    ]
    pairs = list(zip(histories_of, entries, strict=True))
    columns = [
        *cells(evidence.frame, entries),
        numbers(
            "share",
            [_median([o.share for o in entry_histories], e) for entry_histories, e in pairs],
            _share,
        ),
        numbers(
            "own ratio",
            [_median([o.ratio for o in entry_histories], e) for entry_histories, e in pairs],
            _share,
        ),
        *waits,
        *medians(entries, ["seconds"]),
        numbers("epochs", [entry.median("products") for entry in entries]),
        texts("status", [entry.status_counts for entry in entries]),
    ]
    return Table("margins", columns, keys=3, notes=[_NOTE], long=True)


_NOTE = (
    "Medians over the seeds. Share: verified margin over the least upper bound that any label "
    "has proved. Own ratio: verified margin over the upper bound of the same run. To 90\\,\\%: "
    "seconds until a point with this share was found; empty unless every seed found one. Epochs: "
    "products with all rows, where a product with some of the rows counts as a fraction; passes "
    "inside external solvers are not counted. Bold: the shortest time of a problem."
)


def _median(values: Sequence[float | None], entry: Summary) -> float | None:
    """Return the median over the seeds, None unless every one has a number."""
    present = [value for value in values if value is not None]
    # A median over the seeds that got there would favour a label that fails on the hard ones
    return median(present) if present and len(present) == entry.seeds else None


def _share(value: float | None) -> str:
    """Return a share with five digits after the point, rounded down so that none becomes 1."""
    if value is None or value <= 0.0:
        return typesetting.NOTHING if value is None else "0"
    return f"{min(float(text_below(value, 5)), value):.5f}" if value >= 0.1 else f"{value:.3g}"


CLOSEST: Final = 1e-4
"""The least missing part that the figure tells apart."""
LEAST: Final = 0.01
"""The least share that the figure tells apart: smaller ones are drawn as this one."""
MOST_PROBLEMS: Final = 9
"""The most problems that are drawn: three times three panels, as many as a page holds."""
_TICKS: Final = {
    # The places are what is missing, as on the axis; the names are the shares reached
    1.0 - LEAST: "\u2264 1 %",
    0.5: "50 %",
    0.1: "90 %",
    1e-2: "99 %",
    1e-3: "99.9 %",
    CLOSEST: "\u2265 99.99 %",
}


@needs(methods_with_margins)
def margins_figure(evidence: Evidence) -> Figure:
    """Share of the largest margin against the seconds of the algorithm, in a panel per problem.

    A share is that of the least upper bound that any label has proved on the instance. The axis is
    logarithmic in what is missing: 90 %, 99 % and 99.9 % are one step apart each. What is beyond
    its ends, shares below 1 % and above 99.99 %, stands at them. Each run counts with its best
    point so far, as computed; lines are medians over the seeds, the shade behind them reaches from
    quartile to quartile, and a run that has ended keeps its last value. The axis of seconds begins
    shortly before the first share above 1 %. A marker ends a label all of whose cells have a proved
    feasible point, a cross one of which some have none. Of more than nine problems the first nine
    are drawn, as the figure states.
    """
    entries = summaries(evidence.frame)
    problems = list(dict.fromkeys(entry.problem for entry in entries))
    drawn, bounds = problems[:MOST_PROBLEMS], best_bounds(evidence)
    looks = looks_of(evidence)
    figure, panels = drawing.panels(len(drawn), 2.3, 0.8, 2.0, least=7.0, sharey=True)
    for number, (axes, problem) in enumerate(zip(panels, drawn, strict=True)):
        problem_entries = [entry for entry in entries if entry.problem == problem]
        _draw(
            axes, [(entry, histories(evidence, entry, bounds)) for entry in problem_entries], looks
        )
        drawing.entitle(axes, title_of(evidence, problem))
        if number + drawing.BESIDE >= len(drawn):
            axes.set_xlabel(drawing.SECONDS)
        if number % drawing.BESIDE == 0:
            axes.set_ylabel("share of the proved margin")
    proved = all(entry.feasible for entry in entries)
    names = drawing.spelt_out(evidence.algorithms())
    drawing.legend_above(
        figure, drawing.handles(looks, proved, names=names, linewidth=1.0, size=3.5)
    )
    drawing.name_left_out(figure, drawn, problems, "problems")
    return figure


def _draw(
    axes: Axes, pairs: Sequence[tuple[Summary, Sequence[Reached]]], looks: Mapping[str, Look]
) -> None:
    """Draw one problem: one minus the share, on a descending axis."""
    factors = nested(looks)
    # Downwards, so that more margin is higher; beyond both ends there is room for clipped lines
    axes.set(xscale="log", yscale="log", ylim=(1.3, 0.7 * CLOSEST))
    begins = []
    for entry, entry_histories in pairs:
        curve = quartile_curve(
            [History(history.seconds, history.shares) for history in entry_histories]
        )
        if curve is None:
            continue
        look, factor = looks[entry.label], factors[entry.label]
        lower, middle, upper = (
            # Of a share of 1 nothing is missing, and 0 has no place on a logarithmic axis
            np.clip(1.0 - shares, CLOSEST, 1.0 - LEAST)
            for shares in (curve.lower, curve.median, curve.upper)
        )
        # Before it the line lies at the lower edge, through decades of seconds without news
        risen = curve.positions[curve.upper > LEAST]
        begins.append(float(risen[0] if len(risen) else curve.positions[-1]))
        shade: Style = {"color": look["color"], "alpha": 0.1, "linewidth": 0, "zorder": 1}
        axes.fill_between(curve.positions, upper, lower, step="post", **shade)
        line: Style = {"color": look["color"], "linestyle": look["linestyle"]}
        line |= {"linewidth": factor, "label": entry.label}
        axes.step(curve.positions, middle, where="post", **line)
        mark = look["marker"] if entry.feasible else "x"
        end: Style = {"color": look["color"], "marker": mark, "markersize": 3.4 * factor}
        # Many runs end at the edge of the panel, where half of the marker would be cut off
        axes.plot(curve.positions[-1:], middle[-1:], clip_on=False, zorder=3, **end)
    if begins:
        axes.set_xlim(left=0.5 * min(begins))
    axes.yaxis.set_major_locator(FixedLocator(list(_TICKS)))
    axes.yaxis.set_major_formatter(FixedFormatter(list(_TICKS.values())))
    # Matplotlib's minor ticks would stand for shares such as 92 %, without a name
    axes.yaxis.set_minor_locator(NullLocator())
    drawing.rule_logarithmic(axes, "x", 12.0)
    drawing.rule(axes, "y", "0.9")
