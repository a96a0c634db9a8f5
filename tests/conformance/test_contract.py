"""Every registered algorithm on every kind of system: the contract, whatever the answer."""

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import registry
from perceptron_lab.datasets.maxcut import generate
from perceptron_lab.datasets.pencil import homogenised
from perceptron_lab.driver import solve
from perceptron_lab.goals import Budget
from perceptron_lab.results import Status
from perceptron_lab.system import ConicSystem
from tests.families import infeasible, planted, planted_pencil

ALGORITHMS = registry.names("algorithm")


def rows_system():
    return ConicSystem.from_rows(planted(5, 40, 0.05, np.random.default_rng(1))[0])


def sparse_system():
    rows = planted(5, 40, 0.05, np.random.default_rng(2))[0]
    return ConicSystem.from_rows(sp.csr_array(np.where(abs(rows) < 0.05, 0.0, rows)))


def labelled_system():
    rng = np.random.default_rng(3)
    examples = np.vstack([rng.normal(2, 0.5, (20, 3)), rng.normal(-2, 0.5, (20, 3))])
    return ConicSystem.from_labelled(examples, np.repeat([1, 0], 20))


def pencil_system():
    return planted_pencil(5, 4, 0.3, np.random.default_rng(4))[0]


def maxcut_system():
    return homogenised(generate("random-12-25", seed=5))


def infeasible_system():
    return ConicSystem.from_rows(infeasible(4, 15, np.random.default_rng(6)))


def line_system():
    return ConicSystem.from_rows(np.array([[2.0], [0.5]]))


FEASIBLE = [
    rows_system,
    sparse_system,
    labelled_system,
    pencil_system,
    maxcut_system,
    line_system,
]
SYSTEMS = [*FEASIBLE, infeasible_system]
BUDGET = Budget(updates=3000, seconds=60.0)
SETTLED = {Status.FEASIBLE, Status.INFEASIBLE, Status.MARGIN_BOUNDED}


def case(algorithm, make):
    return pytest.param(algorithm, make, id=f"{algorithm}-{make.__name__}")


CASES = [case(a, s) for a in ALGORITHMS for s in SYSTEMS]
FEASIBLE_CASES = [case(a, s) for a in ALGORITHMS for s in FEASIBLE]


@pytest.mark.parametrize(("algorithm", "make"), CASES)
def test_the_answer_is_allowed_and_its_certificate_proves(algorithm, make):
    system = make()
    result = solve(system, algorithm, budget=BUDGET, seed=1)
    # A collapsed dilation is the honest end of space dilation on data without a separator.
    allowed = SETTLED | {Status.UPDATE_LIMIT}
    if make is infeasible_system:
        allowed = allowed - {Status.FEASIBLE} | {Status.NUMERICAL_ERROR}
    assert result.status in allowed
    assert result.proved == (result.status in SETTLED)
    if result.status is Status.FEASIBLE:
        assert result.margin_lower > 0
        assert system.prove_point(result.point).feasible
    if result.margin_lower is not None and result.margin_upper is not None:
        assert result.margin_lower <= result.margin_upper


@pytest.mark.parametrize(("algorithm", "make"), FEASIBLE_CASES)
def test_feasible_systems_are_settled(algorithm, make):
    assert solve(make(), algorithm, budget=BUDGET, seed=1).status in SETTLED


class Counting:
    """An operator that counts true calls, around a system's own."""

    def __init__(self, wrapped):
        self.wrapped, self.calls = wrapped, 0

    def __getattr__(self, name):
        return getattr(self.wrapped, name)

    def scores(self, point):
        self.calls += 1
        return self.wrapped.scores(point)

    def combine(self, weights):
        self.calls += 1
        return self.wrapped.combine(weights)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_counters_equal_true_calls(algorithm, monkeypatch):
    """On a matrix block the operator is used as it is; the trace's margins count nothing."""
    system = pencil_system()
    counting = Counting(system.operator)
    monkeypatch.setattr(ConicSystem, "margin", lambda self, point: 0.0)
    monkeypatch.setattr(ConicSystem, "_innermost", lambda self: (counting.wrapped, self.cone))
    result = solve(system.with_operator(counting), algorithm, budget=Budget(updates=200))
    assert result.products == counting.calls
    assert result.queries == counting.calls  # these algorithms ask nothing else of the data


