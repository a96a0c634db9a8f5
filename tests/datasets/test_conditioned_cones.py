"""Conic systems of controlled condition: what their construction says of them, proved."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from perceptron_lab.algorithms.external.cone_program import Clarabel
from perceptron_lab.algorithms.rescaling.ellipsoid import Ellipsoid
from perceptron_lab.core.errors import ConfigError, InputError
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.datasets.generated.conditioned_cones import ConditionedCones, margin_elements
from perceptron_lab.solving.entry import solve

FAMILIES: list[dict[str, Any]] = [
    {"family": "orthant", "rows": 20},
    {"family": "second-order", "blocks": 6, "block_size": 4},
    {"family": "semidefinite", "blocks": 2, "order": 4},
    {"family": "mixed", "rows": 6, "blocks": 2, "block_size": 3, "order": 3},
]
IDS = ["orthant", "second-order", "semidefinite", "mixed"]
BOTH = pytest.mark.parametrize("known", ["centre", "margin"])
EACH = pytest.mark.parametrize("parameters", FAMILIES, ids=IDS)


def make(**parameters: Any) -> ConditionedCones:
    return TypeAdapter(ConditionedCones).validate_json(json.dumps(parameters))


def isometric(record: ConditionedCones, seed: int) -> FloatArray:
    sample = record.generate(seed)
    return np.asarray(sample.data * np.sqrt(sample.cone.multiplicity)[:, None])


@EACH
@BOTH
@pytest.mark.parametrize("side", ["feasible", "infeasible", "ill-posed"])
def test_columns_are_orthonormal(parameters: dict[str, Any], known: str, side: str) -> None:
    columns = isometric(make(**parameters, known=known, side=side, delta=0.1), 3)
    assert columns.shape[1] == columns.shape[0] // 2
    assert np.allclose(columns.T @ columns, np.eye(columns.shape[1]), atol=1e-13)


@EACH
@given(seed=st.integers(0, 10_000), delta=st.floats(1e-3, 1))
def test_the_point_is_the_analytic_centre(
    parameters: dict[str, Any], seed: int, delta: float
) -> None:
    sample = make(**parameters, delta=delta).generate(seed)
    assert sample.point is not None
    cone, scores = sample.cone, sample.data @ sample.point
    values, frame = cone.spectrum(scores)
    assert values.min() > 0
    inverse, e = cone.assemble(1.0 / values, frame), cone.multiplicity * cone.identity
    gradient = inverse - cone.rank / values.sum() * e
    assert np.linalg.norm(gradient @ sample.data) <= 1e-10 * np.linalg.norm(gradient)
    # Of elements of L with the same trace none has a larger determinant
    rng = np.random.default_rng(seed)
    for size in (1e-3, 0.03, 0.3):
        step = sample.data @ rng.standard_normal(sample.data.shape[1])
        shifted = scores + size * values.min() * step / np.abs(cone.eigenvalues(step)).max()
        shifted *= values.sum() / cone.eigenvalues(shifted).sum()
        assert np.log(cone.eigenvalues(shifted)).sum() <= np.log(values).sum() + 1e-9


def test_second_order_blocks_have_the_specified_sizes_and_gaps() -> None:
    sample = make(family="second-order", blocks=40, delta=1e-4, large=0.25).generate(5)
    blocks = (sample.data @ sample.point).reshape(40, 5)
    heights, lengths = blocks[:, -1], np.linalg.norm(blocks[:, :-1], axis=1)
    heights, lengths = heights / heights.max(), lengths / heights
    assert np.sum(heights <= 1e-4 / heights[heights > 1e-3].min()) == 30
    assert np.all((lengths >= 1 - 1e-4) & (lengths < 1))


@EACH
@pytest.mark.parametrize("delta", [0.1, 1e-3, 1e-8])
def test_both_ends_of_the_margin_are_proved(parameters: dict[str, Any], delta: float) -> None:
    record = make(**parameters, known="margin", delta=delta)
    problem, sample = record.problem(2), record.generate(2)
    assert sample.weights is not None
    assert problem.facts.margin is not None
    assert 0.999 * delta < problem.facts.margin <= delta * (1 + 1e-6)
    assert problem.system.prove_weights(sample.weights) == pytest.approx(delta, rel=1e-6)


@EACH
@BOTH
@pytest.mark.parametrize("delta", [0.1, 1e-2, 1e-6])
def test_the_known_point_is_proved(parameters: dict[str, Any], known: str, delta: float) -> None:
    for seed in range(3):
        facts = make(**parameters, known=known, delta=delta).problem(seed).facts
        assert facts.margin is not None
        assert facts.margin > 0


@EACH
@BOTH
def test_twins_are_proved_infeasible(parameters: dict[str, Any], known: str) -> None:
    record = make(**parameters, known=known, side="infeasible", delta=0.03)
    for seed in range(3):
        problem, sample = record.problem(seed), record.generate(seed)
        assert sample.point is None
        assert sample.weights is not None
        assert problem.facts.margin is None
        assert problem.system.prove_infeasible(sample.weights) is not None


@EACH
@BOTH
def test_ill_posed_systems_meet_the_cone_at_its_boundary(
    parameters: dict[str, Any], known: str
) -> None:
    record = make(**parameters, known=known, side="ill-posed", delta=0.1)
    for seed in range(3):
        sample, system = record.generate(seed), record.problem(seed).system
        assert sample.point is not None
        assert sample.weights is not None
        bound = system.prove_weights(sample.weights)
        assert bound is not None
        assert bound < 1e-13
        assert system.prove_point(sample.point).margin_lower > -1e-13
        # Complementary: where the one is 0, the other is not
        points = sample.cone.eigenvalues(sample.data @ sample.point)
        weights = sample.cone.eigenvalues(sample.weights / sample.cone.multiplicity)
        assert abs(sample.weights @ sample.data @ sample.point) < 1e-14
        assert np.sum(points > 1e-6) + np.sum(weights > 1e-6) == sample.cone.rank


@EACH
@BOTH
def test_sides_share_x(parameters: dict[str, Any], known: str) -> None:
    feasible = make(**parameters, known=known, delta=0.1).generate(4)
    twin = make(**parameters, known=known, delta=0.1, side="infeasible").generate(4)
    element = feasible.data @ feasible.point
    assert twin.weights is not None
    weights = twin.weights / twin.cone.multiplicity
    assert np.allclose(weights / np.linalg.norm(weights), element / np.linalg.norm(element))


@EACH
def test_an_independent_solver_agrees(parameters: dict[str, Any]) -> None:
    margins = make(**parameters, known="margin", delta=0.05).problem(1)
    result = solve(margins.system, Clarabel())
    assert result.status is Status.FEASIBLE
    assert result.margin_lower == pytest.approx(0.05, rel=1e-4)
    twin = make(**parameters, side="infeasible", delta=0.3).problem(1)
    assert solve(twin.system, Clarabel()).status is not Status.FEASIBLE


def test_the_ellipsoid_method_needs_more_updates_for_smaller_delta() -> None:
    shape = {"family": "second-order", "blocks": 4, "block_size": 3}
    problems = [make(**shape, delta=delta).problem(0) for delta in (0.3, 1e-3)]
    results = [solve(problem.system, Ellipsoid()) for problem in problems]
    assert [result.status for result in results] == [Status.FEASIBLE] * 2
    assert results[1].updates > 2 * results[0].updates


@EACH
def test_rotation_hides_the_point(parameters: dict[str, Any]) -> None:
    plain, turned = (
        make(**parameters, delta=0.1, rotated=rotated).generate(0) for rotated in (False, True)
    )
    assert plain.point is not None
    assert turned.point is not None
    assert plain.point.tolist() == [1.0] + [0.0] * (len(plain.point) - 1)
    assert np.allclose(plain.data @ plain.point, turned.data @ turned.point, atol=1e-14)
    assert abs(turned.point).max() < 0.999


def test_a_margin_that_rounding_hides_is_refused() -> None:
    with pytest.raises(InputError, match="rounding hides the margin"):
        make(family="second-order", delta=1e-8, rotated=True).problem(0)


@pytest.mark.parametrize("parameters", FAMILIES, ids=IDS)
def test_seed_and_name_determine_the_data(parameters: dict[str, Any]) -> None:
    record = make(**parameters, delta=0.1)
    sums = [record.problem(seed).sha256 for seed in (3, 3, 4)]
    assert sums[0] == sums[1] != sums[2]


def test_margins_of_elements_have_norm_one() -> None:
    cone = make(family="mixed").generate(0).cone
    elements = margin_elements(np.random.default_rng(0), cone, 0.01)
    assert elements.inside @ elements.inside == pytest.approx(1.0, abs=1e-12)
    assert elements.inside.min() == pytest.approx(0.01, abs=1e-15)
    assert elements.across @ elements.inside == pytest.approx(0.01, abs=1e-12)


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"family": "orthant"}, "orthant-centre-50-100-0.3-0.001-feasible"),
        (
            {"family": "second-order", "side": "infeasible", "rotated": True, "delta": 1e-6},
            "second-order-centre-50-20x5-0.3-1e-06-infeasible-rotated",
        ),
        (
            {"family": "mixed", "known": "margin", "side": "ill-posed", "dimension": 40},
            "mixed-margin-40-20-2x5-2x10-0.001-ill-posed",
        ),
    ],
)
def test_instance_names_contain_all_parameters(parameters: dict[str, Any], name: str) -> None:
    record = make(**parameters)
    assert record.names() == [name]
    assert record.load(name, seed=0, base=Path(".")).name == name


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({}, "required"),
        ({"family": "orthant", "blocks": 3}, "family orthant has no blocks"),
        ({"family": "orthant", "known": "margin", "large": 0.5}, "known margin has no large"),
        ({"family": "orthant", "delta": 0}, "greater than 0"),
        ({"family": "orthant", "dimension": 100}, "allowed are dimensions below 100"),
        ({"family": "orthant", "known": "margin", "delta": 0.5}, "allowed: below 0.1"),
        ({"family": "semidefinite", "order": 300}, "numbers; allowed: 20000000"),
        (
            {"family": "semidefinite", "delta": 0.1 + 0.2, "large": 0.12345678912, "rotated": True},
            "give delta and large with fewer digits",
        ),
        ({"family": "orthant", "side": "both"}, "'feasible', 'infeasible' or 'ill-posed'"),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError) as caught:
        make(**parameters)
    assert reason in str(caught.value)


def test_an_unknown_instance_name_is_refused() -> None:
    with pytest.raises(ConfigError, match="there is no instance 'orthant'"):
        make(family="orthant").load("orthant", seed=0, base=Path("."))
