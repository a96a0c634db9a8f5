"""Learners: what they choose, what they state, and that test labels have no part in it."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC

from perceptron_lab.core import registry
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.problem import Task
from perceptron_lab.estimators import SoftEllipsoidClassifier
from perceptron_lab.estimators.learners.features import GramSchmidtFeatures, OnFeatures, extract
from perceptron_lab.estimators.learners.learning import Learned, learn
from perceptron_lab.estimators.learners.precision import average_precision
from perceptron_lab.estimators.learners.registered import tuned_classifiers
from perceptron_lab.estimators.learners.registered.ellipsoid_separation import EllipsoidSeparation
from perceptron_lab.estimators.learners.registered.tuned_classifiers import (
    TunedLinearScorer,
    TunedPolynomialSvm,
    TunedSoftEllipsoid,
    TunedSoftSeparation,
)
from perceptron_lab.estimators.learners.tuning import fitted
from perceptron_lab.problems.ellipsoids.hard.separation import Separation
from perceptron_lab.problems.ellipsoids.hard.separation_ratio import maximal_separation
from tests.repetitions import repeated

TUNED: list[Any] = [
    TunedSoftEllipsoid(components=3, rank=3, regularisations=(1e-1, 1e-2, 1e-3)),
    TunedPolynomialSvm(components=3),
    TunedLinearScorer(components=3),
]
FEW: dict[str, tuple[float, ...]] = {
    "regularisations": (1e-3, 1e-1),
    "penalties": (1.0, 1e2),
    "positive_penalties": (10.0,),
    "negative_penalties": (10.0, 100.0),
}
"""Candidates of a learner where it does not matter that there are many."""


def ball(count: int = 60, positives: int = 20, seed: int = 0, spread: float = 0.4) -> Task:
    """Return positives around the origin of a 4-dimensional space, negatives on a sphere."""
    rng = np.random.default_rng(seed)

    def half() -> tuple[Any, Any]:
        labels = np.where(np.arange(count) < positives, 1.0, -1.0)
        rows = rng.standard_normal((count, 4))
        outer = rows / np.linalg.norm(rows, axis=1)[:, None] * 3.0
        return np.where(labels[:, None] > 0, spread * rows, outer), labels

    (examples, labels), (test, test_labels) = half(), half()
    return Task("ball", examples, labels, test, test_labels)


def sparse(task: Task) -> Task:
    return replace(
        task, examples=sp.csr_array(task.examples), test_examples=sp.csr_array(task.test_examples)
    )


@cache
def of_the_ball(learner: Any) -> Learned:
    return learner.learn(ball(), 0)


def few(kind: Any) -> dict[str, tuple[float, ...]]:
    names = {field.name for field in fields(kind)}
    return {name: values for name, values in FEW.items() if name in names}


def precision(task: Task, learned: Learned) -> float:
    return average_precision(task.test_labels, learned.scores)


def on_features(name: str) -> bool:
    return issubclass(registry.load("learner", name), OnFeatures)


@pytest.mark.parametrize("name", registry.names("learner"))
@pytest.mark.parametrize("candidates", repeated([few, lambda kind: {}], kept=1))
def test_every_registered_learner_learns(candidates: Any, name: str) -> None:
    task, kind = ball(), registry.load("learner", name)
    parameters = {"components": 2} if on_features(name) else {}
    learned = kind(**parameters, **candidates(kind)).learn(sparse(task), 0)
    assert learned.scores.shape == task.test_labels.shape
    assert np.isfinite(learned.scores).all()
    assert learned.figures.get("components") == parameters.get("components")
    assert learned.figures["cpu_seconds"] >= 0.0


@pytest.mark.slow
@pytest.mark.parametrize("learner", TUNED)
def test_a_tuned_learner_reports_its_parameters(learner: Any) -> None:
    learned = of_the_ball(learner)
    (name,) = learned.certificate["chosen"]
    candidates = learner.penalties if name == "penalty" else learner.regularisations
    selected = learned.figures[name]
    assert selected in candidates
    assert learned.figures["candidates"] == len(candidates)
    assert len(list(type(learner)().search(0)[0].candidates())) == 7
    assert learned.figures["on_edge"] == float(selected in (min(candidates), max(candidates)))
    assert (learned.certificate["edges"] == [name]) == bool(learned.figures["on_edge"])
    assert 0.0 < learned.figures["validation"] <= 1.0
    assert learned.figures["folds"] == 3
    assert learned.status is Status.FITTED


def size_of(model: Any, rows: np.ndarray) -> float:
    """Return what each classifier's regularisation weighs against its loss."""
    if isinstance(model, SVC):
        kernel, dual = (1.0 + rows @ rows.T) ** 2, np.zeros(len(rows))
        dual[model.support_] = model.dual_coef_[0]
        return float(dual @ kernel @ dual)
    if isinstance(model, SoftEllipsoidClassifier):
        factor = model.quadratic_.factor
        gram = factor.T @ factor
        return float((gram**2).sum() + 2.0 * model.quadratic_.linear @ model.quadratic_.linear)
    return float(model.coef_.ravel() @ model.coef_.ravel())


