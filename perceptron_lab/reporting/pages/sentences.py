"""The outcome of an experiment in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pandas as pd

from perceptron_lab.core.errors import counted
from perceptron_lab.core.outward_rounding import text_above, text_below
from perceptron_lab.core.results import Status
from perceptron_lab.reporting.pages.reading import PageData
from perceptron_lab.reporting.printing.typesetting import plain, seconds
from perceptron_lab.reporting.ratios import Interval, Ratio, answered
from perceptron_lab.reporting.summary import CLAIMS, ending

_FEW = 4
"""Labels up to this number have a sentence each."""


def sentences(experiment: PageData, ratios: Sequence[Ratio]) -> Iterator[str]:
    """Yield what was run, how it ended, what it cost, and how the algorithms compare."""
    runs = experiment.evidence.frame
    yield _size(experiment, runs)
    yield f"{_proofs(runs)} {_endings(runs)}"
    yield from _by_label(runs)
    total, proofs = runs["seconds"].sum(), runs["proof_seconds"].sum()
    proving = f", the proofs of their answers {plain(seconds(proofs))}" if proofs else ""
    yield f"The algorithms took {plain(seconds(total))} seconds in all{proving}."
    yield from _compared(ratios)
    certified = sum(cell.filed for cell in experiment.cells)
    if certified:
        yield f"The certificates of {counted(certified, 'cell')} are beside this page."


def _size(experiment: PageData, runs: pd.DataFrame) -> str:
    problems, labels, seeds = (runs[name].nunique() for name in ("problem", "label", "seed"))
    missing = experiment.planned - len(runs)
    parts = [counted(problems, "problem"), counted(labels, "algorithm"), counted(seeds, "seed")]
    tail = f"; {missing} further ones have not been run" if missing else ""
    return f"{counted(len(runs), 'cell')} of {', '.join(parts[:-1])} and {parts[-1]}{tail}."


def _proofs(runs: pd.DataFrame) -> str:
    proved = int((runs["status"].isin(CLAIMS) & runs["proved"]).sum())
    fitted = int((runs["status"] == Status.FITTED).sum())
    said = f"{proved} of {len(runs)} ended with a proved answer"
    return said + (f", {fitted} with a fitted model, which claims nothing." if fitted else ".")


def _endings(runs: pd.DataFrame) -> str:
    found = Counter(map(ending, runs["status"], runs["proved"])).most_common()
    return f"Endings: {', '.join(f'{name} {number}' for name, number in found)}."


def _by_label(runs: pd.DataFrame) -> Iterator[str]:
    """Yield the labels that did not always end with an answer, unless none did."""
    done = answered(runs).groupby(runs["label"], sort=False)
    short = [
        f"{label} {int(one.sum())} of {len(one)}" for label, one in done if not bool(one.all())
    ]
    if short:
        yield f"Without an answer every time: {', '.join(short)}."
    elif runs["label"].nunique() > 1:
        yield "Every algorithm ended with an answer every time."


def _compared(ratios: Sequence[Ratio]) -> Iterator[str]:
    over_all = [one for one in ratios if not one.problem and one.pairs]
    for one in over_all[:_FEW]:
        shown = [
            f"{interval_text(one.by_cost[cost])} times the {cost}"
            for cost in ("queries", "seconds")
            if cost in one.by_cost
        ]
        if shown:
            yield (
                f"On the {_problems(one.pairs)} that both answered, {one.label} took "
                f"{' and '.join(shown)} of {one.against}."
            )


def _problems(count: int) -> str:
    return "problem" if count == 1 else counted(count, "problem")


def interval_text(interval: Interval | None) -> str:
    """Return a ratio and its interval, which is rounded outwards: ``0.48 [0.359, 0.640]``."""
    if interval is None:
        return ""
    ratio = f"{interval.ratio:.3g}"
    if interval.lower is None or interval.upper is None:
        return ratio
    return f"{ratio} [{text_below(interval.lower, 3)}, {text_above(interval.upper, 3)}]"
