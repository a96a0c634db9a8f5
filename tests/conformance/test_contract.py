"""Every registered algorithm on every kind of system: the contract, whatever the answer."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from perceptron_lab import ConicSystem
from perceptron_lab.algorithms.external.linear_models import Svc
from perceptron_lab.algorithms.resisting.system import COUNTED
from perceptron_lab.certificates.margin import prove_point
from perceptron_lab.cones.operators.gram import Gram
from perceptron_lab.cones.operators.kernels import Linear
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.rescaled import RescaledRows
from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.core import registry
from perceptron_lab.core.claims import UNPROVED
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import Status
from perceptron_lab.solving import verifier
from perceptron_lab.solving.entry import solve
from tests.conformance.systems import (
    ALGORITHMS,
    DENSE_ONLY,
    FEASIBLE,
    INFEASIBLE,
    ITERATIVE,
    KERNELS,
    PEERS,
    ROWS_ONLY,
    SYSTEMS,
    Make,
    cases,
    infeasible_kernel,
    infeasible_rows,
    linear_kernel,
    maxcut,
    pencil,
    rows,
    runs,
    second_order,
    two_classes,
)
from tests.families import planted
from tests.repetitions import one_each, thinned

BUDGET = Budget(updates=3000, seconds=60.0)
LARGER = {"margin-bisection": Budget(updates=100_000, seconds=60.0)}
"""A round of a bisection that fails takes all its epochs."""
SETTLED = {Status.FEASIBLE, Status.INFEASIBLE, Status.MARGIN_BOUNDED}
TRAINED = {"linear-svc", "sklearn-perceptron", "sgd"}
LIMITS = {Status.UPDATE_LIMIT, Status.TIME_LIMIT}
FLAGS = {
    name: (kind.uses_oracle, kind.takes_start)
    for name in ALGORITHMS
    for kind in [registry.load("algorithm", name)]
}
NO_ORACLE = [name for name, (uses_oracle, _) in FLAGS.items() if not uses_oracle]
SCALED = {
    "winnow",
    "deterministic-rescaled-perceptron",
    "correlation-rescaling",
    "conic-rescaled-perceptron",
    "derandomised-rescaled-perceptron",
    "ellipsoid",
    "relaxed-perceptron",
    "rescaled-perceptron",
    "projection-rescaling",
    "interior-point",
    "auto",
}
"""Of a start they take the direction."""
OWN_START = [name for name, (_, takes_start) in FLAGS.items() if not takes_start]


def records(name: str) -> Any:
    return registry.load("algorithm", name)()


def check_proofs(system: ConicSystem, result: Any, algorithm: str) -> None:
    """What the result says is proved again, from its arrays and the data as given."""
    origin = system if system.origin is None else system.origin
    proof = prove_point(origin.operator, origin.cone, result.point, unit_rows=origin.unit_rows)
    assert proof.margin_lower == result.margin_lower or result.margin_lower is None
    assert proof.feasible == (result.status is Status.FEASIBLE)
    if result.margin_upper:
        view = records(algorithm).view(system)
        first = view if view.origin is None else view.origin
        upper = first.prove_weights(result.weights)
        assert upper == pytest.approx(result.margin_upper, rel=1e-6)


# --- answers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("algorithm", "make"), one_each(cases(FEASIBLE)))
def test_feasible_systems_are_settled_and_the_answer_is_proved(algorithm: str, make: Make) -> None:
    system = make()
    result = solve(system, algorithm, budget=LARGER.get(algorithm, BUDGET), seed=1)
    relaxed = algorithm == "relaxed-perceptron"
    allowed = {Status.MARGIN_BOUNDED, Status.UPDATE_LIMIT} if relaxed else set()
    assert result.status in {Status.FEASIBLE} | allowed
    assert result.proved == (result.status in SETTLED)
    assert result.certificate["claims_rejected"] == 0
    stated = result.certificate.get("figures", {})
    assert all(name.startswith(UNPROVED) or name in COUNTED for name in stated)
    assert result.margin_lower is not None
    assert result.margin_upper is not None
    assert 0.0 < result.margin_upper >= result.margin_lower
    if result.status is Status.FEASIBLE:
        assert result.margin_lower > 0
    check_proofs(system, result, algorithm)


@pytest.mark.parametrize(("algorithm", "make"), one_each(cases(INFEASIBLE, ITERATIVE)))
def test_infeasible_systems_have_no_feasible_answer(algorithm: str, make: Make) -> None:
    system = make()
    result = solve(system, algorithm, budget=Budget(updates=1000, seconds=60.0), seed=1)
    # A collapsed dilation is the honest end of space dilation on data without a separator.
    collapsed = {Status.NUMERICAL_ERROR} if algorithm == "space-dilation" else set()
    assert result.status in {Status.INFEASIBLE, Status.MARGIN_BOUNDED} | LIMITS | collapsed
    assert result.proved == (result.status in SETTLED)
    assert result.margin_lower is None or result.margin_lower <= 0.0
    assert (result.margin_upper == 0.0) == (result.status is Status.INFEASIBLE)
    check_proofs(system, result, algorithm)


@pytest.mark.parametrize(("algorithm", "make"), thinned(cases(INFEASIBLE, sorted(PEERS)), step=2))
def test_external_solvers_claim_nothing_false_without_a_separator(
    algorithm: str, make: Make
) -> None:
    peer = Svc(iterations=20_000) if algorithm == "svc" else algorithm
    result = solve(make(), peer, budget=Budget(updates=6))
    limits = {Status.UPDATE_LIMIT} if algorithm in TRAINED else set()
    allowed = {Status.INFEASIBLE, Status.MARGIN_BOUNDED, Status.UNVERIFIED}
    assert result.status in allowed | limits
    assert result.margin_lower is None or result.margin_lower <= 0.0
    assert result.proved == (result.status in SETTLED)


@pytest.mark.parametrize("algorithm", sorted(ROWS_ONLY))
@pytest.mark.parametrize("make", [second_order, maxcut, pencil])
def test_unsupported_systems_are_refused_with_the_reason(algorithm: str, make: Make) -> None:
    with pytest.raises(InputError, match="rows and kernels only; choose another"):
        solve(make(), algorithm)


# --- counters ------------------------------------------------------------------------------------


class Tally:
    """How often the operators are applied, by their own methods; proofs do not use these."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.products = 0.0
        self._count(monkeypatch, Matrix, "scores", 1.0)
        self._count(monkeypatch, Matrix, "combine", 1.0)
        self._count(monkeypatch, RescaledRows, "scores", 1.0)
        self._count(monkeypatch, Gram, "combine", 1.0)
        self._count(monkeypatch, Gram, "normal", None)
        self._count(monkeypatch, RescaledRows, "stretch", -1.0)  # its product belongs to the map
        for bracket in ("margin", "upper"):  # of the trace: they count nothing
            monkeypatch.setattr(ConicSystem, bracket, lambda self, argument: 0.0)
        monkeypatch.setattr(verifier, "central_weights", lambda system: barycentre(system.cone))

    def _count(
        self, monkeypatch: pytest.MonkeyPatch, kind: type, name: str, cost: float | None
    ) -> None:
        original = getattr(kind, name)

        def counted(operator: Any, *arguments: Any) -> Any:
            self.products += 1.0 / operator.size if cost is None else cost
            return original(operator, *arguments)

        monkeypatch.setattr(kind, name, counted)


