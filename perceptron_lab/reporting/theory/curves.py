"""Curves that are told apart by colour and by dashes, for grey prints and every colour vision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt
from matplotlib.axes import Axes

from perceptron_lab.reporting.printing.drawing import Line, Style, looks

_DASHES: tuple[Line, ...] = ("-", "--", "-.", ":")


def curve_looks(names: Sequence[str]) -> dict[str, Style]:
    """Return name -> colour, dashes and width; four in a row differ in dashes, then in width."""
    return {
        name: {
            "color": look["color"],
            "linestyle": _DASHES[place % len(_DASHES)],
            "linewidth": 1.1 + 0.9 * (place // len(_DASHES)),
        }
        for place, (name, look) in enumerate(looks(names).items())
    }


def draw_curves(
    axes: Axes, x: npt.ArrayLike, curves: Mapping[str, npt.ArrayLike], **legend: Any
) -> None:
    """Draw curves over the same x, with a legend in the panel."""
    for name, look in curve_looks(list(curves)).items():
        axes.plot(x, curves[name], label=name, **look)
    axes.legend(frameon=False, **legend)
