"""What methods say about separation: proved verdicts, a program in doubles, and likelihoods."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.collections.textbook_separation import TextbookSeparation
from perceptron_lab.datasets.problem import Task
from perceptron_lab.estimators.learners.learning import Learner, learn, prove
from perceptron_lab.estimators.learners.registered.likelihood import (
    KonisProgram,
    NewtonSteps,
    SklearnLogisticRegression,
    independent_columns,
    konis_program,
    newton_history,
)
from perceptron_lab.estimators.learners.registered.separation_verdict import ProvedSeparation

ENDOMETRIAL = TextbookSeparation().load("endometrial", seed=0, base=Path()).tasks[0]


def feature_task(examples: list[float], labels: list[int], tests: Sequence[float] = ()) -> Task:
    signs = np.where(np.array(labels) > 0, 1.0, -1.0)
    columns = (np.array(part, dtype=float).reshape(-1, 1) for part in (examples, tests))
    return Task("1", next(columns), signs, next(columns), np.ones(len(tests)))


COMPLETE = feature_task([1, 2, 3, 4], [0, 0, 1, 1])
TIED = feature_task([1, 2, 2, 3], [0, 0, 1, 1])
OVERLAP = feature_task([1, 3, 2, 4], [0, 0, 1, 1])
NEARLY = feature_task([0, 1 + 2.0**-30, 1, 2], [0, 0, 1, 1])


def verdict_of(learner: Learner, task: Task) -> str | None:
    result = learn(learner, [task], 0)
    assert result.message.startswith(f"{result.finding.separation}: ")
    return result.finding.separation


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (ProvedSeparation(), ["complete", "overlap", "quasi-complete", "overlap"]),
        # An overlap of 2^-30 is below HiGHS's tolerance
        (KonisProgram(), ["separated", "not separated", "separated", "separated"]),
        (NewtonSteps(), ["perfect prediction", "converged"]),
        (SklearnLogisticRegression(penalised=True), ["penalised"] * 4),
    ],
)
def test_each_learner_gives_its_separation_answer(learner: Learner, words: list[str]) -> None:
    # How Newton's steps end on the last two depends on rounding
    tasks = (COMPLETE, OVERLAP, TIED, NEARLY)
    assert [verdict_of(learner, task) for task, _ in zip(tasks, words, strict=False)] == words


def test_scikit_learn_converges_where_there_are_no_estimates() -> None:
    assert verdict_of(SklearnLogisticRegression(), COMPLETE) == "converged"
    assert verdict_of(SklearnLogisticRegression(iterations=1), OVERLAP) == "not converged"


def test_newton_finds_the_published_estimates_of_the_endometrial_study() -> None:
    """The finite ones of R's glm on HG ~ NV + PI + EH, and their standard errors."""
    rows = np.c_[ENDOMETRIAL.examples, np.ones(79)] * ENDOMETRIAL.labels[:, None]
    history = newton_history(rows, steps=15)
    np.testing.assert_allclose(
        history.coefficients[-1][1:], [-0.0421834, -2.9026056, 4.3045178], rtol=1e-6
    )
    np.testing.assert_allclose(history.errors[1:], [0.04433, 0.84555, 1.63730], atol=1e-5)
    assert (np.diff(history.coefficients[5:, 0]) > 0.9).all()  # that of NV grows by 1 in each step


def test_newton_ends_at_the_log_odds() -> None:
    rows = np.array([[1.0], [1.0], [1.0], [-1.0]])
    history = newton_history(rows)
    assert history.answer == "converged"
    np.testing.assert_allclose(history.coefficients[-1], [np.log(3.0)], rtol=1e-9)
    np.testing.assert_allclose(history.errors, [np.sqrt(1.0 / 3.0 + 1.0)], rtol=1e-8)


def test_konis_program_has_the_optimum_of_its_box() -> None:
    rows = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, -1.0]])
    program = konis_program(rows)
    assert program.solved
    np.testing.assert_allclose([program.gain, program.direction[0]], [3.0, 1.0])


def test_dependent_columns_are_left_out_in_their_order() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 9))
    assert independent_columns(np.c_[a, 0 * a, 2 * a, b, a - b, a + 1e-3 * rng.random(9)]) == [
        0,
        3,
        5,
    ]


def test_a_verdict_is_proved_again_from_its_arrays() -> None:
    learner = ProvedSeparation()
    result = learn(learner, [ENDOMETRIAL], 0)
    assert (result.status, result.proved) == (Status.INFEASIBLE, True)
    figures = result.certificate["figures"]
    again = prove(learner, [ENDOMETRIAL], 0, result.proof)
    assert again is not None
    assert again.status is Status.INFEASIBLE
    assert again.counts == {name: figures[name] for name in again.counts}
    assert again.counts["plus_infinite"] == again.counts["diverging"] == 1.0
    assert again.counts["overlap_rows"] == 66.0
    other = feature_task(np.asarray(ENDOMETRIAL.examples)[:, 0].tolist(), [1] * 40 + [0] * 39)
    with pytest.raises(DataError, match="a direction of 4 entries, of 2 columns"):
        prove(learner, [other], 0, result.proof)


def test_a_wrong_proof_proves_nothing() -> None:
    learner = ProvedSeparation()
    result = learn(learner, [TIED], 0)
    proof = dict(result.proof)
    proof["0.weights"] = proof["0.weights"] + 1.0
    again = prove(learner, [TIED], 0, proof)
    assert again is not None
    assert again.status is Status.FITTED
    assert "weight" in again.message


@pytest.mark.parametrize("learner", [ProvedSeparation(), KonisProgram(), NewtonSteps()])
def test_test_examples_are_scored_where_there_are_some(learner: Any) -> None:
    task = feature_task([1, 2, 3, 4], [0, 0, 1, 1], tests=[9.0, 5.0])
    assert learn(learner, [task], 0).certificate["figures"]["error"] == 0.0
    assert "error" not in learn(learner, [COMPLETE], 0).certificate["figures"]
