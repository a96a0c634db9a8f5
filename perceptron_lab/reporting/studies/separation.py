"""Verdicts on separation: the answers of several methods, and Newton's steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.findings import SeparationAnswer
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.collections.textbook_separation import ANSWERS, TextbookSeparation
from perceptron_lab.datasets.generated.separation_families import SeparationFamilies
from perceptron_lab.problems.separation.coefficients import (
    CLASSES,
    FINITE,
    MINUS,
    PLUS,
    UNDETERMINED,
)
from perceptron_lab.reporting.evidence import Evidence, findings
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.printing import drawing, typesetting
from perceptron_lab.reporting.printing.columns import Column, counts, numbers, texts
from perceptron_lab.reporting.printing.looks import Line
from perceptron_lab.reporting.printing.problem_titles import title_of
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.summary import Summary, shape_of, summaries, with_measures

PROVING: Final = "separation-verdict"
ASKED: Final = (PROVING, "konis-program", "newton-steps", "logistic-regression")
"""The learners with a finding about separation."""
_VERDICTS: Final = (
    SeparationAnswer.COMPLETE,
    SeparationAnswer.QUASI_COMPLETE,
    SeparationAnswer.OVERLAP,
)


def asked_labels(outline: Outline) -> list[str]:
    """Return the labels of learners that say something about separation."""
    labels = [label for label, method in outline.methods().items() if method.algorithm in ASKED]
    if not labels:
        raise DataError(
            f"no label has a verdict on separation; learners with one are {', '.join(ASKED)}"
        )
    return labels


def proving_label(outline: Outline) -> str:
    """Return the label of the proved verdicts."""
    for label, method in outline.methods().items():
        if method.algorithm == PROVING:
            return label
    raise DataError(f"no label has proved verdicts on separation; add the learner {PROVING}")


def printed_truth(outline: Outline, problem: str) -> str:
    """Return the verdict by construction or from the source; empty if neither exists."""
    record = outline.dataset(problem)
    # Its data are generated to have this answer
    if isinstance(record, SeparationFamilies):
        return record.kind
    if isinstance(record, TextbookSeparation):
        return ANSWERS[outline.instance(problem)].verdict
    return ""


def truths(evidence: Evidence) -> Mapping[tuple[str, float], str]:
    """Return problem and seed -> the verdict: as printed, or else as proved."""
    truth_of = {}
    printed = {problem: printed_truth(evidence, problem) for problem in evidence.problems()}
    label = proving_label(evidence)
    runs = evidence.frame
    for problem, seed in runs[["problem", "seed"]].itertuples(index=False, name=None):
        if printed[problem]:
            truth_of[problem, seed] = printed[problem]
    decided = runs[(runs["label"] == label) & runs["proved"]]
    for problem, seed, answer in zip(
        decided["problem"], decided["seed"], answers(decided), strict=True
    ):
        # Only where the source or the construction states no verdict
        truth_of.setdefault((problem, seed), answer or "")
    return truth_of


def wrong(answer: SeparationAnswer | None, truth: str) -> bool:
    """Return whether an answer contradicts a verdict."""
    if answer is None or not truth:
        return False
    if answer in _VERDICTS:
        return answer != truth
    # Estimates exist if and only if the classes overlap: converged without penalty claims overlap
    return answer.separated is not None and answer.separated == (truth == SeparationAnswer.OVERLAP)


def answers(runs: pd.DataFrame) -> list[SeparationAnswer | None]:
    """Return the answer of each run on separation; None for a run without one."""
    return [finding.separation for finding in findings(runs)]


# Figure -> the name of its column, and how its medians are printed
_FIGURES: Final = {
    "overlap_rows": ("overlapping rows", typesetting.count),
    "diverging": ("diverging", typesetting.count),
    "steps": ("steps", typesetting.count),
    "largest_coefficient": ("largest coefficient", typesetting.real),
    "largest_error": ("largest error", typesetting.real),
}
_NOTE: Final = (
    "Known: the verdict by construction or from the source; where it is empty, the proved "
    "verdict counts as the truth. Says: the answer, with the number of seeds where answers "
    "differ. Converged without a penalty claims that estimates exist, which is true if and only "
    "if the classes overlap; not converged, singular and penalised claim nothing about "
    "separation. Wrong: number of seeds on which the answer contradicts the truth. Diverging: "
    "number of coefficients without a finite estimate. Largest coefficient, largest error: the "
    "largest coefficient and standard error at the end. Medians over the seeds."
)


@needs(asked_labels, proving_label)
def separation_verdicts(evidence: Evidence) -> Table:
    """Separation of two classes: proved verdicts, and what other methods say.

    Columns: ``problem``, ``rows``, ``features``, ``seeds``, ``known`` (the verdict by construction,
    or that of the source). Of each label ``says``, its answers with their
    numbers of seeds where they differ; ``wrong``, on how many seeds it contradicts the truth, if
    some answer of this label could; medians over the seeds of ``overlapping rows``, ``diverging``
    (coefficients without a finite estimate), ``steps``, ``largest coefficient`` and ``largest
    error`` (standard error), of those that it has.
    """
    labels, truth = asked_labels(evidence), truths(evidence)
    frame = with_measures(evidence.frame[evidence.frame["label"].isin(labels)], _FIGURES)
    # As objects: in a column of strings the answers would lose their properties
    frame["said"] = pd.Series(answers(frame), frame.index, dtype=object)
    keys = zip(frame["problem"], frame["seed"], strict=True)
    frame["wrong"] = [
        wrong(answer, truth.get(key, "")) for answer, key in zip(frame["said"], keys, strict=True)
    ]
    entries = {(entry.problem, entry.label): entry for entry in summaries(frame)}
    problems = [str(problem) for problem in frame["problem"].unique()]
    shapes = shape_of(frame)
    columns = [
        texts("problem", problems),
        counts("rows", [shapes[problem][1] if problem in shapes else None for problem in problems]),
        counts(
            "features",
            # Without the intercept, which the dimension counts as a coefficient
            [shapes[problem][0] - 1 if problem in shapes else None for problem in problems],
        ),
        counts("seeds", [entries[problem, labels[0]].seeds for problem in problems]),
        texts("known", [printed_truth(evidence, problem) for problem in problems]),
    ]
    for label in labels:
        columns += _of_label(label, [entries[problem, label] for problem in problems])
    return Table("separation_verdicts", columns, keys=5, notes=[_NOTE], widest=9)


def _of_label(label: str, entries: list[Summary]) -> list[Column]:
    """Return the columns of a label."""
    runs = pd.concat([entry.runs for entry in entries])
    says = texts(f"{label} says", [_verdict_counts(entry.runs) for entry in entries])
    columns = [_grouped(says, label)]
    # A method that never decides cannot be wrong, and needs no such column
    if any(answer.separated is not None for answer in runs["said"].dropna()):
        mistakes = [int(entry.runs["wrong"].sum()) if entry.seeds else None for entry in entries]
        columns.append(_grouped(counts(f"{label} wrong", mistakes), label))
    for name, (title, show) in _FIGURES.items():
        if runs[name].notna().any():
            medians = [entry.median(name) for entry in entries]
            columns.append(_grouped(numbers(f"{label} {title}", medians, show), label))
    return columns


def _verdict_counts(runs: pd.DataFrame) -> str:
    """Return what runs say, with their numbers where they differ, or how they ended."""
    pairs = zip(runs["said"], runs["status"], strict=True)
    counter = Counter(str(status) if pd.isna(answer) else str(answer) for answer, status in pairs)
    # Seeds that agree need no counts
    if len(counter) < 2:
        return next(iter(counter), "not run")
    return ", ".join(f"{word} ({number})" for word, number in counter.most_common())


def _grouped(column: Column, label: str) -> Column:
    return Column(column.name, column.values, column.shown, column.align, group=label)


MOST_PANELS: Final = 6
MOST_COEFFICIENTS: Final = 12
"""The largest number of coefficients that a panel distinguishes."""
MOST_STEPS: Final = 20
_LOWEST: Final = 1e-6  # Of the largest, in a panel
_LOOKS: Final[dict[str, tuple[str, Line]]] = {
    FINITE: ("#0072B2", "-"),
    PLUS: ("#D55E00", "-"),
    MINUS: ("#D55E00", "--"),
    UNDETERMINED: ("#7F7F7F", ":"),
}


def newton_label(outline: Outline) -> str:
    """Return the label of Newton's steps."""
    for label, method in outline.methods().items():
        if method.algorithm == "newton-steps":
            return label
    raise DataError("no label records Newton's steps; add the learner newton-steps")


