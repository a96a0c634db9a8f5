"""The table of solvers' answers before and after an algorithm has gone on from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.postprocessing.continued import (
    Continued,
    continued,
    continued_labels,
)
from perceptron_lab.reporting.printing.columns import counts, numbers, seconds, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.summary import Summary

_NOTE = (
    "Proved: problems all cells of which have proved what is true by construction, a strictly "
    "feasible point or that there is none (of programs of SDPLIB either): before, by the solver's "
    "answer; after, going on from its point; alone, by the same algorithm from its own start. "
    "Errors: medians over the problems of the largest of the six DIMACS errors of the answer to "
    "the largest margin; apart: of the first four, by which it violates the conditions; after, "
    "these are 0 to rounding, and the gap of the two sides is what is left. Updates and seconds: "
    "medians, those after with the solver's."
)


@needs(continued_labels)
def postprocessing(evidence: Evidence) -> Table:
    """Answers of solvers, proved or not before and after, with their DIMACS errors.

    Columns: ``family``, ``side``, ``solver``, ``then`` (the algorithm that goes on), ``problems``;
    ``proved before``, ``proved after``, ``proved alone``; ``apart before`` and ``apart after``,
    ``error before`` and ``error after``; ``updates``, ``updates alone``, ``seconds``,
    ``seconds alone``.
    """
    groups = _groups(continued(evidence))
    columns = [
        texts("family", [group[0].problem.family for group in groups]),
        texts("side", [group[0].problem.side for group in groups]),
        texts("solver", [group[0].first for group in groups]),
        texts("then", [group[0].second for group in groups]),
        counts("problems", [len(group) for group in groups]),
        counts("proved before", [_proved(group, _solver) for group in groups]),
        counts("proved after", [_proved(group, _pair) for group in groups]),
        counts("proved alone", [_proved(group, _own) for group in groups]),
        numbers("apart before", [_typical(group, _pair, "apart") for group in groups]),
        numbers("apart after", [_typical(group, _pair, "apart after") for group in groups]),
        numbers("error before", [_typical(group, _pair, "before") for group in groups]),
        numbers("error after", [_typical(group, _pair, "after") for group in groups]),
        counts("updates", [_typical(group, _pair, "updates") for group in groups]),
        counts("updates alone", [_typical(group, _own, "updates") for group in groups]),
        seconds("seconds", [_typical(group, _pair, "seconds") for group in groups]),
        seconds("seconds alone", [_typical(group, _own, "seconds") for group in groups]),
    ]
    return Table("postprocessing", columns, keys=4, notes=[_NOTE], long=True)


def _groups(found: list[Continued]) -> list[list[Continued]]:
    """Return the problems of each family, side and pair."""
    groups: dict[tuple[str, str, str], list[Continued]] = {}
    for one in found:
        key = (one.problem.family, one.problem.side, one.entry.label)
        groups.setdefault(key, []).append(one)
    families: list[str] = list(dict.fromkeys(one.problem.family for one in found))
    sides: list[str] = list(dict.fromkeys(one.problem.side for one in found))
    order = sorted(groups, key=lambda key: (families.index(key[0]), sides.index(key[1])))
    return [groups[key] for key in order]


Cells = Callable[[Continued], Summary]


def _pair(one: Continued) -> Summary:
    return one.entry


def _solver(one: Continued) -> Summary:
    return one.solver


def _own(one: Continued) -> Summary:
    return one.own


def _proved(group: Sequence[Continued], cells: Cells) -> int | None:
    """Return how many problems are decided; None where none was run."""
    if not any(cells(one).seeds for one in group):
        return None
    return sum(one.decided(cells(one)) for one in group)


def _typical(group: Sequence[Continued], cells: Cells, column: str) -> float | None:
    values = [cells(one).median(column) for one in group if cells(one).seeds]
    known = [value for value in values if value is not None]
    return median(known) if known else None
