"""Table 8.1 of `Kharechko2009`: average precision by category, ours beside the thesis's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.columns import Column, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import percent
from perceptron_lab.reporting.table_8_1 import precision_columns as shared
from perceptron_lab.reporting.table_8_1.precisions import (
    HARD,
    by_label,
    entries,
    thesis_precisions,
)

_THESIS = {
    "thesis ellipsoid k30": "ellipsoid_k30",
    "thesis SVM k30": "svm_k30",
    "thesis SVM full": "svm_n20494",
}


def table_8_1(evidence: Evidence) -> Table:
    """Return one line per category, and their mean: average precision in percent.

    Columns: ``category``; the thesis's own three; per label L its mean over the seeds, ``L lowest``
    and ``L highest`` if it has several (the range of first pivots), ``L status`` where cells have
    no result, and for hard ellipsoids ``L proves``: the statement proved of the separation ratio t.
    In print labels with equally many features stay together; a note says which fits did not
    converge.
    """
    labels = by_label(entries(evidence))
    categories = [entry.problem for entry in next(iter(labels.values()))]
    known = thesis_precisions()
    thesis = []
    for name, column in _THESIS.items():
        values = [known[one][column] if one in known else None for one in categories]
        present = [value for value in values if value is not None]
        mean = float(np.mean(present)) if len(present) == len(values) else None
        thesis.append(numbers(name, [*values, mean], percent))
    groups: dict[str, list[Column]] = {"thesis": thesis}
    for own in labels.values():
        one = own[0]
        features = "all features" if one.components is None else f"k = {one.components}"
        kind = "hard, " * (one.algorithm == HARD) + f"{features} {one.kernel}".strip()
        groups.setdefault(kind, []).extend([*shared.label_columns(own), *shared.statements(own)])
    columns = [texts("category", [*categories, "mean"])]
    for name, group in groups.items():
        columns += [replace(column, group=name) for column in group]
    notes = [
        _NOTE,
        shared.unconverged(labels),
        shared.preprocessing(evidence, categories),
    ]
    return Table("table_8_1", columns, notes=[note for note in notes if note], widest=9)


_NOTE = (
    "Average precision (microaverage precision) on the test documents in percent; in parentheses "
    "the range over the seeds, each of which draws one of the documents tied for the first pivot. "
    "k: Gram-Schmidt features, bias $\\min(10, m / m_+)$, pivots among the training documents. "
    "Parameters by 3-fold cross-validation on training documents, equally many candidates each. "
    "t: squared separation ratio less 1; $t = 0$: proved that no ellipsoid separates the training "
    "documents. Thesis: Kharechko2009, Table 8.1."
)
