"""scikit-learn's data sets: classes, splits without leakage, scalings, held-out measures."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from sklearn import datasets
from sklearn.preprocessing import PolynomialFeatures

from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.cones.operators.kernels import Kernel, Linear, Polynomial, Rbf
from perceptron_lab.core.errors import ConfigError, InputError
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.collections import tabular
from perceptron_lab.datasets.collections.tabular import Examples, HeldOut, Tabular, labels_of, split
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.solving.entry import solve
from tests.repetitions import examples

RBF: dict[str, Any] = {
    "source": "digits",
    "scaling": "range",
    "test_fraction": 0.5,
    "kernel": "rbf",
    "gamma": 0.05,
}


def make(**parameters: Any) -> Tabular:
    return TypeAdapter(Tabular).validate_json(json.dumps(parameters))


def load(name: str, *, seed: int = 0, **parameters: Any) -> Problem:
    return make(**parameters).load(name, seed=seed, base=Path("."))


def held_out(problem: Problem) -> HeldOut:
    assert isinstance(problem.measure, HeldOut)
    return problem.measure


def few_examples(**changes: Any) -> Examples:
    return Tabular("wine", **({"test_fraction": 0.3} | changes)).examples()


@pytest.mark.parametrize(
    ("parameters", "count", "ends"),
    [
        ({"source": "digits"}, 10, ("digits-0-rest", "digits-9-rest")),
        ({"source": "digits", "task": "pairs"}, 45, ("digits-0-1", "digits-8-9")),
        ({"source": "wine"}, 3, ("wine-0-rest", "wine-2-rest")),
        ({"source": "wine", "task": "pairs"}, 3, ("wine-0-1", "wine-1-2")),
        ({"source": "breast-cancer"}, 1, ("breast-cancer", "breast-cancer")),
        ({"source": "breast-cancer", "task": "pairs"}, 1, ("breast-cancer", "breast-cancer")),
        ({"source": "digits", "instances": ["digits-7-rest"]}, 1, ("digits-7-rest",) * 2),
    ],
)
def test_names(parameters: dict[str, Any], count: int, ends: tuple[str, str]) -> None:
    names = make(**parameters).names()
    assert len(set(names)) == len(names) == count
    assert (names[0], names[-1]) == ends


@pytest.mark.slow
def test_checking_a_record_loads_no_scikit_learn() -> None:
    code = (
        "import sys; from perceptron_lab.datasets.collections.tabular import Tabular;"
        "assert len(Tabular(source='digits').names()) == 10; sys.exit('sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("source", "name", "rows", "dimension"),
    [
        ("digits", "digits-3-rest", 1797, 65),
        ("wine", "wine-1-rest", 178, 14),
        ("breast-cancer", "breast-cancer", 569, 31),
    ],
)
def test_all_wine_and_iris_data_have_their_documented_sizes(
    source: str, name: str, rows: int, dimension: int
) -> None:
    problem = load(name, source=source)
    assert problem.facts.rank == rows
    assert problem.facts.dimension == problem.system.dimension == dimension
    assert problem.facts.margin is None
    assert problem.measure is None


def test_the_class_named_first_is_positive() -> None:
    data, labels = datasets.load_wine(return_X_y=True)
    lifted = np.column_stack([data, np.ones(len(data))])
    origin = load("wine-1-rest", source="wine").system.origin
    assert origin is not None
    signs = np.where(labels == 1, 1.0, -1.0)
    assert (origin.operator.data == lifted * signs[:, None]).all()  # type: ignore[attr-defined]
    pair = load("wine-0-2", source="wine", task="pairs").system.origin
    assert pair is not None
    negative = labels != 1
    signs = np.where(labels == 0, 1.0, -1.0)
    assert (pair.operator.data == (lifted * signs[:, None])[negative]).all()  # type: ignore[attr-defined]


@pytest.mark.slow
@settings(max_examples=examples(25))
@given(
    st.sampled_from(["digits", "breast-cancer", "wine"]),
    st.floats(0.05, 0.95),
    st.integers(0, 2**40),
)
def test_splits_are_stratified_partitions(source: str, fraction: float, seed: int) -> None:
    labels = labels_of(source)
    train, test = split(source, labels, fraction, seed)
    assert sorted([*train, *test]) == list(range(len(labels)))
    assert (np.diff(train) > 0).all()
    assert (np.diff(test) > 0).all()
    for kind in np.unique(labels):
        count = np.count_nonzero(labels[test] == kind)
        assert 1 <= count < np.count_nonzero(labels == kind)
        assert abs(count - fraction * np.count_nonzero(labels == kind)) < 2.0


def test_the_seed_determines_the_split() -> None:
    first = load("wine-0-rest", source="wine", test_fraction=0.4, seed=1)
    again = load("wine-0-rest", source="wine", test_fraction=0.4, seed=1)
    other = load("wine-0-rest", source="wine", test_fraction=0.4, seed=2)
    assert first.sha256 == again.sha256 != other.sha256
    full = [load("wine-0-rest", source="wine", seed=seed).sha256 for seed in (1, 2)]
    assert full[0] == full[1] != first.sha256


@pytest.mark.parametrize("task", ["one-vs-rest", "pairs"])
def test_all_instances_of_a_seed_share_the_test_examples(task: str) -> None:
    record = make(source="wine", task=task, test_fraction=0.4)
    expected = tabular.held_out_labels(record, 5)
    assert set(expected) == {0, 1, 2}
    assert len(expected) == 72
    for name in record.names():
        problem = record.load(name, seed=5, base=Path("."))
        assert (held_out(problem).examples.test_labels == expected).all()
        answer = held_out(problem)(np.ones(14))
        assert np.shape(answer["decisions"]) == (72,)


def test_held_out_labels_need_test_examples() -> None:
    with pytest.raises(InputError, match="wine has no test examples here; give test_fraction"):
        tabular.held_out_labels(make(source="wine"), 0)


@pytest.mark.parametrize("scaling", ["raw", "standard", "unit", "range"])
@pytest.mark.parametrize("degree", [1, 2])
def test_test_examples_do_not_affect_training(
    scaling: str, degree: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = few_examples(scaling=scaling, degree=degree)
    data, labels = datasets.load_wine(return_X_y=True)
    test = split("wine", labels, 0.3, 0)[1]
    data[test] *= 1e3
    monkeypatch.setattr(tabular, "_loaded", lambda source: (data, labels))
    after = few_examples(scaling=scaling, degree=degree, kernel="linear")  # another object
    assert (before.train == after.train).all()
    assert (before.test != after.test).any()


def test_scalings() -> None:
    raw = few_examples()
    standard = few_examples(scaling="standard")
    assert standard.train.mean(axis=0) == pytest.approx(0.0, abs=1e-12)
    assert standard.train.std(axis=0) == pytest.approx(1.0, abs=1e-12)
    assert standard.test == pytest.approx(
        (raw.test - raw.train.mean(axis=0)) / raw.train.std(axis=0), abs=1e-12
    )
    unit = few_examples(scaling="unit")
    assert np.linalg.norm(unit.train, axis=1).max() == pytest.approx(1.0, abs=1e-15)
    assert unit.test * np.linalg.norm(raw.train, axis=1).max() == pytest.approx(raw.test)
    ranged = few_examples(scaling="range")
    assert np.abs(ranged.train).max() == 1.0
    assert ranged.test * np.abs(raw.train).max() == pytest.approx(raw.test)


def test_constant_features_stay_finite() -> None:
    problem = load("digits-0-rest", source="digits", scaling="standard")
    data = problem.system.unnormalised().operator.scores(np.ones(65))
    assert np.isfinite(data).all()


def test_degree_2_holds_all_monomials() -> None:
    plain = few_examples(scaling="standard")
    expanded = few_examples(scaling="standard", degree=2)
    for ours, reference in ((expanded.train, plain.train), (expanded.test, plain.test)):
        expected = PolynomialFeatures(2, include_bias=False).fit_transform(reference)
        assert ours == pytest.approx(expected, abs=1e-12)
    problem = load("breast-cancer", source="breast-cancer", degree=2, scaling="unit")
    assert problem.system.dimension == 496


def test_pairs_are_scaled_by_their_own_examples() -> None:
    problem = load("wine-0-1", source="wine", task="pairs", scaling="standard", test_fraction=0.3)
    examples = held_out(problem).examples
    assert set(examples.labels) == {0, 1}
    assert set(examples.test_labels) == {0, 1, 2}
    assert examples.train.mean(axis=0) == pytest.approx(0.0, abs=1e-12)


def test_the_measure_of_an_affine_classifier() -> None:
    problem = load("wine-0-1", source="wine", task="pairs", test_fraction=0.4)
    examples = held_out(problem).examples
    point = np.random.default_rng(0).standard_normal(14)
    measured = held_out(problem)(point)
    decisions = [x @ point[:13] + point[13] for x in examples.test]
    assert measured["decisions"] == pytest.approx(np.array(decisions), rel=1e-6, abs=1e-6)
    errors = [
        (d <= 0) if label == 0 else (d >= 0)
        for d, label in zip(decisions, examples.test_labels, strict=True)
        if label != 2
    ]
    assert measured["test_error"] == pytest.approx(np.mean(errors))


def test_undecided_examples_count_as_errors() -> None:
    problem = load("wine-0-rest", source="wine", test_fraction=0.4)
    assert held_out(problem)(np.zeros(14))["test_error"] == 1.0
    always = held_out(problem)(np.eye(14)[13])
    share = np.mean(held_out(problem).examples.test_labels != 0)
    assert always["test_error"] == pytest.approx(share)


@pytest.mark.parametrize(
    ("parameters", "kernel"),
    [
        ({"kernel": "linear"}, Linear()),
        ({"kernel": "rbf"}, Rbf()),
        ({"kernel": "rbf", "gamma": 0.3}, Rbf(gamma=0.3)),
        ({"kernel": "polynomial"}, Polynomial()),
        (
            {"kernel": "polynomial", "polynomial_degree": 2, "coef0": 0.5, "gamma": 2},
            Polynomial(degree=2, coef0=0.5, gamma=2.0),
        ),
    ],
)
def test_the_measure_of_a_kernel_classifier(parameters: dict[str, Any], kernel: Kernel) -> None:
    problem = load("wine-1-rest", source="wine", scaling="unit", test_fraction=0.4, **parameters)
    examples = held_out(problem).examples
    coefficients = np.random.default_rng(0).standard_normal(len(examples.train))
    decisions = [
        sum(
            c * (1 if label == 1 else -1) * kernel.matrix(x[None], z[None]).item()
            for c, label, z in zip(coefficients, examples.labels, examples.train, strict=True)
        )
        for x in examples.test[:5]
    ]
    measured = held_out(problem)(coefficients)["decisions"]
    assert np.asarray(measured)[:5] == pytest.approx(np.array(decisions), rel=1e-6, abs=1e-7)


def test_kernel_scores_and_decisions_are_of_one_function() -> None:
    problem = load(
        "wine-2-rest", source="wine", scaling="standard", test_fraction=0.4, kernel="rbf"
    )
    measure = held_out(problem)
    swapped = Examples(
        measure.examples.train,
        measure.examples.labels,
        measure.examples.train,
        measure.examples.labels,
        measure.examples.kernel,
    )
    result = solve(problem.system, Perceptron())
    assert result.status is Status.FEASIBLE
    on_training = HeldOut(swapped, measure.signs, measure.positive, None)(result.point)
    assert on_training["test_error"] == 0.0


def test_kernel_matrices_are_shared() -> None:
    problems = [load(f"digits-{digit}-rest", **RBF) for digit in (0, 1)]
    first, second = (held_out(problem).examples for problem in problems)
    assert first is second
    assert problems[0].sha256 != problems[1].sha256


def test_ten_classifiers_make_a_prediction() -> None:
    record = make(**RBF)
    decisions = []
    for name in record.names():
        problem = record.load(name, seed=0, base=Path("."))
        result = solve(problem.system, Perceptron())
        assert result.status is Status.FEASIBLE
        answer = held_out(problem)(result.point)
        assert answer["test_error"] < 0.06
        decisions.append(np.asarray(answer["decisions"]))
    predicted = np.argmax(decisions, axis=0)
    assert np.mean(predicted != tabular.held_out_labels(record, 0)) < 0.06


def test_digits_0_is_separable() -> None:
    problem = load("digits-0-rest", source="digits", test_fraction=0.25)
    result = solve(problem.system, Perceptron(), facts=problem.facts)
    assert result.status is Status.FEASIBLE
    assert held_out(problem)(result.point)["test_error"] < 0.02


@pytest.mark.parametrize(
    ("parameters", "location", "reason"),
    [
        ({}, ("source",), "required"),
        ({"source": "diabetes"}, ("source",), "'digits', 'breast-cancer', 'wine' or 'iris'"),
        ({"source": "wine", "task": "all"}, ("task",), "'one-vs-rest' or 'pairs'"),
        (
            {"source": "digits", "instances": ["digits-1-rest", "digit-3-rest"]},
            ("instances", 1),
            "did you mean 'digits-3-rest'?",
        ),
        (
            {"source": "digits", "instances": ["digits-1-2"]},
            ("instances", 0),
            "one-vs-rest has 10, digits-0-rest to digits-9-rest",
        ),
        ({"source": "wine", "instances": []}, ("instances",), "name at least one"),
        (
            {"source": "wine", "instances": ["wine-0-rest"] * 2},
            ("instances",),
            "more than once",
        ),
        ({"source": "wine", "degree": 3}, ("degree",), "less than or equal to 2"),
        ({"source": "wine", "test_fraction": 1}, ("test_fraction",), "less than 1"),
        ({"source": "wine", "test_fraction": -0.1}, ("test_fraction",), "greater than"),
        ({"source": "wine", "scaling": "max"}, ("scaling",), "'raw', 'standard', 'unit'"),
        ({"source": "wine", "gamma": 1}, ("gamma",), "kernel none has no gamma"),
        (
            {"source": "wine", "kernel": "rbf", "coef0": 1},
            ("coef0",),
            "kernel rbf has no coef0; it takes gamma: delete coef0",
        ),
        (
            {"source": "wine", "kernel": "linear", "polynomial_degree": 2},
            ("polynomial_degree",),
            "kernel linear has no polynomial_degree",
        ),
        ({"source": "wine", "kernel": "rbf", "gamma": 0}, ("gamma",), "greater than 0"),
        ({"source": "wine", "kernel": "sigmoid"}, ("kernel",), "'linear', 'polynomial' or 'rbf'"),
    ],
)
def test_invalid_parameters_are_named_with_their_location(
    parameters: dict[str, Any], location: tuple[Any, ...], reason: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        make(**parameters)
    errors = caught.value.errors()
    assert errors[0]["loc"][: len(location)] == location
    assert reason in errors[0]["msg"]


@pytest.mark.parametrize("fraction", [0.001, 0.999])
def test_fractions_that_leave_a_class_without_examples(fraction: float) -> None:
    reason = f"wine cannot be split with test_fraction {fraction:g}: .*; choose one nearer to 0.5"
    with pytest.raises(InputError, match=reason):
        load("wine-0-rest", source="wine", test_fraction=fraction)


def test_unknown_names_and_seeds() -> None:
    with pytest.raises(ConfigError, match="did you mean 'wine-0-rest'"):
        load("wine-0-best", source="wine")
    with pytest.raises(InputError, match="seed -2 for wine-split; allowed: 0 or more"):
        load("wine-0-rest", source="wine", test_fraction=0.5, seed=-2)


def test_learners_have_the_examples_of_the_split_as_a_task() -> None:
    problem = load("wine-1-rest", source="wine", scaling="standard", test_fraction=0.5)
    (task,) = problem.tasks
    assert task.name == "wine-1-rest"
    assert task.examples.shape[0] + task.test_examples.shape[0] == 178
    examples = Tabular("wine", scaling="standard", test_fraction=0.5).examples()
    np.testing.assert_array_equal(task.examples, examples.train)
    np.testing.assert_array_equal(task.labels > 0, examples.labels == 1)
    np.testing.assert_array_equal(task.test_labels > 0, examples.test_labels == 1)


def test_a_task_of_two_classes_is_tested_on_those() -> None:
    (task,) = load("wine-0-2", source="wine", task="pairs", test_fraction=0.5).tasks
    everything = load("wine-0-rest", source="wine", test_fraction=0.5).tasks[0]
    assert len(task.test_labels) < len(everything.test_labels)
    assert task.test_examples.shape[0] == len(task.test_labels)
    assert set(task.test_labels) == {1.0, -1.0}
    assert (task.test_labels > 0).sum() == (everything.test_labels > 0).sum()


def test_without_a_fraction_the_task_has_no_test_examples() -> None:
    problem = load("wine-0-rest", source="wine")
    (task,) = problem.tasks
    assert (task.examples.shape, len(task.test_labels)) == ((178, 13), 0)
    assert problem.measure is None
