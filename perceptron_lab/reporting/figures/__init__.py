"""The figures of reports, by name; matplotlib is loaded when one is drawn."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

from perceptron_lab.reporting.evidence import Evidence

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_MODULES: Final = {
    "table_6_1": "table_6_1.figure",
    "figure_1": "margins.figure_1",
    "figure_2": "yu.figure_2",
    "figure_7_1": "chapter_7.figure_7_1",
    "figure_7_2": "chapter_7.figure_7_2",
    "figure_7_3": "chapter_7.figure_7_3",
    "figure_7_4": "chapter_7.figure_7_4",
    "convergence": "performance.convergence",
    "certificates": "margins.certificates",
    "profile": "performance.profile_figure",
    "scaling": "performance.scaling",
    "figure_8_1": "table_8_1.figure_8_1",
}


def _drawn(name: str, evidence: Evidence) -> Figure:
    """Return a figure, by the function of its name."""
    module = import_module(f"perceptron_lab.reporting.{_MODULES[name]}")
    return cast("Figure", vars(module)[name](evidence))


FIGURES: Final[dict[str, Callable[[Evidence], Figure]]] = {
    name: partial(_drawn, name) for name in _MODULES
}
"""Name in a configuration -> function of the evidence."""
