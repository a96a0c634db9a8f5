"""Updates after rows were added to those with an answer: warm start against restart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from perceptron_lab.core.errors import DataError
from perceptron_lab.experiments.check import Method
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.printing.columns import counts, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.summary import Summary, summaries

RESTART = 0.0
"""The share of earlier rows of a run that starts as the algorithm itself does."""


class Line(NamedTuple):
    """The cells of a problem by one nested algorithm, by the share of the earlier rows."""

    problem: str
    algorithm: str
    added: str
    entries: Mapping[float, Summary]

    def updates(self, share: float) -> float | None:
        """Return the median of the updates; None unless every cell is proved feasible."""
        entry = self.entries.get(share)
        return entry.median("updates") if entry is not None and entry.feasible else None

    @property
    def largest_ratio(self) -> float | None:
        """The largest ratio of a warm start's updates to the restart's with the same seed."""
        pairs = [
            (updates, restart)
            for share, entry in self.entries.items()
            if share != RESTART and RESTART in self.entries
            for updates, restart in _paired_updates(entry, self.entries[RESTART])
        ]
        return max((updates / restart for updates, restart in pairs if restart), default=None)


def _paired_updates(entry: Summary, reference: Summary) -> list[tuple[float, float]]:
    """Return the updates of the seeds that both have, where both points are proved feasible."""
    if not (entry.feasible and reference.feasible):
        return []
    by_seed = [each.runs.set_index("seed")["updates"] for each in (entry, reference)]
    seeds = by_seed[0].index.intersection(by_seed[1].index)
    both = np.column_stack([series.loc[seeds].to_numpy(dtype=float) for series in by_seed])
    return [(float(updates), float(restart)) for updates, restart in both]


def retrained_methods(outline: Outline) -> dict[str, Method]:
    """Return label -> method of the algorithm ``retrained``."""
    methods = {
        label: method
        for label, method in outline.methods().items()
        if method.algorithm == "retrained"
    }
    if not methods:
        raise DataError(
            "no label adds rows after an answer; add "
            "{name: retrained, grid: {algorithm: [perceptron], share: [0.0, 0.9]}}"
        )
    return methods


@needs(retrained_methods)
def retraining_table(evidence: Evidence) -> Table:
    """Updates after rows were added, by the share of the rows that were there before.

    Columns: ``problem``, ``algorithm`` (with its parameters other than defaults), ``added`` (which
    rows), ``restart`` and, per share, ``share 0.9`` and so on: medians of the updates on all rows,
    empty unless every cell is proved feasible; ``largest ratio`` of the updates to the restart's,
    over the shares and seeds: a warm start never takes longer where it is at most 1; ``status``.
    """
    lines = _lines(evidence)
    shares = sorted({share for line in lines for share in line.entries})
    columns = [
        texts("problem", [line.problem for line in lines]),
        texts("algorithm", [line.algorithm for line in lines]),
        texts("added", [line.added for line in lines]),
        *[
            counts(
                "restart" if share == RESTART else f"share {share:g}",
                [line.updates(share) for line in lines],
            )
            for share in shares
        ],
        numbers("largest ratio", [line.largest_ratio for line in lines]),
        texts("status", [_status(line) for line in lines]),
    ]
    return Table("retraining", columns, keys=2, notes=[_NOTE], long=True)


_NOTE = (
    "Updates on all rows, medians over the seeds. Share: the part of the rows for which there was "
    "an answer, at whose point the run starts. Restart: the algorithm's own start. Largest ratio: "
    "updates over those of the restart with the same seed, the largest over shares and seeds. "
    "Status: empty where every answer is a point proved feasible."
)


def _lines(evidence: Evidence) -> list[Line]:
    methods = retrained_methods(evidence)
    lines: dict[tuple[str, str, str], dict[float, Summary]] = {}
    for entry in summaries(evidence.frame):
        if entry.label in methods and entry.seeds:
            parameters = methods[entry.label].parameters
            nested = parameters["parameters"] or {}
            words = [parameters["algorithm"], *(f"{key}={nested[key]}" for key in nested)]
            key = entry.problem, " ".join(words), parameters["added"]
            lines.setdefault(key, {})[parameters["share"]] = entry
    return [Line(*key, entries) for key, entries in lines.items()]


def _status(line: Line) -> str:
    statuses = [entry.status_counts for entry in line.entries.values() if not entry.feasible]
    return "; ".join(dict.fromkeys(statuses))
