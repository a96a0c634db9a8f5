"""The exponents beta and gamma of Theorem 4.4 of `Kharechko2009`: updates against the bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from perceptron_lab.algorithms.rescaling.rescaled_perceptron import RescaledPerceptron
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.papers.thesis.table_6_1.oracles import RESCALED, rescalings_of
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.summary import Summary, median_of, summaries


@dataclass(frozen=True)
class Pair:
    """The runs of one beta and gamma on one problem, of margin rho in dimension n."""

    algorithm: RescaledPerceptron
    dimension: int
    margin: float
    entry: Summary
    rescalings: float | None

    @property
    def beta(self) -> float:
        """The exponent of sigma = 1/(d n^beta)."""
        return self.algorithm.effective_preset.beta

    @property
    def gamma(self) -> float:
        """The exponent of rho = 1/(c n^gamma)."""
        return self.algorithm.effective_preset.gamma

    @property
    def holds(self) -> bool:
        """Whether (4.17) holds in this dimension."""
        return self.algorithm.drift(self.dimension)[0] > 0.0


def with_exponents(outline: Outline) -> None:
    """Refuse labels of other algorithms, and problems without a known margin."""
    labels = [name for name, method in outline.methods().items() if method.algorithm != RESCALED]
    if labels:
        raise DataError(f"exponents: {', '.join(labels)} are not of {RESCALED}; leave them out")
    for problem in outline.problems():
        if not isinstance(outline.parameters(problem).get("margin"), int | float):
            raise DataError(
                f"exponents: the margin of {problem} is not a parameter; use margin-sets, family "
                "exact"
            )


def pairs(evidence: Evidence) -> list[Pair]:
    """Return every problem with every pair of exponents, in the order of the configuration."""
    methods, shapes = evidence.methods(), evidence.shapes()
    return [
        Pair(
            RescaledPerceptron(**methods[entry.label].parameters),
            shapes[entry.problem][0],
            float(evidence.parameters(entry.problem)["margin"]),
            entry,
            median_of(rescalings_of(evidence, entry)),
        )
        for entry in summaries(evidence.frame)
    ]


@needs(with_exponents)
def exponents(evidence: Evidence) -> Table:
    """Updates of Algorithm 6 by beta and gamma, and the bound of Theorem 4.4.

    Columns ``margin``, ``beta``, ``gamma``; ``condition``, whether (4.17) holds in this dimension;
    ``range``, whether beta/2 <= gamma <= beta; medians over the seeds: ``updates``, ``rescalings``,
    ``bound`` and the ``share`` of it that was made; ``ended``, how the cells ended.
    """
    grid = pairs(evidence)
    updates = [pair.entry.median("updates") for pair in grid]
    bounds = [pair.entry.median("bound") for pair in grid]
    within = [pair.beta / 2 <= pair.gamma <= pair.beta for pair in grid]
    columns = [
        numbers("margin", [pair.margin for pair in grid]),
        numbers("beta", [pair.beta for pair in grid]),
        numbers("gamma", [pair.gamma for pair in grid]),
        texts("condition", ["holds" if pair.holds else "fails" for pair in grid]),
        texts("range", ["inside" if inside else "outside" for inside in within]),
        counts("updates", updates),
        counts("rescalings", [pair.rescalings for pair in grid]),
        numbers("bound", bounds),
        numbers("share", [u and b and u / b for u, b in zip(updates, bounds, strict=True)]),
        texts("ended", [pair.entry.status_counts for pair in grid]),
    ]
    note = (
        "Condition: (4.17) of Kharechko2009 in this dimension. Range: beta/2 $\\leq$ gamma $\\leq$ "
        "beta, of (4.15). Share: of the bound of Theorem 4.4 that the median run made."
    )
    return Table("exponents", columns, keys=3, notes=[note], long=True)


@needs(with_exponents)
def exponents_figure(evidence: Evidence) -> Figure:
    """Maps over beta and gamma, a row per margin: the median updates, and the bound.

    Crosses are exponents for which (4.17) fails: they have no bound.
    """
    grid = pairs(evidence)
    margins = list(dict.fromkeys(pair.margin for pair in grid))
    figure = drawing.canvas(6.4, 0.4 + 1.7 * len(margins))
    panels = figure.subplots(len(margins), 2, squeeze=False, sharex=True, sharey=True)
    for column, (name, title) in enumerate({"updates": "updates", "bound": "bound"}.items()):
        values = [value for pair in grid if (value := pair.entry.median(name))]
        norm = LogNorm(min(values, default=1.0), max(values, default=10.0))
        for row, margin in enumerate(margins):
            at = [pair for pair in grid if pair.margin == margin]
            shade = _map(panels[row, column], at, name, norm)
            panels[row, column].set_title(rf"{title}, $\rho$ = {margin:g}", loc="left")
        figure.colorbar(shade, ax=list(panels[:, column]))
    for axes in panels[:, 0]:
        axes.set_ylabel(r"$\gamma$")
    for axes in panels[-1]:
        axes.set_xlabel(r"$\beta$")
    return figure


def _map(axes: Axes, grid: list[Pair], name: str, norm: LogNorm) -> ScalarMappable:
    betas, gammas = sorted({pair.beta for pair in grid}), sorted({pair.gamma for pair in grid})
    shades: FloatArray = np.full((len(gammas), len(betas)), np.nan)
    for pair in grid:
        x, y = betas.index(pair.beta), gammas.index(pair.gamma)
        shades[y, x] = pair.entry.median(name) or np.nan
        if not pair.holds:
            axes.plot(x, y, marker="x", color="0.3", markersize=3.5)
    # Positions, not values: the exponents need not be evenly spaced
    axes.set_xticks(range(len(betas)), [f"{beta:g}" for beta in betas])
    axes.set_yticks(range(len(gammas)), [f"{gamma:g}" for gamma in gammas])
    return axes.imshow(shades, norm=norm, cmap="viridis_r", origin="lower", aspect="auto")
