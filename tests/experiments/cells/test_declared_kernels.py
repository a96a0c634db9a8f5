"""Cells declare the compiled functions that they call, so that none is loaded on their clock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest

from perceptron_lab.cones import semidefinite as semidefinite_cone
from perceptron_lab.core import registry
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.run_options import RunOptions
from perceptron_lab.datasets.generated.maxcut import generate
from perceptron_lab.estimators.learners.learning import learn
from perceptron_lab.experiments.cells.cell_run import declared
from perceptron_lab.numerics.compiled.kernel import Kernel, called_by, compiled_only
from perceptron_lab.problems.optima.optimiser import minimise
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.pencil import homogenised
from tests.conformance.systems import ALGORITHMS, PEERS, SYSTEMS, form, runs
from tests.estimators.learners.test_learners import ball, few, on_features, sparse
from tests.repetitions import in_long_run

Names = set[str]
OF_PROOFS = {"products", "add_combination", "_eliminate_rows"}
"""Whether they are called depends on what is to be proved at the end."""
UNREACHED = {
    "postprocessed": {"_minimum_norm", "enter", "descend", "leave"},
    "cyclic-perceptron": {"screened_sweep"},
}
"""Sparse rows are settled by the first of two algorithms; so few updates screen no rows."""
OF_MATRICES = [
    name
    for name in registry.names("oracle")
    if registry.load("oracle", name).kind == "semidefinite"
]
"""Rows have no compiled oracle."""
BY_FORM = [[make for make in SYSTEMS if form(make) == kind] for kind in {*map(form, SYSTEMS)}]
CHOSEN = [make for makes in BY_FORM for make in makes[:: max(1, len(makes) - 1)]]
"""A feasible and an infeasible system of each form; the long run has all."""
BUDGET = Budget(updates=100 if in_long_run() else 20, seconds=20.0)
ASKED = Budget(updates=6, seconds=20.0)


def compiled_with(kernel: Kernel) -> Names:
    """Its name, and those of the kernels that it calls."""
    return {kernel.__name__}.union(*map(compiled_with, kernel.callees.values()))


@contextmanager
def calls() -> Iterator[Names]:
    """The names of the kernels that are called meanwhile, and of those that these call."""
    names, call = set[str](), Kernel.__call__

    def noted(kernel: Kernel, *arguments: Any) -> Any:
        names.update(compiled_with(kernel))
        return call(kernel, *arguments)

    with pytest.MonkeyPatch.context() as patch, compiled_only():
        patch.setattr(Kernel, "__call__", noted)
        yield names


def declaration(kind: str, record: Any, problem: Any, *oracles: Any) -> Names:
    components = tuple(SimpleNamespace(record=oracle) for oracle in oracles)
    method = SimpleNamespace(kind=kind, record=record)
    cell: Any = SimpleNamespace(variant=SimpleNamespace(algorithm=method, oracles=components))
    return set().union(*map(compiled_with, called_by(declared(cell, problem))))


def problem_of(system: ConicSystem) -> Any:
    return SimpleNamespace(system=system, tasks=())


@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithms_declare_exactly_the_kernels_they_call(name: str) -> None:
    record = registry.load("algorithm", name)()
    uncalled: dict[object, Names] = {}
    for make in SYSTEMS if in_long_run() else CHOSEN:
        if not runs(name, make):
            continue
        system = make()
        stated = declaration("algorithm", record, problem_of(system))
        with calls() as called:
            solve(system, record, budget=ASKED if name in PEERS else BUDGET, seed=1)
        assert called <= stated, make.__name__
        uncalled[form(make)] = uncalled.get(form(make), stated) & (stated - called)
    assert set().union(*uncalled.values()) <= OF_PROOFS | UNREACHED.get(name, set())


@pytest.mark.parametrize("name", OF_MATRICES)
@pytest.mark.parametrize("large", [False, True])
def test_oracles_declare_the_kernels_they_call(
    name: str, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    oracle = registry.load("oracle", name)()
    if large:
        monkeypatch.setattr(semidefinite_cone, "LARGEST_WHOLE", 2)
    for instance in ("random-12-25", "torus-8x10"):
        system = homogenised(generate(instance, seed=5))
        record = registry.load("algorithm", "perceptron")()
        stated = declaration("algorithm", record, problem_of(system), oracle)
        with calls() as called:
            solve(system, record, oracle=oracle, budget=BUDGET)
        assert called <= stated


PROGRAMS = [
    ("low-rank", {}),
    ("objective-sequence", {}),
    ("objective-bisection", {"width": 0.5, "updates": 300}),
    ("deep-cut-ellipsoid", {"width": 0.1}),
    ("verified-solver", {"solver": "clarabel"}),
]


assert [row[0] for row in PROGRAMS] == registry.names("optimiser")


@pytest.mark.parametrize(("name", "parameters"), PROGRAMS)
def test_optimisers_declare_the_kernels_they_call(name: str, parameters: dict[str, Any]) -> None:
    optimiser = registry.load("optimiser", name)(**parameters)
    for instance in ("random-12-25", "torus-8x10"):
        system = homogenised(generate(instance, seed=0))
        stated = declaration("optimiser", optimiser, problem_of(system))
        with calls() as called:
            minimise(system, optimiser, RunOptions(budget=BUDGET))
        assert called <= stated
    assert stated - called <= OF_PROOFS | {"factor_panel"}  # dense remainders of larger patterns


@pytest.mark.parametrize("name", registry.names("learner"))
def test_learners_declare_the_kernels_they_call(name: str) -> None:
    parameters = {"components": 2} if on_features(name) else {}
    kind = registry.load("learner", name)
    learner = kind(**parameters, **few(kind))
    for task in (ball(), sparse(ball())):
        stated = declaration("learner", learner, SimpleNamespace(system=None, tasks=(task,)))
        with calls() as called, suppress(NumericalError):
            learn(learner, (task,), 0)
        assert called == stated