@pytest.mark.parametrize(
    ("algorithm", "make"),
    one_each(
        cases(
            [rows, pencil, second_order, linear_kernel, infeasible_kernel],
            # Others look at single rows, or multiply by a part of them before the first update
            [n for n in ITERATIVE if n not in {*DENSE_ONLY, "sublinear-mirror-prox", "retrained"}],
        )
    ),
)
def test_products_equal_true_applications(
    algorithm: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = make()
    tally = Tally(monkeypatch)
    result = solve(system, algorithm, budget=Budget(updates=200))
    assert result.products == pytest.approx(tally.products)


PRICES = {
    # queries at the start and per update; products likewise, on rows and on a Gram operator
    "perceptron": ((0, 1), (0, 1), (0, 1 / 40)),
    "tau-perceptron": ((0, 1), (0, 1), (0, 1 / 40)),
    "space-dilation": ((0, 1), (0, 1), None),
    "ellipsoid": ((0, 1), (0, 1), None),
    "normalized-perceptron": ((0, 1), (0, 1), (0, 1 / 40)),
    "winnow": ((0, 1), (0, 1), None),
    "von-neumann": ((0, 1), (1, 1), (1, 1 / 40)),
    "smoothed-perceptron": ((1, 1), (3, 2), (2, 1)),
    "smoothed-von-neumann": ((1, 1), (3, 2), (2, 1)),
    "mirror-prox": ((0, 1), (0, 4), (0, 2)),
}


@pytest.mark.parametrize("gram", [False, True])
@pytest.mark.parametrize("algorithm", PRICES)
def test_an_update_has_the_cost_of_its_theory(algorithm: str, gram: bool) -> None:
    """On rows a query is one product; on a Gram operator scores are carried along, and a step
    along one feature costs one of its columns."""
    rng = np.random.default_rng(0)
    data = planted(5, 40, 1e-4, rng)[0]
    labels = np.where(np.arange(40) % 2 == 0, 1.0, -1.0)
    system = (
        ConicSystem.from_kernel(Linear(), data * labels[:, None], labels)
        if gram
        else ConicSystem.from_rows(data)
    )
    queries, on_rows, on_gram = PRICES[algorithm]
    products = on_gram if gram and on_gram is not None else on_rows
    for updates in (0, 4):
        result = solve(system, algorithm, budget=Budget(updates=updates))
        assert result.updates == updates
        assert result.queries == queries[0] + queries[1] * updates
        assert result.products == pytest.approx(products[0] + products[1] * updates)


# --- course --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("algorithm", "make"), one_each(cases(SYSTEMS, ITERATIVE)))
def test_equal_seeds_give_equal_traces_with_every_record(
    algorithm: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many updates the clock lets the driver ask for at a time."""
    budget = Budget(updates=100)
    monkeypatch.setattr("perceptron_lab.solving.driver.LONG", math.inf)
    former = solve(make(), algorithm, budget=budget, seed=7)
    monkeypatch.setattr("perceptron_lab.solving.driver.LONG", 0.0)  # one at a time
    two = solve(make(), algorithm, budget=budget, seed=7)
    assert np.array_equal(former.point, two.point)
    assert (former.status, former.updates, former.queries) == (two.status, two.updates, two.queries)
    assert former.trace.updates == two.trace.updates
    assert np.array_equal(former.trace.margin, two.trace.margin, equal_nan=True)
    assert np.array_equal(former.trace.upper, two.trace.upper, equal_nan=True)
    assert former.trace.phase == two.trace.phase
    trace = former.trace
    assert trace.updates[0] == 0
    powers = {1 << k for k in range(7)}
    assert {u for u in powers if u <= trace.updates[-1]} <= set(trace.updates)
    assert trace.updates == sorted(trace.updates)
    assert trace.queries == sorted(trace.queries)
    assert trace.products == sorted(trace.products)
    assert trace.products[-1] <= former.products  # the last query may come after the last update
    changes = sum(a != b for a, b in zip(trace.phase, trace.phase[1:], strict=False))
    assert changes == len(dict.fromkeys(trace.phase)) - 1


@pytest.mark.parametrize(("algorithm", "make"), one_each(cases(SYSTEMS)))
def test_a_budget_of_zero_proves_what_is_there(algorithm: str, make: Make) -> None:
    for budget in (Budget(updates=0), Budget(seconds=0.0)):
        result = solve(make(), algorithm, budget=budget)
        assert result.updates == 0
        assert result.queries <= 1  # smoothed algorithms look at their starting point
        assert result.status in LIMITS | {Status.FEASIBLE}
        assert len(result.trace) == 1
        assert "budget" in result.message


@pytest.mark.parametrize(
    ("algorithm", "make"), one_each(cases([infeasible_rows, infeasible_kernel], ITERATIVE))
)
def test_updates_never_exceed_the_budget(algorithm: str, make: Make) -> None:
    for updates in (1, 2, 3, 17):
        result = solve(make(), algorithm, budget=Budget(updates=updates))
        assert result.updates <= updates


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_inputs_stay_as_they_are(algorithm: str) -> None:
    data = planted(4, 20, 0.05, np.random.default_rng(8))[0] * 3.0
    examples, labels = two_classes(1)
    matrix = examples @ examples.T
    arrays = [data, examples, labels, matrix]
    copies = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    start = np.full(4, 0.5)
    start.flags.writeable = False
    limited: dict[str, Any] = {"budget": Budget(updates=50)}
    solve(data, algorithm, **limited)
    if algorithm not in OWN_START:
        solve(data, algorithm, start=start, **limited)
    solve((examples, labels), algorithm, **limited)
    solve(ConicSystem.from_kernel("precomputed", matrix, labels), algorithm, **limited)
    if algorithm not in ROWS_ONLY:
        solve(ConicSystem.second_order(data, [4, 16]), algorithm, **limited)
    for array, before in zip(arrays, copies, strict=True):
        assert np.array_equal(array, before)


# --- oracles and starts --------------------------------------------------------------------------


ASKING = [name for name in ALGORITHMS if name not in NO_ORACLE]


@pytest.mark.parametrize(
    ("algorithm", "oracle"), thinned(itertools.product(ASKING, registry.names("oracle")), step=9)
)
def test_every_oracle_works_with_every_algorithm_that_uses_one(algorithm: str, oracle: str) -> None:
    on_rows = registry.load("oracle", oracle).kind == "orthant"
    systems = [rows, maxcut, linear_kernel] if on_rows else [maxcut]
    for make in (system for system in systems if runs(algorithm, system)):
        result = solve(make(), algorithm, oracle=oracle, budget=BUDGET, seed=3)
        assert result.status in SETTLED


@pytest.mark.parametrize("oracle", ["most-violated", "eigenvector"])
@pytest.mark.parametrize("algorithm", NO_ORACLE)
def test_an_oracle_is_refused_by_algorithms_without_oracle(algorithm: str, oracle: str) -> None:
    with pytest.raises(InputError, match=f"{algorithm} looks at all constraints.*leave the oracle"):
        solve(rows(), algorithm, oracle=oracle)


def test_an_oracle_for_a_cone_without_any_is_refused() -> None:
    with pytest.raises(InputError, match="semidefinite blocks, of which the system has none"):
        solve(second_order(), "perceptron", oracle="eigenvector")
    with pytest.raises(InputError, match="orthant blocks, of which the system has none"):
        solve(second_order(), "perceptron", oracle="cyclic")


@pytest.mark.parametrize("algorithm", OWN_START)
def test_a_start_is_refused_by_algorithms_with_a_fixed_start(algorithm: str) -> None:
    with pytest.raises(InputError, match=f"{algorithm} has its own starting point; leave"):
        solve(rows(), algorithm, start=np.ones(5))


@pytest.mark.parametrize(
    ("algorithm", "make"),
    one_each(
        cases(
            [rows, second_order, *KERNELS],
            [name for name in ALGORITHMS if name not in OWN_START],
        )
    ),
)
def test_a_start_is_where_the_point_starts(algorithm: str, make: Make) -> None:
    """On a Gram system it is a vector of coefficients, whatever the algorithm runs on.

    Where its length says nothing the point is on its ray.
    """
    system = make()
    start = np.random.default_rng(0).standard_normal(system.operator.unknowns)
    recorded: list[Any] = []
    solve(
        system,
        algorithm,
        start=start,
        budget=Budget(updates=0),
        observe=lambda point: recorded.append(point.copy()) or {},  # type: ignore[func-returns-value]
    )
    scores, actual = (
        system.scores(system.operator.expand(point)) for point in (start, recorded[0])
    )
    if algorithm not in SCALED:
        assert actual == pytest.approx(scores)
    assert actual / np.linalg.norm(actual) == pytest.approx(scores / np.linalg.norm(scores))
    operator = system.operator
    with pytest.raises(InputError, match=f"give {operator.unknowns} finite numbers"):
        solve(system, algorithm, start=start[1:])


def test_the_flags_are_those_of_the_papers() -> None:
    additive = {
        "normalized-perceptron",
        "von-neumann",
        "smoothed-perceptron",
        "smoothed-von-neumann",
        "iterated-smoothed-von-neumann",
        "mirror-prox",
        "adaptive-mirror-prox",
        "primal-dual",
        "sublinear-mirror-prox",
        "minimum-norm-point",
        "whitened",
        "postprocessed",
        "retrained",
        "gram-smoothed-perceptron",
        "accelerated-winnow",
        *PEERS,
    }
    mistake_driven = {
        "perceptron",
        "relaxed-perceptron",
        "rescaled-perceptron",
        "ellipsoid",
        "space-dilation",
        "tau-perceptron",
    }
    sweeping = {
        "cyclic-perceptron",
        "perceptron-with-margin",
        "relaxation-with-margin",
        "fixed-margin-perceptron",
    }
    followed = {"auto", "interior-point", "projection-rescaling"}
    assert set(NO_ORACLE) >= additive | sweeping | followed | {"fixed-length-perceptron"}
    cuts = {"central-cuts", "simplex-cuts", "volumetric-cuts"}
    own_start = {"fixed-length-perceptron", "margin-bisection", "bundle-mirror", *cuts}
    assert set(OWN_START) == additive | own_start
    assert not mistake_driven & {*NO_ORACLE, *OWN_START}
    assert "winnow" not in NO_ORACLE
    assert not (sweeping | followed) & {*OWN_START}
