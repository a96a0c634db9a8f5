"""Tables of learners: Table 8.1 of `Kharechko2009`, rare categories, all problems and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median_high

import numpy as np

from perceptron_lab.datasets.collections.reuters import Reuters
from perceptron_lab.datasets.collections.reuters_corpus import categories
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import learners_among, needs
from perceptron_lab.reporting.papers.thesis.table_8_1.precisions import (
    HARD,
    PrecisionEntry,
    entries,
    mean_spread,
    thesis_precisions,
)
from perceptron_lab.reporting.printing.columns import Column, counts, numbers, seconds, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import escape, percent
from perceptron_lab.reporting.summary import by_label

_THESIS = {
    "thesis ellipsoid k30": "ellipsoid_k30",
    "thesis SVM k30": "svm_k30",
    "thesis SVM full": "svm_n20494",
}
_BOUNDS = (
    "Best C: C is chosen by precision on the test documents, which is no result but an upper "
    "bound of what the choice of C can explain. "
)
_TAKEN_FROM_TEST = (
    "These weights, the default, were chosen by comparing test precision with the columns of the "
    "thesis, which does not state its weights: agreement with it is no independent evidence."
)
_LEAST_PROBLEMS = 3
"""Of so many problems on, one candidate that wins in every cell is a sign of a fault."""
_WEIGHTS = {
    "log1p-idf": "$\\log(1 + tf) \\log(m / df)$",
    "tf-idf": "$tf \\log(m / df)$",
    "log-tf": "$\\log(1 + tf)$",
    "tf": "$tf$",
}


@needs(learners_among)
def table_8_1(evidence: Evidence) -> Table:
    """Average precision per category, compared with Table 8.1 of the thesis, and the mean.

    Columns: ``category``; the thesis's own three; per label L its mean over the seeds, ``L lowest``
    and ``L highest`` if it has several (the range of first pivots), ``L status`` where cells have
    no result, and for hard ellipsoids ``L proves``: the statement proved of the separation ratio t.
    In print labels with equally many features stay together, and what all hard ellipsoids of these
    prove stands once; a note says which fits did not converge.
    """
    labels = by_label(entries(evidence))
    named = [entry.problem for entry in next(iter(labels.values()))]
    printed = thesis_precisions()
    thesis = []
    for name, column in _THESIS.items():
        values = [printed[name][column] if name in printed else None for name in named]
        present = [value for value in values if value is not None]
        # A mean over other categories than ours would not compare
        mean = float(np.mean(present)) if len(present) == len(values) else None
        thesis.append(numbers(name, [*values, mean], percent))
    groups: dict[str, list[Column]] = {"thesis": thesis}
    for entries_of_label in labels.values():
        first = entries_of_label[0]
        features = "all features" if first.components is None else f"k = {first.components}"
        kind = "hard, " * (first.algorithm == HARD) + f"{features} {first.kernel}".strip()
        groups.setdefault(kind, []).extend(_columns(entries_of_label))
    columns = [texts("category", [*named, "mean"])]
    for name, group in groups.items():
        columns += [replace(column, group=name) for column in _proved_once(group)]
    note = (
        "Average precision (microaverage precision) on the test documents in percent. In "
        "parentheses: the lowest and the highest over the seeds, each of which draws one of the "
        "documents tied for the first pivot; without parentheses there is one seed, and all "
        "features have no pivot. k: number of Gram-Schmidt features, with bias $\\min(10, m / "
        "m_+)$ and pivots among the training documents. Parameters: by 3-fold cross-validation "
        "on training documents, the most regularised candidate of the configuration within 0.1 "
        "points of the best. "
        f"{_BOUNDS * any(entries_of_label[0].by_test for entries_of_label in labels.values())}t: "
        "squared separation ratio minus 1; $t = 0$: it is proved that no ellipsoid separates the "
        "training documents. Thesis: Table 8.1 of Kharechko2009, the best results after tuning; "
        "it does not state on which documents."
    )
    return Table("table_8_1", columns, notes=_notes(note, evidence, labels, named), widest=8)


@needs(learners_among)
def rare_categories(evidence: Evidence) -> Table:
    """Average precision per category, the rarest last, and the mean.

    Columns: ``category``, ``training`` and ``test``, its documents in the Mod-Apte split (empty for
    other problems); per label as in ``table_8_1``, for hard ellipsoids also ``L components``,
    the number of features.
    """
    labels = by_label(entries(evidence))
    named = [entry.problem for entry in next(iter(labels.values()))]
    category_of = categories()
    columns = [
        texts("category", [*named, "mean"]),
        counts(
            "training",
            [*(category_of[n].training if n in category_of else None for n in named), None],
        ),
        counts("test", [*(category_of[n].test if n in category_of else None for n in named), None]),
    ]
    for entries_of_label in labels.values():
        columns += _columns(entries_of_label, components=True)
    note = (
        "Average precision on the test documents in percent. Training, test: number of documents "
        "of the category. Hard ellipsoids have fewer features than positives, as listed: with as "
        "many or more no negative lies in the positives' affine hull, and the separation ratio "
        "is unbounded. A single positive cannot be held out for validation: the parameters are "
        "then the middle of the grid."
    )
    return Table("rare_categories", columns, 3, _notes(note, evidence, labels, named))


@needs(learners_among)
def learners(evidence: Evidence) -> Table:
    """Average precision, error, chosen parameter and seconds of learners, per problem and label.

    Columns: ``problem``, ``label``, ``seeds``, ``features``; ``average precision`` in percent, its
    mean over the seeds, ``lowest``, ``highest``; ``error``, the share of test examples on the wrong
    side in percent; ``chosen``, the median (of an even number the upper one) of the parameter, C of
    support vector machines or the regularisation, ``on edge``: how many seeds chose the edge of the
    grid; ``seconds``, processor time of features and final fit, the largest; ``proved`` of the
    training examples by hard ellipsoids, otherwise the statuses of cells that are not fitted, and
    ``not converged`` where a final fit had not.
    """
    lines = entries(evidence)
    spreads = [line.spread for line in lines]
    errors = [line.average("error") for line in lines]
    choices = [[*line.chosen.values()] for line in lines]
    edges = [line.measured("on_edge").values() for line in lines]
    spent = [max(line.measured("cpu_seconds").values(), default=None) for line in lines]
    columns = [
        texts("problem", [line.problem for line in lines]),
        texts("label", [line.label for line in lines]),
        counts("seeds", [line.seeds for line in lines]),
        counts("features", [line.average("components") for line in lines]),
        numbers("average precision", [spread.mean for spread in spreads], percent),
        numbers("lowest", [spread.lowest for spread in spreads], percent),
        numbers("highest", [spread.highest for spread in spreads], percent),
        numbers("error", [None if error is None else 100.0 * error for error in errors], percent),
        numbers("chosen", [median_high(values) if values else None for values in choices]),
        counts("on edge", [float(sum(values)) if values else None for values in edges]),
        seconds("seconds", spent),
        texts("proved", [line.proof for line in lines]),
    ]
    note = (
        "Means over the seeds. Average precision, error: percent, on the test examples. Chosen: "
        "median of the tuned parameter, C of support vector machines or the regularisation; it "
        "is tuned for average precision and not for the error. On edge: number of seeds in which "
        "it is the first or last candidate. Seconds: processor time of features and final fit "
        "without tuning, the largest over the seeds."
    )
    return Table("learners", columns, notes=[note], long=True)


def _columns(entries: Sequence[PrecisionEntry], components: bool = False) -> list[Column]:
    """Return the columns of a label, with a last line for the mean over the problems.

    The mean over the seeds, its range (of several seeds), the statuses (of cells without result),
    and for hard ellipsoids their features (if asked for) and statements about separability.
    """
    label = entries[0].label
    spreads = [*(entry.spread for entry in entries), mean_spread(entries)]
    printed = [
        percent(spread.mean)
        if spread.lowest is None or spread.lowest == spread.highest
        else f"{percent(spread.mean)} ({percent(spread.lowest)}--{percent(spread.highest)})"
        for spread in spreads
    ]
    columns = [Column(label, [spread.mean for spread in spreads], printed)]
    if any(entry.seeds > 1 for entry in entries):
        columns.append(Column(f"{label} lowest", [spread.lowest for spread in spreads], None))
        columns.append(Column(f"{label} highest", [spread.highest for spread in spreads], None))
    statuses = [entry.without_result for entry in entries]
    if any(statuses):
        columns.append(texts(f"{label} status", [*statuses, ""]))
    if entries[0].algorithm != HARD:
        return columns
    if components:
        components_used = [entry.average("components") for entry in entries]
        columns.append(counts(f"{label} components", [*components_used, None]))
    statements = [*(entry.statement for entry in entries), ""]
    bounds = [text.replace("<=", "\\leq").replace(">=", "\\geq") for text in statements]
    stated = [
        f"${bound}$" if text.startswith("t ") else escape(text)
        for text, bound in zip(statements, bounds, strict=True)
    ]
    return [*columns, Column(f"{label} proves", statements, stated, align="l")]


def _proved_once(group: Sequence[Column]) -> list[Column]:
    """Return a group's columns, with statements that are the same for all labels printed once."""
    stated = [column for column in group if column.name.endswith(" proves")]
    if len(stated) < 2 or len({tuple(column.values or ()) for column in stated}) > 1:
        return list(group)
    columns = [replace(column, shown=None) if column in stated else column for column in group]
    return [*columns, Column("all prove", None, stated[0].shown, align="l")]