@pytest.mark.parametrize("learner", TUNED)
def test_candidates_start_with_the_most_regularised_in_any_order(learner: Any) -> None:
    name = "penalties" if isinstance(learner, TunedPolynomialSvm) else "regularisations"
    values = (1e-3, 1e1, 1e-1)
    task = ball()
    learned = [
        replace(learner, **{name: tuple(order)}).learn(task, 3)
        for order in (values, sorted(values), sorted(values)[::-1])
    ]
    assert all(other.certificate == learned[0].certificate for other in learned)
    assert all((other.scores == learned[0].scores).all() for other in learned)
    grid, _ = replace(learner, **{name: values}).search(0)
    models = [
        fitted(grid.with_parameters(parameters), task.examples, task.labels)
        for parameters in grid.candidates()
    ]
    sizes = [size_of(model, task.examples) for model in models]
    # what is penalised grows as the penalty on it falls
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[1] < sizes[2]


def test_the_machine_is_tuned_alike_by_rows_and_by_matrices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learner, kernels, fit = TunedPolynomialSvm(components=3, penalties=(1e-2, 1.0)), [], SVC.fit

    def watched(machine: SVC, *parts: Any) -> Any:
        kernels.append(machine.kernel)
        return fit(machine, *parts)

    monkeypatch.setattr(SVC, "fit", watched)
    by_matrices = learner.learn(ball(), 0)
    monkeypatch.setattr(tuned_classifiers, "FASTER", 0)
    by_rows = learner.learn(ball(), 0)
    assert kernels == ["precomputed"] * 6 + ["poly"] + ["poly"] * 6 + ["poly"]
    assert by_matrices.certificate == by_rows.certificate
    assert by_matrices.figures["validation"] == pytest.approx(by_rows.figures["validation"])
    np.testing.assert_array_equal(by_matrices.scores, by_rows.scores)


def test_the_soft_separation_begins_with_the_cheapest_slacks() -> None:
    learner = TunedSoftSeparation(positive_penalties=(30, 3), negative_penalties=(5, 20, 2))
    grid, _ = learner.search(0)
    assert [tuple(candidate.values()) for candidate in grid.candidates()] == [
        (positive, negative) for positive in (3, 30) for negative in (2, 5, 20)
    ]


def test_the_soft_separation_chooses_both_penalties() -> None:
    learned = registry.load("learner", "soft-separation")(components=3).learn(ball(), 0)
    assert set(learned.certificate["chosen"]) == {"positive_penalty", "negative_penalty"}
    assert learned.figures["candidates"] == 9
    assert learned.figures["ratio"] >= 0.0
    assert learned.iterations > 0
    alone = registry.load("learner", "soft-separation")(
        components=None, positive_penalties=(0.5,), negative_penalties=(2.0,)
    )
    unbounded = alone.learn(ball(), 0)
    assert "ratio" not in unbounded.figures
    assert precision(ball(), unbounded) > 0.9


def test_quadratic_learners_find_the_ball_that_no_linear_function_finds() -> None:
    soft, svm, linear = (precision(ball(), of_the_ball(learner)) for learner in TUNED)
    assert min(soft, svm) > 0.95
    assert linear < 0.8


