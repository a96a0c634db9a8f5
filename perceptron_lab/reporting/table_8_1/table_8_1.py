"""Table 8.1 of `Kharechko2009`: average precision by category, ours beside the thesis's."""

from __future__ import annotations

import numpy as np

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.blocks import Blocks
from perceptron_lab.reporting.printing.table import Column, texts
from perceptron_lab.reporting.table_8_1.precision_columns import (
    label_columns,
    numbers,
    preprocessing,
    statements,
    unconverged,
)
from perceptron_lab.reporting.table_8_1.precisions import (
    HARD,
    Entry,
    by_label,
    entries,
    thesis_precisions,
)

_THESIS = {
    "thesis ellipsoid k30": "ellipsoid_k30",
    "thesis SVM k30": "svm_k30",
    "thesis SVM full": "svm_n20494",
}


def table_8_1(evidence: Evidence) -> Blocks:
    """Return one line per category, and their mean: average precision in percent.

    Columns: ``category``; the thesis's own three; per label L its mean over the seeds, ``L lowest``
    and ``L highest`` if it has several (the range of first pivots), ``L status`` where cells have
    no result, and for hard ellipsoids ``L proves``: what is proved of the separation ratio t. In
    print labels with equally many features stay together; a note says which fits did not converge.

    Raises
    ------
    DataError
        If no learner was run, or the configuration is missing beside the runs.
    """
    labels = by_label(entries(evidence))
    categories = [entry.problem for entry in next(iter(labels.values()))]
    groups: dict[object, list[Column]] = {
        "thesis": [_thesis(name, column, categories) for name, column in _THESIS.items()]
    }
    for own in labels.values():
        groups.setdefault(_kind(own[0]), []).extend([*label_columns(own), *statements(own)])
    notes = [_NOTE, unconverged(labels), preprocessing(evidence, categories)]
    first = texts("category", [*categories, "mean"])
    return Blocks("table_8_1", first, list(groups.values()), [note for note in notes if note])


def _kind(entry: Entry) -> tuple[bool, int | None, str]:
    """Return what labels that stay together in print have in common."""
    return entry.algorithm == HARD, entry.components, entry.kernel


_NOTE = (
    "Average precision (microaverage precision) on the test documents in percent; in parentheses "
    "the range over the seeds, each of which draws one of the documents tied for the first pivot. "
    "k: Gram-Schmidt features, bias $\\min(10, m / m_+)$, pivots among the training documents. "
    "Parameters by 3-fold cross-validation on training documents, equally many candidates each. "
    "t: squared separation ratio less 1; $t = 0$: proved that no ellipsoid separates the training "
    "documents. Thesis: Kharechko2009, Table 8.1."
)


def _thesis(name: str, column: str, categories: list[str]) -> Column:
    known = thesis_precisions()
    values = [known[one][column] if one in known else None for one in categories]
    present = [value for value in values if value is not None]
    mean = float(np.mean(present)) if len(present) == len(values) else None
    return numbers(name, [*values, mean])
