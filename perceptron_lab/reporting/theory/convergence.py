"""Theorem 4.4 of `Kharechko2009` as a checker of parameter sets: (4.5)-(4.21)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Self

from matplotlib.figure import Figure

from perceptron_lab.algorithms.rescaling.rescaled_perceptron import PRESETS, Preset
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.theory.curves import draw_curves
from perceptron_lab.reporting.theory.exhibit import Exhibit
from perceptron_lab.reporting.theory.rescaling import (
    GrowthFactors,
    mean_growth,
    printed_factors,
    worst_alignment,
)
from perceptron_lab.reporting.theory.start_probability import (
    PRINTED,
    start_probability,
    start_probability_below,
)

PRINTED_B = 1024.0
"""The b of (4.5) for Theorem 4.1 and for both examples of section 4.6."""
BASELINE = 4096.0
"""T / (n ln(1/rho)) in the proof of Theorem 4.1, from (4.8) with eta = 1/8 and epsilon = 1/16."""


@dataclass(frozen=True)
class ParameterSet(Preset):
    """c, d, gamma, beta, kappa of (4.13)-(4.15), epsilon of Chernoff's bound, and nu.

    rho = 1/(c n^gamma), sigma = 1/(d n^beta), theta = kappa / n^(beta/2), at most 1.
    """

    nu: float = 1.0

    @classmethod
    def of_preset(cls, name: str) -> Self:
        """Return the parameters of a preset of the rescaled perceptron, with nu = 1."""
        return cls(**asdict(PRESETS[name]))

    def eta(self, dimension: int) -> float:
        """Return the exact eta of (4.16)."""
        return start_probability(dimension, self.kappa, self.beta)

    def factors(self, dimension: int) -> GrowthFactors:
        """Return q+ and q- of (4.11) and (4.12), for nu = 1; otherwise of section 3.6."""
        known = self.constants(dimension)
        return printed_factors(self.nu, known.rho, known.sigma, known.theta)

    def drift(self, dimension: int, eta: float | None = None) -> float:
        """Return the left-hand side of (4.17), by default with the exact eta.

        It is the growth of ln(margin) per iteration, if at least a share 1 - epsilon of the
        expected good starts occurs.
        """
        eta = self.eta(dimension) if eta is None else eta
        return mean_growth(self.factors(dimension), eta * (1.0 - self.epsilon))

    def polynomial_drift(self, dimension: int) -> float:
        """Return the left-hand side of (4.20): 1/(p+ + 1) and 1/(p- - 1) stand for logarithms.

        p+ = 1/(q+ - 1), p- = 1/(1 - q-). It is at most :meth:`drift`.
        """
        plus, minus = self.factors(dimension)
        share = self.eta(dimension) * (1.0 - self.epsilon)
        return share * (plus - 1.0) / plus - (1.0 - share) * (1.0 - minus) / minus

    def excess(self, dimension: int, b: float = PRINTED_B, eta: float | None = None) -> float:
        """Return the left-hand side of (4.21): the drift less 1/(b n^beta)."""
        return self.drift(dimension, eta) - 1.0 / (b * math.pow(dimension, self.beta))

    def least_b(self, dimensions: Iterable[int]) -> float:
        """Return the least b with which (4.17) holds in all these dimensions; inf if none does."""
        worst = min(self.drift(n) * n**self.beta for n in dimensions)
        return 1.0 / worst if worst > 0.0 else math.inf

    def iterations(self, dimension: int, b: float, eta: float | None = None) -> float:
        """Return T / ln(1/margin) of (4.8): max(2 / (epsilon^2 eta), b) n^beta.

        The margin has not become rho after T iterations with probability exp(-n^beta) at most. The
        form (4.8) needs ln(1/margin) >= 1.
        """
        eta = self.eta(dimension) if eta is None else eta
        return max(2.0 / (self.epsilon**2 * eta), b) * math.pow(dimension, self.beta)

    def phases(self, dimension: int) -> tuple[float, float]:
        """Return the most queries of the two phases of an iteration (Theorem 4.4), one try each.

        c^2 n^(2 gamma) = 1/rho^2, and beta d^2 n^(2 beta) ln(n / kappa^(2/beta)) = 2/sigma^2
        ln(1/theta).
        """
        known = self.constants(dimension)
        return known.rho**-2, 2.0 / known.sigma**2 * math.log(1.0 / known.theta)

    def queries(self, dimension: int, b: float, *, tries: bool = False) -> float:
        """Return the bound of all queries over ln(1/margin), as printed: one try per iteration.

        Algorithm 5 repeats its tries until one succeeds, which the printed count leaves out; with
        ``tries`` they are counted by their expectation, 1/eta at most, with the update by which a
        try is seen to have failed.
        """
        first, second = self.phases(dimension)
        if tries:
            second = (second + 1.0) / self.eta(dimension)
        return self.iterations(dimension, b) * (first + second)

    def faults(self, dimension: int, b: float) -> list[str]:
        """Return the conditions of Theorem 4.4 that fail in a dimension, with their numbers."""
        known = self.constants(dimension)
        least = worst_alignment(self.nu, known.rho)
        conditions = {
            "0 < epsilon < 1": 0.0 < self.epsilon < 1.0,
            "(4.13): beta/2 <= gamma <= beta": self.beta / 2 <= self.gamma <= self.beta,
            "Lemma 4.3: sigma < 1": known.sigma < 1.0,
            "Lemma 4.3: rho/(nu (nu+2)) <= theta": least <= known.theta,
            "(4.8): rho <= 1/e": known.rho <= math.exp(-1.0),
            "(4.17)": self.excess(dimension, b) >= 0.0,
        }
        return [name for name, holds in conditions.items() if not holds]

    def holds_from(self, dimension: int, b: float) -> bool:
        """Return whether Theorem 4.4 is proved with b in this dimension and in every larger one.

        Let N = n^beta, beta >= 1, gamma >= beta/2, nu <= 1. Then N ln q+ and N ln q- are sums of
        N ln(1 + A/N) with A that does not fall, and of N ln(1 - k/N^2), all of which grow with N;
        so does eta's lower bound :func:`.start_probability_below`. Where q+ > 1 > q-, N times the
        drift with that bound therefore grows: where it is at least 1/b, it stays so. The conditions
        of Lemma 4.3 and of (4.8) hold for larger n as well, as rho, sigma and rho/theta fall.
        """
        if self.beta < 1.0 or self.nu > 1.0 or dimension < 4:
            return False
        if self.kappa**2 > dimension**self.beta or self.faults(dimension, b):
            return False
        below = start_probability_below(dimension, self.kappa, self.beta)
        plus, minus = self.factors(dimension)
        if not plus > 1.0 > minus or below <= 0.0:
            return False
        return self.excess(dimension, b, eta=below) >= 0.0


THESIS_EXAMPLES = {
    "Figure 4.1 (a)": replace(ParameterSet.of_preset("thesis"), c=4.0, gamma=1.0),
    "Figure 4.1 (b)": ParameterSet.of_preset("thesis"),
}
"""The two examples of section 4.6, with b = 1024."""


def baseline_queries(dimension: int, *, tries: bool = False) -> float:
    """Return the bound of all queries over ln(1/margin) of Theorems 3.4 and 4.1, for T = 4096 n.

    4096 n (32^2 n^2 + 32^2 n^2 ln n): of rho = sigma = 1/(32 n), Algorithm 4. ``tries`` as in
    :meth:`ParameterSet.queries`.
    """
    printed = ParameterSet.of_preset("dunagan-vempala")
    first, second = printed.phases(dimension)
    if tries:
        second = (second + 1.0) / printed.eta(dimension)
    return BASELINE * dimension * (first + second)


_DIMENSIONS = (1, 2, 3, 4, 5, 10, 20, 50, 100, 1000, 10000)
_DRAWN = range(1, 51)


def figure_4_1() -> Exhibit:
    """Figure 4.1: the left-hand side of (4.21), with the exact eta and with 1/8, for b = 1024.

    Columns: ``dimension``; for each example of section 4.6, (a) rho = 1/(4 n) and (b) rho =
    1/(16 sqrt n), with sigma = 1/(32 n) and epsilon = 1/16, the left-hand side with the ``exact``
    eta and with the ``printed`` 1/8. Theorem 4.4 needs it to be 0 or more: with 1/8 (a) is below in
    dimensions 1 and 2.
    """
    columns = [counts("dimension", _DIMENSIONS)]
    for letter, known in zip("ab", THESIS_EXAMPLES.values(), strict=True):
        columns += [
            numbers(f"{letter} exact", [known.excess(n) for n in _DIMENSIONS]),
            numbers(f"{letter} printed", [known.excess(n, eta=PRINTED) for n in _DIMENSIONS]),
        ]
    note = (
        "The left-hand side of (4.21) of Kharechko2009 for b = 1024; exact: with eta = P(x'z "
        "$\\geq$ 1/sqrt n); printed: with eta = 1/8."
    )
    title = "Figure 4.1: convergence of the parametric rescaled perceptron"
    return Exhibit(title, Table("figure_4_1", columns, notes=[note]), _draw)


def _draw() -> Figure:
    figure = drawing.canvas(6.4, 2.7)
    panels = figure.subplots(1, 2)
    titles = (r"(a) $\rho = 1/(4n)$", r"(b) $\rho = 1/(16\sqrt{n})$")
    for axes, title, known in zip(panels, titles, THESIS_EXAMPLES.values(), strict=True):
        curves = {
            r"exact $\eta$": [known.excess(n) for n in _DRAWN],
            r"$\eta = 1/8$": [known.excess(n, eta=PRINTED) for n in _DRAWN],
        }
        axes.set(yscale="symlog", xlabel="dimension $n$")
        axes.set_yscale("symlog", linthresh=1e-4)
        draw_curves(axes, list(_DRAWN), curves)
        axes.axhline(0.0, color="0.4", linewidth=0.7)
        axes.set_title(title, loc="left")
    panels[0].set_ylabel("left-hand side of (4.21)")
    return figure