def test_parameters_of_examples_in_few_dimensions() -> None:
    task = ball()
    drawn = EllipsoidSeparation(2, solver="central-path").learn(task, 0).arrays
    assert drawn["homogeneous"].shape == (3, 3)
    assert drawn["positive_weights"].shape == (20,)
    assert EllipsoidSeparation(4, solver="clarabel").learn(task, 0).arrays == {}


def test_fits_that_are_cut_off_are_not_called_converged() -> None:
    learner = TunedPolynomialSvm(components=None, penalties=(1e6,), iterations=1)
    learned = learner.learn(ball(spread=2.0), 0)
    assert learned.figures["converged"] == 0.0
    assert "did not converge" in learned.message
    assert of_the_ball(TUNED[1]).figures["converged"] == 1.0


@pytest.mark.parametrize(
    "form", repeated([lambda **parameters: sparse(ball(**parameters)), ball], kept=1)
)
def test_the_best_penalty_by_test_precision_bounds_every_other(form: Any) -> None:
    task, candidates = form(spread=1.5), (1e-2, 1.0, 1e2)
    reached = [
        precision(task, TunedPolynomialSvm(components=None, penalties=(penalty,)).learn(task, 0))
        for penalty in candidates
    ]
    bound = TunedPolynomialSvm(components=None, penalties=candidates, choice="test-precision")
    learned = bound.learn(task, 0)
    assert precision(task, learned) == max(reached)
    assert learned.figures["penalty"] == candidates[reached.index(max(reached))]
    assert learned.figures["folds"] == 0.0
    assert "validation" not in learned.figures
    assert "by test precision" in learned.message


def test_whitening_makes_the_answer_invariant() -> None:
    task = ball()
    stretched = replace(
        task,
        examples=np.asarray(task.examples) * [1e3, 1.0, 1.0, 1e-3],
        test_examples=np.asarray(task.test_examples) * [1e3, 1.0, 1.0, 1e-3],
    )
    learner = EllipsoidSeparation(None, solver="clarabel")
    first, second = (
        learner.learn(labelled_task, 0).figures["ratio"] for labelled_task in (task, stretched)
    )
    assert second == pytest.approx(first, rel=1e-6)