def _notes(
    note: str,
    evidence: Evidence,
    labels: Mapping[str, Sequence[PrecisionEntry]],
    problems: Sequence[str],
) -> list[str]:
    """Return a note, the choices of parameters, the fits that did not converge, preprocessing."""
    missed = []
    for label, entries_of_label in labels.items():
        shares = [
            share for entry in entries_of_label for share in entry.measured("converged").values()
        ]
        rest = 1.0 - sum(shares) / len(shares) if shares else 0.0
        if rest:
            missed.append(f"{escape(label)} {100.0 * rest:.2g}\\,\\%")
    fits = f"Final fits that a limit ended before convergence: {', '.join(missed)}."
    notes = [note, _choices(labels), fits if missed else "", preprocessing(evidence, problems)]
    return [note for note in notes if note]


def _choices(labels: Mapping[str, Sequence[PrecisionEntry]]) -> str:
    """Return how many choices are at an edge of their grid, and where one candidate always wins."""
    edges, single = [], []
    for label, entries_of_label in labels.items():
        at_edge = [
            edge for entry in entries_of_label for edge in entry.measured("on_edge").values()
        ]
        values = [value for entry in entries_of_label for value in entry.chosen.values()]
        candidates = [
            n for entry in entries_of_label for n in entry.measured("candidates").values()
        ]
        if any(at_edge):
            edges.append(f"{escape(label)} {sum(at_edge):.0f} of {len(at_edge)}")
        if (
            len(entries_of_label) >= _LEAST_PROBLEMS
            and len(set(values)) == 1
            and max(candidates, default=0.0) > 1
        ):
            single.append(f"{escape(label)} ({values[0]:g} in {len(values)} of {len(values)})")
    sentence = f"Tuned parameters at the edge of their grid: {', '.join(edges) or 'none'}."
    if single:
        sentence += (
            f" One candidate wins in every cell, which suggests an error: {', '.join(single)}."
        )
    return (
        sentence
        if any(entries_of_label[0].measured("on_edge") for entries_of_label in labels.values())
        else ""
    )


def preprocessing(evidence: Evidence, problems: Sequence[str]) -> str:
    """Return the choices that made the examples, as one sentence; empty if they are no documents.

    It needs the configuration as well as the runs.
    """
    described = set()
    for record in (evidence.dataset(problem) for problem in problems if evidence.folder):
        if not isinstance(record, Reuters):
            continue
        words = "scikit-learn's English stop words left out"
        described.add(
            "Reuters-21578, Mod-Apte split (9603 training and 3299 test documents, including those "
            "without a topic); "
            f"{'title, author, dateline and body' if record.text == 'all' else 'the body alone'}; "
            "words of two or more letters a to z, in lower case; "
            f"{words if record.stop_words else 'stop words kept'}; "
            f"{'words reduced to their Porter stems' if record.stem else 'words not stemmed'}; "
            f"words in at least {record.min_documents} training documents; "
            f"weights {_WEIGHTS[record.weighting]}; "
            f"rows {'divided by their norms' if record.normalise else 'not normalised'}."
            + f" {_TAKEN_FROM_TEST}"
            * (record.weighting == "log1p-idf")
        )
    return " ".join(sorted(described))
