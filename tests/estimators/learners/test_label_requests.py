"""The learner that requests labels: its figures, their verification, and rescaled examples."""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_lab.core.results import Status
from perceptron_lab.datasets.generated.sphere_streams import SphereStreams
from perceptron_lab.datasets.problem import Task
from perceptron_lab.estimators.learners.learning import learn
from perceptron_lab.estimators.learners.registered.active_perceptron import LabelRequests


def task_of(stretch: float = 1.0) -> Task:
    (task,) = SphereStreams(dimension=5, rows=8000, stretch=stretch).problem(0).tasks
    return task


def test_labels_stay_within_their_bound() -> None:
    learner, task = LabelRequests(patience=8), task_of()
    result = learn(learner, [task], 0)
    figures = result.certificate["figures"]
    assert result.status is Status.FITTED
    assert figures["presentations"] == 8000
    assert figures["mistakes"] < figures["labels"] <= figures["label_bound"] < 8000


def test_labels_to_an_error_are_those_of_the_trace() -> None:
    result = learn(LabelRequests(), [task_of()], 0)
    figures = result.certificate["figures"]
    requested, errors = (result.trace.measures[n][0] for n in ("requested", "error_after"))
    assert errors[-1] == figures["error"] <= 0.01
    assert (np.diff(requested) > 0).all()
    first = requested[np.argmax(errors <= 0.03)]
    assert figures["labels_to_0.03"] == first
    assert figures["labels_to_0.1"] <= first


@pytest.mark.parametrize("update", ["reflection", "perceptron"])
def test_all_labels_are_given_where_they_are_not_requested(update: str) -> None:
    figures = learn(LabelRequests(requests="all", update=update), [task_of()], 0).certificate[  # type: ignore[arg-type]
        "figures"
    ]
    assert figures["labels"] == figures["presentations"] == 8000
    assert "label_bound" not in figures


def test_rescaled_scores_are_those_of_the_examples_as_given() -> None:
    task = task_of(stretch=30.0)
    plain, rescaled = (
        learn(LabelRequests(rescaled=flag), [task], 0).certificate["figures"]["error"]
        for flag in (False, True)
    )
    assert rescaled < 0.01
    assert plain > 2 * rescaled
