"""Table 6.1 by oracle: the faster method by queries and seconds, and the number of rescalings.

Also the norms and depths of the cuts that oracles give over whole runs, from their traces.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from perceptron_lab.algorithms.rescaling.rescaled_perceptron import RescaledPerceptron
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray, Trace
from perceptron_lab.datasets.generated.graphs import graph_name
from perceptron_lab.datasets.generated.maxcut import Maxcut
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.papers.thesis.table_6_1.table import (
    THESIS_LABELS,
    QueryEntry,
    entries_of,
    sizes_of,
    thesis_table,
)
from perceptron_lab.reporting.printing import drawing, typesetting
from perceptron_lab.reporting.printing.columns import Column, counts, numbers, seconds, texts
from perceptron_lab.reporting.printing.looks import Look, Style, distinct_looks
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.summary import Summary, median_of, summaries

RESCALED: Final = "rescaled-perceptron"
_RESCALING: Final = (
    RESCALED,
    "conic-rescaled-perceptron",
    "derandomised-rescaled-perceptron",
    "deterministic-rescaled-perceptron",
    "correlation-rescaling",
)


def _margin(outline: Outline, problem: str) -> object:
    """Return a problem's margin, a parameter or part of a graph's name; 0 or None if unknown."""
    stated = outline.parameters(problem).get("margin")
    if stated is None and isinstance(outline.dataset(problem), Maxcut):
        return graph_name(outline.instance(problem)).margin
    return stated


def with_rescaling(outline: Outline) -> None:
    """Refuse experiments without a perceptron that rescales, or without known margins."""
    if all(method.algorithm not in _RESCALING for method in outline.methods().values()):
        raise DataError(f"rescalings: no label is of {' or '.join(_RESCALING)}; add one")
    for problem in outline.problems():
        margin = _margin(outline, problem)
        if not isinstance(margin, int | float) or not margin:
            raise DataError(
                f"rescalings: the margin of {problem} is not known by construction; use problems "
                "with margin as a parameter, such as those of conic-sets, or maxcut graphs such as "
                "random-5-7-0.01"
            )


@needs(with_rescaling)
def rescalings(evidence: Evidence) -> Table:
    """Updates and rescalings against 1 / rho^2, on problems of known margin rho.

    Columns ``problem``, ``margin``, ``label``, ``seeds``; medians over the seeds: ``updates``,
    ``times margin squared`` (1 is Novikoff's bound for cuts of norm 1), ``seconds``,
    ``rescalings`` (of those that rescale); ``ended``, how the cells ended.
    """
    entries = summaries(evidence.frame)
    margin_of = {problem: _margin(evidence, problem) for problem in evidence.problems()}
    rho_of_entries = [float(str(margin_of[entry.problem])) for entry in entries]
    updates = [entry.median("updates") for entry in entries]
    # Novikoff's bound of 1/rho^2 for cuts of norm 1 is 1 in this unit
    squared = [u and u * rho**2 for u, rho in zip(updates, rho_of_entries, strict=True)]
    columns = [
        texts("problem", [entry.problem for entry in entries]),
        numbers("margin", rho_of_entries),
        texts("label", [entry.label for entry in entries]),
        counts("seeds", [entry.seeds for entry in entries]),
        counts("updates", updates),
        numbers("times margin squared", squared),
        seconds("seconds", [entry.median("seconds") for entry in entries]),
        counts("rescalings", [_typical(evidence, entry) for entry in entries]),
        texts("ended", [entry.status_counts for entry in entries]),
    ]
    notes = [
        "Numbers are medians over the seeds and include runs that a limit ended: see column "
        "``ended''.",
        "Margins are known by construction, and verified when the data are generated.",
    ]
    return Table("rescalings", columns, keys=2, notes=notes)


def rescalings_of(evidence: Evidence, entry: Summary) -> list[int]:
    """Return the number of rescalings of each cell of a perceptron that rescales.

    The phases of its trace are called ``perceptron k`` and ``relaxed k``, or ``phase k``, k - 1
    rescalings on.
    """
    if evidence.methods()[entry.label].algorithm not in _RESCALING:
        return []
    traces = [evidence.trace(str(cell)) for cell in entry.runs["cell"]]
    phases = [re.fullmatch(r"\w+ (\d+)", trace.phase[-1]) for trace in traces if trace]
    return [int(phase[1]) - 1 for phase in phases if phase]


def _typical(evidence: Evidence, entry: Summary) -> float | None:
    return median_of(rescalings_of(evidence, entry))


_ALGORITHMS: Final = dict(zip(THESIS_LABELS, (RESCALED, "ellipsoid"), strict=True))


def pairs_of(outline: Outline) -> dict[str, tuple[str, str]]:
    """Return what follows PRA and EA in labels (nothing, ``cholesky``, ..) -> both labels.

    Experiments in which no label of either rival has its counterpart are refused.
    """
    methods = outline.methods()
    pairs = {}
    for label in methods:
        rest = label.removeprefix("PRA")
        rival = f"EA{rest}"
        if label == f"PRA{rest}" and rival in methods:
            pairs[rest.strip()] = (label, rival)
    incomplete = [
        label
        for pair in pairs.values()
        for label, name in zip(pair, _ALGORITHMS.values(), strict=True)
        if methods[label].algorithm != name
    ]
    if incomplete or not pairs:
        raise DataError(
            f"table_6_1_oracles: {', '.join(incomplete) or 'no two labels'}: labels have to be "
            "called `PRA ORACLE` (of rescaled-perceptron) and `EA ORACLE` (of ellipsoid), with "
            "the same ORACLE"
        )
    return pairs


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
    orders = sizes_of(evidence.frame, "dimension")
    runs = [[entries[label][i] for label in rescaled] for i in range(len(problems))]
    updates = [
        # The largest, to show how far even the longest run is from its first rescaling
        max((e.largest("updates") or 0.0 for e in entries_of_label), default=0.0)
        for entries_of_label in runs
    ]
    columns = [
        texts("problem", problems),
        counts("m", orders),
        counts("most updates", updates),
        counts("first phase", [_first_phase(evidence, rescaled, order) for order in orders]),
        counts("rescalings", [_most(evidence, entries_of_label) for entries_of_label in runs]),
        *(_ratios(name, "queries", entries, pair) for name, pair in pairs.items()),
    ]
    if "" in pairs:
        columns += [_ratios("", "seconds", entries, pairs[""]), _thesis(problems)]
    notes = [
        "Ratios: PRA over EA; above 1 the ellipsoid method needs fewer queries, or less time.",
        "``First phase'': number of updates of the perceptron before its first rescaling.",
    ]
    return Table("table_6_1_oracles", columns, notes=notes, widest=20)


def _first_phase(evidence: Evidence, labels: Sequence[str], order: int | None) -> int | None:
    """Return the shortest first phase of some labels in the homogenised dimension."""
    if order is None:
        return None
    methods = evidence.methods()
    records = (RescaledPerceptron(**methods[label].parameters) for label in labels)
    # Homogenisation adds x_0: one dimension more
    return min(record.perceptron_limit(order + 1) for record in records)


def _most(evidence: Evidence, entries: Sequence[Summary]) -> int | None:
    counts = [count for entry in entries for count in rescalings_of(evidence, entry)]
    return max(counts, default=None)


def _ratios(
    name: str, column: str, entries: Mapping[str, Sequence[QueryEntry]], pair: tuple[str, str]
) -> Column:
    rivals = zip(*(entries[label] for label in pair), strict=True)
    values = [_ratio(ours, other, column) for ours, other in rivals]
    return numbers(f"{column} {name}".strip(), values, typesetting.real)


def _ratio(ours: QueryEntry, other: QueryEntry, column: str) -> float | None:
    first, second = ours.median(column), other.median(column)
    proved = ours.feasible and other.feasible
    # A run that was cut off would make its method look cheap
    return first / second if proved and first and second else None


def _thesis(problems: Sequence[str]) -> Column:
    table = thesis_table()
    pairs = [[table.get((problem, label)) for label in THESIS_LABELS] for problem in problems]
    ratios = [pra.seconds / ea.seconds if pra and ea else None for pra, ea in pairs]
    return numbers("thesis seconds", ratios, typesetting.real)


_SHAPE = (
    "cuts: these problems do not have the two blocks of MAXCUT, x_0 > 0 and one matrix; run it "
    "on problems of the dataset maxcut"
)


@dataclass(frozen=True)
class CutHistory:
    """The cuts of one run between the records of its trace; block 0 is x_0 > 0, block 1 the matrix.

    Parameters
    ----------
    updates
        At the records, shape ``(records,)``.
    counts, norms, depths
        Of the cuts since the record before, shape ``(records, 2)``; means are NaN where none is.
    """

    updates: FloatArray
    counts: FloatArray
    norms: FloatArray
    depths: FloatArray

    @classmethod
    def of(cls, trace: Trace) -> CutHistory:
        """Return the course in a trace; one without cuts, or of other blocks, is refused."""
        if "cuts" not in trace.measures:
            raise DataError("cuts: a trace has none; run the experiment with trace_cuts: true")
        named = [np.array(trace.measures[name]) for name in ("cuts", "cut_norm", "cut_depth")]
        if named[0].shape[1:] != (2,):
            raise DataError(_SHAPE)
        return cls(np.array(trace.updates, dtype=float), *named)

    def total(self, block: int) -> float:
        """Return the number of cuts of a block."""
        return float(self.counts[:, block].sum())

    def mean(self, values: FloatArray, block: int = 1) -> float | None:
        """Return the mean of norms or depths over all cuts of a block, or None."""
        # Records without cuts have NaN as mean and must not enter the weighted mean
        weights = np.where(np.isnan(values[:, block]), 0.0, self.counts[:, block])
        if not weights.any():
            return None
        return float(weights @ np.nan_to_num(values[:, block]) / weights.sum())


def with_cuts(outline: Outline) -> None:
    """Refuse experiments whose traces have no cuts."""
    if not outline.recorded().trace_cuts:
        raise DataError("cuts: traces have no cuts; run the experiment with trace_cuts: true")


def history_of(evidence: Evidence, entry: Summary) -> CutHistory | None:
    """Return the course of the first seed with a trace, or None."""
    for cell in entry.runs["cell"]:
        trace = evidence.trace(str(cell))
        if trace is not None:
            return CutHistory.of(trace)
    return None


@needs(with_cuts)
def cuts_table(evidence: Evidence) -> Table:
    """Queries by label, and the cuts that they gave.

    Columns ``problem``, ``label``, ``queries``; of the first seed: ``x0 percent``, the part of the
    cuts that are x_0 > 0; ``norm`` and ``depth``, the means over the cuts of the matrix; ``x0
    depth``, over the others; ``ended``.
    """
    entries = summaries(evidence.frame)
    courses = [history_of(evidence, entry) for entry in entries]
    columns = [
        texts("problem", [entry.problem for entry in entries]),
        texts("label", [entry.label for entry in entries]),
        counts("queries", [entry.median("queries") for entry in entries]),
        numbers("x0 percent", [_share(history) for history in courses]),
        numbers("norm", [history.mean(history.norms) if history else None for history in courses]),
        numbers(
            "depth", [history.mean(history.depths) if history else None for history in courses]
        ),
        numbers(
            "x0 depth",
            [history.mean(history.depths, 0) if history else None for history in courses],
        ),
        texts("ended", [entry.status_counts for entry in entries]),
    ]
    notes = [
        "The depth of a cut $a$ at $y$ is $-a'y / (\\|a\\| \\|y\\|)$; norms are those of unit "
        "directions $v$, $a = (v'C_0v, v_1^2, \\ldots, v_n^2)$. Means over all matrix cuts of a "
        "run; $x_0$: over the cuts $x_0 > 0$.",
    ]
    return Table("cuts", columns, keys=2, notes=notes)


def _share(history: CutHistory | None) -> float | None:
    if history is None:
        return None
    every = history.total(0) + history.total(1)
    return 100.0 * history.total(0) / every if every else None


@needs(with_cuts, pairs_of)
def cuts_figure(evidence: Evidence) -> Figure:
    """Mean depth above and mean norm below of the matrix cuts between records, against updates.

    PRA on the left, EA on the right, a colour per oracle and a line per problem: the thicker, the
    larger the problem. First seeds only.
    """
    pairs = pairs_of(evidence)
    entries = {(entry.label, entry.problem): entry for entry in summaries(evidence.frame)}
    looks = distinct_looks(list(pairs))
    problems = evidence.problems()
    figure = drawing.canvas(7.0, 4.4)
    panels = figure.subplots(2, 2, sharex="col", sharey="row")
    drawn = 0
    for oracle, pair in pairs.items():
        for column, label in enumerate(pair):
            for number, problem in enumerate(problems):
                history = history_of(evidence, entries[label, problem])
                if history is None:
                    continue
                # Colours tell oracles, so that problems are told apart by width
                width = 0.5 + 1.1 * number / max(1, len(problems) - 1)
                _draw(panels[0][column], history, history.depths, looks[oracle], width)
                _draw(panels[1][column], history, history.norms, looks[oracle], width)
                drawn += 1
    if not drawn:
        raise DataError("cuts: no run has a trace; run the experiment again")
    for axes in panels.flat:
        drawing.rule_logarithmic(axes, "both")
    for axes, title in zip(panels[0], ("PRA", "EA"), strict=True):
        axes.set_title(title, loc="left")
    panels[0][0].set_ylabel("mean depth of the cuts")
    panels[1][0].set_ylabel("mean norm of the cuts")
    for axes in panels[1]:
        axes.set_xlabel("updates")
    names = {oracle: oracle or "as in the thesis" for oracle in pairs}
    drawing.legend_above(figure, drawing.handles(looks, names=names))
    if len(problems) > 1:
        figure.supxlabel(f"from thin to thick: {', '.join(problems)}", fontsize=7)
    return figure


def _draw(axes: Axes, history: CutHistory, values: FloatArray, look: Look, width: float) -> None:
    axes.set(xscale="log", yscale="log")
    positive = np.isfinite(values[:, 1]) & (values[:, 1] > 0.0) & (history.updates > 0.0)
    style: Style = {"color": look["color"], "marker": look["marker"], "markersize": 2.5}
    axes.plot(history.updates[positive], values[positive, 1], linewidth=width, **style)