@needs(newton_label, proving_label)
def newton_steps(evidence: Evidence) -> Figure:
    """Coefficients of logistic regression along Newton's steps, a panel per problem.

    Absolute values on a logarithmic axis; colours and lines are what is proved of the estimate:
    finite, +infinite, -infinite, or undetermined. Finite ones converge, others do not. Drawn are
    the first 20 steps: later the information on what diverges is below the 1e-10 that is added to
    it, and the steps lose their way. What is below a millionth of the largest is not seen. Of each
    problem the first seed; problems of more than twelve coefficients are left out, and of the
    others the first six are drawn.
    """
    drawn = {}
    for problem in evidence.problems():
        pair = _coefficient_histories(evidence, problem)
        if pair is not None and len(pair[1]) <= MOST_COEFFICIENTS:
            drawn[problem] = pair
    if not drawn:
        raise DataError(
            f"no problem of {MOST_COEFFICIENTS} coefficients or fewer has Newton's steps and a "
            "proved verdict"
        )
    problems = list(drawn)[:MOST_PANELS]
    figure, panels = drawing.panels(len(problems), 2.4, 0.7, 2.0)
    for axes, problem in zip(panels, problems, strict=True):
        drawing.entitle(axes, title_of(evidence, problem))
        _draw(axes, *drawn[problem])
        axes.set_xlabel("Newton step")
    for axes in panels[:: drawing.BESIDE]:
        axes.set_ylabel("absolute coefficient")
    drawing.legend_above(
        figure,
        [
            Line2D([], [], color=colour, linestyle=dashes, label=name)
            for name, (colour, dashes) in _LOOKS.items()
        ],
    )
    drawing.name_left_out(figure, problems, list(drawn), "problems")
    return figure


