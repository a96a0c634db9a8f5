"""Peers on rows whose feasibility is known exactly: nothing false gets through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from perceptron_lab import Budget, solve
from perceptron_lab.algorithms.external.scipy_solvers import Highs
from perceptron_lab.core import registry
from perceptron_lab.core.results import Status
from tests.conformance.exact_instances import FAMILIES
from tests.conformance.systems import PEERS
from tests.conformance.test_no_false_claims import check
from tests.repetitions import parts

ON_ROWS = ["integer rows", "near-critical rows"]
FAMILIES_OF_ROWS = [kind for kind in FAMILIES if kind in ON_ROWS]
RECORDS: dict[str, Any] = {
    **{name: registry.load("algorithm", name)() for name in sorted(PEERS - {"svc"})},
    "highs-ipm": Highs(method="ipm"),
    "highs-margin": Highs(program="margin"),
}
ANSWERING = ["clarabel", "highs", "highs-margin", "nnls", "scs"]
"""Those that answer either way."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAMILIES_OF_ROWS)
@pytest.mark.parametrize("peer", RECORDS)
@pytest.mark.parametrize("seeds", parts(12, kept=6))
def test_answers_agree_with_exact_arithmetic(seeds: range, peer: str, kind: str) -> None:
    statuses = []
    for seed in seeds:
        instance = FAMILIES[kind](np.random.default_rng([seed, *map(ord, kind)]))
        budget = Budget(updates=8, seconds=10.0)
        result = solve(instance.system, RECORDS[peer], budget=budget, seed=seed)
        check(instance, result)
        statuses.append(result.status)
    if peer in ANSWERING:
        assert Status.FEASIBLE in statuses
        assert {Status.INFEASIBLE, Status.MARGIN_BOUNDED} & set(statuses)


def test_there_are_such_families() -> None:
    assert FAMILIES_OF_ROWS == ON_ROWS
