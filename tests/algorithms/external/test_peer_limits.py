"""External solvers on large data: the answers of small ones, and killed when the time is up."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.external import base
from perceptron_lab.algorithms.external.direct import ScsDirect
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.core.time_limit import TimeIsUp, time_limit
from tests.repetitions import repeated
from tests.stops import StopAt

SOLVERS = ["nnls", "highs", "scs-direct", "clarabel-direct", "scs", "linear-svc", "sgd", "svc"]


@pytest.fixture
def rows() -> FloatArray:
    rng = np.random.default_rng(0)
    table = rng.standard_normal((30, 4))
    return np.asarray(table * np.sign(table @ [1.0, 2.0, -1.0, 0.5])[:, None])


@pytest.mark.slow
@pytest.mark.parametrize("solver", repeated(SOLVERS, kept=3))
def test_answers_in_a_subprocess_equal_answers_in_this_process(
    solver: str, rows: FloatArray, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = solve(rows, solver)
    monkeypatch.setattr(base, "QUICK", 0)
    there = solve(rows, solver)
    assert local.status is there.status is Status.FEASIBLE
    assert np.array_equal(local.point, there.point)
    for name in ("updates", "iterations", "queries", "products", "message"):
        assert getattr(local, name) == getattr(there, name)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_solver_without_an_answer_in_time_claims_nothing(
    solver: str, rows: FloatArray, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def late(function: object, *_: object) -> None:
        calls.append(function)
        raise TimeIsUp

    monkeypatch.setattr(base, "QUICK", 0)
    monkeypatch.setattr(base, "killable", late)
    result = solve(rows, solver, stop=StopAt(3))
    assert calls
    assert result.status is Status.TIME_LIMIT
    assert result.message.startswith("stopped")
    assert not result.point.any()


@pytest.mark.parametrize(("mode", "sent"), [("r", True), ("r+", True), ("c", False)])
def test_only_files_that_another_process_can_map_are_sent(
    mode: Any, sent: bool, monkeypatch: pytest.MonkeyPatch, rows: FloatArray, tmp_path: Path
) -> None:
    monkeypatch.setattr(base, "QUICK", 0)
    monkeypatch.setattr(base, "killable", lambda *_: "sent")
    np.save(tmp_path / "rows.npy", rows)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode=mode)
    for view in (mapped, np.asarray(mapped)):
        answer = base.in_time(ConicSystem.from_rows(view), len, [1, 2])
        assert answer == ("sent" if sent else 2)


def test_solvers_receive_the_remaining_time(
    monkeypatch: pytest.MonkeyPatch, rows: FloatArray
) -> None:
    recorded: list[float] = []

    class Refusing:
        def __init__(self, *_: object, **options: float) -> None:
            recorded.append(options["time_limit_secs"])
            raise ArithmeticError

    monkeypatch.setattr("perceptron_lab.algorithms.external.direct.scs.SCS", Refusing)
    for limit, seconds in ((math.inf, 300.0), (50.0, 50.0)):
        with time_limit(limit):
            solve(rows, ScsDirect(), budget=Budget(seconds=1e4))
        assert seconds - 10.0 < recorded[-1] <= seconds


def test_sparse_data_of_large_matrices_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "killable", lambda *_: "sent")
    for order, answer in ((10, 2), (250, "sent")):
        cone = Semidefinite(order, *np.triu_indices(order))
        system = ConicSystem(Matrix(sp.csr_array(cone.identity[:, None])), cone)
        assert base.in_time(system, len, [1, 2]) == answer
