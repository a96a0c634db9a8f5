"""The table of any experiment: endings, margins and costs, one line per problem and label."""

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

    Columns: ``problem``, ``label``, ``seeds``; ``status``, the endings of the cells; medians over
    the seeds of the proved bracket, ``margin lower`` and ``margin upper``, of ``queries``,
    ``iterations`` (changes of the point: the column ``updates`` of the runs) and ``seconds``, and
    of the measures (``measure.NAME``) of problems and learners. A column without any number is
    left out.
    """
    entries = summaries(evidence.frame)
    known = [
        numbers("margin lower", [one.median("margin_lower") for one in entries], lower_bound),
        numbers("margin upper", [one.median("margin_upper") for one in entries], upper_bound),
        *medians(entries, ["queries", "iterations", "seconds"]),
        *_measures(evidence.frame),
    ]
    columns = [
        texts("problem", [one.problem for one in entries]),
        texts("label", [one.label for one in entries]),
        counts("seeds", [one.seeds for one in entries]),
        texts("status", [one.endings for one in entries]),
        *(one for one in known if any(value is not None for value in one.values or ())),
    ]
    return Table("summary", columns, keys=1, notes=[_NOTE], long=True)


_NOTE = (
    "Medians over the seeds. Margin lower, upper: the proved bracket, rounded outwards. "
    "Iterations: changes of the point."
)


def _measures(frame: pd.DataFrame) -> list[Column]:
    """Return the medians of the measures; what is no number counts as missing."""
    names = [name for name in frame.columns if name.startswith(_MEASURE)]
    known = frame.assign(**{name: reals(frame[name], invalid="coerce") for name in names})
    entries = summaries(known)
    return [numbers(name, [one.median(name) for one in entries]) for name in names]
