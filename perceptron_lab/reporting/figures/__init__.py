"""The figures of reports, by name; matplotlib is loaded when one is drawn."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

from perceptron_lab.experiments import config
from perceptron_lab.reporting.evidence import Evidence

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _drawn(name: str, evidence: Evidence) -> Figure:
    """Return a figure, by the function of its name in the module of its name."""
    module = import_module(f"{__name__}.{name}")
    return cast("Figure", vars(module)[name](evidence))


FIGURES: Final[dict[str, Callable[[Evidence], Figure]]] = {
    name: partial(_drawn, name) for name in config.FIGURES
}
"""Name in a configuration -> function of the evidence."""
