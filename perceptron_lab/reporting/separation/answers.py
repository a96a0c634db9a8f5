"""The answers of methods on separated classes, and the truth that they are held against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pandas as pd

from perceptron_lab.core.errors import DataError
from perceptron_lab.datasets.collections.textbook_separation import ANSWERS, TextbookSeparation
from perceptron_lab.datasets.generated.separation_families import SeparationFamilies
from perceptron_lab.estimators.learners.sayings import SEPARATION_SAID, said_in
from perceptron_lab.problems.separation.verdict import COMPLETE, OVERLAP, QUASI
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline

PROVING: Final = "separation-verdict"
ASKED: Final = (PROVING, "konis-program", "newton-steps", "logistic-regression")
"""The learners whose messages begin with what they say."""
_VERDICTS: Final = (COMPLETE, QUASI, OVERLAP)


def asked_labels(outline: Outline) -> list[str]:
    """Return the labels of learners that say something about separation."""
    found = [label for label, method in outline.methods().items() if method.algorithm in ASKED]
    if not found:
        raise DataError(
            f"no label says anything about separation; learners that do are {', '.join(ASKED)}"
        )
    return found


def proving_label(outline: Outline) -> str:
    """Return the label of the proved verdicts."""
    for label, method in outline.methods().items():
        if method.algorithm == PROVING:
            return label
    raise DataError(f"no label has the proved verdicts of the learner {PROVING}")


def printed_truth(outline: Outline, problem: str) -> str:
    """Return the verdict by construction, or that of the source; empty where there is neither."""
    record = outline.dataset(problem)
    if isinstance(record, SeparationFamilies):
        return record.kind
    if isinstance(record, TextbookSeparation):
        return ANSWERS[outline.instance(problem)].verdict
    return ""


def truths(evidence: Evidence) -> Mapping[tuple[str, float], str]:
    """Return problem and seed -> the verdict: as printed, or else as proved."""
    found = {}
    printed = {problem: printed_truth(evidence, problem) for problem in evidence.problems()}
    label = proving_label(evidence)
    runs = evidence.frame
    for problem, seed in runs[["problem", "seed"]].itertuples(index=False, name=None):
        if printed[problem]:
            found[problem, seed] = printed[problem]
    own = runs[(runs["label"] == label) & runs["proved"]]
    for problem, seed, message in own[["problem", "seed", "message"]].itertuples(index=False):
        found.setdefault((problem, seed), said_in(str(message)) or "")
    return found


def wrong(said: str | None, truth: str) -> bool:
    """Return whether a word contradicts a verdict."""
    if said is None or not truth:
        return False
    if said in _VERDICTS:
        return said != truth
    separated = SEPARATION_SAID[said]
    return separated is not None and separated == (truth == OVERLAP)


def words(runs: pd.DataFrame) -> list[str | None]:
    """Return what each run says; None for one that ended without an answer."""
    return [said_in(message) for message in runs["message"].astype(str)]
