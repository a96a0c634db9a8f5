"""Intervals around optima: they contain what other solvers find, and are as narrow as asked."""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_lab import ConicSystem, optimum
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import Budget, Width
from perceptron_lab.core.results import Status
from perceptron_lab.core.run_options import RunOptions
from perceptron_lab.datasets.generated.maxcut import generate, graph_of
from perceptron_lab.problems.optima.bound_verification import (
    SIGNS,
    VECTORS,
    reverified_bounds,
    reverified_cut,
)
from perceptron_lab.problems.optima.low_rank import LowRank
from perceptron_lab.problems.optima.maxcut.bounds import proved_lower, proved_upper
from perceptron_lab.problems.optima.maxcut.dual_point import DualPoint
from perceptron_lab.problems.optima.maxcut.low_rank import LOCAL, Ascent, enclose
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram
from perceptron_lab.problems.optima.optimiser import minimise
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems.pencil import homogenised
from tests.problems.optima.maxcut.small_graphs import (
    DEGENERATE,
    OPTIMA,
    judged,
    random_graph,
    random_program,
)
from tests.problems.optima.small_programs import dense_program


@pytest.mark.parametrize("seed", range(6))
def test_the_interval_is_narrow_and_around_the_optimum_of_another_solver(seed: int) -> None:
    program = random_program(seed) if seed % 2 else random_graph(seed, signed=seed == 2)
    interval = enclose(program, width=1e-9, seed=seed)
    optimum, slack = judged(program), 1e-7 * max(1.0, abs(judged(program)))
    assert interval.reached, interval.message
    assert interval.width <= 1e-9
    assert optimum - slack <= interval.lower <= interval.upper <= optimum + slack
    assert proved_lower(program, interval.vectors) == interval.lower
    assert proved_upper(program, interval.point)[0] == pytest.approx(interval.upper, rel=1e-13)


@pytest.mark.parametrize("name", list(DEGENERATE))
def test_degenerate_programs_are_enclosed(name: str) -> None:
    interval = enclose(DEGENERATE[name], width=1e-8)
    assert interval.lower <= OPTIMA[name] <= interval.upper
    assert interval.reached, interval.message
    # the width is relative to 1 at least
    assert interval.upper - interval.lower <= 1e-8 * max(1.0, abs(interval.upper))


@pytest.mark.parametrize("name", ["torus-9x9", "random-300-900", "random-120-3000"])
def test_sparse_and_dense_graphs_are_enclosed_to_small_widths(name: str) -> None:
    program = MaxCutProgram.of_system(homogenised(generate(name, 2)))
    assert program is not None
    first, second = enclose(program, width=1e-6, seed=1), enclose(program, width=1e-8, seed=2)
    assert first.reached
    assert second.reached
    assert max(first.lower, second.lower) <= min(first.upper, second.upper)
    assert enclose(program, width=1e-6, seed=1).upper == first.upper


def test_too_few_columns_give_a_wider_interval_and_more_of_them_are_added() -> None:
    program = random_graph(5, n=20)
    narrow = enclose(program, width=1e-8, rank=1, sweeps=3000)
    assert not narrow.reached
    assert "no more progress" in narrow.message or "sweeps" in narrow.message
    optimum = enclose(program, width=1e-9)
    assert narrow.lower <= optimum.upper
    assert narrow.upper >= optimum.lower


def test_limits_end_a_search_with_verified_bounds() -> None:
    program = random_graph(3)
    best = enclose(program)
    for interval, message in (
        (enclose(program, sweeps=2), "2 sweeps"),
        (enclose(program, seconds=0.0), "0 seconds"),
        (enclose(program, stop=lambda: "asked to"), "asked to"),
        (enclose(program, width=1e-17), "no more progress"),
    ):
        assert message in interval.message
        assert not interval.reached
        assert interval.lower <= best.upper
        assert best.lower <= interval.upper < np.inf


def test_negative_curvature_lies_in_the_range_of_the_vectors_and_a_correction_takes_it_away() -> (
    None
):
    """The estimate is the least eigenvalue, nearly, and the correction leaves a second order."""

    program = MaxCutProgram.of_system(homogenised(generate("random-120-3000", 4)))
    assert program is not None
    ascent = Ascent(program, 16, np.random.default_rng(0))
    ascent.run(120)
    dual = DualPoint.of(ascent.weights, ascent.vectors)

    def lowest(dual_point: DualPoint) -> float:
        full = np.diag(dual_point.lengths) - ascent.weights.toarray()
        return float(np.linalg.eigvalsh(full)[0])

    assert dual.lowest < 0.0
    assert lowest(dual) <= dual.lowest + 1e-14
    assert dual.lowest <= 0.7 * lowest(dual)
    assert max(0.0, -lowest(dual.corrected())) <= 0.05 * -lowest(dual)


