"""How tight each theorem is, measured."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from matplotlib.figure import Figure

from perceptron_lab.reporting.papers.yu.ratios import draw_ratios
from perceptron_lab.reporting.printing.columns import Column, counts, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import escape
from perceptron_lab.reporting.theory.exhibit import Exhibit
from perceptron_lab.reporting.theory.tightness import Tightness, measured, unbounded


def tightness() -> Exhibit:
    """How tight each theorem is: measured updates over its bound; or why there is no bound.

    Columns: ``algorithm``, ``theorem``, ``side`` (``feasible``, ``epsilon`` or ``relaxed``, by the
    proved answers), ``kind`` of the bound; ``problems``; ``least`` and ``largest`` ratio over them;
    ``reason`` why an algorithm has no bound. For bounds of the worst case the ratio is that of the
    largest updates over the seeds, for those of the expectation that of the means. It reads the
    samples rates, bounds, maxcut_oracles, tiny_margin and conic_rescaling.
    """
    found = measured()
    lines = [*found, *unbounded(one.algorithm for one in found)]
    said = [escape(": ".join(filter(None, (one.theorem, one.reason)))) for one in lines]
    columns = [
        texts("algorithm", [one.algorithm for one in lines]),
        Column("theorem", [one.theorem for one in lines], said, align="p{50mm}"),
        texts("side", [one.side for one in lines]),
        texts("kind", [one.kind for one in lines]),
        counts("problems", [len(one.ratios) for one in lines]),
        numbers("least", [one.least for one in lines]),
        numbers("largest", [one.largest for one in lines]),
        Column("reason", [one.reason for one in lines], None, align="l"),
    ]
    note = (
        "Updates over the theorem's bound with its own constants, at the margin known or proved: "
        "the largest over the seeds for bounds of the worst case, means for expectations; least "
        "and largest over the problems. At most 1 where the theorem holds. An algorithm on no "
        "problem has no bound, for the reason said."
    )
    table = Table("tightness", columns, notes=[note], long=True)
    return Exhibit("How tight each theorem is: updates over bound", table, partial(_draw, found))


def _draw(found: Sequence[Tightness]) -> Figure:
    return draw_ratios((one.algorithm, one.side, one.ratios) for one in found)
