"""How much of the largest margin runs have reached, and how soon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

import numpy as np

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.outward_rounding import text_below
from perceptron_lab.core.results import FloatArray, Trace
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.printing import typesetting
from perceptron_lab.reporting.printing.columns import cells, in_bold, medians, numbers, texts
from perceptron_lab.reporting.printing.columns import seconds as seconds_column
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
        places = np.flatnonzero(self.shares >= part)
        return float(self.seconds[places[0]]) if len(places) else None


def methods_with_margins(outline: Outline) -> None:
    """Refuse outlines with learners, whose answers have no margin."""
    learners = [label for label, method in outline.methods().items() if method.learns]
    if learners:
        raise DataError(
            f"{', '.join(learners)}: learners have no margin; leave them out, or take the tables "
            "and figures of learners"
        )


def best_bounds(evidence: Evidence) -> dict[tuple[str, float], float]:
    """Return (problem, seed) -> the least upper bound that any label has proved, if positive.

    A DataError where there is none at all.
    """
    known = evidence.frame.dropna(subset=["margin_upper"])
    least = known.groupby(["problem", "seed"], as_index=False)["margin_upper"].min()
    lines = least.itertuples(index=False, name=None)
    found = {(str(problem), float(seed)): float(v) for problem, seed, v in lines if v > 0.0}
    if not found:
        raise DataError(
            "no run has proved a positive upper bound of the margin, which shares are of; add "
            "minimum-norm-point"
        )
    return found


def courses(
    evidence: Evidence, entry: Summary, bounds: Mapping[tuple[str, float], float]
) -> list[Reached]:
    """Return the courses of a summary's cells, of those that have a result and a bound.

    ``bounds`` are the :func:`best_bounds`.
    """
    found = []
    for _, run in entry.runs.iterrows():
        bound, trace = bounds.get((entry.problem, float(run["seed"]))), evidence.trace(run["cell"])
        if bound is not None and trace is not None:
            found.append(_reached(trace, bound, run["margin_lower"], run["margin_upper"]))
    return found


def _reached(trace: Trace, bound: float, lower: float, upper: float) -> Reached:
    margins = np.nan_to_num(np.array(trace.margin, dtype=float), nan=0.0)
    shares = np.maximum.accumulate(np.maximum(margins, 0.0)) / bound
    proved = None if np.isnan(lower) else max(0.0, lower) / bound
    ratio = None if np.isnan(lower) or not upper > 0.0 else max(0.0, lower) / upper
    return Reached(np.array(trace.seconds), shares, proved, ratio)


@needs(methods_with_margins)
def margins(evidence: Evidence) -> Table:
    """Share of the largest margin that each label has reached, and how soon.

    A share is that of the least upper bound that any label has proved on the instance (problem and
    seed): no share is above 1.

    Columns: ``problem``, ``dimension``, ``rows``, ``label``, ``seeds``; medians over the seeds of
    ``share`` (of the margin proved in the end, 0 where none is) and ``own ratio`` (of the two
    bounds that the run itself has proved: by equal weights, where a method has none); ``to 90 %``,
    ``to 99 %`` and ``to 99.9 %``, the seconds after which a point of that share was found, as
    computed, empty unless every seed has one; medians of ``seconds`` and ``epochs``, the products
    with all rows, of which a row looked at is its part; ``status``, the endings of the cells.
    """
    entries = summaries(evidence.frame)
    bounds = best_bounds(evidence)
    found = [courses(evidence, entry, bounds) for entry in entries]
    problems = [entry.problem for entry in entries]
    everyone = [True] * len(entries)
    waits = [
        in_bold(
            seconds_column(
                f"to {100 * part:g} %",
                [
                    _median([one.time_to(part) for one in own], entry)
                    for own, entry in zip(found, entries, strict=True)
                ],
            ),
            problems,
            everyone,
        )
        for part in MARKS
    ]
    pairs = list(zip(found, entries, strict=True))
    columns = [
        *cells(evidence.frame, entries),
        numbers("share", [_median([o.share for o in own], e) for own, e in pairs], _share),
        numbers("own ratio", [_median([o.ratio for o in own], e) for own, e in pairs], _share),
        *waits,
        *medians(entries, ["seconds"]),
        numbers("epochs", [entry.median("products") for entry in entries]),
        texts("status", [entry.endings for entry in entries]),
    ]
    return Table("margins", columns, keys=3, notes=[_NOTE], long=True)


_NOTE = (
    "Medians over the seeds. Share: proved margin over the least upper bound that any label has "
    "proved; own ratio: over the bound that the run itself has proved. To 90\\,\\%: seconds until "
    "such a point was found, in every seed. Epochs: products with all rows, of which a row looked "
    "at is its part; other solvers' own passes are not counted. Bold: the least of a problem."
)


def _median(values: Sequence[float | None], entry: Summary) -> float | None:
    """Return the median over the seeds, None unless every one has a number."""
    present = [value for value in values if value is not None]
    return median(present) if present and len(present) == entry.seeds else None


def _share(value: float | None) -> str:
    """Return a share with five digits after the point, rounded down: none is said to be 1."""
    if value is None or value <= 0.0:
        return typesetting.NOTHING if value is None else "0"
    return f"{min(float(text_below(value, 5)), value):.5f}" if value >= 0.1 else f"{value:.3g}"
