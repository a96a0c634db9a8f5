"""Bundle-mirror: its bounds, the growth of distances within a phase, and bundles of all sizes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from perceptron_lab.algorithms.nearest_point.bundle_mirror import (
    ENDING,
    LEVEL,
    BundleMirror,
    least_distance,
)
from tests.families import FEASIBLE, INFEASIBLE, feasible_of
from tests.repetitions import repeated
from tests.theorems.courses import SEEDS, check_bound, check_certificate_bound, ready, walk

ALGORITHM = BundleMirror()


@pytest.mark.parametrize("kind", FEASIBLE)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_updates_stay_within_the_bound(seed: int, kind: str) -> None:
    check_bound(replace(ALGORITHM, memory=(2, 5, 20)[seed % 3]), kind, seed)


@pytest.mark.parametrize("kind", INFEASIBLE)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_certificates_come_within_the_bound(seed: int, kind: str) -> None:
    check_certificate_bound(replace(ALGORITHM, memory=(20, 5)[seed % 2]), kind, seed, 0.01)


@pytest.mark.parametrize("memory", [2, 3, 20])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_a_phase_has_as_many_updates_as_its_level_allows(seed: int, memory: int) -> None:
    """norm(y - c)^2 grows by (l / L)^2 in each update of a phase, and ends at (5/3)^2 at most."""
    algorithm = replace(ALGORITHM, memory=memory)
    view = ready(algorithm, feasible_of("rows", seed)[0])
    squares, level, upper = [0.0], 0.0, np.inf
    for state in walk(algorithm, view, 10_000):
        if not state.updates:
            continue
        assert state.upper <= upper
        assert view.norm(view.combine(state.weights)) <= state.upper * (1 + 1e-9)
        if state.level != level:
            assert not level or state.upper <= ENDING * level * (1 + 1e-9)
            assert state.level == LEVEL * state.upper
            squares = [0.0]
        level, upper = state.level, state.upper
        squares.append(float(np.sum((state.point - state.centre) ** 2)))
        assert squares[-1] >= squares[-2] + (level / view.atom_norm()) ** 2 * (1 - 1e-7)
        assert squares[-1] <= (5 / 3) ** 2 * (1 + 1e-9)
        assert len(state.points) < max(memory, 2)


@pytest.mark.parametrize("length", [0.0, 0.5, 1.0, 1.5])
def test_a_centre_has_norm_1_at_most(length: float) -> None:
    """The distance within a phase is at most 1 + 2/3 for such centres alone."""
    view = ready(ALGORITHM, feasible_of("rows", 0)[0])
    state = ALGORITHM.start(view, np.random.default_rng(0))
    direction = np.ones(view.dimension) / np.sqrt(view.dimension)
    state.point, state.upper = length * direction, 0.25
    state.begin_phase()
    np.testing.assert_allclose(state.centre, min(length, 1.0) * direction, rtol=1e-12)
    assert state.level == LEVEL * 0.25


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_the_nearest_point_satisfies_the_conditions_of_kuhn_and_tucker(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, required = rng.standard_normal((6, 4)) + 1.0, rng.uniform(-1.0, 1.0, 6)
    multipliers = least_distance(rows, required)
    slack = rows @ (multipliers @ rows) - required
    assert multipliers.min() >= 0.0
    assert slack.min() >= -1e-10
    assert abs(multipliers @ slack) <= 1e-10


def test_the_phases_add_up_to_the_bound() -> None:
    """(1 + 2/3)^2 (L / l)^2 for l = U / 2, summed over U >= rho that fall to 3/4 each."""
    system, margin = feasible_of("rows", 0)
    facts = ready(ALGORITHM, system).facts(margin)
    phases = (1 + 1 / ENDING) ** 2 / LEVEL**2 * sum((LEVEL * ENDING) ** (2 * i) for i in range(99))
    assert ALGORITHM.bound(facts).value == pytest.approx(phases / margin**2)
    assert ALGORITHM.certificate_bound(facts, 0.1).value == pytest.approx(phases / 0.01 + 1)
