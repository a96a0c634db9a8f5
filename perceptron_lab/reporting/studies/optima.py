"""Proved intervals of optima: what solvers' answers prove, and the best of each program."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib import resources
from typing import Any, Final

import pandas as pd
from matplotlib.figure import Figure

from perceptron_lab.core.claims import UNPROVED
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.outward_rounding import text_above, text_below
from perceptron_lab.core.registry import names
from perceptron_lab.core.results import Status
from perceptron_lab.experiments.configuration.rows import Row, reals
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.papers.thesis.figure_6_1 import optimisers_among
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers, seconds, texts
from perceptron_lab.reporting.printing.looks import looks_of
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import NOTHING, upper_bound
from perceptron_lab.reporting.summary import (
    grouped,
    known_or_none,
    largest_known,
    status_text,
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
