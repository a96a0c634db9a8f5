"""Columns of runs.csv that the curves of a report name, checked before there is any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from perceptron_lab.core.errors import did_you_mean
from perceptron_lab.experiments.configuration.config import CurvesEntry, ExperimentConfig
from perceptron_lab.experiments.configuration.faults import Fault
from perceptron_lab.experiments.configuration.rows import COLUMNS, ORACLE, PREFIXES, Kind
from perceptron_lab.experiments.configuration.variants import AlgorithmVariant, Instance

_LATER = (ORACLE, PREFIXES[-1])


def unknown_columns(
    config: ExperimentConfig, variants: Iterable[AlgorithmVariant], instances: Iterable[Instance]
) -> Iterator[Fault]:
    """Yield a fault for each column of curves that the rows will not have.

    Measures are known once problems are loaded, and the ways of oracles once they have answered:
    they are taken as they are.
    """
    asked = [
        (place, entry.curves)
        for place, entry in enumerate(config.report.figures)
        if isinstance(entry, CurvesEntry)
    ]
    parameters = [
        *(f"problem.{name}" for one in instances for name in one.identity["dataset_parameters"]),
        *(f"algorithm.{name}" for one in variants for name in one.algorithm.parameters),
    ]
    known = list(dict.fromkeys([*COLUMNS, *parameters]))
    for place, curves in asked:
        for axis in ("x", "y", "by"):
            column, crumbs = getattr(curves, axis), ("report", "figures", place, "curves", axis)
            if column not in known and not column.startswith(_LATER):
                listed = f"{', '.join(known)}, measure.NAME, {ORACLE}NAME"
                text = f"received the text {column!r}; allowed: a column of runs.csv: {listed}"
                yield Fault(crumbs, text + did_you_mean(column, known))
            elif axis == "y" and column in COLUMNS and COLUMNS[column].kind is Kind.TEXT:
                text = f"the column {column} holds text; allowed: one of numbers, such as seconds"
                yield Fault(crumbs, text)
