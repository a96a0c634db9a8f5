"""Solvers' answers before and after an algorithm has resumed from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterMathtext

from perceptron_lab.core import registry
from perceptron_lab.core.claims import UNPROVED
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.collections.semidefinite_programs import Sdplib
from perceptron_lab.datasets.generated.conditioned_cones import ConditionedCones
from perceptron_lab.experiments.check import Method
from perceptron_lab.experiments.configuration.components import Component
from perceptron_lab.experiments.configuration.rows import reals
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs, problems_of
from perceptron_lab.reporting.papers.thesis.rescaling import conditioned_problems
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers, seconds, texts
from perceptron_lab.reporting.printing.looks import MOST_COLOURED, Look, algorithm_looks
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.summary import Summary, grouped, median_of, summaries

CONTINUED: Final = "postprocessed"
_NUMBERS: Final = range(1, 7)
BEFORE: Final = tuple(f"measure.{UNPROVED}start_dimacs_{number}" for number in _NUMBERS)
AFTER: Final = tuple(f"measure.{UNPROVED}dimacs_{number}" for number in _NUMBERS)
"""The columns of the six DIMACS errors of the solver's answer, and of the last one."""
EITHER: Final = "either"
"""The side of systems of which none is known by construction: a proof of any decides them."""
_FEASIBLE, _INFEASIBLE = Status.FEASIBLE.value, Status.INFEASIBLE.value
_ANSWERS = {
    "feasible": {_FEASIBLE},
    "infeasible": {_INFEASIBLE},
    # No side is right by construction: any proved answer counts, bounds of the margin included
    "ill-posed": {status.value for status in Status},
    EITHER: {_FEASIBLE, _INFEASIBLE},
}
# Both algorithms of a pair have the pair's own epsilon unless their parameters say otherwise
_SHARED = "epsilon"


@dataclass(frozen=True)
class Kind:
    """The family, side and condition of a problem, by which results are grouped.

    Parameters
    ----------
    family, side
        Of conditioned-cones; of programs of a collection its name, and ``EITHER``.
    delta
        The condition; None of programs.
    """

    family: str
    side: str
    delta: float | None


@dataclass(frozen=True)
class Continued:
    """The cells of one problem by one algorithm from one solver's answers.

    Parameters
    ----------
    problem
        What it is set out by.
    first, second
        What the solver and the algorithm are called.
    entry, solver, second_alone
        The cells of the pair; of the solver alone and of the algorithm from its own start, empty
        where they were not run.
    """

    problem: Kind
    first: str
    second: str
    entry: Summary
    solver: Summary
    second_alone: Summary

    def decided(self, entry: Summary) -> bool:
        """Whether every cell has proved what is true by construction, of programs either side."""
        allowed = _ANSWERS[self.problem.side]
        return bool(entry.seeds) and entry.answered and set(entry.runs["status"]) <= allowed


def continued_labels(outline: Outline) -> dict[str, Method]:
    """Return label -> method that starts from a solver's answer; conditions must be known."""
    conditioned_problems(outline)
    labels = {
        label: method
        for label, method in outline.methods().items()
        if method.algorithm == CONTINUED
    }
    if not labels:
        raise DataError(
            "no label resumes from a solver's answer; add "
            "{name: postprocessed, parameters: {first: scs-direct, algorithm: auto}}"
        )
    return labels


def kinds(outline: Outline) -> dict[str, Kind]:
    """Return problem -> kind, for the datasets conditioned-cones and sdplib."""
    cones, programs = problems_of(outline, ConditionedCones), problems_of(outline, Sdplib)
    kind_of = {problem: Kind(cone.family, cone.side, cone.delta) for problem, cone in cones.items()}
    kind_of |= dict.fromkeys(programs, Kind("sdplib", EITHER, None))
    return {problem: kind_of[problem] for problem in outline.problems() if problem in kind_of}


def continued(evidence: Evidence) -> list[Continued]:
    """Return every problem that has a kind by every pair of a solver and an algorithm run on it."""
    pairs, problems = continued_labels(evidence), kinds(evidence)
    methods = evidence.methods()
    frame = with_errors(evidence.frame[evidence.frame["problem"].isin(list(problems))])
    entries = {(entry.problem, entry.label): entry for entry in summaries(frame)}

    def cells(problem: str, label: str) -> Summary:
        return entries.get((problem, label), Summary(problem, label, frame.iloc[:0]))

    continuations = []
    for label, method in pairs.items():
        parameters = method.parameters
        first = label_of_method(methods, parameters["first"], parameters.get("first_parameters"))
        second = label_of_method(methods, parameters["algorithm"], parameters.get("parameters"))
        for problem, record in problems.items():
            entry = cells(problem, label)
            if entry.seeds:
                solver, second_alone = cells(problem, first), cells(problem, second)
                continuations.append(Continued(record, first, second, entry, solver, second_alone))
    return continuations


