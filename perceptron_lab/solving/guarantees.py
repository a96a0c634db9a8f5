"""An algorithm's guarantee for the facts known in the end; none where it cannot be evaluated."""

from __future__ import annotations

from dataclasses import replace

from perceptron_lab.algorithms.base import AnyAlgorithm
from perceptron_lab.core import registry
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.results import Bound
from perceptron_lab.solving.failures import kept, no_bound
from perceptron_lab.systems import ConicSystem

TOLD = ("l1_margin", "hull_radius", "centre_norm")  # Facts that a system does not know of itself


def guarantee(
    algorithm: AnyAlgorithm,
    system: ConicSystem,
    facts: Facts | None,
    lower: float | None,
    length: float | None = None,
) -> Bound:
    """Return the bound for a feasible system, or for weights where no margin is known.

    ``facts`` were known before the run, ``lower`` is the proved lower bound of the margin,
    ``length`` the norm of the point from which the run was started; None for the algorithm's own.
    """
    margin = facts.margin if facts is not None and facts.margin else lower
    try:
        known = system.facts(margin if margin is not None and margin > 0 else None)
        if facts is not None:
            known = replace(known, **{name: getattr(facts, name) for name in TOLD})
        if length is not None:
            return algorithm.bound_from(known, length)
        if known.margin is not None:
            return algorithm.bound(known)
        return algorithm.certificate_bound(known, system.target or algorithm.epsilon)
    except Exception as error:
        if not kept(error):
            raise
        return no_bound(error, registry.name_of("algorithm", algorithm))
