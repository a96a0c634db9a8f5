"""The tables of reports, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.tables.conic import conic
from perceptron_lab.reporting.tables.infeasible import infeasible
from perceptron_lab.reporting.tables.profile import profile
from perceptron_lab.reporting.tables.rates import rates
from perceptron_lab.reporting.tables.table import Printable
from perceptron_lab.reporting.tables.table_2 import table_2
from perceptron_lab.reporting.tables.table_6_1 import table_6_1
from perceptron_lab.reporting.tables.table_figure_2 import table_figure_2

TABLES: Final[dict[str, Callable[[Evidence], Printable]]] = {
    "table_6_1": table_6_1,
    "table_2": table_2,
    "infeasible": infeasible,
    "table_figure_2": table_figure_2,
    "conic": conic,
    "rates": rates,
    "profile": profile,
}
"""Name in a configuration -> function of the evidence."""
