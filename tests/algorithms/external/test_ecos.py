"""ECOS beside the other solvers that are given matrices and vectors, and its absence."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from perceptron_lab import ConicSystem, solve
from perceptron_lab.algorithms.external.direct import ClarabelDirect, Ecos
from perceptron_lab.algorithms.external.largest_margin import ERRORS
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import Status
from tests.families import feasible_of, infeasible_conic, infeasible_of, planted_conic
from tests.repetitions import repeated

BLOCKS = Product([Orthant(3), SecondOrder(3), SecondOrder(4)])


def of_blocks(seed: int) -> ConicSystem:
    return planted_conic(BLOCKS, 4, 0.05, np.random.default_rng(seed))[0]


@pytest.mark.parametrize("kind", ["rows", "second-order", "both"])
@pytest.mark.parametrize("seed", repeated(range(8), kept=2))
def test_it_finds_the_margin_that_clarabel_finds(kind: str, seed: int) -> None:
    pytest.importorskip("ecos")
    system = of_blocks(seed) if kind == "both" else feasible_of(kind, seed).system
    first, second = solve(system, Ecos()), solve(system, ClarabelDirect())
    assert first.status is second.status is Status.FEASIBLE
    assert first.margin_lower == pytest.approx(second.margin_lower, rel=1e-5)
    assert first.margin_upper == pytest.approx(second.margin_upper, rel=1e-5)
    figures = first.certificate["figures"]
    assert max(abs(figures[name]) for name in ERRORS) < 1e-7
    assert f"ecos {Ecos().version} calls its answer Optimal" in first.message


@pytest.mark.parametrize("kind", ["rows", "second-order", "both"])
def test_its_weights_prove_that_nothing_is_feasible(kind: str) -> None:
    pytest.importorskip("ecos")
    if kind == "both":
        system = infeasible_conic(BLOCKS, 4, np.random.default_rng(1))
    else:
        system = infeasible_of(kind, 1).system
    result = solve(system, Ecos())
    assert result.status in (Status.INFEASIBLE, Status.MARGIN_BOUNDED)
    assert result.proved


def test_matrices_are_refused() -> None:
    for kind in ("semidefinite", "product"):
        with pytest.raises(InputError, match="ecos takes rows and second-order blocks, not Semi"):
            solve(feasible_of(kind, 0).system, Ecos())


def test_without_the_package_the_error_states_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "ecos", None)
    with pytest.raises(InputError, match=r"run pip install perceptron-lab\[ecos\]"):
        solve(of_blocks(0), Ecos())
