"""What a run of a learner reports of several tasks, and when a separation ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from perceptron_lab.core.results import Status
from perceptron_lab.datasets.problem import Task
from perceptron_lab.estimators.learners.learning import Learned, Learner, learn
from perceptron_lab.problems.ellipsoids.hard.separation import NEGLIGIBLE, can_rank
from perceptron_lab.problems.ellipsoids.hard.separation_ratio import maximal_separation
from tests.problems.ellipsoids.two_class_sets import overlapping, separable

LABELS = np.array([1.0, 1.0, -1.0, -1.0])


@dataclass(frozen=True)
class Scripted(Learner):
    """Returns what it is told, by the task's name."""

    answers: dict[str, Learned]

    def learn(self, task: Task, seed: int) -> Learned:
        return self.answers[task.name]


def answer(scores: list[float], status: Status = Status.FITTED, **figures: float) -> Learned:
    return Learned(np.array(scores), status, figures=figures, seconds=0.5, iterations=3)


def learnt(**answers: Learned) -> tuple[dict[str, float], Status, bool, int, float]:
    rows = np.zeros((4, 1))
    result = learn(Scripted(answers), [Task(n, rows, LABELS, rows, LABELS) for n in answers], 0)
    figures = result.certificate["figures"]
    return figures, result.status, result.proved, result.iterations, result.seconds


def test_figures_are_means_over_the_tasks() -> None:
    figures, *_, iterations, seconds = learnt(
        right=answer([2.0, 1.0, -1.0, -2.0], ratio=1.0, own=7.0),
        wrong=answer([-2.0, -1.0, 1.0, 2.0], ratio=4.0),
    )
    assert figures["error"] == 0.5
    assert figures["average_precision"] == pytest.approx((1.0 + (1 / 3 + 2 / 4) / 2) / 2)
    assert figures["ratio"] == 2.5
    assert "own" not in figures  # not every task has it
    assert (iterations, seconds) == (6, 1.0)


def test_a_score_of_0_is_on_the_negative_side() -> None:
    figures, *_ = learnt(one=answer([2.0, 1.0, 0.0, -1.0]))
    assert figures["error"] == 0.0
    figures, *_ = learnt(one=answer([0.0, 1.0, -2.0, -1.0]))
    assert figures["error"] == 0.25


@pytest.mark.parametrize(
    ("first", "second", "status", "proved"),
    [
        (Status.FEASIBLE, Status.FEASIBLE, Status.FEASIBLE, True),
        (Status.FEASIBLE, Status.INFEASIBLE, Status.FITTED, False),
        (Status.FITTED, Status.FITTED, Status.FITTED, False),
    ],
)
def test_a_status_is_that_of_every_task(
    first: Status, second: Status, status: Status, proved: bool
) -> None:
    scores = [2.0, 1.0, -1.0, -2.0]
    outcome = learnt(one=answer(scores, first), two=answer(scores, second))
    assert outcome[1:3] == (status, proved)


def test_which_separations_rank() -> None:
    open_ended = maximal_separation(*separable(0, 20, 30, 2))
    nothing = maximal_separation(*overlapping(0, 30, 50, 2))
    limit = maximal_separation(*overlapping(0, 30, 50, 2), solver="central-path")
    hull = maximal_separation(*separable(1, 2, 30, 3))
    assert [can_rank(learned) for learned in (open_ended, nothing, limit, hull)] == [
        True,
        False,
        True,
        True,
    ]
    # What the solver computed counts, unless it may stand for 0.
    assert can_rank(replace(nothing, reached=2.0 * NEGLIGIBLE))
    assert not can_rank(replace(nothing, reached=NEGLIGIBLE))