def test_the_stated_bounds_of_the_optimiser_are_verified() -> None:
    system = homogenised(generate("random-30-80", 1))
    result = minimise(system, LowRank(), RunOptions(goal=Width(1e-7), seed=3))
    assert result.status is Status.FEASIBLE
    assert result.goal_reached
    assert str(result.goal) == "width=1e-07"
    assert result.optimum_width is not None
    assert result.optimum_width <= 1e-7
    assert system.prove_point(result.point).feasible
    again = reverified_bounds(system, result.point, result.proof, None)
    assert again == pytest.approx((result.optimum_lower, result.optimum_upper), rel=1e-13)
    assert result.trace.measures["optimum_upper"][-1] == result.optimum_upper
    assert "optimum in [" in repr(result)
    assert "relative width" in str(result)
    assert "margin" not in str(result)


def test_tampered_arrays_prove_less() -> None:
    system = homogenised(generate("random-30-80", 1))
    result = minimise(system, LowRank())
    assert result.optimum_lower is not None
    assert result.optimum_upper is not None
    turned = result.proof[VECTORS].copy()
    turned[3] = -turned[3]
    less = result.point.copy()
    less[1:] -= 1e-3
    lower, upper = reverified_bounds(system, less, {VECTORS: turned}, result.optimum_lower)
    assert lower is not None
    assert lower < result.optimum_lower - 1e-4
    assert upper is not None
    assert upper > result.optimum_upper - 1e-9
    broken = np.full_like(turned, np.nan)
    assert reverified_bounds(system, -result.point, {VECTORS: turned}, None) == (None, None)
    assert reverified_bounds(system, result.point, {VECTORS: broken}, None)[0] is None


def test_goals_of_other_kinds_and_other_programs_are_refused() -> None:
    system = homogenised(generate("random-12-25", 1))
    with pytest.raises(InputError, match="an optimiser needs"):
        minimise(system, LowRank(), RunOptions(goal="budget"))
    with pytest.raises(InputError, match="one of optimisers"):
        solve([[1.0]], "perceptron", goal={"width": 1e-3})
    with pytest.raises(InputError, match="MAXCUT's form"):
        minimise(homogenised(dense_program(1)), LowRank())
    missed = minimise(system, LowRank(), RunOptions(goal=Width(1e-9), budget=Budget(updates=1)))
    assert missed.goal_reached is False
    assert "the goal width 1e-09 is missed" in missed.message


def test_any_program_has_an_optimum() -> None:
    graph = random_graph(7)
    matrix = np.diag(graph.diagonal) + graph.weights.toarray()
    expected = judged(graph)
    for problem_form in (matrix, graph, graph.system()):
        result = optimum(problem_form, width=1e-8)
        assert result.optimum_lower is not None
        assert result.optimum_upper is not None
        assert result.goal_reached
        assert result.optimum_lower - 1e-6 <= expected <= result.optimum_upper + 1e-6
    other = optimum(homogenised(dense_program(2)), width=1e-2, budget=Budget(4000, 20.0))
    assert other.goal_reached, other.message
    with pytest.raises(InputError, match="no objective"):
        optimum(ConicSystem.from_rows([[1.0, 2.0]]))


def test_vertices_are_shifted_one_by_one_where_the_width_has_room() -> None:
    """On a torus a wide interval is proved with a few raised pivots, and holds the narrow one."""
    program = MaxCutProgram.of_system(homogenised(generate("torus-30x30", 1)))
    assert program is not None
    wide = enclose(program, width=LOCAL / program.order)
    narrow = enclose(program, width=1e-5)
    assert wide.reached
    assert narrow.reached
    assert wide.lower <= narrow.upper
    assert narrow.lower <= wide.upper
    assert proved_upper(program, wide.point)[0] <= wide.upper * (1.0 + 1e-12)


def test_a_cut_is_reported_with_the_bounds() -> None:
    system = homogenised(generate("random-30-80", 1))
    result = minimise(system, LowRank(), RunOptions(seed=3))
    figures = result.certificate["figures"]
    signs = result.proof[SIGNS]
    assert result.optimum_upper is not None
    assert figures["cut"] <= result.optimum_upper
    assert 0.878 <= figures["cut_ratio"] <= figures["cut"] / result.optimum_upper
    between = graph_of("random-30-80", 1).toarray()[np.ix_(signs > 0, signs < 0)].sum()
    assert figures["cut"] == between == reverified_cut(system, result.proof)
    without = minimise(system, LowRank(hyperplanes=0), RunOptions(seed=3))
    assert "cut" not in without.certificate["figures"]
    assert reverified_cut(system, without.proof) is None
