"""Times to an answer: performance profiles, and the growth with the rows or the dimension.

E. D. Dolan and J. J. More, "Benchmarking optimization software with performance profiles",
Mathematical Programming 91 (2002).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.experiments.configuration.rows import as_json
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers, texts
from perceptron_lab.reporting.printing.looks import Style, looks_of, nested
from perceptron_lab.reporting.printing.problem_titles import title_of
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.summary import CLAIMS, common, status_counts, summaries

FACTORS = (1, 2, 10, 100)
"""The factors that have a column."""
RESOLUTION = 1e-6
"""Seconds that count as no less: a clock cannot tell shorter times apart."""


@dataclass(frozen=True)
class Profile:
    """Seconds of a label divided by seconds of the fastest label, per instance (problem and seed).

    Infinite where it has no proved answer. Instances without a cell of the label do not count.
    """

    label: str
    ratios: FloatArray

    def share(self, factor: float) -> float:
        """Return the share of instances that it has solved within a factor of the fastest."""
        # Dolan and More's rho(tau), the distribution of the ratio among the instances
        return float(np.mean(self.ratios <= factor))

    @property
    def solved(self) -> float:
        """The share of instances with a proved answer."""
        return float(np.mean(np.isfinite(self.ratios)))


def profiles(runs: pd.DataFrame) -> list[Profile]:
    """Return r = t / min t over the labels, per instance, in the order of the labels.

    t is the time to a proved answer, that of the proof included; a failure, a limit and an answer
    without proof have none. Where some label has proved a feasible point, a bound of the margin is
    no answer: it leaves open what the other has decided. An instance that no label has solved
    counts for all as not solved. A pair that was not run, because the configuration leaves it out,
    does not count.

    Parameters
    ----------
    runs
        The checked table of runs.
    """
    proved = runs["status"].isin(CLAIMS) & runs["proved"]
    feasible = proved & (runs["status"] == Status.FEASIBLE)
    decided = feasible.groupby([runs["problem"], runs["seed"]]).transform("any")
    # Only a bound remains open where another label has found a point
    proved &= ~(decided & (runs["status"] == Status.MARGIN_BOUNDED))
    # Answers are compared as proved ones: what one label saves in its run it may spend on its proof
    spent = runs["seconds"] + runs["proof_seconds"]
    times = spent.clip(lower=RESOLUTION).where(proved, np.inf).fillna(np.inf)
    table = runs.assign(time=times).pivot(index=["problem", "seed"], columns="label", values="time")
    # An instance without an answer has no fastest: any other divisor leaves it infinite.
    best = table.min(axis="columns").where(lambda least: np.isfinite(least), 1.0)
    ratios = table.div(best, axis="index")
    # NaN: the pair was not run
    return [Profile(label, ratios[label].dropna().to_numpy()) for label in runs["label"].unique()]


def profile_table(evidence: Evidence) -> Table:
    """Share of instances that each label solves, with proof, within factors of the fastest.

    Columns: ``label``, ``instances`` (problems and seeds on which the label was run), ``within 1``,
    ``within 2``, ``within 10``, ``within 100``: the share of these that the label has solved,
    with proof, in at most that many times the seconds of the fastest label there (both with the
    time of the proof); ``solved``, the share with a proved answer; ``status``, the statuses of its
    cells.
    """
    profile_list = profiles(evidence.frame)
    frame = evidence.frame
    columns = [
        texts("label", [profile.label for profile in profile_list]),
        counts("instances", [len(profile.ratios) for profile in profile_list]),
        *(numbers(f"within {n}", [profile.share(n) for profile in profile_list]) for n in FACTORS),
        numbers("solved", [profile.solved for profile in profile_list]),
        texts(
            "status",
            [status_counts(frame[frame["label"] == profile.label]) for profile in profile_list],
        ),
    ]
    return Table("profile", columns, notes=[_NOTE])


_NOTE = (
    "Within $\\tau$: share of the label's instances (problem and seed) that it solves with a "
    "verified answer in at most $\\tau$ times the time of the fastest label; times include the "
    "verification. An instance without a verified answer counts as not solved, and so does a "
    "bound of the margin where another label has proved a feasible point; one on which the label "
    "was not run does not count."
)


# About so many rises of a curve have a marker
_MARKS = 8


def profile_figure(evidence: Evidence) -> Figure:
    """Share of instances solved within a factor of the fastest, against the factor.

    The height at 1 says how often a label is the fastest, that at the right edge how often it has a
    proved answer at all; a curve above another is faster or more reliable everywhere. Time is that
    to a proved answer: failures, limits and unproved answers never count as solved, nor does a
    bound of the margin where another label has proved a feasible point. Instances are the problems
    and seeds on which the label was run.
    """
    profile_list = profiles(evidence.frame)
    looks = looks_of(evidence)
    ratios = np.concatenate([profile.ratios for profile in profile_list])
    # At least a decade: equally fast labels would otherwise spread their noise over the whole axis
    edge = 1.5 * float(max(10.0, ratios[np.isfinite(ratios)].max(initial=1.0)))
    figure, axes = drawing.panel(5.0, 3.4 + 0.05 * len(profile_list))
    factors = nested(looks)
    for curve_profile in profile_list:
        factor, (factors_at, shares) = factors[curve_profile.label], curve(curve_profile, edge)
        style: Style = {**looks[curve_profile.label], "label": curve_profile.label}
        style |= {"linewidth": factor, "markersize": 2.6 * factor, "markeredgewidth": 0.0}
        # Markers of some of the rises tell curves apart that meet
        marked = slice(1, -1, max(1, len(factors_at) // _MARKS))
        # A ratio counts from its own factor on (at most tau), so that the share rises there and not
        # before
        axes.step(factors_at, shares, where="post", markevery=marked, **style)
    # No ratio is below 1; above 1 a little room keeps the line of a perfect label off the frame
    axes.set(xscale="log", xlim=(1.0, edge), ylim=(0.0, 1.02))
    axes.set_xlabel("time to a verified answer / that of the fastest algorithm")
    numbers_run = sorted({len(profile.ratios) for profile in profile_list})
    number = " to ".join(str(numbers_run[k]) for k in sorted({0, len(numbers_run) - 1}))
    axes.set_ylabel(f"share of {number} instances with a verified answer")
    drawing.rule_logarithmic(axes, "x")
    drawing.rule(axes, "y", "0.9")
    names = drawing.spelt_out(evidence.algorithms())
    drawing.legend_above(figure, drawing.handles(looks, names=names, linewidth=1.1, size=3.0))
    return figure


def curve(profile: Profile, edge: float) -> tuple[FloatArray, FloatArray]:
    """Return the factors at which a profile rises, from 1 to the edge, and its shares there."""
    rises = profile.ratios[profile.ratios < edge]
    # Between two ratios the share is constant: with a point at each, the steps are exact
    factors: FloatArray = np.unique([1.0, *rises, edge])
    return factors, np.array([profile.share(factor) for factor in factors])


MOST_PANELS = 6
"""The largest number of panels: two rows of three."""

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
    alone, as margin-sets have. Markers are medians over the seeds, joined by a line per
    label; bars reach from the lower to the upper quartile. A cross is a median over cells of which
    some have no proved answer, at the lower edge where there is no number at all: at a limit, the
    number is where the run was cut off. Pairs of a problem and a label that were not run have no
    marker. Of more than six panels the first six are drawn, and the
    figure states this.
    """
    series_list = series_of(evidence)
    drawn = series_list[:MOST_PANELS]
    looks = looks_of(evidence)
    entries = {(entry.problem, entry.label): entry for entry in summaries(evidence.frame)}
    head = 0.6 + 0.05 * len(looks)
    # One axis of seconds for all panels, as the growth is compared between the kinds
    figure, panels = drawing.panels(len(drawn), 2.6, head, 2.4, sharey=True)
    for axes, series in zip(panels, drawn, strict=True):
        first = next(iter(series.problems.values()))
        title = title_of(evidence, first, without=series.size)
        drawing.entitle(axes, series.title if title == first else title)
        axes.set(xlabel=series.size, ylabel=drawing.SECONDS)
        panel_entries = [
            (float(size), entries[problem, label])
            for size, problem in series.problems.items()
            for label in looks
            if entries[problem, label].seeds
        ]
        drawing.draw_medians(axes, looks, panel_entries, "seconds", lambda entry: entry.answered)
    drawn_problems = {problem for series in drawn for problem in series.problems.values()}
    # Only of what is drawn: the legend has a cross if a panel has one
    drawn_entries = [e for e in entries.values() if e.problem in drawn_problems and e.seeds]
    answered = all(entry.answered for entry in drawn_entries)
    names = drawing.spelt_out(evidence.algorithms())
    drawing.legend_above(figure, drawing.handles(looks, answered, names=names))
    drawing.name_left_out(figure, drawn, series_list, "panels")
    return figure


