"""Parameter sets of Algorithm 6 by the bound of all their queries."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.theory.convergence import PRINTED_B, THESIS_EXAMPLES, ParameterSet
from perceptron_lab.reporting.theory.exhibit import Exhibit
from perceptron_lab.reporting.theory.exhibits.curves import draw_curves
from perceptron_lab.reporting.theory.search import AT, GRID, gain, least_queries

CHECKED = 10_000
"""Dimensions 1 to this are checked one by one; beyond, the bound of eta that grows with n holds."""
_ROUNDED = 122.0


class Listed(NamedTuple):
    """A parameter set with the b with which Theorem 4.4 is claimed for it."""

    name: str
    known: ParameterSet
    b: float

    def proved(self) -> str:
        """Return in which dimensions Theorem 4.4 is proved with this b."""
        failing = [n for n in range(1, CHECKED + 1) if self.known.faults(n, self.b)]
        if failing:
            return f"not in dimension {failing[0]}"
        beyond = self.known.holds_from(CHECKED, self.b)
        return "all dimensions" if beyond else f"dimensions 1 to {CHECKED}"


def listed() -> list[Listed]:
    """Return the sets of the thesis, the preset least-bound, and the end of a search."""
    own = ParameterSet.of_preset("least-bound")
    found = least_queries(ParameterSet.of_preset("thesis"))
    margin = 1.0 + 1e-2  # b is the supremum over all dimensions, which none attains
    return [
        Listed("Algorithm 4", ParameterSet.of_preset("dunagan-vempala"), PRINTED_B),
        *(Listed(name, known, PRINTED_B) for name, known in THESIS_EXAMPLES.items()),
        Listed("least-bound", own, _ROUNDED),
        Listed("search", found, found.least_b(GRID) * margin),
    ]


def parameter_sets() -> Exhibit:
    """Parameters of the rescaled perceptron with the least bound on all queries (Theorem 4.4).

    Columns: ``set``; ``c``, ``d``, ``gamma``, ``beta``, ``kappa``, ``epsilon``, ``nu`` and ``b`` of
    (4.5) and (4.13)-(4.15); ``proved``, the dimensions in which the theorem holds with them; for
    dimensions n ``gain n``, how many times the bound of all queries is below that of Theorem 4.1, T
    = 4096 n ln(1/margin), at the same failure bound exp(-n), and ``tries n``, the same where the
    repeated tries of Algorithm 5 are counted, which the printed bound leaves out.
    """
    sets = listed()
    letters = ("c", "d", "gamma", "beta", "kappa", "epsilon", "nu")
    columns = [
        texts("set", [one.name for one in sets]),
        *(numbers(letter, [getattr(one.known, letter) for one in sets]) for letter in letters),
        numbers("b", [one.b for one in sets]),
        texts("proved", [one.proved() for one in sets]),
    ]
    for name, tries in (("gain", False), ("tries", True)):
        for n in AT:
            values = [gain(one.known, one.b, n, tries=tries) for one in sets]
            columns.append(numbers(f"{name} {n}", values))
    note = (
        "Gain: the printed bound of Theorems 3.4 and 4.1 of Kharechko2009 on all queries, 4096 n "
        "(32$^{2}$ n$^{2}$ + 32$^{2}$ n$^{2}$ log n) log(1/margin), over that of the set, in these "
        "dimensions and with the exact eta; tries: both with the tries of Algorithm 5 counted by "
        "their expectation. Search: Nelder and Mead's method, for the least bound with tries."
    )
    title = "Parameters of the rescaled perceptron by the bound of their queries"
    return Exhibit(title, Table("parameter_sets", columns, notes=[note]), partial(_draw, sets))


def _draw(sets: list[Listed]) -> Figure:
    dimensions = np.unique(np.round(np.geomspace(2, 10_000, 60)).astype(int))
    curves = {
        one.name: [gain(one.known, one.b, int(n), tries=True) for n in dimensions]
        for one in sets
        if one.name != "search"
    }
    figure = drawing.canvas(4.8, 3.0)
    axes = figure.subplots()
    axes.set(xscale="log", yscale="log", xlabel="dimension $n$", ylim=(0.8, 60))
    draw_curves(axes, dimensions, curves, loc="lower center", bbox_to_anchor=(0.5, 0.22), ncols=2)
    axes.axhline(1.0, color="0.5", linewidth=0.7)
    axes.set_ylabel("queries of Theorem 4.1 / queries, tries counted")
    drawing.rule_logarithmic(axes, "x")
    drawing.rule_logarithmic(axes, "y")
    return figure
