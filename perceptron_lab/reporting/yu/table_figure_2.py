"""The numbers of Figure 2 of `YuKilincCarbonell2014`: test errors along the iterations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.table import Table, counts, reals, texts
from perceptron_lab.reporting.yu.kernel_errors import Errors, kernel_errors


def table_figure_2(evidence: Evidence) -> Table:
    """Return the multi-class test errors: one line per label and number of iterations.

    Columns: ``label``, ``iterations`` (per classifier), ``seeds`` (with every classifier there);
    ``median``, ``mean``, ``lowest`` and ``highest`` test error over the seeds, in percent;
    ``classifiers``, and of these ``ended``: with fewer iterations, so that their last point counts;
    ``incomplete``, the seeds left out since a classifier has no result; ``status``, the endings of
    the label's cells.

    Raises
    ------
    DataError
        As :func:`~perceptron_lab.reporting.yu.kernel_errors.kernel_errors`.
    """
    lines = kernel_errors(evidence)
    columns = [
        texts("label", [line.label for line in lines]),
        counts("iterations", [line.iterations for line in lines]),
        counts("seeds", [len(line.errors) for line in lines]),
        *(reals(name, [_percent(line, name) for line in lines]) for name in _STATISTICS),
        counts("classifiers", [line.classifiers for line in lines]),
        counts("ended", [line.ended for line in lines]),
        counts("incomplete", [line.incomplete for line in lines]),
        texts("status", [line.endings for line in lines]),
    ]
    return Table("table_figure_2", columns, notes=[_NOTE])


_STATISTICS: dict[str, Callable[[list[float]], Any]] = {
    "median": np.median,
    "mean": np.mean,
    "lowest": np.min,
    "highest": np.max,
}
_NOTE = (
    "Test errors in percent over the seeds: the class predicted is the one whose classifier has "
    "the largest value. Ended: classifiers whose run ended with fewer iterations; their last point "
    "counts. Incomplete: seeds left out since a classifier has no result."
)


def _percent(line: Errors, statistic: str) -> float | None:
    return 100.0 * float(_STATISTICS[statistic](line.errors)) if line.errors else None
