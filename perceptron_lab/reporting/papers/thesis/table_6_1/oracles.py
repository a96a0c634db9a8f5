"""Table 6.1 by oracle: who is ahead, by which clock, and how often the perceptron has rescaled."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from perceptron_lab.algorithms.rescaling.rescaled_perceptron import RescaledPerceptron
from perceptron_lab.core.errors import DataError
from perceptron_lab.experiments.configuration.rows import reals
from perceptron_lab.reporting.evidence import PARAMETER, Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.papers.thesis.table_6_1.entries import (
    THESIS_LABELS,
    QueryEntry,
    entries_of,
    orders_of,
    thesis_table,
)
from perceptron_lab.reporting.printing import typesetting
from perceptron_lab.reporting.printing.columns import Column, counts, numbers, seconds, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.summary import Summary, median_of, summaries

RESCALED: Final = "rescaled-perceptron"
_RESCALING: Final = (
    RESCALED,
    "conic-rescaled-perceptron",
    "deterministic-rescaled-perceptron",
    "correlation-rescaling",
)


def suits(outline: Outline) -> None:
    """Refuse experiments without a perceptron that rescales, or without known margins."""
    if all(method.algorithm not in _RESCALING for method in outline.methods().values()):
        raise DataError(f"rescalings: no label is of {' or '.join(_RESCALING)}; add one")
    for problem in outline.problems():
        if not isinstance(outline.parameters(problem).get("margin"), int | float):
            raise DataError(
                f"rescalings: the margin of {problem} is not known by construction; take problems "
                "that have it as a parameter, such as those of conic-sets"
            )


@needs(suits)
def rescalings(evidence: Evidence) -> Table:
    """Updates and rescalings against 1 / rho^2, on problems of known margin rho.

    Columns ``problem``, ``margin``, ``label``, ``seeds``; medians over the seeds: ``updates``,
    ``times margin squared`` (1 is Novikoff's bound for cuts of norm 1), ``seconds``,
    ``rescalings`` (of those that rescale); ``ended``, how the cells ended.
    """
    margins = reals(evidence.frame[f"{PARAMETER}margin"], invalid="coerce")
    known = dict(zip(evidence.frame["problem"], margins, strict=True))
    entries = summaries(evidence.frame)
    own = [float(known[entry.problem]) for entry in entries]
    updates = [entry.median("updates") for entry in entries]
    squared = [u and u * rho**2 for u, rho in zip(updates, own, strict=True)]
    columns = [
        texts("problem", [entry.problem for entry in entries]),
        numbers("margin", own),
        texts("label", [entry.label for entry in entries]),
        counts("seeds", [entry.seeds for entry in entries]),
        counts("updates", updates),
        numbers("times margin squared", squared),
        seconds("seconds", [entry.median("seconds") for entry in entries]),
        counts("rescalings", [_typical(evidence, entry) for entry in entries]),
        texts("ended", [entry.endings for entry in entries]),
    ]
    notes = [
        "Numbers are medians over the seeds, of cut-off runs as well: column ``ended'' says which.",
        "Margins are planted, and proved when the data are made.",
    ]
    return Table("rescalings", columns, keys=2, notes=notes)


def rescalings_of(evidence: Evidence, entry: Summary) -> list[int]:
    """Return how often each cell of a perceptron that rescales has rescaled; of others nothing.

    The phases of its trace are called ``perceptron k`` and ``relaxed k``, or ``phase k``, k - 1
    rescalings on.
    """
    if evidence.methods()[entry.label].algorithm not in _RESCALING:
        return []
    traces = [evidence.trace(str(cell)) for cell in entry.runs["cell"]]
    found = [re.fullmatch(r"\w+ (\d+)", trace.phase[-1]) for trace in traces if trace]
    return [int(one[1]) - 1 for one in found if one]


def _typical(evidence: Evidence, entry: Summary) -> float | None:
    return median_of(rescalings_of(evidence, entry))


_ALGORITHMS: Final = dict(zip(THESIS_LABELS, (RESCALED, "ellipsoid"), strict=True))


def pairs_of(outline: Outline) -> dict[str, tuple[str, str]]:
    """Return what follows PRA and EA in labels (nothing, ``cholesky``, ..) -> both labels.

    Experiments in which no label of either rival has its counterpart are refused.
    """
    methods = outline.methods()
    found = {}
    for label in methods:
        rest = label.removeprefix("PRA")
        rival = f"EA{rest}"
        if label == f"PRA{rest}" and rival in methods:
            found[rest.strip()] = (label, rival)
    wrong = [
        label
        for pair in found.values()
        for label, name in zip(pair, _ALGORITHMS.values(), strict=True)
        if methods[label].algorithm != name
    ]
    if wrong or not found:
        raise DataError(
            f"table_6_1_oracles: {', '.join(wrong) or 'no two labels'} as `PRA ORACLE` of "
            "rescaled-perceptron beside `EA ORACLE` of ellipsoid; name them so"
        )
    return found


@needs(pairs_of)
def table_6_1_oracles(evidence: Evidence) -> Table:
    """Rescalings, and the ratios of PRA to EA, per problem and oracle.

    Columns ``problem``, ``m``; ``most updates`` of the rescaled perceptron with any oracle,
    ``first phase``, the updates after which it would rescale, and ``rescalings``; per oracle X
    ``queries X``, PRA over EA, where both are proved feasible; ``seconds``, the same ratio of the
    labels PRA and EA, and ``thesis seconds``, that of Table 6.1 of the thesis.
    """
    pairs, entries = pairs_of(evidence), entries_of(evidence.frame)
    rescaled = [label for label, _ in pairs.values()]
    problems = [entry.problem for entry in entries[rescaled[0]]]
    orders = orders_of(evidence.frame)
    runs = [[entries[label][i] for label in rescaled] for i in range(len(problems))]
    updates = [max((e.largest("updates") or 0.0 for e in own), default=0.0) for own in runs]
    columns = [
        texts("problem", problems),
        counts("m", orders),
        counts("most updates", updates),
        counts("first phase", [_first_phase(evidence, rescaled, order) for order in orders]),
        counts("rescalings", [_most(evidence, own) for own in runs]),
        *(_ratios(name, "queries", entries, pair) for name, pair in pairs.items()),
    ]
    if "" in pairs:
        columns += [_ratios("", "seconds", entries, pairs[""]), _thesis(problems)]
    notes = [
        "Ratios are of PRA to EA: above 1 the ellipsoid method needs fewer queries, or less time.",
        "``First phase'': updates of the perceptron before it would rescale for the first time.",
    ]
    return Table("table_6_1_oracles", columns, notes=notes, widest=20)


def _first_phase(evidence: Evidence, labels: Sequence[str], order: int | None) -> int | None:
    """Return the shortest first phase of some labels in the homogenised dimension."""
    if order is None:
        return None
    methods = evidence.methods()
    given = (RescaledPerceptron(**methods[label].parameters) for label in labels)
    return min(record.perceptron_limit(order + 1) for record in given)


def _most(evidence: Evidence, own: Sequence[Summary]) -> int | None:
    found = [count for entry in own for count in rescalings_of(evidence, entry)]
    return max(found, default=None)


def _ratios(
    name: str, column: str, entries: Mapping[str, Sequence[QueryEntry]], pair: tuple[str, str]
) -> Column:
    rivals = zip(*(entries[label] for label in pair), strict=True)
    values = [_ratio(ours, other, column) for ours, other in rivals]
    return numbers(f"{column} {name}".strip(), values, typesetting.real)


def _ratio(ours: QueryEntry, other: QueryEntry, column: str) -> float | None:
    mine, theirs = ours.median(column), other.median(column)
    proved = ours.feasible and other.feasible
    return mine / theirs if proved and mine and theirs else None


def _thesis(problems: Sequence[str]) -> Column:
    table = thesis_table()
    pairs = [[table.get((problem, label)) for label in THESIS_LABELS] for problem in problems]
    ratios = [pra.seconds / ea.seconds if pra and ea else None for pra, ea in pairs]
    return numbers("thesis seconds", ratios, typesetting.real)
