"""Solvers that are asked once: HiGHS, scipy's nnls, Clarabel and SCS."""

from __future__ import annotations

import re
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.external.cone_program import Clarabel, Scs
from perceptron_lab.algorithms.external.scipy_solvers import Highs, Nnls
from perceptron_lab.cones.operators.kernels import Polynomial, Rbf
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import Status
from tests.families import (
    cones,
    exact_margin,
    feasible_of,
    infeasible,
    infeasible_conic,
    infeasible_of,
    planted,
    planted_conic,
)

HIGHS = [
    Highs(method=method, program=program)
    for method in ("simplex", "ipm")
    for program in ("feasibility", "margin")
]
LARGEST = [Nnls(), Clarabel(), Scs(tolerance=1e-7)]
"""Those whose point has the largest margin."""
EVERY = [*HIGHS, *LARGEST]
CONIC = [Clarabel(), Scs(tolerance=1e-6)]

PROVED_INFEASIBLE = {Status.INFEASIBLE, Status.MARGIN_BOUNDED}


def printed_form(peer: Any) -> str:
    name = type(peer).__name__.lower()
    return f"{name}-{peer.method}-{peer.program}" if isinstance(peer, Highs) else name


@pytest.mark.parametrize("peer", EVERY, ids=printed_form)
@pytest.mark.parametrize("seed", range(4))
def test_planted_rows_are_separated(seed: int, peer: Any) -> None:
    rng = np.random.default_rng(seed)
    rows = planted(int(rng.integers(2, 9)), 40, 0.05, rng)[0] * rng.uniform(0.1, 10.0, (40, 1))
    result = solve(rows, peer)
    assert result.status is Status.FEASIBLE
    assert (rows @ result.point > 0).all()
    assert result.updates == 1
    assert result.margin_lower is not None
    assert result.margin_lower <= 0.05 * (1 + 1e-9)
    assert result.bound.value is None


@pytest.mark.parametrize("peer", LARGEST, ids=printed_form)
@pytest.mark.parametrize("size", [0.2, 1e-2, 1e-4])
def test_the_margin_is_the_largest_and_the_weights_prove_it(size: float, peer: Any) -> None:
    rows = planted(6, 60, size, np.random.default_rng(5))[0]
    result = solve(rows, peer)
    assert result.margin_lower == pytest.approx(exact_margin(rows)[0], rel=1e-2)
    assert result.margin_upper == pytest.approx(size, rel=1e-2)


@pytest.mark.parametrize("peer", EVERY, ids=printed_form)
@pytest.mark.parametrize("seed", range(4))
def test_where_no_point_separates_the_weights_prove_it(seed: int, peer: Any) -> None:
    rng = np.random.default_rng(seed)
    rows = infeasible(int(rng.integers(2, 7)), 25, rng) * rng.uniform(0.1, 10.0, (25, 1))
    result = solve(rows, peer)
    assert result.status is Status.INFEASIBLE
    assert result.margin_upper == 0.0
    assert result.weights is not None
    assert (result.weights >= 0).all()


@pytest.mark.parametrize("peer", EVERY, ids=printed_form)
def test_in_dimension_one(peer: Any) -> None:
    assert solve(np.array([[2.0], [0.5]]), peer).status is Status.FEASIBLE
    assert solve(np.array([[-3.0]]), peer).status is Status.FEASIBLE
    assert solve(np.array([[2.0], [-0.5]]), peer).status in PROVED_INFEASIBLE


@pytest.mark.parametrize("peer", EVERY, ids=printed_form)
def test_sparse_rows_are_the_same_rows(peer: Any) -> None:
    dense = planted(6, 40, 0.05, np.random.default_rng(2))[0]
    dense = np.where(abs(dense) < 0.05, 0.0, dense)
    first, second = (solve(rows, peer) for rows in (dense, sp.csr_array(dense)))
    assert first.status is second.status is Status.FEASIBLE
    assert first.margin_lower is not None
    assert second.margin_lower is not None
    opposed = np.vstack([dense, -dense.sum(axis=0)])
    for rows in (opposed, sp.csr_array(opposed)):
        assert solve(rows, peer).status is Status.INFEASIBLE


