"""Learners on test examples: precision, error, the chosen parameters, statements, and the time."""

from __future__ import annotations

from statistics import median_high

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.columns import counts, numbers, seconds, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import percent
from perceptron_lab.reporting.table_8_1.precisions import entries, spread


def learners(evidence: Evidence) -> Table:
    """Return one line per problem and label.

    Columns: ``problem``, ``label``, ``seeds``, ``features``; ``average precision`` in percent, its
    mean over the seeds, ``lowest``, ``highest``; ``error``, the share of test examples on the wrong
    side in percent; ``chosen``, the median (of an even number the upper one) of the parameter, C of
    support vector machines or the regularisation, ``on edge``: how many seeds chose the edge of the
    grid; ``seconds``, processor time of features and final fit, the largest; ``proved`` of the
    training examples by hard ellipsoids, otherwise the endings of cells that are not fitted, and
    ``not converged`` where a final fit had not.
    """
    lines = entries(evidence)
    spreads = [spread(line) for line in lines]
    errors = [line.average("error") for line in lines]
    chosen = [
        [*(line.measured("penalty") or line.measured("regularisation")).values()] for line in lines
    ]
    edges = [line.measured("on_edge").values() for line in lines]
    spent = [max(line.measured("cpu_seconds").values(), default=None) for line in lines]
    columns = [
        texts("problem", [line.problem for line in lines]),
        texts("label", [line.label for line in lines]),
        counts("seeds", [line.summary.seeds for line in lines]),
        counts("features", [line.average("components") for line in lines]),
        numbers("average precision", [one.mean for one in spreads], percent),
        numbers("lowest", [one.lowest for one in spreads], percent),
        numbers("highest", [one.highest for one in spreads], percent),
        numbers("error", [None if one is None else 100.0 * one for one in errors], percent),
        numbers("chosen", [median_high(values) if values else None for values in chosen]),
        counts("on edge", [float(sum(values)) if values else None for values in edges]),
        seconds("seconds", spent),
        texts("proved", [line.proof for line in lines]),
    ]
    return Table("learners", columns, notes=[_NOTE], long=True)


_NOTE = (
    "Averages over the seeds. Chosen: the median of C (support vector machines) or of the "
    "regularisation; on edge: seeds in which it is the first or last of its candidates. Seconds: "
    "processor time of features and final fit, tuning excluded, the largest of the seeds."
)
