"""Columns of average precisions, one per label, with a last line for the mean over the problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from perceptron_lab.datasets.collections.reuters import Reuters
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.columns import Column, texts
from perceptron_lab.reporting.printing.typesetting import escape, percent
from perceptron_lab.reporting.table_8_1.precisions import (
    HARD,
    Entry,
    endings_of,
    mean_spread,
    spread,
)


def label_columns(of_label: Sequence[Entry]) -> list[Column]:
    """Return the mean over the seeds of a label, its range, and the endings.

    They are called as the label, ``LABEL lowest``, ``LABEL highest`` (of several seeds) and
    ``LABEL status`` (only where cells have no result).
    """
    label, listed = of_label[0].label, list(of_label)
    spreads = [*map(spread, listed), mean_spread(listed)]
    shown = [
        percent(one.mean)
        if one.lowest is None or one.lowest == one.highest
        else f"{percent(one.mean)} ({percent(one.lowest)}--{percent(one.highest)})"
        for one in spreads
    ]
    columns = [Column(label, [one.mean for one in spreads], shown)]
    if any(entry.summary.seeds > 1 for entry in listed):
        columns.append(Column(f"{label} lowest", [one.lowest for one in spreads], None))
        columns.append(Column(f"{label} highest", [one.highest for one in spreads], None))
    endings = [endings_of(entry) for entry in listed]
    if any(endings):
        columns.append(texts(f"{label} status", [*endings, ""]))
    return columns


def statements(of_label: Sequence[Entry]) -> list[Column]:
    """Return the statements of a hard ellipsoid about separability; no column for others."""
    if of_label[0].algorithm != HARD:
        return []
    said = [*(entry.statement for entry in of_label), ""]
    bounds = [text.replace("<=", "\\leq").replace(">=", "\\geq") for text in said]
    shown = [
        f"${bound}$" if text.startswith("t ") else escape(text)
        for text, bound in zip(said, bounds, strict=True)
    ]
    return [Column(f"{of_label[0].label} proves", said, shown, align="l")]


def unconverged(labels: Mapping[str, Sequence[Entry]]) -> str:
    """Return the share of each label's final fits that did not converge, as a sentence, in TeX.

    Empty where all of them did.
    """
    told = []
    for label, own in labels.items():
        shares = [share for one in own for share in one.measured("converged").values()]
        missed = 1.0 - sum(shares) / len(shares) if shares else 0.0
        if missed:
            told.append(f"{escape(label)} {100.0 * missed:.2g}\\,\\%")
    if not told:
        return ""
    return f"Final fits that had not converged when they were ended: {', '.join(told)}."


def preprocessing(evidence: Evidence, problems: Sequence[str]) -> str:
    """Return the choices that made the examples, as one sentence; empty if they are no documents.

    It needs the configuration beside the runs.
    """
    records = [evidence.dataset(problem) for problem in problems] if evidence.folder else []
    described = {_described(record) for record in records if isinstance(record, Reuters)}
    return " ".join(sorted(described))


def _described(record: Reuters) -> str:
    left_out = (
        "scikit-learn's English stop words left out" if record.stop_words else ("stop words kept")
    )
    stems = "words of one Porter stem merged" if record.stem else "words not stemmed"
    rows = "rows divided by their norms" if record.normalise else "rows not normalised"
    weights = {
        "log1p-idf": "$\\log(1 + tf) \\log(m / df)$",
        "tf-idf": "$tf \\log(m / df)$",
        "log-tf": "$\\log(1 + tf)$",
        "tf": "$tf$",
    }[record.weighting]
    text = "title, author, dateline and body" if record.text == "all" else "the body alone"
    return (
        "Reuters-21578, Mod-Apte split (9603 training, 3299 test documents, those without a topic "
        f"among them); {text}; words of two or more letters a to z, in lower case; {left_out}; "
        f"{stems}; in {record.min_documents} or more training documents; weights {weights}; "
        f"{rows}."
    )
