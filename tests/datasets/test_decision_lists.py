"""Decision lists: labels by the list, the halfspace, and the lower bound of the l1 margin."""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_lab.core.errors import InputError
from perceptron_lab.datasets.generated.decision_lists import DecisionLists
from tests.repetitions import repeated
from tests.theorems.test_winnow import l1_margin


@pytest.mark.parametrize("labels", ["alternate", "equal"])
@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_the_first_rule_that_applies_labels_an_example(seed: int, labels: str) -> None:
    """The list is read off the halfspace, in the order of its weights."""
    dataset = DecisionLists(labels=labels, dimension=15, rows=300, length=7)
    examples, given, point = dataset.generate(seed)
    weights = dataset.rule_weights()
    columns = [int(c) for c in np.flatnonzero(point[:-1])]
    columns.sort(key=lambda c: -abs(point[c]))
    assert len(columns) == 7
    for example, label in zip(examples, given, strict=True):
        scores = [example[c] * point[c] for c in columns]
        if labels == "alternate":
            outputs = [(-1.0) ** (6 - j) for j in range(7)]
            applies = [s * b > 0 for s, b in zip(scores, outputs, strict=True)]
            assert label == next((b for b, a in zip(outputs, applies, strict=True) if a), -1.0)
        else:
            assert label == (1.0 if max(scores) > 0 else -1.0)
        assert label * (example @ point[:-1] + point[-1]) >= 1.0
    assert weights[-1] == -1.0


def test_alternating_lists_have_fibonacci_numbers() -> None:
    assert DecisionLists(length=6).rule_weights().tolist() == [-21, 13, -8, 5, -3, 2, -1]
    assert DecisionLists(labels="equal", length=3).rule_weights().tolist() == [2, 2, 2, -1]


@pytest.mark.parametrize("length", [1, 3, 6])
def test_the_margin_of_the_facts_is_a_lower_bound_that_decides(length: int) -> None:
    problem = DecisionLists(dimension=13, rows=400, length=length).problem(1)
    rows = problem.system.matrix.rows(np.arange(400))
    margin = problem.facts.l1_margin
    assert margin is not None
    assert margin <= l1_margin(rows) * (1 + 1e-9)
    assert l1_margin(rows) <= 2.0 * margin


def test_a_list_has_one_rule_a_feature_at_most() -> None:
    with pytest.raises(InputError, match="5 rules on 4 features"):
        DecisionLists(dimension=5, length=5)


def test_examples_of_one_label_are_refused_with_a_remedy() -> None:
    with pytest.raises(InputError, match="alternate-5x2-2: all labels are equal; give more rows"):
        DecisionLists(dimension=5, rows=2, length=2).problem(0)
