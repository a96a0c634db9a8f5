"""Tables and figures as functions of the runs of an experiment.

``runs.csv`` and the results next to it are all they read: a report can be made again at any time,
and a reader can check it.
"""

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.report import (
    Report,
    cautions,
    check_report,
    make_report,
    rebuilt,
    table_frame,
    write_report,
)

__all__ = [
    "Evidence",
    "Outline",
    "Report",
    "cautions",
    "check_report",
    "make_report",
    "needs",
    "rebuilt",
    "table_frame",
    "write_report",
]
