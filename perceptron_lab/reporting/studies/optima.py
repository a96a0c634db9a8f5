"""Proved intervals of optima: what solvers' answers prove, and the best of each program."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib import resources
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from perceptron_lab.core.claims import UNPROVED
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.outward_rounding import text_above, text_below
from perceptron_lab.core.registry import names
from perceptron_lab.core.results import Status
from perceptron_lab.experiments.configuration.rows import reals
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.papers.thesis.figure_6_1 import optimisers_among
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers, seconds, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import NOTHING, upper_bound
from perceptron_lab.reporting.summary import ending, known_or_none


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
        printed = Decimal(self.printed)
        exponent = printed.as_tuple().exponent
        assert isinstance(exponent, int)
        unit = Decimal(1).scaleb(exponent)
        return Decimal(lower) < printed + unit and printed - unit < Decimal(upper)


@cache
def sdplib_optima() -> dict[str, ListedOptimum]:
    """Return instance -> its listed value, for those that are not listed as infeasible."""
    text = resources.files(__package__).joinpath("sdplib_optima.csv").read_text("ascii")
    rows = csv.DictReader(text.splitlines())
    return {row["instance"]: ListedOptimum(row["listed"], row["corrected"]) for row in rows}


LOWER, UPPER, WIDTH = "optimum_lower", "optimum_upper", "optimum_width"
_ERRORS = tuple(f"measure.{UNPROVED}dimacs_{number}" for number in range(1, 7))
_OBJECTIVE = f"measure.{UNPROVED}objective"
_DIGITS = 10

_CELLS = (
    "Lower and upper: the proved bounds of the optimum in SDPA's sign, min $c'x$; width: (upper - "
    "lower) / max(1, |upper|). Seconds to the answer, and those of its repair and proofs. Claimed: "
    "the largest of the six DIMACS errors of the answer as the solver gave it, and its objective; "
    "empty for methods that claim none. Unproved: the side without a bound."
)
_BEST = (
    "Lower and upper: the best bounds over all labels, and whose they are; width: (upper - lower) "
    "/ max(1, |upper|). Two-sided: labels with both bounds, of those that were not skipped. "
    "Listed: the optimum in SDPLIB's README, those of maxG51 and maxG55 corrected, misprinted "
    "there (4003.809 and 9999.210). Agrees: whether the printed value, its last digit give or take "
    "one, meets the interval."
)


def optima_of(evidence: Evidence) -> list[dict[str, Any]]:
    """Return the rows of optimisers, bounds and figures as numbers or NaN."""
    frame, known = evidence.frame, names("optimiser")
    frame = frame[frame["algorithm"].isin(known)]
    wanted = [LOWER, UPPER, WIDTH, _OBJECTIVE, *_ERRORS]
    read = {
        name: reals(frame[name]) if name in frame else pd.Series(float("nan"), frame.index)
        for name in wanted
    }
    rows: list[Any] = frame.assign(**read).to_dict("records")
    return rows


@needs(of_plan=[optimisers_among])
def proved_optima_table(evidence: Evidence) -> Table:
    """What each answer claims, and what is proved of it.

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
        numbers("width", [known_or_none(row[WIDTH]) for row in rows], upper_bound),
        seconds("seconds", [known_or_none(row["seconds"]) for row in rows]),
        seconds("proof seconds", [known_or_none(row["proof_seconds"]) for row in rows]),
        numbers("claimed error", [_largest(row) for row in rows]),
        numbers("claimed objective", [known_or_none(row[_OBJECTIVE]) for row in rows], _long),
        texts("unproved", [_unproved(row) for row in rows]),
        texts("status", [ending(row["status"], row["proved"]) for row in rows]),
    ]
    return Table("proved_optima", columns, keys=2, notes=[_CELLS], long=True)


