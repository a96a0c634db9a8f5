"""Sparse rows that Newton's method leaves undecided are led along the central path."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import Budget, Status, solve
from perceptron_lab.algorithms.automatic import separation, sparse_rows
from perceptron_lab.core.errors import NumericalError
from tests.stops import StopAt


@pytest.fixture(autouse=True)
def one_product(monkeypatch: pytest.MonkeyPatch) -> None:
    """Newton's method is tried on small systems too, and ends at once."""
    monkeypatch.setattr(separation, "SMALL", 0)
    monkeypatch.setattr(sparse_rows, "AT_ONCE", 1)
    monkeypatch.setattr(sparse_rows, "MOST_PRODUCTS", 1)


def sparse(seed: int, *, feasible: bool) -> sp.csr_array:
    """Rows of few entries with y'a > 0 for some y, but for the last one where none is to be."""
    rng = np.random.default_rng(seed)
    rows = sp.random_array((400, 50), density=0.06, rng=rng, format="csr")
    rows = rows[np.diff(rows.indptr) > 0]
    rows.data = np.round(1024.0 * (rows.data - 0.5)) / 1024.0 + 2.0**-11
    rows = sp.csr_array(sp.diags_array(np.sign(rows @ rng.standard_normal(50))) @ rows)
    against = -sp.csr_array(rows[rng.choice(rows.shape[0], 4, replace=False)].sum(axis=0)[None, :])
    return rows if feasible else sp.csr_array(sp.vstack([rows, against]))


def notes_of(result: Any) -> str:
    return "; ".join(result.certificate["notes"])


@pytest.mark.parametrize("seed", range(4))
def test_both_sides_are_decided(seed: int) -> None:
    result = solve(sparse(seed, feasible=False))
    assert result.status is Status.INFEASIBLE
    assert result.margin_upper == 0.0
    assert "steps of the interior-point method" in notes_of(result)
    assert "the interior-point method on" in notes_of(result)
    result = solve(sparse(seed, feasible=True))
    assert result.status is Status.FEASIBLE
    assert "Wolfe" not in notes_of(result)


def test_a_path_without_decision_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise NumericalError("the path ends")

    monkeypatch.setattr(separation, "path_separator", failing)
    result = solve(sparse(0, feasible=False))
    assert result.status is Status.INFEASIBLE
    assert "Wolfe" in notes_of(result)


def test_rows_too_many_for_the_normal_equations_are_not_led(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(separation, "affordable", lambda _: False)
    result = solve(sparse(0, feasible=False))
    assert result.status is Status.INFEASIBLE
    assert "interior-point" not in notes_of(result)


@pytest.mark.parametrize("questions", [12, 20, 40])
def test_a_path_that_is_stopped_leaves_its_weights(questions: int) -> None:
    result = solve(sparse(1, feasible=False), budget=Budget(updates=10), stop=StopAt(questions))
    assert result.status in (Status.TIME_LIMIT, Status.INFEASIBLE)
    assert result.weights is not None
    assert (result.weights >= 0.0).all()
    assert result.margin_upper is not None
