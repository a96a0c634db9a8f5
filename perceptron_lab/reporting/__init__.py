"""Tables and figures as pure functions of the table of runs.

``runs.csv`` is all they read: a report can be made again at any time, and a reader can check it.
"""

from perceptron_lab.reporting.report import check_report, table_frame, write_report

__all__ = ["check_report", "table_frame", "write_report"]
