"""Algorithms on a linear system: ``auto`` decides it exactly, ``highs`` answers in doubles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perceptron_lab.algorithms.base import AnyAlgorithm
from perceptron_lab.algorithms.linear.floating_answers import asked_highs
from perceptron_lab.algorithms.linear.linear_result import LinearResult, solve_linear
from perceptron_lab.core import registry
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import Budget, Goal
from perceptron_lab.systems.linear_system import LinearSystem

RUNS = ("auto", "highs")
"""The algorithms that answer questions about closed sets."""


def drive_linear(
    system: LinearSystem,
    algorithm: AnyAlgorithm,
    *,
    goal: Goal,
    budget: Budget,
    stop: Callable[[], str | None] | None,
    others: dict[str, Any],
) -> LinearResult:
    """Run an algorithm on a linear system; the parameters are those of :func:`.solving.solve`.

    Parameters
    ----------
    others
        Arguments that mean nothing here, by name: refused where they are given.
    """
    name = registry.name_of("algorithm", algorithm)
    if name not in RUNS:
        raise InputError(
            f"{name} seeks strict solutions, and these conditions are not strict; choose "
            f"{' or '.join(RUNS)}, or solve system.strict() where there are no equations"
        )
    if goal != "decide":
        raise InputError(f"goal {goal} on a closed set, which has no margin; leave the goal out")
    for argument, value in others.items():
        if value is not None and value != () and value != []:
            raise InputError(f"{argument} on linear conditions, which take none; leave it out")
    if name == "auto":
        return solve_linear(system, pivots=budget.updates, seconds=budget.seconds, stop=stop)
    if algorithm != type(algorithm)():
        raise InputError("highs takes no parameters on linear conditions; leave them out")
    return solve_linear(
        system,
        pivots=0,
        seconds=budget.seconds,
        stop=stop,
        method=lambda: asked_highs(system),
    )
