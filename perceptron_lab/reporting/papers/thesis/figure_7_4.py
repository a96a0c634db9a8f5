"""Figure 7.4 of `Kharechko2009`: error rates against the factor of the coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from perceptron_lab.core.errors import DataError
from perceptron_lab.experiments.configuration.rows import reals
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, learners_among, needs
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers, texts
from perceptron_lab.reporting.printing.looks import Look, looks_of
from perceptron_lab.reporting.printing.table import Table

_ERROR = "measure.error"
_CONVERGED = "measure.converged"


class RescaledErrors(NamedTuple):
    """One label on the data of one factor 10^exponent of ``all`` coordinates, or of ``one``.

    ``errors`` are the error rates of the seeds, means over their ``repetitions`` (in all seeds);
    ``unconverged`` is the share of fits that did not converge, None where the learner does not say,
    and ``incomplete`` the number of seeds without an error rate.
    """

    label: str
    rescaled: str
    exponent: int
    errors: tuple[float, ...]
    repetitions: int
    unconverged: float | None
    incomplete: int

    @property
    def mean(self) -> float | None:
        """The mean error rate; None without seeds."""
        return float(np.mean(self.errors)) if self.errors else None

    @property
    def spread(self) -> float | None:
        """The standard error of the mean, from the seeds; None for fewer than two."""
        if len(self.errors) < 2:
            return None
        # Seeds are independent repetitions; repetitions within a seed are averaged already
        return float(np.std(self.errors, ddof=1) / np.sqrt(len(self.errors)))


def rescaled_errors(evidence: Evidence) -> list[RescaledErrors]:
    """Return one line per label, kind of rescaling and exponent, sorted by the latter two.

    Runs of other data, or without error rates, are refused.
    """
    frame = evidence.frame.copy()
    for name in (_ERROR, _CONVERGED):
        # Some learners do not say whether a fit has converged
        column = frame[name] if name in frame.columns else pd.Series("", index=frame.index)
        try:
            frame[name] = reals(column)
        except (ValueError, TypeError) as error:
            raise DataError(
                f"the table of runs, column {name}: {error}; allowed: numbers"
            ) from None
    if frame[_ERROR].isna().all():
        raise DataError(
            "the table of runs has no error rates, which only learners have; add one, such as "
            "ellipsoid-separation"
        )
    lines, parameters = [], rescalings(evidence)
    for (label, problem), runs in frame.groupby(["label", "problem"], sort=False):
        data = parameters[str(problem)]
        errors, shares = runs[_ERROR].dropna(), runs[_CONVERGED].dropna()
        named = str(label), str(data["rescaled"]), int(data["exponent"])
        repetitions = int(data["repetitions"]) * len(errors)
        unconverged = 1.0 - float(shares.mean()) if len(shares) else None
        incomplete = len(runs) - len(errors)
        lines.append(RescaledErrors(*named, tuple(errors), repetitions, unconverged, incomplete))
    return sorted(lines, key=lambda line: (line.rescaled, line.exponent))


def rescalings(outline: Outline) -> dict[str, Mapping[str, Any]]:
    """Return problem -> parameters; raise an error for problems without rescaled data."""
    parameters_of = {problem: outline.parameters(problem) for problem in outline.problems()}
    for problem, data in parameters_of.items():
        if any(data.get(name) is None for name in ("rescaled", "exponent", "repetitions")):
            raise DataError(
                f"the problem {problem!r} lacks the parameters rescaled, exponent and "
                "repetitions; use problems of the dataset inverted-balls"
            )
    return parameters_of


def percent(share: float | None) -> float | None:
    """Return a share in percent."""
    return None if share is None else 100.0 * share


@needs(of_plan=[learners_among, rescalings])
def table_figure_7_4(evidence: Evidence) -> Table:
    """Error rates where coordinates are rescaled: Figure 7.4 of the thesis in numbers.

    Columns: ``rescaled`` (``all`` coordinates or ``one``), ``exponent`` of the factor, ``label``;
    ``repetitions``; ``error`` and its ``standard error``, in percent; ``not converged``, the share
    of fits in percent, of learners that tell; ``incomplete``, seeds without an error rate.
    """
    lines = rescaled_errors(evidence)
    columns = [
        texts("rescaled", [line.rescaled for line in lines]),
        counts("exponent", [line.exponent for line in lines]),
        texts("label", [line.label for line in lines]),
        counts("repetitions", [line.repetitions for line in lines]),
        numbers("error", [percent(line.mean) for line in lines]),
        numbers("standard error", [percent(line.spread) for line in lines]),
        numbers("not converged", [percent(line.unconverged) for line in lines]),
        counts("incomplete", [line.incomplete for line in lines]),
    ]
    return Table("table_figure_7_4", columns, keys=2, notes=[_NOTE], long=True)


_NOTE = (
    "Error, not converged: percent of the test examples and of the fits. Rescaled: all "
    "coordinates or one are multiplied by $10^{e}$, e the exponent. Incomplete: number of seeds "
    "without an error rate."
)


_LINE, _MARKER = 0.9, 3.5
_TITLES = {"all": "all coordinates rescaled", "one": "one coordinate rescaled"}


@needs(of_plan=[learners_among, rescalings])
def figure_7_4(evidence: Evidence) -> Figure:
    """Error rate against the exponent of the rescaling coefficient.

    One panel where all coordinates are rescaled and one where a single one is. Markers are means
    over the seeds and their repetitions, joined by a line per label. Below, for the learners that
    tell, the share of fits that did not converge: an error rate above it is that of a function that
    is not the optimum.
    """
    lines = rescaled_errors(evidence)
    kinds = [kind for kind in _TITLES if any(line.rescaled == kind for line in lines)]
    telling = any(line.unconverged is not None for line in lines)
    looks = looks_of(evidence)
    figure = drawing.canvas(3.4 * len(kinds) + 0.4, 3.8 if telling else 2.8)
    heights = [2.6, 1.0] if telling else [1.0]
    panels = figure.subplots(
        *(len(heights), len(kinds)), sharex=True, sharey="row", squeeze=False, height_ratios=heights
    )
    for kind, column in zip(kinds, panels.T, strict=True):
        panel_lines = [line for line in lines if line.rescaled == kind]
        column[0].set_title(_TITLES[kind])
        _draw(column[0], looks, panel_lines, [line.mean for line in panel_lines])
        if telling:
            _draw(column[1], looks, panel_lines, [line.unconverged for line in panel_lines])
        column[-1].set_xlabel("exponent of the rescaling coefficient")
    panels[0, 0].set_ylabel("error rate, percent")
    # From 0, so that heights compare as error rates do
    panels[0, 0].set_ylim(bottom=0.0)
    if telling:
        # Beyond 0 and 100, so that markers at the ends are whole
        panels[1, 0].set(ylabel="not converged, %", ylim=(-6.0, 106.0))
    drawing.legend_above(figure, drawing.handles(looks, linewidth=_LINE, size=_MARKER))
    return figure


def _draw(
    axes: Axes,
    looks: Mapping[str, Look],
    lines: Sequence[RescaledErrors],
    shares: Sequence[float | None],
) -> None:
    """Draw shares of the lines in percent, label by label."""
    for number, (label, look) in enumerate(looks.items()):
        heights = [
            (line.exponent, percent(share))
            for line, share in zip(lines, shares, strict=True)
            if line.label == label and share is not None
        ]
        if heights:
            # The first label is the subject, and lies above what it is compared with.
            (drawn,) = axes.plot(*zip(*heights, strict=True), label=label, **look)
            drawn.set(linewidth=_LINE, markersize=_MARKER, zorder=3.0 - 0.01 * number)
    exponents = sorted({line.exponent for line in lines})
    # A dozen at most, as more would overlap
    axes.set_xticks(exponents[:: 1 + len(exponents) // 12])
    drawing.rule(axes, "both", "0.95")
