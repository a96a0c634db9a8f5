"""The table of algorithms on cones of a controlled condition."""

from __future__ import annotations

from statistics import median

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.papers.thesis.rescaling.conditioned import (
    SIDES,
    Conditioned,
    conditioned,
    conditioned_problems,
    rescalings_of,
)
from perceptron_lab.reporting.printing.columns import counts, numbers, seconds, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import upper_bound

_NOTE = (
    "Decided: problems all cells of which have proved what is true by construction, a strictly "
    "feasible point or that there is none; of ill-posed ones a bracket of the margin, or what the "
    "rounded data happen to be. Down to: the least delta for which it and all larger ones are "
    "decided. Seconds, updates and rescalings (on both sides together): medians over the problems "
    "that are decided. Width: of the bracket of the margin that is proved, the largest over all "
    "cells of an ill-posed side."
)


@needs(conditioned_problems)
def rescaling(evidence: Evidence) -> Table:
    """Algorithms by family of cones and by side: up to which condition they decide, and how fast.

    Columns: ``family``, ``side``, ``label``, ``problems``, ``decided``, ``down to`` (delta);
    ``seconds``, ``updates`` and ``rescalings``, medians over what is decided; ``width``, the
    largest proved width of the bracket of the margin, of ill-posed sides.
    """
    groups = _groups(conditioned(evidence))
    kept = [[one for one in group if one.decided] for group in groups]
    columns = [
        texts("family", [group[0].problem.family for group in groups]),
        texts("side", [group[0].problem.side for group in groups]),
        texts("label", [group[0].entry.label for group in groups]),
        counts("problems", [len(group) for group in groups]),
        counts("decided", [len(group) for group in kept]),
        numbers("down to", [_down_to(group) for group in groups]),
        seconds("seconds", [_typical(group, "seconds") for group in kept]),
        counts("updates", [_typical(group, "updates") for group in kept]),
        counts("rescalings", [_rescalings(evidence, group) for group in kept]),
        numbers("width", [_width(group) for group in groups], upper_bound),
    ]
    return Table("rescaling", columns, keys=3, notes=[_NOTE], long=True)


def _groups(found: list[Conditioned]) -> list[list[Conditioned]]:
    """Return the problems of each family, side and label, by decreasing delta."""
    groups: dict[tuple[str, int, str], list[Conditioned]] = {}
    for one in found:
        key = (one.problem.family, SIDES.index(one.problem.side), one.entry.label)
        groups.setdefault(key, []).append(one)
    families = list(dict.fromkeys(family for family, _, _ in groups))
    order = sorted(groups, key=lambda key: (families.index(key[0]), key[1]))
    return [sorted(groups[key], key=lambda one: -one.problem.delta) for key in order]


def _down_to(group: list[Conditioned]) -> float | None:
    """Return the least delta of the problems up to the first one that is not decided."""
    found = None
    for one in group:
        if not one.decided:
            break
        found = one.problem.delta
    return found


def _typical(group: list[Conditioned], column: str) -> float | None:
    values = [one.entry.median(column) for one in group]
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _rescalings(evidence: Evidence, group: list[Conditioned]) -> float | None:
    values = [count for one in group for count in rescalings_of(evidence, one.entry)]
    return median(values) if values else None


def _width(group: list[Conditioned]) -> float | None:
    """Return the largest width of a proved bracket; None of other sides, or without a bracket."""
    if group[0].problem.side != "ill-posed":
        return None
    runs = [one.entry.runs for one in group]
    widths = [float((one["margin_upper"] - one["margin_lower"]).max(skipna=False)) for one in runs]
    largest = max(widths)
    return largest if all(width == width for width in widths) else None