@pytest.mark.parametrize("learner", [*TUNED, EllipsoidSeparation(2, solver="clarabel")])
def test_test_examples_do_not_affect_training(learner: Any) -> None:
    task, learner = ball(), replace(learner, **few(learner))
    part = replace(task, test_examples=task.test_examples[5:9], test_labels=-task.test_labels[5:9])
    full, alone = learner.learn(task, 1), learner.learn(part, 1)
    np.testing.assert_allclose(full.scores[5:9], alone.scores, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("learner", TUNED)
def test_the_same_seed_gives_the_same_scores(learner: Any) -> None:
    small = replace(learner, **few(learner))
    first, second = (small.learn(ball(), 3).scores for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_the_seed_draws_the_first_pivot() -> None:
    task = ball()
    rows = np.asarray(task.examples)
    unit = rows / np.linalg.norm(rows, axis=1)[:, None]
    same = replace(task, examples=unit)
    extractions = [extract(same, OnFeatures(2).transformer(seed)) for seed in range(4)]
    assert {extraction.figures["first_ties"] for extraction in extractions} == {20.0}
    assert len({np.asarray(extraction.training).tobytes() for extraction in extractions}) > 1


def test_without_a_number_of_components_the_examples_are_the_features() -> None:
    task = sparse(ball())
    extracted = extract(task, OnFeatures(None).transformer(0))
    assert extracted.training is task.examples
    assert extracted.figures == {"components": 4.0}


@pytest.mark.parametrize(
    ("choice", "kernel"),
    [
        (OnFeatures(3, "rbf", gamma=0.2), {"kernel": "rbf", "gamma": 0.2}),
        (OnFeatures(3, "polynomial", gamma=0.2), {"kernel": "poly", "gamma": 0.2, "degree": 2}),
        (
            OnFeatures(3, "polynomial", polynomial_degree=3),
            {"kernel": "poly", "gamma": None, "degree": 3},
        ),
        (OnFeatures(3), {"kernel": "linear"}),
    ],
)
def test_the_features_are_those_of_the_kernel(choice: OnFeatures, kernel: dict[str, Any]) -> None:
    task = ball()
    transformer = choice.transformer(5)
    assert transformer is not None
    same = GramSchmidtFeatures(3, pivot_start=transformer.pivot_start, **kernel)
    expected = same.fit_transform(task.examples, task.labels)
    np.testing.assert_array_equal(extract(task, transformer).training, expected)


@pytest.mark.parametrize("name", [name for name in registry.names("learner") if on_features(name)])
@pytest.mark.parametrize("kernel", ["rbf", "polynomial"])
def test_kernel_features_make_every_learner_find_the_ball(kernel: str, name: str) -> None:
    task = ball()
    kind = registry.load("learner", name)
    solver = {"solver": "clarabel"} if name == "ellipsoid-separation" else {}
    learner = kind(components=8, feature_kernel=kernel, gamma=0.3, **solver, **few(kind))
    learned = learner.learn(sparse(task), 0)
    assert learned.figures["components"] == 8
    assert precision(task, learned) > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("learner", TUNED)
def test_fewer_positives_than_folds_make_fewer_folds(learner: Any) -> None:
    assert replace(learner, **few(learner)).learn(ball(positives=2), 0).figures["folds"] == 2


@pytest.mark.parametrize("learner", TUNED)
def test_a_single_positive_gives_the_middle_of_the_grid(learner: Any) -> None:
    learned = learner.learn(ball(positives=1), 0)
    (name,) = learned.certificate["chosen"]
    candidates = learner.penalties if name == "penalty" else learner.regularisations
    assert learned.figures[name] == candidates[len(candidates) // 2]
    assert "validation" not in learned.figures
    assert "one positive" in learned.message


def test_a_separating_ellipsoid_is_proved() -> None:
    task = ball()
    learned = EllipsoidSeparation(4, solver="clarabel").learn(task, 0)
    assert learned.status is Status.FEASIBLE
    assert 0.0 < learned.figures["ratio_lower"] <= learned.figures["ratio_upper"]
    assert precision(task, learned) > 0.95
    assert learned.certificate["proved"] is True


@pytest.mark.parametrize("solver", ["central-path", "clarabel"])
def test_inseparable_classes_are_proved_to_be(solver: Any) -> None:
    task = ball(spread=2.0)
    learned = EllipsoidSeparation(3, solver=solver).learn(task, 0)
    assert learned.status is Status.INFEASIBLE
    assert learned.figures["ratio_upper"] == 0.0
    assert "no ellipsoid separates" in learned.message


def test_inseparable_classes_can_be_ranked_by_the_central_path() -> None:
    task = ball(spread=2.0)
    both = EllipsoidSeparation(3, solver="constraint-generation", inseparable="central-path")
    limit = EllipsoidSeparation(3, solver="central-path")
    np.testing.assert_array_equal(both.learn(task, 0).scores, limit.learn(task, 0).scores)


def test_the_central_path_is_followed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(*classes: Any, **parameters: Any) -> Separation:
        calls.append(parameters["solver"])
        return maximal_separation(*classes, **parameters)

    function = "perceptron_lab.estimators.ellipsoid_separation.maximal_separation"
    monkeypatch.setattr(function, counted)
    task = ball(spread=2.0)
    EllipsoidSeparation(3, solver="central-path", inseparable="central-path").learn(task, 0)
    assert calls == ["central-path"]
    EllipsoidSeparation(3, solver="clarabel", inseparable="central-path").learn(task, 0)
    assert calls[1:] == ["clarabel", "central-path"]


def test_as_many_features_as_positives_are_unbounded_and_fewer_are_not() -> None:
    task = ball(positives=3)
    unbounded = EllipsoidSeparation(4, solver="clarabel").learn(task, 0)
    assert unbounded.status is Status.UNBOUNDED
    assert "ratio_upper" not in unbounded.figures
    lowered = EllipsoidSeparation(4, below_positives=True, solver="clarabel").learn(task, 0)
    assert lowered.figures["components"] == 2.0
    assert lowered.status is not Status.UNBOUNDED


@pytest.mark.parametrize("change", [lambda task: task, sparse])
def test_positives_that_repeat_themselves_count_once(change: Any) -> None:
    task = ball(positives=4)
    examples = np.array(task.examples)
    examples[1] = examples[0]
    learner = EllipsoidSeparation(4, below_positives=True, solver="clarabel")
    learned = learner.learn(change(replace(task, examples=examples)), 0)
    assert learned.figures["positives"] == 3.0
    assert learned.figures["components"] == 2.0


def on_a_grid(task: Task) -> Task:
    """Examples whose inner products, and squares of these, no order of summation rounds."""
    rows, test = (np.round(64 * x) / 64 for x in (task.examples, task.test_examples))
    return replace(task, examples=rows, test_examples=test)


@pytest.mark.slow
def test_one_kernel_matrix_serves_all_tasks_on_the_same_examples() -> None:
    tuned_classifiers._cached_matrix.clear()
    exact = on_a_grid(ball())
    task = sparse(exact)
    learner = TunedPolynomialSvm(components=None, penalties=FEW["penalties"])
    first = learner.learn(task, 0)
    ((cached, _),) = tuned_classifiers._cached_matrix.values()
    other = replace(task, examples=task.examples.copy(), labels=task.labels[::-1].copy())
    learner.learn(other, 0)
    assert all(matrix is cached for matrix, _ in tuned_classifiers._cached_matrix.values())
    dense = learner.learn(exact, 0)
    np.testing.assert_allclose(first.scores, dense.scores, rtol=1e-12, atol=1e-12)
    learner.learn(sparse(ball(seed=1)), 0)
    assert len(tuned_classifiers._cached_matrix) == 1


def test_a_result_holds_scores_labels_and_figures() -> None:
    task = ball()
    result = learn(TUNED[2], [task], 0)
    measures = result.trace.measures
    np.testing.assert_array_equal(measures["labels"][0], task.test_labels)
    expected = average_precision(task.test_labels, measures["ranks"][0])
    assert result.certificate["figures"]["average_precision"] == expected


@pytest.mark.parametrize(
    ("learner", "parameters"),
    [
        (TunedSoftEllipsoid, {"components": 0}),
        (TunedSoftEllipsoid, {"regularisations": ()}),
        (TunedSoftEllipsoid, {"regularisations": (1e-3, 1e-3)}),
        (TunedLinearScorer, {"regularisations": (0.0,)}),
        (TunedPolynomialSvm, {"penalties": (-1.0,)}),
        (TunedPolynomialSvm, {"folds": 1}),
        (EllipsoidSeparation, {"solver": "simplex"}),
        (TunedSoftEllipsoid, {"feature_kernel": "gaussian"}),
        (TunedSoftEllipsoid, {"gamma": 0.5}),
        (TunedLinearScorer, {"feature_kernel": "rbf", "components": None}),
        (TunedPolynomialSvm, {"polynomial_degree": 2, "feature_kernel": "rbf"}),
        (EllipsoidSeparation, {"gamma": 0.0, "feature_kernel": "rbf"}),
    ],
)
def test_parameters_out_of_range_are_refused(learner: Any, parameters: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(parameters))):
        learner(**parameters)


def test_without_a_limit_of_the_central_path_the_solver_ranks_with_a_message() -> None:
    examples = np.array([[-1.0], [1.0], [-1.0], [1.0], [2.0]])
    labels = np.array([1.0, 1.0, -1.0, -1.0, -1.0])
    touching = Task("touching", examples, labels, examples, labels)
    learner = EllipsoidSeparation(None, solver="clarabel", inseparable="central-path")
    learned = learner.learn(touching, 0)
    assert learned.status is Status.INFEASIBLE
    assert "ranked by the solver, since" in learned.message
    alone = EllipsoidSeparation(None, solver="clarabel").learn(touching, 0)
    np.testing.assert_array_equal(learned.scores, alone.scores)
