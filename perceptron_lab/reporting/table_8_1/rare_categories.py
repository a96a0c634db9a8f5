"""Categories with few positives: average precision beside the number of examples."""

from __future__ import annotations

from perceptron_lab.datasets.collections.reuters_corpus import categories
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.columns import counts, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.table_8_1 import precision_columns as shared
from perceptron_lab.reporting.table_8_1.precisions import HARD, by_label, entries


def rare_categories(evidence: Evidence) -> Table:
    """Return one line per category, the rarest last, and their mean.

    Columns: ``category``, ``training`` and ``test``, its documents in the Mod-Apte split (empty for
    other problems); per label as in
    :func:`~perceptron_lab.reporting.table_8_1.table_8_1.table_8_1`, for hard ellipsoids also
    ``L components``, the number of features.
    """
    labels = by_label(entries(evidence))
    named = [entry.problem for entry in next(iter(labels.values()))]
    known = categories()
    columns = [
        texts("category", [*named, "mean"]),
        counts("training", [*(known[n].training if n in known else None for n in named), None]),
        counts("test", [*(known[n].test if n in known else None for n in named), None]),
    ]
    for label, own in labels.items():
        columns += shared.label_columns(own)
        if own[0].algorithm == HARD:
            used = [entry.average("components") for entry in own]
            columns.append(counts(f"{label} components", [*used, None]))
        columns += shared.statements(own)
    notes = [
        _NOTE,
        shared.unconverged(labels),
        shared.preprocessing(evidence, named),
    ]
    return Table("rare_categories", columns, keys=3, notes=[note for note in notes if note])


_NOTE = (
    "Average precision on the test documents in percent; training and test: documents of the "
    "category. Hard ellipsoids have fewer features than positives, as stated: with as many or more "
    "no negative lies in the positives' affine hull, and the separation ratio is unbounded. "
    "A single positive cannot be held out: parameters are then the middle of the grid."
)
