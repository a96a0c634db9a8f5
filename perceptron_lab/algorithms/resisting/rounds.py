"""An algorithm against a resisting oracle in rounds: each answer on the rows known is a query."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from perceptron_lab.algorithms.resisting.system import ResistingSystem
from perceptron_lab.core.errors import InputError, counted
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import Bound, Result, Status, Trace
from perceptron_lab.core.run_options import RunOptions, TraceOptions
from perceptron_lab.systems.conic_system import ConicSystem

Round = Callable[[ConicSystem, RunOptions], Result]
"""Runs the algorithm on an ordinary system."""

_NO_BOUND = Bound(
    None, "runs in rounds", "its theorem bounds the updates of one round, and not the mistakes"
)


def drive_in_rounds(system: ResistingSystem, run: Round, options: RunOptions) -> Result:
    """Run an algorithm again and again, on the rows shown so far, until its point passes.

    `Kharechko2009`, section 2.2: an algorithm for a finite set becomes an online learner when it is
    run anew with each new example. Its hypothesis is the point that is *proved* to satisfy all rows
    shown, at first 0; the answer to it is a row that it violates, hence a new one. So it makes no
    mistake twice, and as many as there are rows, if it can solve each of the systems: the lower
    bound is attained. A round without a proved point ends the run, which has then found nothing.

    Parameters
    ----------
    system
        Its adversary starts anew.
    run
        The algorithm on the rows of a round.
    options
        The goal is ``decide``: no other has a meaning for rows that are not all known. The budget
        is that of all rounds together. Bounds and traces are those of all rounds, too.

    Returns
    -------
    Result
        That of the last round, on the set that is fixed in the end; updates, iterations, products
        and seconds are sums over all rounds, queries are those of the adversary.
    """
    if options.goal != "decide":
        raise InputError(f"goal {options.goal} in rounds on a resisting system; leave the goal out")
    clock, proofs = time.perf_counter(), 0.0
    course, alike = Trace(), replace(options, facts=None, trace=TraceOptions(), observe=None)
    begun = system.started({}, np.random.default_rng(0))
    adversary = begun.adversary
    adversary.answer(np.zeros(system.dimension))
    while True:
        known = ConicSystem.from_rows(adversary.rows[: adversary.shown].copy())
        result = run(known, replace(alike, budget=_left(options.budget, course)))
        proofs += result.proof_seconds
        _append(course, result, adversary.mistakes)
        if "margin_above" in result.certificate.get("claim", {}):
            raise InputError(
                "a relaxed answer need not satisfy the rows that are known, and is no hypothesis; "
                "choose an algorithm that ends on strictly feasible points"
            )
        if result.status is not Status.FEASIBLE or adversary.answer(result.point) is None:
            beside = proofs, time.perf_counter() - clock
            return begun.answer(_whole(begun, result, course, beside), rounds=len(course))


def _left(limits: Budget, course: Trace) -> Budget:
    """Return what is left of a budget after some rounds."""
    if not len(course):
        return limits
    updates, seconds = limits.updates - course.updates[-1], limits.seconds - course.seconds[-1]
    return Budget(updates=max(updates, 0), seconds=max(seconds, 0.0))


def _append(course: Trace, result: Result, queries: int) -> None:
    """Append the last record of a round to the course of all, with the sums of their costs."""
    course.queries.append(queries)
    for name in ("updates", "iterations", "products", "seconds"):
        costs: list[float] = getattr(course, name)
        costs.append(getattr(result, name) + (costs[-1] if costs else 0))
    for name in ("phase", "margin", "upper"):
        getattr(course, name).append(getattr(result.trace, name)[-1])


def _whole(
    system: ResistingSystem, result: Result, course: Trace, beside: tuple[float, float]
) -> Result:
    """Return the result of the last round as that of all, and on the rows that are fixed.

    ``beside`` are the seconds of the proofs, and of everything.
    """
    rounds, weights = len(course), result.weights
    if weights is not None:
        weights = np.pad(weights, (0, system.adversary.forced - len(weights)))
    return replace(
        result,
        weights=weights,
        # of the rows known: others have a lower one, and no point of it
        margin_lower=result.margin_lower if result.status is Status.FEASIBLE else None,
        updates=course.updates[-1],
        queries=rounds,
        iterations=course.iterations[-1],
        products=course.products[-1],
        seconds=course.seconds[-1],
        proof_seconds=beside[0],
        total_seconds=beside[1],
        trace=course,
        bound=_NO_BOUND,
        message=f"{result.message}; {counted(rounds, 'round')}",
    )
