"""The table of what methods say of separated classes, beside the proved verdicts."""

from __future__ import annotations

from collections import Counter
from typing import Final

import pandas as pd

from perceptron_lab.estimators.learners.sayings import SEPARATION_SAID
from perceptron_lab.experiments.configuration.rows import reals
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import needs
from perceptron_lab.reporting.printing import typesetting
from perceptron_lab.reporting.printing.columns import Column, counts, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.separation.answers import (
    asked_labels,
    printed_truth,
    proving_label,
    truths,
    words,
    wrong,
)
from perceptron_lab.reporting.summary import Summary, shape_of, summaries

# Figure -> the name of its column, and how its medians are printed
_FIGURES: Final = {
    "overlap_rows": ("overlapping rows", typesetting.count),
    "diverging": ("diverging", typesetting.count),
    "steps": ("steps", typesetting.count),
    "largest_coefficient": ("largest coefficient", typesetting.real),
    "largest_error": ("largest error", typesetting.real),
}
_NOTE: Final = (
    "Known: the verdict by construction, or that of the source; elsewhere the proved one is the "
    "truth. Says: the answer, with its number of seeds where they differ. Converged without a "
    "penalty says that estimates exist, which they do if and only if the classes overlap; not "
    "converged, singular and penalised say nothing of it. Wrong: seeds on which it contradicts the "
    "truth. Diverging: coefficients without a finite estimate. Largest: the largest coefficient, "
    "and standard error, at the end. Medians over the seeds."
)


@needs(asked_labels, proving_label)
def separation_verdicts(evidence: Evidence) -> Table:
    """Separation of two classes: proved verdicts, and what other methods say.

    Columns: ``problem``, ``rows``, ``features``, ``seeds``, ``known`` (the verdict by construction,
    or that of the source). Of each label ``says``, the first words of its messages with their
    numbers of seeds where they differ; ``wrong``, on how many seeds it contradicts the truth, if
    some answer of this label could; medians over the seeds of ``overlapping rows``, ``diverging``
    (coefficients without a finite estimate), ``steps``, ``largest coefficient`` and ``largest
    error`` (standard error), of those that it has.
    """
    labels, truth = asked_labels(evidence), truths(evidence)
    frame = evidence.frame[evidence.frame["label"].isin(labels)].copy()
    for name in _FIGURES:
        column = f"measure.{name}"
        frame[name] = reals(frame[column]) if column in frame else float("nan")
    frame["said"] = words(frame)
    keys = zip(frame["problem"], frame["seed"], strict=True)
    frame["wrong"] = [
        wrong(said, truth.get(key, "")) for said, key in zip(frame["said"], keys, strict=True)
    ]
    entries = {(entry.problem, entry.label): entry for entry in summaries(frame)}
    problems = [str(one) for one in frame["problem"].unique()]
    shapes = shape_of(frame)
    columns = [
        texts("problem", problems),
        counts("rows", [shapes[one][1] if one in shapes else None for one in problems]),
        counts("features", [shapes[one][0] - 1 if one in shapes else None for one in problems]),
        counts("seeds", [entries[one, labels[0]].seeds for one in problems]),
        texts("known", [printed_truth(evidence, one) for one in problems]),
    ]
    for label in labels:
        columns += _of_label(label, [entries[one, label] for one in problems])
    return Table("separation_verdicts", columns, keys=5, notes=[_NOTE], widest=9)


def _of_label(label: str, entries: list[Summary]) -> list[Column]:
    """Return the columns of a label."""
    runs = pd.concat([entry.runs for entry in entries])
    says = texts(f"{label} says", [_said(entry.runs) for entry in entries])
    found = [_grouped(says, label)]
    if any(SEPARATION_SAID.get(one) is not None for one in runs["said"].dropna()):
        mistakes = [int(entry.runs["wrong"].sum()) if entry.seeds else None for entry in entries]
        found.append(_grouped(counts(f"{label} wrong", mistakes), label))
    for name, (title, show) in _FIGURES.items():
        if runs[name].notna().any():
            medians = [entry.median(name) for entry in entries]
            found.append(_grouped(numbers(f"{label} {title}", medians, show), label))
    return found


def _said(runs: pd.DataFrame) -> str:
    """Return what runs say, with their numbers where they differ, or how they ended."""
    pairs = zip(runs["said"], runs["status"], strict=True)
    given = Counter(str(status) if pd.isna(said) else str(said) for said, status in pairs)
    if len(given) < 2:
        return next(iter(given), "not run")
    return ", ".join(f"{word} ({number})" for word, number in given.most_common())


def _grouped(column: Column, label: str) -> Column:
    return Column(column.name, column.values, column.shown, column.align, group=label)