@pytest.mark.parametrize(("algorithm", "make"), CASES)
def test_same_seed_same_course(algorithm, make):
    budget = Budget(updates=300)
    one, two = (solve(make(), algorithm, budget=budget, seed=7) for _ in range(2))
    assert np.array_equal(one.point, two.point)
    assert (one.status, one.updates, one.queries) == (two.status, two.updates, two.queries)
    assert one.trace.updates == two.trace.updates
    assert one.trace.margin == two.trace.margin
    assert one.trace.phase == two.trace.phase


@pytest.mark.parametrize(("algorithm", "make"), CASES)
def test_the_trace_has_first_last_powers_of_two_and_every_phase(algorithm, make):
    trace = solve(make(), algorithm, budget=Budget(updates=100), seed=2).trace
    assert trace.updates[0] == 0
    powers = {1 << k for k in range(7)}
    assert {u for u in powers if u <= trace.updates[-1]} <= set(trace.updates)
    assert trace.updates == sorted(trace.updates)
    assert trace.queries == sorted(trace.queries)
    changes = sum(a != b for a, b in zip(trace.phase, trace.phase[1:], strict=False))
    assert changes == len(dict.fromkeys(trace.phase)) - 1


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_inputs_stay_as_they_are(algorithm):
    rows = planted(4, 20, 0.05, np.random.default_rng(8))[0] * 3.0
    kept, start = rows.copy(), np.full(4, 0.5)
    rows.flags.writeable = False
    start.flags.writeable = False
    solve(rows, algorithm, budget=Budget(updates=200), start=start)
    assert np.array_equal(rows, kept)


@pytest.mark.parametrize(("algorithm", "make"), CASES)
def test_a_budget_of_zero_proves_what_is_there(algorithm, make):
    for budget in (Budget(updates=0), Budget(seconds=0.0)):
        result = solve(make(), algorithm, budget=budget)
        assert (result.updates, result.queries) == (0, 0)
        assert result.status in (Status.UPDATE_LIMIT, Status.TIME_LIMIT, Status.FEASIBLE)
        assert len(result.trace) == 1


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_updates_never_exceed_the_budget(algorithm):
    for updates in (1, 2, 3, 17):
        result = solve(infeasible_system(), algorithm, budget=Budget(updates=updates))
        assert result.updates <= updates


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", range(3))
def test_permuting_or_repeating_rows_keeps_the_answer(algorithm, seed):
    rng = np.random.default_rng(seed)
    rows = planted(4, 25, 0.1, rng)[0]
    shuffled = np.vstack([rows, rows[:10]])[rng.permutation(35)] * rng.uniform(0.5, 2, (35, 1))
    for data in (rows, shuffled):
        result = solve(data, algorithm, budget=BUDGET, seed=seed)
        assert result.status in SETTLED
        if result.status is Status.FEASIBLE:
            assert (rows @ result.point > 0).all()


@pytest.mark.parametrize("algorithm", ["perceptron", "ellipsoid", "space-dilation"])
@pytest.mark.parametrize("seed", range(5))
def test_deterministic_algorithms_turn_with_the_space(algorithm, seed):
    rng = np.random.default_rng(seed)
    rows = planted(5, 30, 0.05, rng)[0]
    turn = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    here, there = solve(rows, algorithm), solve(rows @ turn, algorithm)
    assert here.updates == there.updates
    assert np.allclose(here.point @ turn, there.point, atol=1e-8)


@pytest.mark.parametrize("oracle", registry.names("oracle"))
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_oracle_serves_every_algorithm(algorithm, oracle):
    rows = registry.load("oracle", oracle).kind == "orthant"
    systems = [rows_system, maxcut_system] if rows else [maxcut_system]
    for make in systems:
        result = solve(make(), algorithm, oracle=oracle, budget=BUDGET, seed=3)
        assert result.status in SETTLED