def label_of_method(
    methods: Mapping[str, Method], name: str, parameters: Mapping[str, object] | None
) -> str:
    """Return the label of an algorithm with these parameters; its name if none was run."""
    record = registry.load("algorithm", name)(**(parameters or {}))
    # Through the record, so that defaults that are written out or left out compare equal
    expected = _compared(Component("algorithm", name, record).parameters)
    for label, method in methods.items():
        if method.algorithm == name and _compared(method.parameters) == expected:
            return label
    return name


def _compared(parameters: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in parameters.items() if key != _SHARED}


def with_errors(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the largest errors, in the absolute, before and after.

    ``before`` and ``after`` are the largest of all six, ``apart`` and ``apart after`` of the first
    four: by how much the answer violates the conditions of the program and of its dual.
    """
    extended = frame.copy()
    for names, largest, apart in (
        (BEFORE, "before", "apart"),
        (AFTER, "after", "apart after"),
    ):
        missing = [name for name in names if name not in frame]
        errors = pd.DataFrame(
            {
                name: pd.Series(dtype=float) if name in missing else reals(frame[name]).abs()
                for name in names
            },
            index=frame.index,
        )
        # One missing error may be the largest: then the largest is not known
        extended[largest] = errors.max(axis=1, skipna=False)
        extended[apart] = errors[list(names[:4])].max(axis=1, skipna=False)
    return extended


_NOTE = (
    "Proved: number of problems for which every cell proves what is true by construction, a "
    "strictly feasible point or that none exists (either of them for programs of SDPLIB). "
    "Before: by the solver's answer. After: by the algorithm that resumes from the solver's "
    "point. Alone: by the same algorithm from its default start. Error: the largest of the six "
    "DIMACS errors of the answer to the largest-margin problem, median over the problems. Apart: "
    "the largest of the first four, by which the answer violates the conditions; after resuming "
    "they are 0 up to rounding, and only the duality gap remains. Updates, seconds: medians; "
    "those that are not alone include the solver's."
)


@needs(continued_labels)
def postprocessing_table(evidence: Evidence) -> Table:
    """Answers of solvers, proved or not before and after, with their DIMACS errors.

    Columns: ``family``, ``side``, ``solver``, ``then`` (the next algorithm), ``problems``;
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
        counts("proved alone", [_proved(group, _second) for group in groups]),
        numbers("apart before", [_typical(group, _pair, "apart") for group in groups]),
        numbers("apart after", [_typical(group, _pair, "apart after") for group in groups]),
        numbers("error before", [_typical(group, _pair, "before") for group in groups]),
        numbers("error after", [_typical(group, _pair, "after") for group in groups]),
        counts("updates", [_typical(group, _pair, "updates") for group in groups]),
        counts("updates alone", [_typical(group, _second, "updates") for group in groups]),
        seconds("seconds", [_typical(group, _pair, "seconds") for group in groups]),
        seconds("seconds alone", [_typical(group, _second, "seconds") for group in groups]),
    ]
    return Table("postprocessing", columns, keys=4, notes=[_NOTE], long=True)


def _groups(pairs: list[Continued]) -> list[list[Continued]]:
    """Return the problems of each family, side and pair."""
    groups = grouped(pairs, lambda pair: (pair.problem.family, pair.problem.side, pair.entry.label))
    families: list[str] = list(dict.fromkeys(pair.problem.family for pair in pairs))
    sides: list[str] = list(dict.fromkeys(pair.problem.side for pair in pairs))
    # Families and sides in the experiment's order, so that the pairs of one kind of problem stand
    # together
    order = sorted(groups, key=lambda key: (families.index(key[0]), sides.index(key[1])))
    return [groups[key] for key in order]


Cells = Callable[[Continued], Summary]
_pair, _solver, _second = (attrgetter(name) for name in ("entry", "solver", "second_alone"))


