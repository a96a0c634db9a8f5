"""Rows added after an answer: what the perceptron's bound becomes, and equal answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.base import lengthened
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.algorithms.retrained import Retrained
from perceptron_lab.cones.operators.kernels import Linear
from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError, InputError
from perceptron_lab.core.results import FloatArray, Result, Status
from tests.families import infeasible, planted
from tests.repetitions import parts, repeated
from tests.theorems.courses import BUDGET

STARTED = [
    name for name in registry.names("algorithm") if registry.load("algorithm", name).takes_start
]
RNG = np.random.default_rng


def sorted_rows(seed: int, margin: float = 0.1) -> tuple[FloatArray, FloatArray]:
    """Rows of margin 0.1 in dimension 5 with their centre, those of the margin at the end."""
    rows, centre = planted(5, 60, margin, RNG(seed))
    return rows[np.argsort(-(rows @ centre))], centre


def updates_and_bounds(
    rows: FloatArray, centre: FloatArray, margin: float, algorithm: Perceptron, count: int
) -> tuple[int, int, float, float]:
    """Updates of both runs, and the bounds of the second by its start and of both together."""
    first = solve(rows[:count], algorithm, budget=BUDGET)
    parameters = {"normalized": algorithm.normalized}
    second = solve(rows, Retrained(parameters=parameters, share=count / len(rows)), budget=BUDGET)
    assert second.status is Status.FEASIBLE
    assert second.bound.value is not None
    bound = algorithm.bound(ConicSystem.from_rows(rows).facts(margin))
    start = first.point
    refined = lengthened(bound, float(np.linalg.norm(start)), margin, float(start @ centre))
    assert refined.value is not None
    assert bound.value is not None
    assert bound.value <= second.bound.value  # which has the proved margin of the answer
    return first.updates, second.updates, refined.value, bound.value


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("seeds", parts(20, kept=4))
def test_both_runs_of_the_perceptron_together_keep_its_bound(
    seeds: range, normalized: bool
) -> None:
    """And the second keeps that in terms of its start, by a budget that could break either."""
    algorithm, updates = Perceptron(normalized=normalized), np.zeros(2)
    for seed in seeds:
        rows, centre = sorted_rows(seed)
        margin = 0.1 * (1 - 1e-12)
        first, second, refined, bound = updates_and_bounds(rows, centre, margin, algorithm, 57)
        assert second <= refined <= bound - first + 1e-6
        updates += first, second
    assert (updates > len(seeds)).all()


@pytest.mark.parametrize("count", [1, 3, 8])
def test_the_bounds_of_both_runs_are_tight_on_orthonormal_rows(count: int) -> None:
    """The first run adds the known rows, the second the others: none is ever added twice."""
    centre, margin = np.full(9, 1 / 3), 1 / 3
    first, second, refined, bound = updates_and_bounds(
        np.eye(9), centre, margin, Perceptron(), count
    )
    assert (first, second) == (count, 9 - count)
    assert (refined, bound) == (pytest.approx(9 - count), pytest.approx(9))


@pytest.mark.parametrize("seed", repeated(range(20), kept=4))
def test_the_bound_from_a_start_is_that_of_its_length_and_direction(seed: int) -> None:
    """From any start; it is largest for the opposite direction, and 0 on the ray of the centre."""
    rng, margin = RNG(seed), 0.1 * (1 - 1e-12)
    rows, centre = sorted_rows(seed)
    plain = Perceptron().bound(ConicSystem.from_rows(rows).facts(margin))
    for start in (rng.standard_normal(5), 30.0 * rng.standard_normal(5), -7.0 * centre):
        length = float(np.linalg.norm(start))
        refined = lengthened(plain, length, margin, float(start @ centre)).value
        worst = lengthened(plain, length, margin).value
        assert refined is not None
        assert worst is not None
        assert refined <= worst * (1 + 1e-12)
        assert solve(rows, "perceptron", start=start, budget=BUDGET).updates <= refined
    assert lengthened(plain, 7.0, margin, -7.0).value == lengthened(plain, 7.0, margin).value
    assert lengthened(plain, 90.0, margin, 90.0).value == 0.0


@pytest.mark.parametrize("name", STARTED)
def test_a_restart_is_the_algorithm_itself_and_an_answer_on_all_rows_is_the_answer(
    name: str,
) -> None:
    rows, _ = sorted_rows(3)
    restart = solve(rows, Retrained(algorithm=name, share=0.0))
    plain = solve(rows, name)
    assert (restart.status, restart.updates) == (plain.status, plain.updates)
    assert np.array_equal(restart.point, plain.point)
    complete = solve(rows, Retrained(algorithm=name, share=1.0))
    if plain.status is Status.FEASIBLE:  # relaxed-perceptron's answer is no separator
        assert (complete.status, complete.updates) == (Status.FEASIBLE, 0)
    warm = solve(rows, Retrained(algorithm=name, share=0.9, added="hardest"))
    assert warm.status is plain.status


def outcome(result: Result) -> tuple[Status, int]:
    return result.status, result.updates


@pytest.mark.parametrize("seeds", parts(20, kept=4))
def test_a_warm_start_is_a_run_from_the_answer_on_the_known_rows(seeds: range) -> None:
    for seed in seeds:
        rows, _ = sorted_rows(seed)
        for name in ("perceptron", "ellipsoid", "cyclic-perceptron"):
            first = solve(rows[:30], name)
            second = solve(rows, name, start=first.point)
            warm = solve(rows, Retrained(algorithm=name, share=0.5))
            assert outcome(warm) == outcome(second)
            assert np.array_equal(warm.point, second.point)
        shuffled = rows[RNG(seed).permutation(60)]
        hardest = np.argsort(-(shuffled @ shuffled.sum(axis=0)), kind="stable")
        ordered = shuffled[np.append(np.sort(hardest[:54]), hardest[54:])]
        by_order = solve(ordered, Retrained(algorithm="perceptron"))
        assert outcome(solve(shuffled, Retrained(added="hardest"))) == outcome(by_order)


def test_equal_rows_in_other_forms_have_equal_updates(tmp_path: Path) -> None:
    rows, _ = sorted_rows(1)
    rows = np.where(abs(rows) < 0.05, 0.0, rows)
    np.save(tmp_path / "rows.npy", rows)
    labels = np.resize([1.0, -1.0], 60)
    forms: list[Any] = [
        rows,
        sp.csr_array(rows),
        np.load(tmp_path / "rows.npy", mmap_mode="r"),
        ConicSystem.from_kernel(Linear(), rows * labels[:, None], labels),
    ]
    for added in ("last", "hardest"):
        answers = {outcome(solve(form, Retrained(added=added, share=0.7))) for form in forms}
        assert len(answers) == 1
        ((status, updates),) = answers
        assert status is Status.FEASIBLE
        assert updates > 0


def test_the_second_run_draws_the_same_numbers_whatever_the_first_has_drawn() -> None:
    rows, _ = sorted_rows(2)
    restart = solve(rows, Retrained(algorithm="rescaled-perceptron", share=0.0), seed=5)
    assert np.array_equal(restart.point, solve(rows, "rescaled-perceptron", seed=5).point)
    drawn = []
    for share in (0.0, 0.5):
        rng = RNG(5)
        view = ConicSystem.from_rows(rows)
        Retrained(algorithm="rescaled-perceptron", share=share).start(view, rng)
        drawn.append(rng.random())
    assert drawn[0] == drawn[1]


def test_the_first_run_ends_at_its_updates_and_at_the_limits_of_the_run() -> None:
    rows = planted(5, 60, 0.01, RNG(0))[0]
    short = Retrained(updates=7).start(ConicSystem.from_rows(rows), RNG(0))
    first = solve(rows[:54], "perceptron", budget=Budget(updates=7))
    assert first.status is Status.UPDATE_LIMIT
    assert np.array_equal(short.point, first.point)
    rows = infeasible(4, 40, RNG(0))
    endless = Retrained(share=0.8, updates=10**9)
    assert solve(rows, endless, budget=Budget(seconds=0.1)).status is Status.TIME_LIMIT
    calls = iter(range(50))
    stopped = solve(rows, endless, stop=lambda: None if next(calls, None) is not None else "enough")
    assert stopped.status is Status.TIME_LIMIT
    decided = solve(rows, Retrained(algorithm="auto", share=0.8))
    assert decided.status is Status.INFEASIBLE


def test_what_cannot_be_retrained_is_refused() -> None:
    with pytest.raises(ConfigError, match="mirror-prox has its own starting point; choose"):
        Retrained(algorithm="mirror-prox")
    with pytest.raises(ConfigError, match="the retrained perceptron has no parameter 'normalised'"):
        Retrained(parameters={"normalised": True})
    with pytest.raises(InputError, match="share"):
        Retrained(share=1.5)
    cone = ConicSystem.second_order(np.eye(3), [3])
    with pytest.raises(InputError, match="retrained runs on rows and kernels only; choose"):
        solve(cone, Retrained())
