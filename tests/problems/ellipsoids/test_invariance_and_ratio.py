"""The maximal separation ratio on sets where it is known, and under rescaled coordinates."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.datasets.generated.ellipsoid_sets import EllipsoidSets, InvertedBalls
from perceptron_lab.datasets.problem import Task
from perceptron_lab.problems.ellipsoids.hard.separation import Separation
from perceptron_lab.problems.ellipsoids.hard.separation_ratio import SolverName, maximal_separation
from tests.repetitions import repeated

EXPONENTS = (-6, -3, 0, 4)


def separated(task: Task, **parameters: object) -> Separation:
    examples = np.asarray(task.examples)
    return maximal_separation(
        examples[task.labels > 0],
        examples[task.labels < 0],
        **parameters,  # type: ignore[arg-type]
    )


def errors(task: Task, separation: Separation) -> int:
    scores: FloatArray = separation.decision_values(task.test_examples)
    return int(np.sum((scores > 0.0) != (task.test_labels > 0)))


@pytest.mark.parametrize("dimension", [1, 2, 3, 6])
@pytest.mark.parametrize("ratio", [1.02, 1.5, 4.0])
def test_the_planted_ratio_is_computed_and_enclosed(dimension: int, ratio: float) -> None:
    record = EllipsoidSets(ratio=ratio, dimension=dimension)
    sample = record.sample(0)
    separation = separated(sample.task)
    assert separation.status is Status.FEASIBLE
    assert separation.proved
    assert separation.ratio == pytest.approx(record.squared_excess, rel=1e-6)
    # The data are rounded images of exact ones.
    assert separation.ratio_lower <= record.squared_excess * (1 + 1e-9)
    assert separation.ratio_upper >= record.squared_excess * (1 - 1e-9)
    first, second = separation.support
    tight = list(range(dimension + 1))
    assert (first.tolist(), second.tolist()) == (tight, tight)
    assert separation.ellipsoid is not None
    assert separation.ellipsoid.centre == pytest.approx(sample.ellipsoid.shift, abs=1e-5)
    if dimension <= 3:  # beyond, other ellipsoids attain the ratio as well
        lengths = np.linalg.eigvalsh(sample.ellipsoid.matrix)
        assert separation.ellipsoid.axes()[0] == pytest.approx(lengths, rel=1e-4)
        assert errors(sample.task, separation) == 0


@pytest.mark.parametrize("solver", ["clarabel", "constraint-generation", "central-path"])
@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_the_twin_is_proved_inseparable(solver: SolverName, dimension: int) -> None:
    separation = separated(
        EllipsoidSets(ratio=0.8, dimension=dimension).sample(0).task, solver=solver
    )
    assert separation.status is Status.INFEASIBLE
    assert separation.proved
    assert separation.ratio_upper == 0.0


def test_the_central_path_ranks_the_twin() -> None:
    task = EllipsoidSets(ratio=0.8).sample(0).task
    separation = separated(task, solver="central-path")
    # Test examples keep clear of the ellipsoid, on which the limit is close to a classifier.
    assert errors(task, separation) <= 0.1 * len(task.test_labels)


@pytest.mark.parametrize("rescaled", ["all", "one"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rescaled_coordinates_do_not_change_the_ratio(rescaled: str, seed: int) -> None:
    tasks = [
        InvertedBalls(rescaled=rescaled, exponent=exponent, test=200).tasks(seed)[0]  # type: ignore[arg-type]
        for exponent in EXPONENTS
    ]
    separations = [separated(task) for task in tasks]
    ratios = np.array([separation.ratio for separation in separations])
    assert (ratios > 0.0).all()
    assert np.ptp(ratios) < 1e-8 * ratios.max()
    counts = {errors(task, separation) for task, separation in zip(tasks, separations, strict=True)}
    assert len(counts) == 1


@pytest.mark.parametrize("solver", ["auto", "clarabel"])
@pytest.mark.parametrize(
    ("seed", "repetition"), repeated([(7, 14), (6, 11), (1, 48), (0, 33)], kept=2)
)
def test_hard_tasks_of_the_figure_change_as_little(
    seed: int, repetition: int, solver: SolverName
) -> None:
    # Clarabel's own answers to these differ by 9e-4 to 4e-9; t = 6e-5 in the second.
    separations = []
    for rescaled, exponent in itertools.product(("all", "one"), EXPONENTS):
        record = InvertedBalls(
            rescaled=rescaled,  # type: ignore[arg-type]
            exponent=exponent,
            repetitions=repetition + 1,
            training=50,
            test=1,
        )
        separations.append(separated(record.tasks(seed)[repetition], solver=solver))
    ratios = np.array([separation.ratio for separation in separations])
    assert (ratios > 0.0).all()
    assert np.ptp(ratios) < 1e-8 * ratios.max()
    assert solver == "auto" or all("rescaled: " in str(separation) for separation in separations)


def test_raw_coordinates_break_the_invariance_in_floating_point() -> None:
    tasks = [InvertedBalls(exponent=exponent).tasks(0)[0] for exponent in (0, -6)]
    plain, tiny = (separated(task, whiten=False, solver="clarabel") for task in tasks)
    assert plain.status is Status.FEASIBLE
    # At 10^-6 the quadratic terms are 10^-12, below the solver's tolerance.
    assert tiny.ratio < 0.5 * plain.ratio
    assert "rescaled" not in str(plain) + str(tiny)
