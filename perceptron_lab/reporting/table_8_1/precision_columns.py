"""Columns of average precisions, one per label, with a last line for the mean over the problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from perceptron_lab.datasets.collections.reuters import Reuters
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.table import Column, Value, texts
from perceptron_lab.reporting.printing.typesetting import NOTHING, escape
from perceptron_lab.reporting.table_8_1.precisions import (
    HARD,
    Entry,
    Spread,
    endings_of,
    mean_spread,
    spread,
)


def label_columns(of_label: Sequence[Entry]) -> list[Column]:
    """Return a label's columns: the mean over the seeds, and its range over several of them.

    Their names are those of the label, ``LABEL lowest``, ``LABEL highest`` and, only where cells
    have no result, ``LABEL status``.
    """
    label, listed = of_label[0].label, list(of_label)
    spreads = [*map(spread, listed), mean_spread(listed)]
    columns = [Column(label, [s.mean for s in spreads], [_shown(s) for s in spreads])]
    if any(entry.summary.seeds > 1 for entry in listed):
        columns.append(Column(f"{label} lowest", [s.lowest for s in spreads], None))
        columns.append(Column(f"{label} highest", [s.highest for s in spreads], None))
    endings = [endings_of(entry) for entry in listed]
    return [*columns, texts(f"{label} status", [*endings, ""])] if any(endings) else columns


def statements(of_label: Sequence[Entry]) -> list[Column]:
    """Return what a hard ellipsoid says about separability; nothing for other learners."""
    if of_label[0].algorithm != HARD:
        return []
    said = [entry.statement for entry in of_label]
    shown = [_mathematics(text) for text in said]
    return [Column(f"{of_label[0].label} proves", [*said, ""], [*shown, ""], align="l")]


def unconverged(labels: Mapping[str, Sequence[Entry]]) -> str:
    """Return the share of each label's final fits that did not converge, as a sentence, in LaTeX.

    Empty where all of them did.
    """
    shares = {label: _unconverged(own) for label, own in labels.items()}
    told = [
        f"{escape(label)} {100.0 * share:.2g}\\,\\%" for label, share in shares.items() if share
    ]
    if not told:
        return ""
    return f"Final fits that had not converged when they were ended: {', '.join(told)}."


def _unconverged(of_label: Sequence[Entry]) -> float:
    shares = [share for one in of_label for share in one.measured("converged").values()]
    return 1.0 - sum(shares) / len(shares) if shares else 0.0


def numbers(name: str, values: Sequence[float | None]) -> Column:
    """Return a column of percents, one digit after the point."""
    given: list[Value] = list(values)
    return Column(name, given, [percent(value) for value in values])


def percent(value: float | None) -> str:
    """Return a percentage as it is printed."""
    return NOTHING if value is None else f"{value:.1f}"


def _shown(of: Spread) -> str:
    if of.lowest == of.highest or of.lowest is None:
        return percent(of.mean)
    return f"{percent(of.mean)} ({percent(of.lowest)}--{percent(of.highest)})"


def _mathematics(text: str) -> str:
    if not text.startswith("t "):
        return escape(text)
    return "$" + text.replace("<=", "\\leq").replace(">=", "\\geq") + "$"


def preprocessing(evidence: Evidence, problems: Sequence[str]) -> str:
    """Return the choices that made the examples, as one sentence; empty if they are no documents.

    Raises
    ------
    DataError
        If the configuration is missing beside the runs.
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
