"""The table of what is said about separation, and its comparison with the truth."""

from __future__ import annotations

import pytest

from perceptron_lab.core.findings import SeparationAnswer
from perceptron_lab.reporting.studies.separation import wrong


@pytest.mark.parametrize(
    ("truth", "contradicted"),
    [
        ("complete", {"quasi-complete", "overlap", "not separated", "converged"}),
        ("quasi-complete", {"complete", "overlap", "not separated", "converged"}),
        ("overlap", {"complete", "quasi-complete", "separated", "perfect prediction"}),
    ],
)
def test_an_answer_is_wrong_if_it_contradicts_the_truth(truth: str, contradicted: set[str]) -> None:
    answers = [*SeparationAnswer, None]
    assert {word for word in answers if wrong(word, truth)} == contradicted
    assert not any(wrong(word, "") for word in answers)