def _proved(group: Sequence[Continued], cells: Cells) -> int | None:
    """Return how many problems are decided; None where none was run."""
    # 0 would say that it failed on all, not that it was not asked
    if not any(cells(pair).seeds for pair in group):
        return None
    return sum(pair.decided(cells(pair)) for pair in group)


def _typical(group: Sequence[Continued], cells: Cells, column: str) -> float | None:
    return median_of(cells(pair).median(column) for pair in group if cells(pair).seeds)


ANSWER = "the solver's answer"
"""What the solver's answer is called, before."""


@needs(continued_labels)
def postprocessing_figure(evidence: Evidence) -> Figure:
    """The largest DIMACS error against 1 / delta: a row of panels per family, a column per side.

    The solver is the first of the experiment. A line for its answer and one per algorithm that
    starts from it: medians over the seeds, from quartile to quartile; a cross where not every cell
    has proved what is true by construction. Programs without a delta are not drawn.
    """
    # The horizontal axis is the condition, which programs of collections do not have
    pairs = [pair for pair in continued(evidence) if pair.problem.delta is not None]
    solvers = list(dict.fromkeys(pair.first for pair in pairs))
    pairs = [pair for pair in pairs if pair.first in solvers[:1]]
    families = list(dict.fromkeys(pair.problem.family for pair in pairs))
    sides = list(dict.fromkeys(pair.problem.side for pair in pairs))
    labels = [ANSWER, *dict.fromkeys(f"then {pair.second}" for pair in pairs)]
    methods = evidence.algorithms()
    algorithms = {label: methods.get(name := label.removeprefix("then "), name) for label in labels}
    names = drawing.spelt_out(algorithms) | {ANSWER: f"{ANSWER} ({', '.join(solvers[:1])})"}
    looks = algorithm_looks(labels, algorithms, labels[:MOST_COLOURED])
    figure = drawing.canvas(max(4.6, 2.8 * len(sides)), 1.1 + 1.8 * len(families))
    # Shared scales: the panels compare families and sides
    panels = figure.subplots(len(families), len(sides), squeeze=False, sharex=True, sharey=True)
    proved = True
    for row, family in enumerate(families):
        for column, side in enumerate(sides):
            kind = family, side
            panel_pairs = [o for o in pairs if (o.problem.family, o.problem.side) == kind]
            proved &= _draw(panels[row][column], panel_pairs, looks)
            panels[row][column].set_title(f"{family}, {side}", loc="left")
    for axes in panels[-1]:
        axes.set_xlabel(r"1 / condition $\delta$")
        # drawing sets plain numbers; over many decades powers of ten are shorter
        axes.xaxis.set_major_formatter(LogFormatterMathtext())
    for axes in panels[:, 0]:
        axes.set_ylabel("largest DIMACS error")
        axes.yaxis.set_major_formatter(LogFormatterMathtext())
    drawing.legend_above(figure, drawing.handles(looks, proved, names=names))
    drawing.name_left_out(figure, solvers[:1], solvers, "solvers")
    return figure


def _draw(axes: Axes, pairs: list[Continued], looks: dict[str, Look]) -> bool:
    """Draw the lines of one family, solver and side; return whether all is proved."""
    entries: list[tuple[float, Summary]] = []
    decided: dict[int, bool] = {}
    for pair in sorted(pairs, key=_condition):
        answer = Summary(pair.entry.problem, ANSWER, _renamed(pair.entry, "before"))
        after = Summary(pair.entry.problem, f"then {pair.second}", _renamed(pair.entry, "after"))
        # Of the solver alone, as what the pair proves is the merit of both
        decided[id(answer)] = pair.decided(pair.solver)
        decided[id(after)] = pair.decided(pair.entry)
        # The solver's answer is the same for every algorithm that starts from it: one line
        if all(answer.problem != other.problem for _, other in entries):
            entries.append((_condition(pair), answer))
        entries.append((_condition(pair), after))

    def proved(entry: Summary) -> bool:
        return decided[id(entry)]

    drawing.draw_medians(axes, looks, entries, "error", proved)
    return all(proved(entry) for _, entry in entries)


def _condition(pair: Continued) -> float:
    """Return 1 / delta, or 1 for a problem without delta."""
    return 1.0 / (pair.problem.delta or 1.0)


def _renamed(entry: Summary, column: str) -> pd.DataFrame:
    """Return the rows of an entry with a column of errors as ``error``."""
    return entry.runs.assign(error=entry.runs[column])