@needs(of_plan=[optimisers_among])
def best_optima(evidence: Evidence) -> Table:
    """The best proved interval of each program, beside the listed optimum.

    Columns: ``problem``, ``lower``, ``lower by``, ``upper``, ``upper by``, ``width``,
    ``two-sided``, ``asked`` (labels that were not skipped), ``listed``, ``agrees``. Problems of
    which every cell was skipped are left out.
    """
    rows = [row for row in optima_of(evidence) if row["status"] != Status.SKIPPED]
    problems = list(dict.fromkeys(str(row["problem"]) for row in rows))
    groups = [[row for row in rows if row["problem"] == problem] for problem in problems]
    lowers = [_best(group, LOWER, max) for group in groups]
    uppers = [_best(group, UPPER, min) for group in groups]
    listed = [sdplib_optima().get(problem) for problem in problems]
    both = list(zip(lowers, uppers, strict=True))
    agreed = [
        ""
        if one is None or lower[0] is None or upper[0] is None
        else "yes"
        if one.agrees(lower[0], upper[0])
        else "no"
        for one, (lower, upper) in zip(listed, both, strict=True)
    ]
    two_sided = [sum(not _unproved(row) for row in group) for group in groups]
    columns = [
        texts("problem", problems),
        numbers("lower", [bound for bound, _ in lowers], long_below),
        texts("lower by", [label for _, label in lowers]),
        numbers("upper", [bound for bound, _ in uppers], long_above),
        texts("upper by", [label for _, label in uppers]),
        numbers("width", [_width(lower[0], upper[0]) for lower, upper in both], upper_bound),
        counts("two-sided", two_sided),
        counts("asked", [len(group) for group in groups]),
        numbers("listed", [None if one is None else one.value for one in listed], _long),
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


def _best(rows: list[dict[str, Any]], name: str, better: Any) -> tuple[float | None, str]:
    found = [(float(row[name]), str(row["label"])) for row in rows if not pd.isna(row[name])]
    if not found:
        return None, ""
    bound = better(value for value, _ in found)
    return bound, next(label for value, label in found if value == bound)


def _width(lower: float | None, upper: float | None) -> float | None:
    if lower is None or upper is None:
        return None
    return (upper - lower) / max(1.0, abs(upper))


def _largest(row: dict[str, Any]) -> float | None:
    errors = [known_or_none(row[name]) for name in _ERRORS]
    known = [abs(error) for error in errors if error is not None]
    return max(known) if len(known) == len(errors) else None


def _unproved(row: dict[str, Any]) -> str:
    missing = [
        name for name, column in (("lower", LOWER), ("upper", UPPER)) if pd.isna(row[column])
    ]
    if row["status"] == Status.SKIPPED or not missing:
        return ""
    return "both" if len(missing) == 2 else missing[0]


_LEAST = 1e-16


@needs(of_plan=[optimisers_among])
def proved_optima_figure(evidence: Evidence) -> Figure:
    """Relative width of the proved interval against the seconds to the answer, on log axes.

    A marker for each problem and label with both bounds; left and low is better. Answers of which
    one bound or none is proved are counted in the legend.
    """
    rows = optima_of(evidence)
    known = drawing.looks(list(dict.fromkeys(str(row["label"]) for row in rows)))
    figure = drawing.canvas(4.6, 3.4)
    axes = figure.subplots()
    axes.set(xscale="log", yscale="log", xlabel="seconds", ylabel="width of the proved interval")
    names, shown = {}, 0
    for label, look in known.items():
        mine = [row for row in rows if row["label"] == label]
        widths = [(float(row["seconds"]), known_or_none(row[WIDTH])) for row in mine]
        points = [(time, max(width, _LEAST)) for time, width in widths if width is not None]
        names[label] = f"{label} ({len(points)} of {len(mine)})"
        shown += len(points)
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
    if not shown:
        raise DataError("no run has proved both bounds of an optimum: there is nothing to draw")
    drawing.rule_logarithmic(axes, "x")
    drawing.rule_logarithmic(axes, "y")
    drawing.legend_above(figure, drawing.handles(known, names=names), 2)
    return figure
