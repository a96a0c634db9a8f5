"""The tables beside figure 6.1: where each sequence ends, and what each level costs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.papers.thesis.figure_6_1.sequences import (
    Step,
    minimised,
    optima,
    optimisers_among,
    steps_of,
    traces_of,
)
from perceptron_lab.reporting.printing.columns import counts, medians, numbers, seconds, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import lower_bound, upper_bound
from perceptron_lab.reporting.summary import Summary

_ENDS = (
    "Objective: of the best point, proved from above. Lower bound: of the optimum, proved by the "
    "run itself from an exactly feasible point of the other side. Above the optimum: by at most so "
    "many percent of the best lower bound that any label has proved. The sequence's own stop, a "
    "small distance of consecutive objectives, proves nothing. Medians over the seeds."
)
_LEVELS = (
    "Level: what the objective was to be below, empty for the program without its objective. "
    "Objective: of the point found, proved from above. Updates, queries and seconds of this level."
)


@needs(of_plan=[optimisers_among])
def optima_reached(evidence: Evidence) -> Table:
    """Where each optimiser ends, beside the best proved bounds of the optimum.

    Columns: ``problem``, ``label``, ``seeds``; medians over the seeds of ``levels``, ``updates``,
    ``queries``, ``seconds``, ``objective`` (the proved upper bound of the optimum), ``lower bound``
    (the run's own) and ``above the optimum``, in percent: at most so much, by the best lower bound
    that any label has proved; ``status``, the endings of the cells.
    """
    entries, known = minimised(evidence), optima(evidence)
    uppers = [entry.median("optimum_upper") for entry in entries]
    pairs = list(zip(entries, uppers, strict=True))
    above = [known[entry.problem].above(upper) for entry, upper in pairs]
    columns = [
        texts("problem", [entry.problem for entry in entries]),
        texts("label", [entry.label for entry in entries]),
        counts("seeds", [entry.seeds for entry in entries]),
        counts("levels", [_levels(evidence, entry) for entry in entries]),
        counts("updates", [entry.median("updates") for entry in entries]),
        *medians(entries, ["queries", "seconds"]),
        numbers("objective", uppers, upper_bound),
        numbers("lower bound", [e.median("optimum_lower") for e in entries], lower_bound),
        numbers("above the optimum", [None if one is None else 100.0 * one for one in above]),
        texts("status", [entry.endings for entry in entries]),
    ]
    return Table("optima_reached", columns, 2, notes=[_ENDS], long=True)


@needs(of_plan=[optimisers_among])
def levels(evidence: Evidence) -> Table:
    """Every level of every sequence: what it asked for, what it found, what it cost.

    Columns: ``problem``, ``label``, ``seed``, ``number``, ``level``, ``objective``, ``outcome``
    (``feasible``: a point below the level is proved; ``above``: a feasible point that is not below
    it; ``not reached``), ``updates``, ``queries``, ``seconds``.
    """
    found: list[tuple[Summary, int, int, Step]] = []
    for entry in minimised(evidence):
        seeds = entry.runs["seed"].tolist()
        for seed, trace in zip(seeds, traces_of(evidence, entry), strict=False):
            found += [(entry, int(seed), k, step) for k, step in enumerate(steps_of(trace))]
    steps = [step for *_, step in found]
    columns = [
        texts("problem", [entry.problem for entry, *_ in found]),
        texts("label", [entry.label for entry, *_ in found]),
        counts("seed", [seed for _, seed, *_ in found]),
        counts("number", [number for *_, number, _ in found]),
        numbers("level", _known([step.level for step in steps])),
        numbers("objective", _known([step.objective for step in steps]), upper_bound),
        texts("outcome", [step.outcome for step in steps]),
        counts("updates", [step.updates for step in steps]),
        counts("queries", [step.queries for step in steps]),
        seconds("seconds", [step.seconds for step in steps]),
    ]
    return Table("levels", columns, 3, notes=[_LEVELS], long=True)


def _known(values: Sequence[float]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values]


def _levels(evidence: Evidence, entry: Summary) -> float | None:
    made = [len(steps_of(trace)) for trace in traces_of(evidence, entry)]
    return float(sorted(made)[len(made) // 2]) if made else None