@pytest.mark.parametrize("peer", EVERY, ids=printed_form)
def test_kernels_are_separated_through_coordinates(peer: Any) -> None:
    rng = np.random.default_rng(3)
    examples = rng.standard_normal((24, 2))
    labels = examples[:, 0] * examples[:, 1] > 0
    for kernel in (Rbf(gamma=1.0), Polynomial(degree=2)):
        result = solve(ConicSystem.from_kernel(kernel, examples, labels), peer)
        assert result.status is Status.FEASIBLE
        assert result.point.shape == (24,)


@pytest.mark.parametrize("peer", EVERY, ids=printed_form)
def test_kernels_without_a_separator_are_bounded_to_what_products_resolve(peer: Any) -> None:
    result = solve(infeasible_of("polynomial Gram", 1).system, peer)
    assert result.status is Status.MARGIN_BOUNDED
    assert result.margin_upper is not None
    assert result.margin_upper <= 1e-6


@pytest.mark.parametrize("peer", EVERY, ids=printed_form)
def test_a_goal_of_weights_is_met_by_them(peer: Any) -> None:
    rows = planted(4, 30, 1e-3, np.random.default_rng(1))[0]
    result = solve(rows, peer, goal={"margin_upper": 0.5})
    assert result.status is Status.FEASIBLE
    result = solve(infeasible(3, 20, np.random.default_rng(1)), peer, goal={"margin_upper": 1e-3})
    assert result.status in PROVED_INFEASIBLE


@pytest.mark.parametrize("peer", EVERY, ids=printed_form)
def test_running_on_after_a_proof_repeats_the_answer(peer: Any) -> None:
    rows = planted(4, 30, 0.1, np.random.default_rng(4))[0]
    result = solve(rows, peer, goal="budget", budget=Budget(updates=100))
    assert result.status is Status.FEASIBLE
    assert result.updates == 1


# --- cones ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("peer", CONIC, ids=printed_form)
@pytest.mark.parametrize("kind", cones())
@pytest.mark.parametrize("seed", range(2))
def test_cone_programs_find_the_planted_margin(seed: int, kind: str, peer: Any) -> None:
    planted_system = feasible_of(kind, seed)
    result = solve(planted_system.system, peer)
    assert result.status is Status.FEASIBLE
    assert result.margin_lower == pytest.approx(planted_system.margin, rel=1e-2)
    assert result.margin_upper == pytest.approx(planted_system.margin, rel=1e-2)


@pytest.mark.parametrize("peer", CONIC, ids=printed_form)
@pytest.mark.parametrize("kind", cones())
def test_cone_programs_prove_that_there_is_no_point(kind: str, peer: Any) -> None:
    system = infeasible_conic(cones()[kind], 4, np.random.default_rng(6))
    assert solve(system, peer).status is Status.INFEASIBLE


@pytest.mark.parametrize("peer", CONIC, ids=printed_form)
@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_cone_programs_do_not_depend_on_the_unit(size: float, peer: Any) -> None:
    system = planted_conic(cones()["product"], 4, 0.1, np.random.default_rng(3))[0]
    assert isinstance(system.operator, Matrix)
    result = solve(system.with_operator(Matrix(system.operator.data * size)), peer)
    assert result.status is Status.FEASIBLE
    assert result.margin_lower == pytest.approx(0.1 * size, rel=1e-2)


@pytest.mark.parametrize("peer", [*HIGHS, Nnls()], ids=printed_form)
@pytest.mark.parametrize("kind", cones())
def test_other_solvers_refuse_cones_they_do_not_support(kind: str, peer: Any) -> None:
    name = type(peer).__name__.lower()
    with pytest.raises(InputError, match=f"{name} separates rows and kernels only"):
        solve(feasible_of(kind, 0).system, peer)


def test_an_unknown_cone_is_refused_by_name() -> None:
    class Power:
        size = 3

        @property
        def blocks(self) -> list[tuple[Any, slice]]:
            return [(self, slice(0, 3))]

    system: Any = SimpleNamespace(cone=Power(), dimension=3)
    with pytest.raises(InputError, match=r"clarabel takes rows, .* not Power; choose another"):
        Clarabel().start(system, np.random.default_rng(0))


# --- answers that are wrong, or missing ----------------------------------------------------------


