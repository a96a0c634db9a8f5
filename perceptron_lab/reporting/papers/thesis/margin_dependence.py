"""Queries against 1 / rho: a logarithmic law and a power, fitted to the same medians."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogFormatterMathtext

from perceptron_lab.core.errors import DataError
from perceptron_lab.datasets.generated.margin_sets import MarginSets
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers, texts
from perceptron_lab.reporting.printing.looks import GREY, Look, looks_of
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.summary import Summary, by_label, summaries

Reals = npt.NDArray[np.float64]

# Margins below which no law is fitted: two points lie on both
FEWEST = 3


@dataclass(frozen=True)
class Logarithm:
    """q = a + b ln(1 / rho): a and b make the sum of (fit / q - 1)^2 least."""

    a: float
    b: float
    residual: float

    @classmethod
    def of(cls, ratios: Reals, queries: Reals) -> Logarithm:
        """Return the fit; ``ratios`` are 1 / rho."""
        # Relative errors, as for the power: in absolute ones the largest queries would decide alone
        columns = np.column_stack([np.ones(len(ratios)), np.log(ratios)]) / queries[:, None]
        (a, b), *_ = np.linalg.lstsq(columns, np.ones(len(ratios)), rcond=None)
        law = cls(float(a), float(b), 0.0)
        return cls(law.a, law.b, residual_of(law.at(ratios), queries))

    def at(self, ratios: Reals) -> Reals:
        """Return the queries that it gives."""
        return self.a + self.b * np.log(ratios)


@dataclass(frozen=True)
class Power:
    """q = c (1 / rho)^p, by least squares in logarithms."""

    factor: float
    exponent: float
    residual: float

    @classmethod
    def of(cls, ratios: Reals, queries: Reals) -> Power:
        """Return the fit; ``ratios`` are 1 / rho."""
        columns = np.column_stack([np.ones(len(ratios)), np.log(ratios)])
        (log_factor, exponent), *_ = np.linalg.lstsq(columns, np.log(queries), rcond=None)
        law = cls(float(np.exp(log_factor)), float(exponent), 0.0)
        return cls(law.factor, law.exponent, residual_of(law.at(ratios), queries))

    def at(self, ratios: Reals) -> Reals:
        """Return the queries that it gives."""
        return np.asarray(self.factor * ratios**self.exponent)


def residual_of(fitted: Reals, queries: Reals) -> float:
    """Return the root of the mean of (fit / q - 1)^2."""
    return float(np.sqrt(np.mean((fitted / queries - 1.0) ** 2)))


@dataclass(frozen=True)
class Dependence:
    """The cells of one family and label, by decreasing margin.

    Parameters
    ----------
    family, label
        Which.
    margins, entries
        rho, and the cells of that margin.
    """

    family: str
    label: str
    margins: Sequence[float]
    entries: Sequence[Summary]

    @property
    def proved(self) -> list[tuple[float, float]]:
        """Margin and median of the queries, where a point is proved for every seed."""
        pairs = zip(self.margins, self.entries, strict=True)
        # Queries of a run that was cut off are no queries of an answer
        medians = [(margin, entry.median("queries")) for margin, entry in pairs if entry.feasible]
        return [(margin, queries) for margin, queries in medians if queries]

    @property
    def laws(self) -> tuple[Logarithm, Power] | None:
        """Both laws; None of fewer than three margins."""
        # Both laws have two parameters, and pass through any two points
        if len(self.proved) < FEWEST:
            return None
        margins, queries = np.array(self.proved).T
        return Logarithm.of(1.0 / margins, queries), Power.of(1.0 / margins, queries)

    @property
    def better(self) -> Logarithm | Power | None:
        """The law of the lesser residual."""
        if self.laws is None:
            return None
        logarithm, power = self.laws
        # Both have two parameters, so that residuals compare without a penalty
        return logarithm if logarithm.residual < power.residual else power


def known_margins(outline: Outline) -> dict[str, tuple[str, float]]:
    """Return problem -> family and margin, of problems that have both as parameters."""
    margins = {}
    for problem in outline.problems():
        parameters = outline.parameters(problem)
        family, margin = parameters.get("family"), parameters.get("margin")
        if isinstance(family, str) and isinstance(margin, int | float):
            rows = isinstance(outline.dataset(problem), MarginSets)
            # Families of rows and of cones may have the same name
            margins[problem] = (f"rows, {family}" if rows else family, float(margin))
    if len({margin for _, margin in margins.values()}) < FEWEST:
        raise DataError(
            "fewer than three known margins, but a law is fitted to at least three; use "
            "{dataset: conic-sets, grid: {margin: [...]}} or "
            "{dataset: margin-sets, family: exact}"
        )
    return margins


def dependences(evidence: Evidence) -> list[Dependence]:
    """Return every family by every label that was run on it."""
    margin_of = known_margins(evidence)
    frame = evidence.frame[evidence.frame["problem"].isin(list(margin_of))]
    ran = [entry for entry in summaries(frame) if entry.seeds]
    lines = []
    for family in dict.fromkeys(family for family, _ in margin_of.values()):
        family_entries = [entry for entry in ran if margin_of[entry.problem][0] == family]
        for label, entries in by_label(family_entries).items():
            ordered = sorted(entries, key=lambda entry: -margin_of[entry.problem][1])
            margins = [margin_of[entry.problem][1] for entry in ordered]
            lines.append(Dependence(family, label, margins, ordered))
    return lines


_NOTE = (
    "Margins: number of margins at which every cell has proved a point. Down to: the smallest of "
    "them. Queries: the median over the seeds there. Both laws are fitted to these medians. "
    "Logarithm: $a + b \\ln(1/\\rho)$, with the least sum of squares of fit over queries minus "
    "1. Power: $c (1/\\rho)^p$, by least squares in logarithms. Residual: root mean square of "
    "fit over queries minus 1. Better: the law with the smaller residual. At least: the queries "
    "spent at the first margin that was not decided within the budget, if there is one."
)


@needs(known_margins)
def margin_dependence_table(evidence: Evidence) -> Table:
    """Queries against 1 / rho: a + b ln(1 / rho) and c (1 / rho)^p, with their residuals.

    Columns: ``family``, ``label``; ``margins``, how many are decided, and ``down to`` which;
    ``queries``, there; ``a``, ``b``, ``residual of logarithm``; ``c``, ``p``, ``residual of
    power``; ``better``, the law of the lesser residual; nothing is fitted to fewer than three
    margins. ``at least``, the queries at the first margin that is not decided.
    """
    lines = dependences(evidence)
    logarithms = [line.laws[0] if line.laws else None for line in lines]
    powers = [line.laws[1] if line.laws else None for line in lines]
    columns = [
        texts("family", [line.family for line in lines]),
        texts("label", [line.label for line in lines]),
        counts("margins", [len(line.proved) for line in lines]),
        numbers("down to", [line.proved[-1][0] if line.proved else None for line in lines]),
        counts("queries", [line.proved[-1][1] if line.proved else None for line in lines]),
        numbers("a", [law.a if law else None for law in logarithms]),
        numbers("b", [law.b if law else None for law in logarithms]),
        numbers("residual of logarithm", [law.residual if law else None for law in logarithms]),
        numbers("c", [law.factor if law else None for law in powers]),
        numbers("p", [law.exponent if law else None for law in powers]),
        numbers("residual of power", [law.residual if law else None for law in powers]),
        texts("better", [_better(line) for line in lines]),
        counts("at least", [_least(line) for line in lines]),
    ]
    return Table("margin_dependence", columns, keys=2, notes=[_NOTE], long=True)


def _better(line: Dependence) -> str:
    law = line.better
    if law is None:
        return ""
    return "logarithm" if isinstance(law, Logarithm) else "power"


def _least(line: Dependence) -> float | None:
    """Return the median of the queries at the first margin that is not decided."""
    left = [entry for entry in line.entries if not entry.feasible]
    # Entries are sorted: the first one left is the largest margin that was too hard
    return left[0].median("queries") if left else None


# Points of a fitted curve
_DRAWN = 60


@needs(known_margins)
def margin_dependence_figure(evidence: Evidence) -> Figure:
    """Queries against 1 / rho on log axes, a panel per family of problems.

    A line with markers per label: medians over the seeds, from quartile to quartile; a cross where
    not every cell has proved a point. Dotted: the better of the two fitted laws,
    a + b ln(1 / rho) and c (1 / rho)^p, over the margins that it was fitted to. Grey labels
    have none.
    """
    lines = dependences(evidence)
    families = list(dict.fromkeys(line.family for line in lines))
    looks = looks_of(evidence, dict.fromkeys(line.label for line in lines))
    figure = drawing.canvas(max(5.0, 2.5 * len(families)), 3.4)
    panels = figure.subplots(1, len(families), squeeze=False, sharey=True)[0]
    for axes, family in zip(panels, families, strict=True):
        _draw(axes, [line for line in lines if line.family == family], looks)
        axes.set_title(family, loc="left")
        axes.set_xlabel(r"1 / margin $\rho$")
        # Decades side by side: plain numbers would overlap
        axes.xaxis.set_major_formatter(LogFormatterMathtext())
    panels[0].set_ylabel("oracle queries")
    names = drawing.spelt_out(evidence.algorithms())
    proved = all(entry.feasible for line in lines for entry in line.entries)
    fit = Line2D([], [], label="fitted law", color="0.3", linestyle=":", linewidth=1.2)
    drawing.legend_above(figure, [*drawing.handles(looks, proved, names=names), fit])
    return figure


def _draw(axes: Axes, lines: list[Dependence], looks: dict[str, Look]) -> None:
    """Draw the labels of one family."""
    entries = [
        (1.0 / margin, entry)
        for line in lines
        for margin, entry in zip(line.margins, line.entries, strict=True)
    ]
    drawing.draw_medians(axes, looks, sorted(entries, key=_across), "queries", _feasible)
    for dependence in lines:
        law = dependence.better
        if law is not None and looks[dependence.label]["color"] != GREY:
            ends = [1.0 / margin for margin, _ in dependence.proved]
            # Only over the margins of the fit: beyond them it says nothing
            ratios = np.geomspace(ends[0], ends[-1], _DRAWN)
            fitted = law.at(ratios)
            # The logarithmic law may fall below 0, which the axis cannot show
            positive = fitted > 0.0
            axes.plot(
                ratios[positive],
                fitted[positive],
                color=looks[dependence.label]["color"],
                linestyle=":",
                linewidth=1.2,
                label=f"{dependence.label} law",
            )


def _across(pair: tuple[float, Summary]) -> float:
    return pair[0]


def _feasible(entry: Summary) -> bool:
    return entry.feasible
