"""The figures of reports, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from matplotlib.figure import Figure

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.figures.certificates import certificates
from perceptron_lab.reporting.figures.convergence import convergence
from perceptron_lab.reporting.figures.figure_1 import figure_1
from perceptron_lab.reporting.figures.figure_2 import figure_2
from perceptron_lab.reporting.figures.figure_7_1 import figure_7_1
from perceptron_lab.reporting.figures.figure_7_2 import figure_7_2
from perceptron_lab.reporting.figures.figure_7_3 import figure_7_3
from perceptron_lab.reporting.figures.figure_7_4 import figure_7_4
from perceptron_lab.reporting.figures.figure_8_1 import figure_8_1
from perceptron_lab.reporting.figures.profile import profile
from perceptron_lab.reporting.figures.scaling import scaling
from perceptron_lab.reporting.figures.table_6_1 import table_6_1

FIGURES: Final[dict[str, Callable[[Evidence], Figure]]] = {
    "table_6_1": table_6_1,
    "figure_1": figure_1,
    "figure_2": figure_2,
    "figure_7_1": figure_7_1,
    "figure_7_2": figure_7_2,
    "figure_7_3": figure_7_3,
    "figure_7_4": figure_7_4,
    "convergence": convergence,
    "certificates": certificates,
    "profile": profile,
    "scaling": scaling,
    "figure_8_1": figure_8_1,
}
"""Name in a configuration -> function of the evidence."""