def series_of(outline: Outline) -> list[Series]:
    """Return series of problems that differ in the number of rows alone, or in dimension alone.

    Runs in which no two problems differ in rows or dimension alone are refused.
    """
    grown: dict[tuple[_Size, str, int], dict[int, str]] = {}
    sizes = {"rows", "dimension"}
    # By their shapes, so that sizes increase along each line
    for problem, (dimension, rows) in sorted(outline.shapes().items(), key=lambda pair: pair[1]):
        parameters = outline.parameters(problem)
        # Problems of files have sizes, but no parameters that set them: they grow along no line
        if sizes <= {name for name, value in parameters.items() if value is not None}:
            # As text: a mapping is no key of a dictionary
            kind = as_json({name: parameters[name] for name in parameters if name not in sizes})
            grown.setdefault(("rows", kind, dimension), {})[rows] = problem
            grown.setdefault(("dimension", kind, rows), {})[dimension] = problem
    series_list = [
        Series("-".join(common(problems.values(), "-")), size, fixed, problems)
        for (size, _, fixed), problems in grown.items()
        if len(problems) > 1
    ]
    if not series_list:
        raise DataError(
            "scaling: no two problems differ in their rows alone or in their dimension alone; "
            "use a grid over `rows` or `dimension`, such as that of the dataset margin-sets"
        )
    # Growth with the rows first, then with the dimension
    return sorted(series_list, key=lambda series: (series.size == "dimension", series[:3]))
