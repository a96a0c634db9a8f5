"""Figure 4.1 of `Kharechko2009`: the left-hand side of (4.21) for both examples of section 4.6."""

from __future__ import annotations

from matplotlib.figure import Figure

from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.theory.caps import PRINTED
from perceptron_lab.reporting.theory.convergence import THESIS_EXAMPLES
from perceptron_lab.reporting.theory.exhibit import Exhibit
from perceptron_lab.reporting.theory.exhibits.curves import draw_curves

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
