"""The tables of reports, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.tables.conic import conic
from perceptron_lab.reporting.tables.infeasible import infeasible
from perceptron_lab.reporting.tables.learners import learners
from perceptron_lab.reporting.tables.precision_differences import precision_differences
from perceptron_lab.reporting.tables.profile import profile
from perceptron_lab.reporting.tables.rare_categories import rare_categories
from perceptron_lab.reporting.tables.rates import rates
from perceptron_lab.reporting.tables.table import Printable
from perceptron_lab.reporting.tables.table_2 import table_2
from perceptron_lab.reporting.tables.table_6_1 import table_6_1
from perceptron_lab.reporting.tables.table_8_1 import table_8_1
from perceptron_lab.reporting.tables.table_figure_2 import table_figure_2
from perceptron_lab.reporting.tables.table_figure_7_4 import table_figure_7_4

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
