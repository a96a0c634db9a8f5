"""What is proved of a separation is proved again from its arrays, and nothing else is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Result, Status
from perceptron_lab.datasets.problem import Task
from perceptron_lab.estimators.learners.learning import learn, prove
from perceptron_lab.estimators.learners.registered.ellipsoid_separation import EllipsoidSeparation
from perceptron_lab.estimators.learners.registered.tuned_classifiers import TunedLinearScorer
from perceptron_lab.problems.ellipsoids.hard import separation
from perceptron_lab.problems.ellipsoids.hard.separation_ratio import maximal_separation
from perceptron_lab.problems.ellipsoids.hard.separation_verification import (
    ProvedRatio,
    proof_arrays,
    prove_separation,
)
from tests.problems.ellipsoids.two_class_sets import Classes, overlapping, separable
from tests.repetitions import repeated


def again(classes: Classes, arrays: dict[str, Any], **more: Any) -> ProvedRatio:
    return prove_separation(*classes, arrays, **{"whiten": True} | more)


@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
@pytest.mark.parametrize("whiten", [True, False])
@pytest.mark.parametrize("dimension", [2, 4])
def test_a_separating_ellipsoid(seed: int, whiten: bool, dimension: int) -> None:
    classes = separable(seed, 40, 60, dimension)
    separation = maximal_separation(*classes, whiten=whiten)
    proved = again(classes, proof_arrays(separation), whiten=whiten)
    assert proved.status is separation.status is Status.FEASIBLE
    assert (proved.ratio_lower, proved.ratio_upper) == (
        separation.ratio_lower,
        separation.ratio_upper,
    )


@pytest.mark.parametrize("seed", range(3))
def test_weights_prove_that_no_ellipsoid_exists(seed: int) -> None:
    classes = overlapping(seed, 50, 80, 3)
    separation = maximal_separation(*classes)
    proved = again(classes, proof_arrays(separation))
    assert proved.status is separation.status is Status.INFEASIBLE
    assert (proved.ratio_lower, proved.ratio_upper) == (0.0, 0.0)


def test_identical_rows_prove_inseparability_with_any_weights() -> None:
    positives, negatives = separable(8, 30, 40, 2)
    negatives[17] = positives[5]
    nothing = {"positive_weights": np.zeros(30), "negative_weights": np.zeros(40)}
    assert again((positives, negatives), nothing).status is Status.INFEASIBLE


def test_a_negligible_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    classes = overlapping(19, 50, 80, 3)
    nothing = "perceptron_lab.problems.ellipsoids.hard.separation_verification.prove_inseparable"
    with monkeypatch.context() as patch:
        patch.setattr(separation, "prove_inseparable", lambda *_: None)
        patch.setattr(nothing, lambda *_: None)
        result = maximal_separation(*classes)
        proved = again(classes, proof_arrays(result))
        assert proved.status is result.status is Status.MARGIN_BOUNDED
        assert proved.ratio_upper == result.ratio_upper
        patch.setattr(
            "perceptron_lab.problems.ellipsoids.hard.separation_verification.NEGLIGIBLE", 1e-15
        )
        assert again(classes, proof_arrays(result)).status is Status.FITTED
    # with the stronger proof, which the claim follows from
    assert again(classes, proof_arrays(result)).status is Status.INFEASIBLE


def test_an_unbounded_ratio_needs_no_arrays_but_weights() -> None:
    classes = separable(9, 3, 40, 3)
    separation = maximal_separation(*classes)
    assert again(classes, proof_arrays(separation)).status is separation.status is Status.UNBOUNDED


def test_arrays_of_other_classes_prove_nothing_of_these() -> None:
    first, second = separable(1, 40, 60, 2), separable(2, 40, 60, 2)
    arrays = proof_arrays(maximal_separation(*second))
    proved = again(first, arrays)
    assert proved.status is Status.FITTED
    assert proved.ratio_lower == 0.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"positive_weights": np.ones(7)}, "weights of 40 positives and 60 negatives are missing"),
        ({"positive_weights": None}, "weights of 40 positives and 60 negatives are missing"),
        ({"negative_weights": np.ones((60, 1))}, r"weights of shape \(60, 1\) for 60 negatives"),
        ({"factor": np.ones((3, 5))}, "an ellipsoid of shapes"),
        ({"shift": np.ones(3)}, "an ellipsoid of shapes"),
        ({"offset": np.ones((2, 2))}, "an ellipsoid of shapes"),
    ],
)
def test_arrays_of_other_shapes_are_refused(change: dict[str, Any], message: str) -> None:
    classes = separable(1, 40, 60, 2)
    arrays = proof_arrays(maximal_separation(*classes)) | change
    with pytest.raises(DataError, match=message):
        again(classes, {name: array for name, array in arrays.items() if array is not None})


def task(seed: int, make: Any = separable) -> Task:
    positives, negatives = make(seed, 30, 50, 3)
    labels = np.append(np.ones(len(positives)), -np.ones(len(negatives)))
    examples = np.vstack([positives, negatives])
    return Task(f"task {seed}", examples, labels, examples, labels)


def learnt(tasks: list[Task]) -> tuple[EllipsoidSeparation, Result]:
    learner = EllipsoidSeparation(components=None, solver="clarabel")
    return learner, learn(learner, tasks, 0)


def test_all_tasks_of_a_learner_are_proved() -> None:
    tasks = [task(1), task(2)]
    learner, result = learnt(tasks)
    proved = prove(learner, tasks, 0, result.proof)
    assert proved is not None
    assert proved.status is result.status is Status.FEASIBLE
    figures = result.certificate["figures"]
    assert proved.bounds == {name: figures[name] for name in ("ratio_lower", "ratio_upper")}
    # one that holds and one that does not is none
    swapped = prove(learner, tasks[::-1], 0, result.proof)
    assert swapped is not None
    assert swapped.status is Status.FITTED


def test_tasks_with_different_ends_are_no_claim() -> None:
    tasks = [task(1), task(2, overlapping)]
    learner, result = learnt(tasks)
    proved = prove(learner, tasks, 0, result.proof)
    assert proved is not None
    assert proved.status is result.status is Status.FITTED


def test_features_are_extracted_again() -> None:
    learner = EllipsoidSeparation(components=2, solver="clarabel")
    tasks = [task(4)]
    for seed in range(3):
        result = learn(learner, tasks, seed)
        proved = prove(learner, tasks, seed, result.proof)
        assert proved is not None
        assert proved.status is result.status


def test_a_learner_without_proof_is_refused() -> None:
    assert prove(TunedLinearScorer(), [task(1)], 0, {}) is None


def test_a_result_keeps_its_proof_in_a_file(tmp_path: Any) -> None:
    _, result = learnt([task(1)])
    result.save(tmp_path / "result.npz")
    arrays = Result.load(tmp_path / "result.npz").proof
    assert set(arrays) == set(result.proof) > {"0.factor", "0.positive_weights"}
    for name, array in result.proof.items():
        np.testing.assert_array_equal(arrays[name], array)
