"""May a stored row stand for a planned cell?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import Status
from perceptron_lab.core.run_options import TraceOptions
from perceptron_lab.experiments.configuration.config import ProcessLimits
from perceptron_lab.experiments.storage.reuse import Reuse, decide_reuse
from perceptron_lab.experiments.storage.stored import Planned, Stored
from tests.experiments.artificial_stores import CORE, LIMITS, make_planned

KEEP, STALE, AGAIN = Reuse.KEEP, Reuse.STALE, Reuse.AGAIN
GIVEN = Budget(1000, 10.0)
OTHER = f"cell:{0:064}"
ENDED = (
    Status.FEASIBLE,
    Status.INFEASIBLE,
    Status.MARGIN_BOUNDED,
    Status.UNBOUNDED,
    Status.FITTED,
    Status.NUMERICAL_ERROR,
    Status.UNVERIFIED,
    Status.SKIPPED,
)
"""How a run may end before its limits."""
LARGE_BUDGETS = st.builds(Budget, st.integers(0, 2000), st.floats(0.0, 20.0))


def make_stored(status: Status, updates: int | None = 400, **changes: Any) -> Stored:
    """Return a row of a run under GIVEN that took a hundredth of a second per update."""
    row = {"updates": updates, "seconds": None if updates is None else updates / 100}
    stored_row = Stored(
        cell=make_planned(0).cell,
        status=status,
        row=row,
        core=CORE,
        budget=GIVEN,
        recorded=TraceOptions(record_at=[5, 7], trace_measures=True),
        limits=LIMITS,
        limit="",
        environment="machine",
        started="",
        ended="",
        attempts=1,
        stderr="",
        peak_memory=None,
        settings={},
        sha256="",
        certificate=None,
    )
    return replace(stored_row, **changes)


def request(budget: Budget = GIVEN, recorded: TraceOptions | None = None) -> Planned:
    return make_planned(0, budget=budget, recorded=recorded or TraceOptions())


def decide(stored: Stored | None, planned: Planned, limits: ProcessLimits = LIMITS) -> Reuse:
    verdict = decide_reuse(stored, planned, CORE, limits)
    assert verdict.reason
    return verdict.decision


@pytest.mark.parametrize("status", ENDED)
@pytest.mark.parametrize("budget", [GIVEN, Budget(10**30, 1e300), Budget(399, 3.9), Budget(0, 0.0)])
def test_a_run_that_ended_within_its_limits_serves_every_budget(
    status: Status, budget: Budget
) -> None:
    assert decide(make_stored(status), request(budget)) is KEEP


@pytest.mark.parametrize(
    ("budget", "decision"),
    [(GIVEN, KEEP), (Budget(1001, 10.0), AGAIN), (Budget(1000, 9.0), AGAIN)],
)
def test_a_run_with_goal_budget_serves_its_own_budget_only(budget: Budget, decision: Reuse) -> None:
    planned = request(budget)
    spending = replace(planned, settings={**planned.settings, "goal": "budget"})
    assert decide(make_stored(Status.FEASIBLE), spending) is decision


@pytest.mark.parametrize(
    ("status", "budget", "decision"),
    [
        (Status.UPDATE_LIMIT, GIVEN, KEEP),
        (Status.UPDATE_LIMIT, Budget(1000, 1e9), KEEP),
        (Status.UPDATE_LIMIT, Budget(1000, 4.0), KEEP),
        (Status.UPDATE_LIMIT, Budget(1000, 3.9), AGAIN),
        (Status.UPDATE_LIMIT, Budget(1001, 10.0), AGAIN),
        (Status.UPDATE_LIMIT, Budget(999, 10.0), AGAIN),
        (Status.TIME_LIMIT, GIVEN, KEEP),
        (Status.TIME_LIMIT, Budget(10**9, 10.0), KEEP),
        (Status.TIME_LIMIT, Budget(400, 10.0), KEEP),
        (Status.TIME_LIMIT, Budget(399, 10.0), AGAIN),
        (Status.TIME_LIMIT, Budget(1000, 10.5), AGAIN),
        (Status.TIME_LIMIT, Budget(1000, 9.5), AGAIN),
    ],
)
def test_a_limit_serves_the_same_limit(status: Status, budget: Budget, decision: Reuse) -> None:
    assert decide(make_stored(status), request(budget)) is decision


@pytest.mark.parametrize("status", [*ENDED, Status.TIME_LIMIT, Status.UPDATE_LIMIT])
def test_a_run_that_overshot_its_budget_serves_it(status: Status) -> None:
    """The last step may end after the last second; a learner asks nobody for the time."""
    row = {"updates": 1001, "seconds": 12.5}
    assert decide(make_stored(status, row=row), request(GIVEN)) is KEEP


@pytest.mark.parametrize(
    ("status", "limit", "changes", "decision"),
    [
        (Status.KILLED, "seconds", {}, KEEP),
        (Status.KILLED, "seconds", {"grace": 31.0}, AGAIN),
        (Status.KILLED, "seconds", {"grace": 29.0}, KEEP),
        (Status.KILLED, "seconds", {"memory": 10**10}, KEEP),
        (Status.KILLED, "loading", {}, KEEP),
        (Status.KILLED, "loading", {"loading": 601.0}, AGAIN),
        (Status.KILLED, "loading", {"grace": 31.0}, KEEP),
        (Status.KILLED, "", {}, AGAIN),
        (Status.OUT_OF_MEMORY, "memory", {}, KEEP),
        (Status.OUT_OF_MEMORY, "memory", {"memory": 10**9 + 1}, AGAIN),
        (Status.OUT_OF_MEMORY, "memory", {"memory": 10**8}, KEEP),
        (Status.OUT_OF_MEMORY, "memory", {"memory": None}, KEEP),
        (Status.OUT_OF_MEMORY, "memory", {"grace": 31.0}, KEEP),
        (Status.CRASHED, "", {}, AGAIN),
        (Status.ERROR, "", {}, AGAIN),
    ],
)
def test_a_run_ended_by_a_limit_is_repeated_under_a_larger_one(
    status: Status, limit: str, changes: dict[str, Any], decision: Reuse
) -> None:
    stored = make_stored(status, None, limit=limit)
    assert decide(stored, request(), LIMITS.model_copy(update=changes)) is decision


@pytest.mark.parametrize(
    ("budget", "decision"),
    [(GIVEN, KEEP), (Budget(1000, 11.0), AGAIN), (Budget(999, 10.0), AGAIN)],
)
def test_seconds_of_the_budget_count_for_the_hard_limit(budget: Budget, decision: Reuse) -> None:
    assert decide(make_stored(Status.KILLED, None, limit="seconds"), request(budget)) is decision


@pytest.mark.parametrize(
    ("recorded", "decision"),
    [
        (TraceOptions(), KEEP),
        (TraceOptions(record_at=[7], trace_measures=True), KEEP),
        (TraceOptions(record_at=[7, 5]), KEEP),
        (TraceOptions(record_at=[7, 6]), AGAIN),
    ],
)
def test_requested_records_must_be_present(recorded: TraceOptions, decision: Reuse) -> None:
    assert decide(make_stored(Status.FEASIBLE), request(recorded=recorded)) is decision


def test_measures_that_were_not_traced_are_missing() -> None:
    stored = make_stored(Status.FEASIBLE, recorded=TraceOptions(record_at=[5]))
    assert decide(stored, request(recorded=TraceOptions(record_at=[5]))) is KEEP
    assert decide(stored, request(recorded=TraceOptions(trace_measures=True))) is AGAIN


def test_missing_and_damaged_rows_are_not_reused() -> None:
    assert decide_reuse(None, request(), CORE, LIMITS).reason == "it was not run yet"
    damaged = make_stored(Status.FEASIBLE, fault="its stored row is damaged")
    verdict = decide_reuse(damaged, request(), CORE, LIMITS)
    assert (verdict.decision, verdict.reason) == (AGAIN, "its stored row is damaged")


def test_the_reasons_are_words_with_numbers() -> None:
    def reason(stored: Stored, planned: Planned, core: str = CORE) -> str:
        return decide_reuse(stored, planned, core, LIMITS).reason

    stored = make_stored(Status.FEASIBLE)
    assert reason(stored, request()) == "its row serves"
    spending = replace(request(Budget(9, 9.0)), settings={"goal": "budget"})
    expected = "it was to spend a budget of 1000 updates and 10 s, which is another now"
    assert reason(stored, spending) == expected
    stale = "the numeric code was c0dec0de and is 00000000; --refresh runs it again"
    assert reason(stored, request(), OTHER) == stale
    earlier = make_stored(Status.FEASIBLE, core="0" * 64)
    stale = "it was made before digests were kept per cell; --refresh runs it again"
    assert reason(earlier, request()) == stale
    limited = make_stored(Status.UPDATE_LIMIT)
    expected = "it ended at 1000 updates; the limit is 2000 now"
    assert reason(limited, request(Budget(2000, 10.0))) == expected
    assert reason(limited, request(Budget(1000, 1.0))) == "it took 4 s; the limit is 1 s now"


@pytest.mark.parametrize("status", Status)
@given(budget=LARGE_BUDGETS, limit=st.sampled_from(["", "seconds", "loading", "memory"]))
def test_a_row_of_another_core_never_serves(status: Status, budget: Budget, limit: str) -> None:
    stored = make_stored(status, limit=limit)
    today = decide_reuse(stored, request(budget), CORE, LIMITS).decision
    another = decide_reuse(stored, request(budget), OTHER, LIMITS).decision
    assert another is (AGAIN if today is AGAIN else STALE)
    assert decide_reuse(stored, request(budget), None, LIMITS).decision is today


@given(
    status=st.sampled_from(ENDED),
    updates=st.none() | st.integers(0, 1000),
    budget=LARGE_BUDGETS,
    more=st.tuples(st.integers(0, 2000), st.floats(0.0, 20.0)),
)
def test_a_row_that_serves_a_budget_serves_every_larger_one(
    status: Status, updates: int | None, budget: Budget, more: tuple[int, float]
) -> None:
    stored = make_stored(status, updates)
    larger = Budget(budget.updates + more[0], budget.seconds + more[1])
    if decide(stored, request(budget)) is KEEP:
        assert decide(stored, request(larger)) is KEEP
    assert decide(stored, request(GIVEN)) is KEEP


@given(status=st.sampled_from([s for s in Status if s not in ENDED]), budget=LARGE_BUDGETS)
def test_the_same_request_is_served_unless_the_run_failed_by_chance(
    status: Status, budget: Budget
) -> None:
    limits = {Status.KILLED: "seconds", Status.OUT_OF_MEMORY: "memory"}
    stored = make_stored(status, 0, budget=budget, limit=limits.get(status, ""))
    chance = status in (Status.CRASHED, Status.ERROR)
    assert decide(stored, request(budget)) is (AGAIN if chance else KEEP)
