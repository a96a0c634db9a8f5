"""Algorithms on a linear system: ``auto`` decides it exactly, ``highs`` answers in doubles."""

from __future__ import annotations

from perceptron_lab.algorithms.base import AnyAlgorithm
from perceptron_lab.algorithms.linear.floating_answers import asked_highs
from perceptron_lab.algorithms.linear.linear_result import LinearResult, solve_linear
from perceptron_lab.core import registry
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.run_options import RunOptions
from perceptron_lab.systems.linear_system import LinearSystem

RUNS = ("auto", "highs")
"""The algorithms that answer questions about closed sets."""


def drive_linear(
    system: LinearSystem, algorithm: AnyAlgorithm, options: RunOptions
) -> LinearResult:
    """Run an algorithm on a linear system; options that mean nothing here are refused."""
    goal, budget, stop = options.goal, options.budget, options.stop
    name = registry.name_of("algorithm", algorithm)
    if name not in RUNS:
        raise InputError(
            f"{name} seeks strict solutions, and these conditions are not strict; choose "
            f"{' or '.join(RUNS)}, or solve system.strict() where there are no equations"
        )
    if goal != "decide":
        raise InputError(f"goal {goal} on a closed set, which has no margin; leave the goal out")
    meaningless = {
        "oracle": bool(options.oracles),
        "start": options.start is not None,
        "record_at": bool(options.trace.record_at),
    }
    for argument in (name for name, is_set in meaningless.items() if is_set):
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
