"""An algorithm's guarantee on what is known in the end; none where it cannot be evaluated."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from perceptron_lab import registry
from perceptron_lab.algorithms.base import Algorithm
from perceptron_lab.facts import Facts
from perceptron_lab.failures import kept, no_bound
from perceptron_lab.results import Bound
from perceptron_lab.system import ConicSystem


def guarantee(
    algorithm: Algorithm[Any], system: ConicSystem, facts: Facts | None, lower: float | None
) -> Bound:
    """Return the bound for a feasible system, or for weights where no margin is known.

    Parameters
    ----------
    algorithm, system
        The algorithm, and what it ran on.
    facts
        What was known of the system before, if anything.
    lower
        The proved lower bound of the margin, if there is one.
    """
    known = facts.margin if facts is not None and facts.margin else lower
    try:
        found = system.facts(known if known is not None and known > 0 else None)
        return _bound(algorithm, system, _told(found, facts))
    except Exception as error:
        if not kept(error):
            raise
        return no_bound(error, registry.name_of("algorithm", algorithm))


def _bound(algorithm: Algorithm[Any], system: ConicSystem, facts: Facts) -> Bound:
    certificate_bound = getattr(algorithm, "certificate_bound", None)
    if facts.margin is not None or certificate_bound is None:
        return algorithm.bound(facts)
    epsilon = system.target or getattr(algorithm, "epsilon", 0.0)
    return cast("Bound", certificate_bound(facts, epsilon))


def _told(found: Facts, told: Facts | None) -> Facts:
    """Return what was found of a system, with what only the caller can know."""
    if told is None:
        return found
    return replace(
        found,
        l1_margin=told.l1_margin,
        hull_radius=told.hull_radius,
        centre_norm=told.centre_norm,
    )
