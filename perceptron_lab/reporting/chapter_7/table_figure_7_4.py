"""The numbers of Figure 7.4 of `Kharechko2009`: error rates in rescaled coordinates."""

from __future__ import annotations

from perceptron_lab.reporting.chapter_7.invariance import rescaled_errors
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.table import Table, counts, reals, texts


def table_figure_7_4(evidence: Evidence) -> Table:
    """Return the error rates: one line per kind of rescaling, exponent and label.

    Columns: ``rescaled`` (``all`` coordinates or ``one``), ``exponent`` of the factor, ``label``;
    ``repetitions``; ``error`` and its ``standard error``, in percent; ``not converged``, the share
    of fits in percent, of learners that tell; ``incomplete``, seeds without an error rate.

    Raises
    ------
    DataError
        As :func:`~perceptron_lab.reporting.chapter_7.invariance.rescaled_errors`.
    """
    lines = rescaled_errors(evidence)
    columns = [
        texts("rescaled", [line.rescaled for line in lines]),
        counts("exponent", [line.exponent for line in lines]),
        texts("label", [line.label for line in lines]),
        counts("repetitions", [line.repetitions for line in lines]),
        reals("error", [_percent(line.mean) for line in lines]),
        reals("standard error", [_percent(line.spread) for line in lines]),
        reals(
            "not converged",
            [_percent(None if line.converged is None else 1 - line.converged) for line in lines],
        ),
        counts("incomplete", [line.incomplete for line in lines]),
    ]
    return Table("table_figure_7_4", columns, notes=[_NOTE])


_NOTE = (
    "Error rates and fits that did not converge in percent. Rescaled: all coordinates, or one, by "
    "the factor 10^exponent. Incomplete: seeds without an error rate."
)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100.0 * share
