"""Which violated constraint each oracle of the orthant returns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from perceptron_lab.cones.orthant import (
    Cyclic,
    FirstViolated,
    MostViolated,
    Picker,
    Random,
    violated,
)
from perceptron_lab.core.results import FloatArray
from tests.repetitions import examples

PROPERTY = settings(deadline=None, max_examples=examples(150), derandomize=True)
RECORDS = [MostViolated(), FirstViolated(), Cyclic(), Random()]

scores_and_slack = st.tuples(
    hnp.arrays(
        np.float64, st.integers(1, 12), elements=st.sampled_from([-2.0, -1.0, -0.0, 0.0, 1.0, 2.0])
    ),
    st.sampled_from([-1.0, 0.0, 0.5, 1.0]),
)


def running(record: Any, seed: int = 0) -> Picker:
    picker = record.start(np.random.default_rng(seed))
    assert isinstance(picker, Picker)
    return picker


def is_violated(score: float, slack: float) -> bool:
    """The open orthant (or a part of it) at slack <= 0; the closed one, relaxed, above."""
    return score < -slack if slack > 0 else score <= -slack


@PROPERTY
@given(scores_and_slack)
def test_every_oracle_answers_with_a_violated_constraint_whenever_there_is_one(
    question: tuple[FloatArray, float],
) -> None:
    scores, slack = question
    expected = [i for i, score in enumerate(scores) if is_violated(score, slack)]
    assert violated(scores, slack).tolist() == expected
    for record in RECORDS:
        picked = running(record).find(scores, slack)
        assert picked in expected if expected else picked is None


@PROPERTY
@given(scores_and_slack)
def test_most_violated_is_the_lowest_and_first_violated_the_first(
    question: tuple[FloatArray, float],
) -> None:
    scores, slack = question
    indices = violated(scores, slack).tolist()
    if indices:
        lowest = min(indices, key=lambda i: (scores[i], i))
        assert running(MostViolated()).find(scores, slack) == lowest
        assert running(FirstViolated()).find(scores, slack) == indices[0]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_slack_moves_the_boundary_and_changes_its_side(record: Any) -> None:
    picker = running(record)
    assert picker.find(np.array([1.0, 0.0]), 0.0) == 1
    assert picker.find(np.array([1.0, 5e-324]), 0.0) is None
    assert picker.find(np.array([1.0, -0.5]), 0.5) is None
    assert picker.find(np.array([1.0, np.nextafter(-0.5, -1)]), 0.5) == 1
    assert picker.find(np.array([1.0, 0.5]), -0.5) == 1
    assert picker.find(np.array([1.0, np.nextafter(0.5, 1)]), -0.5) is None


def test_cyclic_visits_all_violated_constraints_in_turn() -> None:
    picker = running(Cyclic())
    everything = np.full(5, -1.0)
    assert [picker.find(everything, 0.0) for _ in range(12)] == [*range(5), *range(5), 0, 1]


def test_the_cyclic_oracle_resumes_after_its_last_answer() -> None:
    picker = running(Cyclic())
    assert picker.find(np.array([1.0, -1.0, 1.0, -1.0]), 0.0) == 1
    assert picker.find(np.array([1.0, 1.0, 1.0, 1.0]), 0.0) is None
    assert picker.find(np.array([-1.0, -1.0, -1.0, 1.0]), 0.0) == 2
    assert picker.find(np.array([-1.0, 1.0, -1.0, 1.0]), 0.0) == 0
    assert picker.find(np.array([-1.0, 1.0, 1.0, 1.0]), 0.0) == 0


def test_a_started_cyclic_oracle_starts_from_the_first_row() -> None:
    record, everything = Cyclic(), np.full(3, -1.0)
    first = running(record)
    assert [first.find(everything, 0.0) for _ in range(2)] == [0, 1]
    assert running(record).find(everything, 0.0) == 0
    assert first.find(everything, 0.0) == 2


def test_random_is_uniform_over_the_violated_constraints() -> None:
    scores = np.array([-1.0, 2.0, -3.0, -1e-9, 0.0, 1.0, -5.0])
    picker = running(Random(), seed=12)
    drawn = [picker.find(scores, 0.0) for _ in range(5000)]
    counts = np.bincount(np.array(drawn, dtype=int), minlength=7)
    assert counts[[1, 5]].tolist() == [0, 0]
    assert scipy.stats.chisquare(counts[[0, 2, 3, 4, 6]]).pvalue > 1e-3


def test_random_draws_from_the_generator_it_is_given() -> None:
    scores = np.full(50, -1.0)

    def draw(seed: int) -> list[int | None]:
        picker = running(Random(), seed)
        return [picker.find(scores, 0.0) for _ in range(20)]

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_nan_scores_are_never_called_violated(record: Any) -> None:
    assert running(record).find(np.array([np.nan, np.nan]), 0.0) is None


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_the_records_hold_no_state_and_refuse_unknown_parameters(record: Any) -> None:
    assert record.kind == "orthant"
    assert record == type(record)()
    with pytest.raises(ValueError, match="seed"):
        type(record)(seed=1)
