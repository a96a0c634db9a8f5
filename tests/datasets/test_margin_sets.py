"""Generated rows: their mathematics, their names, what is refused."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.cones.orthant import Cyclic
from perceptron_lab.core.errors import ConfigError, InputError
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.dataset import check_instance_name
from perceptron_lab.datasets.generated import margin_sets
from perceptron_lab.datasets.generated.margin_sets import MarginSets
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.infeasible_margin import negative_margin
from tests.families import exact_margin
from tests.repetitions import examples, repeated

EACH: list[dict[str, Any]] = [
    {"family": "exact", "dimension": 6, "rows": 30, "margin": 0.02},
    {"family": "reflected", "dimension": 6, "rows": 30},
    {"family": "thin", "dimension": 6, "rows": 30, "margin": 1e-4},
    {"family": "convex-combination", "dimension": 6, "rows": 30},
    {"family": "gaussian", "dimension": 6, "ratio": 1.25},
    {"family": "classes", "dimension": 6, "rows": 30},
    {"family": "worst-case", "steepness": 12},
]
NAMES = [
    "exact-6x30-0.02",
    "reflected-6x30-0.3",
    "thin-6x30-0.0001",
    "convex-combination-6x30",
    "gaussian-6x15",
    "classes-6x30-8",
    "worst-case-12",
]


def make(**parameters: Any) -> MarginSets:
    return TypeAdapter(MarginSets).validate_json(json.dumps(parameters))


def load(parameters: dict[str, Any], seed: int = 0) -> Problem:
    record = make(**parameters)
    return record.load(record.names()[0], seed=seed, base=Path("."))


def unit(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def solved(rows: np.ndarray) -> tuple[float, np.ndarray]:
    """The margin and its centre, by a solver whose answer is checked by duality.

    Some releases of scipy's NNLS end early on rows in symmetric positions; in another order they do
    not.
    """
    for attempt in range(50):
        margin, centre = exact_margin(rng(attempt).permutation(rows))
        if (rows @ centre).min() > margin - 1e-9:
            return margin, centre
    raise AssertionError("no order of the rows was solved to optimality")


@given(st.integers(2, 12), st.integers(0, 30), st.floats(1e-3, 0.9), st.integers(0, 2**32))
def test_exact_margin(dimension: int, more: int, margin: float, seed: int) -> None:
    rows = 2 * (dimension - 1) + more
    sample = margin_sets.exact(rng(seed), dimension=dimension, rows=rows, margin=margin)
    assert np.linalg.norm(sample.rows, axis=1) == pytest.approx(1.0, abs=1e-14)
    assert sample.point is not None
    assert (sample.rows @ sample.point).min() == pytest.approx(margin, abs=1e-14)
    result, centre = solved(sample.rows)
    assert result == pytest.approx(margin, abs=1e-9)
    assert np.linalg.norm(centre - sample.point) < 1e-5


@given(st.integers(2, 12), st.integers(2, 60), st.floats(1e-4, 0.9), st.integers(0, 2**32))
def test_thin_has_its_margin(dimension: int, rows: int, margin: float, seed: int) -> None:
    sample = margin_sets.thin(rng(seed), dimension=dimension, rows=rows, margin=margin)
    assert np.linalg.norm(sample.rows, axis=1) == pytest.approx(1.0, abs=1e-14)
    assert sample.point is not None
    assert (sample.rows @ sample.point).min() == pytest.approx(margin, abs=1e-14)
    # Two rows are mirror images in z: their mean is rho z, so that no point does better.
    mirrored = 2 * margin * sample.point - sample.rows
    assert cdist(mirrored, sample.rows).min() < 1e-13
    assert solved(sample.rows)[0] == pytest.approx(margin, abs=1e-8)


def test_thin_is_ill_conditioned_in_every_scale() -> None:
    sample = margin_sets.thin(rng(3), dimension=9, rows=4000, margin=1e-4)
    assert sample.point is not None
    heights = sample.rows @ sample.point
    slopes = (sample.rows - np.outer(heights, sample.point)) / heights[:, None]
    # The slopes are c_j / s_j with E c_j^2 = 1/8: their moments give the axes back.
    variances = np.linalg.eigvalsh(slopes.T @ slopes / 4000)[1:]
    axes = np.sort(1.0 / np.sqrt(8 * variances))
    assert axes == pytest.approx(np.geomspace(1e-4, 1.0, 8), rel=0.1)


@given(st.integers(2, 10), st.integers(1, 60), st.floats(1e-3, 10.0), st.integers(0, 2**32))
def test_reflected_rows(dimension: int, rows: int, difficulty: float, seed: int) -> None:
    sample = margin_sets.reflected(rng(seed), dimension=dimension, rows=rows, difficulty=difficulty)
    assert np.linalg.norm(sample.rows, axis=1) == pytest.approx(1.0, abs=1e-14)
    assert sample.point is not None
    lowest = float((sample.rows @ sample.point).min())
    assert 0.0 <= lowest <= solved(sample.rows)[0] + 1e-9


def test_reflected_rows_are_uniform_but_for_their_height() -> None:
    sample = margin_sets.reflected(rng(5), dimension=3, rows=20_000, difficulty=0.25)
    assert sample.point is not None
    heights = sample.rows @ sample.point
    lengths = np.sqrt(1 - heights**2)
    # Archimedes: on the sphere in space heights are uniform. Undo the flattening of the slopes.
    slopes = heights / lengths / 0.25
    uniform = np.sort(slopes / np.sqrt(1 + slopes**2))
    assert abs(uniform - np.linspace(0, 1, 20_000)).max() < 0.015
    around = (sample.rows - np.outer(heights, sample.point)) / lengths[:, None]
    assert np.linalg.norm(around.mean(axis=0)) < 0.02


def test_the_margin_shrinks_with_the_difficulty() -> None:
    margins = [
        np.median([solved(sample.rows)[0] for sample in samples])
        for samples in (
            [
                margin_sets.reflected(rng(seed), dimension=8, rows=100, difficulty=factor)
                for seed in range(5)
            ]
            for factor in (1.0, 0.1, 0.01)
        )
    ]
    assert 5 < margins[0] / margins[1] < 20
    assert 5 < margins[1] / margins[2] < 20


@given(st.integers(2, 10), st.integers(1, 40), st.integers(0, 2**32))
def test_convex_combination_is_zero(dimension: int, more: int, seed: int) -> None:
    sample = margin_sets.convex_combination(rng(seed), dimension=dimension, rows=dimension + more)
    assert sample.weights is not None
    assert sample.weights.min() > 0
    assert sample.weights.sum() == pytest.approx(1.0, abs=1e-14)
    assert np.linalg.norm(sample.weights @ sample.rows) < 1e-15
    assert np.linalg.norm(sample.rows, axis=1) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("seed", repeated(range(5), kept=2))
def test_convex_combination_is_proved_to_be_infeasible(seed: int) -> None:
    record = make(family="convex-combination", dimension=10, rows=40)
    sample = record.generate(seed)
    assert sample.weights is not None
    system = ConicSystem.from_rows(sample.rows)
    assert system.prove_infeasible(sample.weights) is not None


@pytest.mark.slow
def test_gaussian_rows_are_as_often_feasible_as_cover_counts() -> None:
    dimension, rows, trials = 3, 8, 400
    data = [
        margin_sets.gaussian(rng(seed), dimension=dimension, rows=rows).rows
        for seed in range(trials)
    ]
    # One program for all trials: maximise sum t_k over A_k y_k >= t_k and 0 <= t_k <= 1
    levels = np.repeat(np.eye(trials), rows, axis=0)
    program = scipy.optimize.linprog(
        np.append(np.zeros(trials * dimension), -np.ones(trials)),
        sp.hstack([-sp.block_diag(data), sp.csr_array(levels)]),
        np.zeros(trials * rows),
        bounds=[(None, None)] * (trials * dimension) + [(0.0, 1.0)] * trials,
    )
    assert program.status == 0
    feasible = (program.x[-trials:] > 0.5).sum()
    expected = sum(math.comb(rows - 1, k) for k in range(dimension)) / 2 ** (rows - 1)
    deviation = math.sqrt(trials * expected * (1 - expected))
    assert abs(feasible - trials * expected) < 4 * deviation


def test_ratio_is_another_way_to_give_the_rows() -> None:
    by_ratio = make(family="gaussian", dimension=20, ratio=1.1)
    by_rows = make(family="gaussian", dimension=20, rows=44)
    assert by_ratio.names() == by_rows.names() == ["gaussian-20x44"]
    assert (by_ratio.generate(4).rows == by_rows.generate(4).rows).all()


@given(st.integers(2, 8), st.integers(2, 41), st.floats(0, 30), st.integers(0, 2**32))
def test_classes_are_labelled(dimension: int, rows: int, separation: float, seed: int) -> None:
    sample = margin_sets.classes(rng(seed), dimension=dimension, rows=rows, separation=separation)
    assert sample.labels is not None
    assert sample.rows.shape == (rows, dimension - 1)
    assert (sample.labels == 1).sum() == (rows + 1) // 2
    assert (sample.labels == -1).sum() == rows // 2
    if sample.point is not None:
        assert sample.point[-1] == 0.0
        assert (sample.labels * (sample.rows @ sample.point[:-1]) > 0).all()


def test_classes_are_a_separation_apart() -> None:
    sample = margin_sets.classes(rng(1), dimension=5, rows=20_000, separation=3.0)
    assert sample.labels is not None
    means = [sample.rows[sample.labels == sign].mean(axis=0) for sign in (1.0, -1.0)]
    assert np.linalg.norm(means[0] - means[1]) == pytest.approx(3.0, abs=0.1)
    noise = sample.rows - np.where(sample.labels[:, None] > 0, means[0], means[1])
    assert np.cov(noise.T) == pytest.approx(np.eye(4), abs=0.05)
    assert sample.point is None  # a fraction of Phi(-1.5) of the examples is on the wrong side


def test_facts_of_classes_are_true() -> None:
    apart = load({"family": "classes", "dimension": 6, "rows": 40, "separation": 12})
    mixed = load({"family": "classes", "dimension": 6, "rows": 40, "separation": 0})
    assert apart.facts.margin is not None
    assert mixed.facts.margin is None
    assert apart.system.dimension == mixed.system.dimension == 6


@given(st.integers(1, 10_000))
def test_worst_case_margin(steepness: int) -> None:
    sample = margin_sets.worst_case(rng(0), steepness=steepness)
    assert sample.rows.tolist() == [[1, 1], [1, 0], [1 / steepness, 1], [0, -1]]
    assert sample.point is not None
    lowest = float((unit(sample.rows) @ sample.point).min())
    # The best of two unit rows is their bisector: rho^2 = (1 + a'b) / 2.
    product = unit(sample.rows)[2] @ unit(sample.rows)[3]
    assert lowest**2 == pytest.approx((1 + product) / 2, rel=1e-6, abs=1e-15)
    assert solved(unit(sample.rows))[0] == pytest.approx(lowest, rel=1e-6)


@pytest.mark.parametrize("steepness", [10, 40])
def test_the_perceptron_needs_about_2_k_squared_updates_in_the_worst_case(steepness: int) -> None:
    problem = load({"family": "worst-case", "steepness": steepness})
    result = solve(
        problem.system, Perceptron(normalized=False), oracle=Cyclic(), facts=problem.facts
    )
    assert result.status is Status.FEASIBLE
    assert 1.5 * steepness**2 < result.updates < 2.2 * steepness**2
    assert result.bound.value is not None
    assert result.updates <= result.bound.value


@pytest.mark.parametrize(("parameters", "name"), list(zip(EACH, NAMES, strict=True)), ids=NAMES)
def test_a_problem_of_each_family(parameters: dict[str, Any], name: str) -> None:
    record = make(**parameters)
    assert record.names() == [check_instance_name(name)]
    problem = record.load(name, seed=0, base=Path("."))
    rows = problem.system.operator.size
    assert problem.name == name
    assert problem.measure is None
    assert problem.facts.unit_rows
    assert problem.facts.rank == rows == (4 if record.family == "worst-case" else rows)
    assert problem.facts.dimension == (2 if record.family == "worst-case" else 6)
    known_margin = record.family not in ("convex-combination", "gaussian")
    assert (problem.facts.margin is not None) == known_margin


def test_bounds_are_verified_where_no_separator_is_planted() -> None:
    """And only if it is asked for; the data are the same."""

    def loaded(**parameters: Any) -> Problem:
        record = MarginSets(**parameters)
        return record.load(record.names()[0], seed=0, base=Path())

    plain = loaded(family="gaussian", dimension=3, rows=40)
    bracketed = loaded(family="gaussian", dimension=3, rows=40, bracket=True)
    assert plain.sha256 == bracketed.sha256
    assert plain.facts.hull_radius is None
    assert bracketed.facts.hull_radius is not None
    assert bracketed.facts.hull_radius == -negative_margin(plain.system).upper > 0.0
    feasible = loaded(family="exact", dimension=3, rows=40, margin=0.1, bracket=True)
    assert feasible.facts.hull_radius is None
    assert feasible.facts.margin == pytest.approx(0.1)


@pytest.mark.parametrize("parameters", EACH, ids=NAMES)
def test_the_known_margin_is_a_lower_bound(parameters: dict[str, Any]) -> None:
    problem = load(parameters)
    margin = problem.facts.margin
    scores = problem.system.operator.scores
    rows = np.stack([scores(axis) for axis in np.eye(problem.system.dimension)], axis=1)
    if margin is not None:
        assert 0 < margin <= solved(rows)[0] + 1e-9
    if parameters["family"] in ("exact", "thin"):
        assert margin == pytest.approx(parameters["margin"], rel=1e-9)


@pytest.mark.parametrize("parameters", EACH, ids=NAMES)
def test_seed_and_name_determine_the_data(parameters: dict[str, Any]) -> None:
    first, again, other = load(parameters, 3), load(parameters, 3), load(parameters, 4)
    assert first.sha256 == again.sha256
    random = parameters["family"] != "worst-case"
    assert (first.sha256 != other.sha256) == random


def test_another_name_is_another_stream() -> None:
    small = make(family="gaussian", dimension=6, rows=20).generate(0).rows
    large = make(family="gaussian", dimension=6, rows=21).generate(0).rows
    assert not np.isin(small, large).any()


@pytest.mark.parametrize("family", ["exact", "reflected", "thin", "convex-combination"])
def test_the_number_of_threads_does_not_matter(family: str) -> None:
    record = make(family=family, dimension=60, rows=2000)
    with threadpool_limits(limits=1):
        single = record.generate(0).rows
    with threadpool_limits(limits=2):
        double = record.generate(0).rows
    assert single.tobytes() == double.tobytes()


def test_instances_are_the_same_everywhere() -> None:
    """A pinned instance: a change of it (by numpy too) changes published results."""
    rows = make(family="gaussian", dimension=2, rows=2).generate(0).rows
    assert rows == pytest.approx(np.array(PINNED), abs=1e-12)


PINNED = [[0.13003461448297143, -2.061584045720876], [-0.47543731873070444, 0.3479638632335334]]


def test_labels_are_part_of_the_checksum() -> None:
    problem = load({"family": "classes", "dimension": 3, "rows": 4})
    sample = make(family="classes", dimension=3, rows=4).generate(0)
    assert sample.labels is not None
    assert problem.sha256 != load({"family": "gaussian", "dimension": 3, "rows": 4}).sha256


def reasons(**parameters: Any) -> list[tuple[tuple[Any, ...], str]]:
    with pytest.raises(ValidationError) as caught:
        make(**parameters)
    return [(error["loc"], error["msg"]) for error in caught.value.errors()]


@pytest.mark.parametrize(
    ("parameters", "location", "reason"),
    [
        ({}, "family", "required"),
        ({"family": "exakt"}, "family", "'exact', 'reflected'"),
        (
            {"family": "exact", "difficulty": 0.3},
            "difficulty",
            "family exact has no difficulty; it takes dimension, rows, margin",
        ),
        ({"family": "reflected", "margin": 0.1}, "margin", "reflected has no margin"),
        ({"family": "reflected", "ratio": 1}, "ratio", "reflected has no ratio"),
        ({"family": "gaussian", "separation": 1}, "separation", "gaussian has no separation"),
        ({"family": "worst-case", "rows": 4}, "rows", "worst-case has no rows; it takes steepness"),
        ({"family": "worst-case", "dimension": 2}, "dimension", "has no dimension"),
        ({"family": "gaussian", "rows": 5, "ratio": 1}, "rows", "keep one of the two"),
        ({"family": "exact", "rows": 197}, "rows", "the family exact allows 198 to 5000000"),
        ({"family": "convex-combination", "rows": 100}, "rows", "allows 101 to 5000000"),
        ({"family": "classes", "rows": 1}, "rows", "allows 2 to"),
        ({"family": "thin", "rows": 1}, "rows", "allows 2 to"),
        ({"family": "gaussian", "rows": 10**7}, "rows", "allows 1 to 5000000"),
        ({"family": "gaussian", "dimension": 16000, "ratio": 1}, "ratio", "allows 1 to 31250"),
        ({"family": "exact", "dimension": 8000}, "rows", "allows 15998 to 62500"),
        ({"family": "reflected", "dimension": 1}, "dimension", "greater than or equal to 2"),
        ({"family": "reflected", "rows": 0}, "rows", "greater than or equal to 1"),
        ({"family": "reflected", "difficulty": 0}, "difficulty", "greater than 0"),
        ({"family": "exact", "margin": 1}, "margin", "less than or equal to 0.9"),
        ({"family": "thin", "margin": 1e-11}, "margin", "greater than or equal to"),
        ({"family": "classes", "separation": -1}, "separation", "greater than or equal to 0"),
        ({"family": "worst-case", "steepness": 0}, "steepness", "greater than or equal to 1"),
        ({"family": "reflected", "rows": 10.5}, "rows", "valid integer"),
        ({"family": "reflected", "instances": []}, "instances", "Unexpected"),
    ],
)
def test_invalid_parameters_are_named_with_their_location(
    parameters: dict[str, Any], location: str, reason: str
) -> None:
    faults = reasons(**parameters)
    assert {at[0] for at, _ in faults} == {location}
    assert reason in faults[0][1]


def test_impossible_dimensions_do_not_hide_other_faults() -> None:
    faults = reasons(family="gaussian", dimension=-3, ratio=2, margin=0.1)
    assert {at[0] for at, _ in faults} == {"dimension", "margin"}


def test_defaults_are_those_of_the_family() -> None:
    assert make(family="reflected") == make(
        family="reflected", dimension=100, rows=5000, difficulty=0.3
    )
    assert make(family="reflected").names() == ["reflected-100x5000-0.3"]
    assert make(family="thin").names() == ["thin-100x5000-0.001"]
    assert make(family="worst-case").names() == ["worst-case-100"]


@settings(max_examples=examples(50))
@given(st.floats(1e-10, 0.9), st.floats(1e-10, 0.9))
def test_different_parameters_have_different_names(first: float, second: float) -> None:
    names = [make(family="thin", margin=margin).names()[0] for margin in (first, second)]
    assert (names[0] == names[1]) == (first == second)
    assert [check_instance_name(name) for name in names] == names


def test_unknown_names_and_invalid_seeds_are_refused() -> None:
    record = make(family="reflected")
    with pytest.raises(ConfigError, match=r"did you mean 'reflected-100x5000-0\.3'"):
        record.load("reflected-100x5000-0.1", seed=0, base=Path("."))
    with pytest.raises(InputError, match=r"seed -1 for reflected-100x5000-0\.3; allowed: 0 or"):
        record.load("reflected-100x5000-0.3", seed=-1, base=Path("."))


def test_a_margin_that_rounding_hides_is_refused() -> None:
    with pytest.raises(InputError, match="rounding hides the margin of the known point"):
        load({"family": "reflected", "dimension": 5, "rows": 20, "difficulty": 1e-30})
