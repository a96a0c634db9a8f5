"""The table of what is said about separation, and its comparison with the truth."""

from __future__ import annotations

import pytest

from perceptron_lab.reporting.studies.separation import wrong

SAID = ["complete", "quasi-complete", "overlap", "separated", "not separated", "converged"]


@pytest.mark.parametrize(
    ("truth", "contradicted"),
    [
        ("complete", {"quasi-complete", "overlap", "not separated", "converged"}),
        ("quasi-complete", {"complete", "overlap", "not separated", "converged"}),
        ("overlap", {"complete", "quasi-complete", "separated", "perfect prediction"}),
    ],
)
def test_an_answer_is_wrong_if_it_contradicts_the_truth(truth: str, contradicted: set[str]) -> None:
    silent = ["not converged", "singular", "penalised", "undecided", "not solved", None]
    said = [*SAID, "perfect prediction", *silent]
    assert {word for word in said if wrong(word, truth)} == contradicted
    assert not any(wrong(word, "") for word in said)
