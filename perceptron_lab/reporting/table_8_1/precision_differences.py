"""Soft ellipsoids against their controls: differences of average precision, with intervals."""

from __future__ import annotations

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.table import Column, Table, counts, texts
from perceptron_lab.reporting.table_8_1.differences import (
    RESAMPLES,
    Difference,
    differences,
)


def precision_differences(evidence: Evidence) -> Table:
    """Return one line per problem, soft ellipsoid and control on the same features.

    Columns: ``first``, ``second`` (labels), ``problem`` (``mean`` for the mean over all of them),
    ``seeds`` that both have; ``difference`` of the average precisions, first less second, in
    points; ``lower`` and ``upper``, the 95 % percentile interval of the paired bootstrap;
    ``above``, the share of the resamples with a positive difference.

    Raises
    ------
    DataError
        If no learner was run, or a result is missing.
    """
    lines = sorted(differences(evidence), key=lambda line: (line.first, line.second))
    columns = [
        texts("first", [line.first for line in lines]),
        texts("second", [line.second for line in lines]),
        texts("problem", [line.problem for line in lines]),
        counts("seeds", [line.seeds for line in lines]),
        *(_points(name, lines) for name in ("difference", "lower", "upper")),
        Column(
            "above",
            [_figure(line, "above") for line in lines],
            ["--" if line.interval is None else f"{line.interval.above:.3f}" for line in lines],
        ),
    ]
    return Table("precision_differences", columns, grouped=2, notes=[_NOTE])


_NOTE = (
    "Differences of average precision in percentage points, first less second, on the same "
    f"features; 95\\,\\% percentile intervals of {RESAMPLES} paired bootstrap resamples of the "
    "test examples, in each the mean over the seeds (and problems). They hold the training "
    "examples fixed. Above: the share of the resamples in which the first is better."
)


def _figure(line: Difference, name: str) -> float | None:
    return None if line.interval is None else float(getattr(line.interval, name))


def _points(name: str, lines: list[Difference]) -> Column:
    values = [_figure(line, name) for line in lines]
    points = [None if value is None else 100.0 * value for value in values]
    return Column(name, points, ["--" if p is None else f"${p:+.2f}$" for p in points])
