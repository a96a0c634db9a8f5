"""The tables of reports, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from perceptron_lab.reporting.chapter_7.table_figure_7_4 import table_figure_7_4
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.margins.conic import conic
from perceptron_lab.reporting.margins.infeasible import infeasible
from perceptron_lab.reporting.margins.rates import rates
from perceptron_lab.reporting.performance.profile_table import profile
from perceptron_lab.reporting.printing.table import Printable
from perceptron_lab.reporting.table_6_1.table import table_6_1
from perceptron_lab.reporting.table_8_1.learners import learners
from perceptron_lab.reporting.table_8_1.precision_differences import precision_differences
from perceptron_lab.reporting.table_8_1.rare_categories import rare_categories
from perceptron_lab.reporting.table_8_1.table_8_1 import table_8_1
from perceptron_lab.reporting.yu.table_2 import table_2
from perceptron_lab.reporting.yu.table_figure_2 import table_figure_2

TABLES: Final[dict[str, Callable[[Evidence], Printable]]] = {
    "table_6_1": table_6_1,
    "table_2": table_2,
    "infeasible": infeasible,
    "table_figure_2": table_figure_2,
    "table_figure_7_4": table_figure_7_4,
    "conic": conic,
    "rates": rates,
    "profile": profile,
    "table_8_1": table_8_1,
    "precision_differences": precision_differences,
    "rare_categories": rare_categories,
    "learners": learners,
}
"""Name in a configuration -> function of the evidence."""
