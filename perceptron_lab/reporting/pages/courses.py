"""The course of a run as a line beside its numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from perceptron_lab.reporting.pages.small_svg import relative_path

WIDTH: Final = 90
HEIGHT: Final = 18
MOST: Final = 24
"""Points of a line: more would not be seen."""


@dataclass(frozen=True)
class Course:
    """A quantity along a run.

    Parameters
    ----------
    name
        Of the quantity: ``margin``, of the point as computed, or ``bound``, norm(A w) / <e, w>.
    updates, values
        Where it is known, and its values there.
    """

    name: str
    updates: Sequence[int]
    values: Sequence[float]

    @property
    def words(self) -> str:
        """Where the course begins and ends."""
        first, last = self.values[0], self.values[-1]
        return f"{self.name} {first:.2g} to {last:.2g}, update {self.updates[0]} to " + str(
            self.updates[-1]
        )


def course_of(
    updates: Sequence[int] = (), margin: Sequence[float] = (), upper: Sequence[float] = ()
) -> Course | None:
    """Return the margin of a run's point along its updates, or else the bound by its weights.

    None where neither is known at two records. The lists are those of a trace, see
    :class:`~perceptron_lab.core.results.Trace`.
    """
    for name, values in (("margin", margin), ("bound", upper)):
        known = [(at, one) for at, one in zip(updates, values, strict=True) if math.isfinite(one)]
        if len(known) > 1:
            places, heights = zip(*known, strict=True)
            return Course(name, places, heights)
    return None


def line_of(course: Course, *, named: bool = True) -> str:
    """Return the course as a small picture; unless ``named``, for eyes alone.

    Updates have a logarithmic axis. So have margins, on both sides of 0 (the inverse hyperbolic
    sine of ten times the margin over the last one), and bounds, which are positive. A margin's zero
    is a thin line where it is in sight.
    """
    points = _thinned(list(zip(course.updates, course.values, strict=True)))
    across = [math.log1p(at) for at, _ in points]
    scale = abs(course.values[-1]) or max(map(abs, course.values)) or 1.0
    up = [math.asinh(10.0 * value / scale) for _, value in points]
    low, high = min(up), max(up)
    left, width = across[0], across[-1] - across[0] or 1.0
    reach = high - low or 1.0
    places = [
        ((WIDTH - 2) * (x - left) / width + 1, (HEIGHT - 2) * (high - y) / reach + 1)
        for x, y in zip(across, up, strict=True)
    ]
    drawn = _whole("M" + "L".join(f"{round(x)} {round(y)}" for x, y in places))
    zero = ""
    if course.name == "margin" and low < 0.0 < high:
        zero = f'<path class="z" d="M0 {round((HEIGHT - 2) * high / reach + 1)}h{WIDTH}"/>'
    said = f' role="img" aria-label="{escape(course.words)}"' if named else ' aria-hidden="true"'
    return f'<svg class="course"{said}>{zero}<path d="{drawn}"/></svg>'


def _whole(path: str) -> str:
    return relative_path(path)


def _thinned(points: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return at most so many points, the first and the last among them."""
    if len(points) <= MOST:
        return points
    step = (len(points) - 1) / (MOST - 1)
    return [points[round(place * step)] for place in range(MOST)]