def answering(monkeypatch: pytest.MonkeyPatch, **answer: Any) -> None:
    solution = SimpleNamespace(x=None, message="made up", **answer)
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *_, **__: solution)


def test_a_verdict_of_infeasible_without_weights_is_not_believed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answering(monkeypatch, status=2)
    rows = planted(4, 20, 0.1, np.random.default_rng(0))[0]
    result = solve(rows, "highs")
    assert result.status is Status.UNVERIFIED
    assert not result.proved
    assert result.margin_upper == pytest.approx(np.linalg.norm(rows.mean(axis=0)))


def test_an_infeasible_point_of_a_solver_is_not_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = planted(4, 20, 0.1, np.random.default_rng(0))[0]
    answer = SimpleNamespace(status=0, x=-rows.sum(axis=0), message="optimal")
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *_, **__: answer)
    result = solve(rows, "highs")
    assert result.status is Status.UNVERIFIED
    assert result.margin_lower is not None
    assert result.margin_lower < 0.0


def test_weights_that_do_not_vanish_are_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = planted(4, 20, 0.1, np.random.default_rng(0))[0]
    solution = np.eye(20)[0]
    monkeypatch.setattr(scipy.optimize, "nnls", lambda *_, **__: (solution, 0.0))
    result = solve(rows, "nnls")
    assert result.status is Status.UNVERIFIED
    assert result.margin_upper == pytest.approx(1.0)  # a true bound all the same


@pytest.mark.parametrize(
    ("peer", "reason"),
    [
        (Highs(time_limit=1e-9), r"HiGHS \(simplex\) gives no answer: Time limit"),
        (Highs(program="margin", time_limit=1e-9), r"HiGHS \(simplex\) gives no answer"),
        (Nnls(iterations=1e-9), "nnls gives no answer: Maximum number of iterations"),
        (Clarabel(time_limit=1e-9), "Clarabel gives no answer: its status is user_limit"),
    ],
    ids=["highs", "highs-margin", "nnls", "clarabel"],
)
def test_a_solver_that_gives_up_states_its_reason(peer: Any, reason: str) -> None:
    rows = planted(8, 300, 1e-3, np.random.default_rng(0))[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = solve(rows, peer)
        assert result.status is Status.NUMERICAL_ERROR
        assert not result.proved
        limited = solve(rows, peer, budget=Budget(updates=1))
    assert limited.status is Status.UPDATE_LIMIT
    assert re.search(reason, result.message)


def test_scs_refines_until_its_answer_will_do() -> None:
    rows = planted(6, 60, 1e-5, np.random.default_rng(5))[0]
    coarse, fine = Scs(tolerance=1e-2, finest=1e-2), Scs(tolerance=1e-2)
    assert solve(rows, coarse).status is Status.UNVERIFIED
    assert solve(rows, fine).status is Status.FEASIBLE


def test_an_interrupted_solver_is_judged_by_its_last_iterate() -> None:
    rows = planted(8, 300, 1e-3, np.random.default_rng(0))[0]
    result = solve(rows, Scs(tolerance=1e-8, iterations=3))
    assert result.status in {Status.UNVERIFIED, Status.NUMERICAL_ERROR, Status.FEASIBLE}
    assert result.proved == (result.status is Status.FEASIBLE)


def test_the_message_states_why_the_solver_stopped() -> None:
    rows = planted(6, 40, 0.05, np.random.default_rng(1))[0]
    for peer, words in (("clarabel", "calls it optimal"), ("highs", "Highs is asked once")):
        result = solve(rows, peer, goal={"margin_ratio": 1 - 1e-15})
        assert (result.status, result.goal_reached) == (Status.FEASIBLE, False)
        assert words in result.message
        assert "the goal margin_ratio 0.999999999999999 is missed" in result.message


@pytest.mark.parametrize(
    "make",
    [
        lambda: Highs(method="barrier"),  # type: ignore[arg-type]
        lambda: Highs(tolerance=1e-12),
        lambda: Nnls(iterations=0.0),
        lambda: Clarabel(time_limit=0.0),
        lambda: Scs(tolerance=-1.0),
        lambda: Scs(finest=0.0),
        lambda: Scs(epsilon=0.0),
    ],
)
def test_parameters_have_ranges(make: Any) -> None:
    with pytest.raises(InputError, match="; allowed: "):
        make()
