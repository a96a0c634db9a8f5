"""The table of any experiment: statuses, margins and costs, one line per problem and label."""

from __future__ import annotations

import pandas as pd

from perceptron_lab.experiments.configuration.rows import reals
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.columns import Column, counts, medians, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import lower_bound, upper_bound
from perceptron_lab.reporting.summary import summaries

_MEASURE = "measure."


def summary(evidence: Evidence) -> Table:
    """Endings, margins, updates and seconds, and the problem's own measures, of any experiment.

    One line per problem and label; it is written where a configuration asks for no table.

    Columns: ``problem``, ``label``, ``seeds``; ``status``, the statuses of the cells; medians over
    the seeds of the proved bracket, ``margin lower`` and ``margin upper``, of ``queries``,
    ``iterations`` (changes of the point: the column ``updates`` of the runs) and ``seconds``, and
    of the measures (``measure.NAME``) of problems and learners. A column without any number is
    left out.
    """
    entries = summaries(evidence.frame)
    margins = [
        numbers("margin lower", [entry.median("margin_lower") for entry in entries], lower_bound),
        numbers("margin upper", [entry.median("margin_upper") for entry in entries], upper_bound),
        *medians(entries, ["queries", "iterations", "seconds"]),
        *_measures(evidence.frame),
    ]
    columns = [
        texts("problem", [entry.problem for entry in entries]),
        texts("label", [entry.label for entry in entries]),
        counts("seeds", [entry.seeds for entry in entries]),
        texts("status", [entry.status_counts for entry in entries]),
        # Any experiment has this table, and most have only some of these numbers
        *(column for column in margins if any(value is not None for value in column.values or ())),
    ]
    return Table("summary", columns, keys=1, notes=[_NOTE], long=True)


_NOTE = (
    "Medians over the seeds. Margin lower, upper: verified bounds of the margin, rounded "
    "outwards. Iterations: changes of the point."
)


def _measures(frame: pd.DataFrame) -> list[Column]:
    """Return the medians of the measures; values that are not numbers count as missing."""
    names = [name for name in frame.columns if name.startswith(_MEASURE)]
    # Measures of plugins may be texts
    numeric = frame.assign(**{name: reals(frame[name], invalid="coerce") for name in names})
    entries = summaries(numeric)
    return [numbers(name, [entry.median(name) for entry in entries]) for name in names]
