"""Generated conic systems: exact margins, infeasibility, names, what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from threadpoolctl import threadpool_limits

from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.cones.spectral import lowest
from perceptron_lab.core.errors import ConfigError, InputError
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.dataset import check_instance_name
from perceptron_lab.datasets.generated.conic_sets import ConicSets, infeasible, planted
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems import ConicSystem
from tests.repetitions import examples

FAMILIES: list[dict[str, Any]] = [
    {"family": "second-order", "dimension": 5, "blocks": 4, "block_size": 3},
    {"family": "semidefinite", "dimension": 5, "blocks": 2, "order": 4},
    {"family": "mixed", "dimension": 5, "rows": 6, "blocks": 2, "block_size": 3, "order": 3},
]
IDS = ["second-order", "semidefinite", "mixed"]


def make(**parameters: Any) -> ConicSets:
    return TypeAdapter(ConicSets).validate_json(json.dumps(parameters))


def load(seed: int = 0, **parameters: Any) -> Problem:
    record = make(**parameters)
    return record.load(record.names()[0], seed=seed, base=Path("."))


def matrices(order: int) -> Semidefinite:
    return Semidefinite(order, *np.triu_indices(order))


@st.composite
def cones(draw: st.DrawFn) -> Cone:
    size = st.integers(2, 5)
    part = st.one_of(
        st.builds(Orthant, st.integers(1, 6)),
        st.builds(SecondOrder, size),
        st.builds(matrices, size),
    )
    parts = draw(st.lists(part, min_size=1, max_size=4))
    return parts[0] if len(parts) == 1 else Product(parts)


def eigenvalues_of_weights(cone: Cone, weights: np.ndarray) -> np.ndarray:
    return cone.eigenvalues(weights / cone.multiplicity)


@given(cones(), st.integers(2, 8), st.floats(1e-6, 0.9), st.integers(0, 2**32))
def test_planted_margins_are_exact(cone: Cone, dimension: int, margin: float, seed: int) -> None:
    sample = planted(np.random.default_rng(seed), cone, dimension, margin)
    assert sample.data.shape == (cone.size, dimension)
    assert sample.point is not None
    assert np.linalg.norm(sample.point) == pytest.approx(1.0, abs=1e-14)
    # The point has the margin; weights in the base prove that no other has more.
    assert lowest(cone, sample.data @ sample.point) == pytest.approx(margin, abs=1e-13)
    assert sample.weights @ cone.identity == pytest.approx(1.0, abs=1e-13)
    assert eigenvalues_of_weights(cone, sample.weights).min() > -1e-14
    assert np.linalg.norm(sample.weights @ sample.data) == pytest.approx(margin, abs=1e-13)


@given(cones(), st.integers(2, 8), st.integers(0, 2**32))
def test_infeasible_systems_have_weights_inside(cone: Cone, dimension: int, seed: int) -> None:
    sample = infeasible(np.random.default_rng(seed), cone, dimension)
    assert sample.point is None
    assert np.linalg.norm(sample.weights @ sample.data) < 1e-13
    assert sample.weights @ cone.identity == pytest.approx(1.0, abs=1e-13)
    values = eigenvalues_of_weights(cone, sample.weights)
    assert 0 < values.max() <= 3.1 * values.min()


@pytest.mark.parametrize("parameters", FAMILIES, ids=IDS)
@pytest.mark.parametrize("margin", [0.3, 1e-6])
def test_both_ends_of_the_bracket_are_proved(parameters: dict[str, Any], margin: float) -> None:
    record = make(**parameters, margin=margin)
    problem, sample = load(7, **parameters, margin=margin), record.generate(7)
    assert problem.facts.margin == pytest.approx(margin, rel=1e-6)
    assert problem.facts.margin is not None
    assert problem.facts.margin <= margin
    assert problem.system.prove_weights(sample.weights) == pytest.approx(margin, rel=1e-6)


@pytest.mark.parametrize("parameters", FAMILIES, ids=IDS)
def test_infeasibility_is_proved(parameters: dict[str, Any]) -> None:
    record = make(**parameters, infeasible=True)
    for seed in range(5):
        problem = load(seed, **parameters, infeasible=True)
        assert problem.facts.margin is None
        assert problem.system.prove_infeasible(record.generate(seed).weights) is not None


@pytest.mark.parametrize("parameters", FAMILIES, ids=IDS)
def test_no_random_point_does_better(parameters: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    feasible, empty = load(**parameters, margin=0.05), load(**parameters, infeasible=True)
    for _ in range(200):
        point = rng.standard_normal(5)
        assert feasible.system.margin(point) <= 0.05 + 1e-12
        assert empty.system.margin(point) < 0


@pytest.mark.parametrize("parameters", FAMILIES, ids=IDS)
def test_the_perceptron_stays_within_its_bound(parameters: dict[str, Any]) -> None:
    for seed in range(3):
        problem = load(seed, **parameters, margin=0.05)
        result = solve(problem.system, Perceptron(), facts=problem.facts, seed=seed)
        assert result.status is Status.FEASIBLE
        assert result.bound.value is not None
        assert result.updates <= result.bound.value


def test_small_margins_are_hard() -> None:
    updates = []
    for margin in (0.3, 0.03):
        problem = load(family="second-order", margin=margin)
        updates.append(solve(problem.system, Perceptron()).updates)
    assert updates[1] > 10 * updates[0]


@pytest.mark.parametrize(
    "cone", [Orthant(40), Product([SecondOrder(4)] * 20), matrices(12)], ids=IDS
)
def test_a_typical_cut_has_norm_1(cone: Cone) -> None:
    rng = np.random.default_rng(2)
    sample = infeasible(rng, cone, 30)
    system = ConicSystem(Matrix(sample.data), cone)
    norms = []
    for _ in range(300):
        atom, _ = cone.deepest(rng.standard_normal(cone.size) / np.sqrt(cone.multiplicity))
        norms.append(np.linalg.norm(system.operator.normal(atom)))
    assert np.mean(np.square(norms)) == pytest.approx(1.0, abs=0.35)


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"family": "second-order"}, "second-order-20-10x5-0.01"),
        ({"family": "semidefinite"}, "semidefinite-20-2x10-0.01"),
        ({"family": "mixed"}, "mixed-20-20-2x5-2x10-0.01"),
        ({"family": "mixed", "infeasible": True}, "mixed-20-20-2x5-2x10-infeasible"),
        (
            {"family": "second-order", "blocks": 1, "block_size": 30, "margin": 1e-8},
            "second-order-20-1x30-1e-08",
        ),
        ({"family": "semidefinite", "blocks": 3, "order": 2, "dimension": 4}, None),
    ],
)
def test_instance_names_contain_all_parameters(
    parameters: dict[str, Any], name: str | None
) -> None:
    generated_name = make(**parameters).names()[0]
    assert generated_name == (name or "semidefinite-4-3x2-0.01")
    assert check_instance_name(generated_name) == generated_name
    problem = load(**parameters)
    assert problem.name == generated_name
    assert problem.measure is None


def test_sizes_and_order_of_the_blocks() -> None:
    problem = load(**FAMILIES[2])
    cone = problem.system.cone
    assert isinstance(cone, Product)
    kinds = [type(part) for part in cone.parts]
    assert kinds == [Orthant, SecondOrder, SecondOrder, Semidefinite, Semidefinite]
    assert [part.size for part in cone.parts] == [6, 3, 3, 6, 6]
    assert problem.facts.rank == 6 + 2 * 2 + 2 * 3
    assert problem.facts.dimension == 5
    assert all(part.complete for part in cone.parts if isinstance(part, Semidefinite))


@pytest.mark.parametrize("parameters", FAMILIES, ids=IDS)
@pytest.mark.parametrize("empty", [False, True])
def test_seed_and_name_determine_the_data(parameters: dict[str, Any], empty: bool) -> None:
    sums = [load(seed, **parameters, infeasible=empty).sha256 for seed in (3, 3, 4)]
    assert sums[0] == sums[1] != sums[2]


def test_the_number_of_threads_does_not_matter() -> None:
    record = make(family="semidefinite", order=30, dimension=50)
    with threadpool_limits(limits=1):
        single = record.generate(0).data
    with threadpool_limits(limits=2):
        double = record.generate(0).data
    assert single.tobytes() == double.tobytes()


@pytest.mark.parametrize(
    ("parameters", "location", "reason"),
    [
        ({}, ("family",), "required"),
        ({"family": "linear"}, ("family",), "'second-order', 'semidefinite' or 'mixed'"),
        (
            {"family": "second-order", "order": 3},
            ("order",),
            "family second-order has no order; it takes dimension, margin, blocks, block_size",
        ),
        ({"family": "semidefinite", "block_size": 3}, ("block_size",), "has no block_size"),
        ({"family": "semidefinite", "rows": 3}, ("rows",), "has no rows"),
        (
            {"family": "mixed", "infeasible": True, "margin": 0.1},
            ("margin",),
            "an infeasible system has no margin",
        ),
        ({"family": "mixed", "margin": 0}, ("margin",), "greater than"),
        ({"family": "mixed", "dimension": 1}, ("dimension",), "greater than or equal to 2"),
        ({"family": "second-order", "block_size": 1}, ("block_size",), "equal to 2"),
        ({"family": "semidefinite", "order": 301}, ("order",), "less than or equal to 300"),
        (
            {"family": "semidefinite", "order": 300, "blocks": 1000},
            (),
            "cones of 45150000 coordinates in all makes 903000000 numbers; allowed: 20000000",
        ),
        (
            {"family": "second-order", "infeasible": True, "blocks": 2, "block_size": 2},
            (),
            "dimension 20 for cones of 4 coordinates in all; an infeasible system spans the space",
        ),
        ({"family": "mixed", "infeasible": 1}, ("infeasible",), "valid boolean"),
        ({"family": "mixed", "instances": []}, ("instances",), "Unexpected"),
    ],
)
def test_invalid_parameters_are_named_with_their_location(
    parameters: dict[str, Any], location: tuple[Any, ...], reason: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        make(**parameters)
    errors = caught.value.errors()
    assert errors[0]["loc"] == location
    assert reason in errors[0]["msg"]


def test_unknown_names_and_invalid_seeds_are_refused() -> None:
    record = make(family="mixed")
    with pytest.raises(ConfigError, match="there is no instance 'mixed-20'"):
        record.load("mixed-20", seed=0, base=Path("."))
    with pytest.raises(InputError, match=r"seed -1 for mixed-20-20-2x5-2x10-0\.01; allowed"):
        record.load(record.names()[0], seed=-1, base=Path("."))


@settings(max_examples=examples(30))
@given(st.floats(1e-8, 0.9), st.floats(1e-8, 0.9))
def test_different_margins_have_different_names(first: float, second: float) -> None:
    names = [make(family="mixed", margin=margin).names()[0] for margin in (first, second)]
    assert (names[0] == names[1]) == (first == second)
    assert [check_instance_name(name) for name in names] == names