def _coefficient_histories(
    evidence: Evidence, problem: str
) -> tuple[FloatArray, FloatArray] | None:
    """Return coefficients along the steps, and their proved classes, of the first seed."""
    histories = []
    for label, name in (
        (newton_label(evidence), "coefficients"),
        (proving_label(evidence), "classes"),
    ):
        runs = evidence.frame
        # One seed, as Newton's steps and the proved classes are drawn coefficient by coefficient
        cells = runs[(runs["problem"] == problem) & (runs["label"] == label)].sort_values("seed")
        trace = evidence.trace(str(cells["cell"].iloc[0])) if len(cells) else None
        if trace is None or name not in trace.measures:
            return None
        histories.append(np.asarray(trace.measures[name][0], dtype=float))
    # A class for each coefficient, or the colours would mean nothing
    return (histories[0], histories[1]) if histories[0].shape[1:] == histories[1].shape else None


def _draw(axes: Axes, coefficients: FloatArray, classes: FloatArray) -> None:
    """Draw the coefficients of a problem; those that are proved finite lie above the others."""
    steps = np.arange(1, min(len(coefficients), MOST_STEPS) + 1)
    # Drawn last, the finite ones are not hidden by those that diverge
    for index in np.argsort(-classes, kind="stable").tolist():
        colour, dashes = _LOOKS[CLASSES[int(classes[index])]]
        values = np.abs(coefficients[: len(steps), index])
        # A coefficient that is exactly 0 has no logarithm
        axes.plot(steps, np.where(values > 0.0, values, np.nan), dashes, color=colour, lw=1.0)
    axes.set_yscale("log")
    # Coefficients that pass through 0 would stretch the axis by many decades
    axes.set_ylim(bottom=max(axes.get_ylim()[0], _LOWEST * axes.get_ylim()[1]))
