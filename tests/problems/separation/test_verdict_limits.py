"""A verdict that is ended at any moment returns what is proved, and ends soon."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest

from perceptron_lab import maximum_support, separation
from perceptron_lab.core.time_limit import time_limit
from perceptron_lab.exact.whole_numbers import Claim
from perceptron_lab.experiments.certifying.exact_claims import Exact
from perceptron_lab.experiments.certifying.learnt import sign_claims, verdict_claims
from perceptron_lab.problems.separation.labelled import Labelled, labelled, unlabelled
from perceptron_lab.problems.separation.pair_verification import faults, proof_arrays
from perceptron_lab.problems.separation.separation import verdict_for
from perceptron_lab.problems.separation.verdict import SeparationVerdict, verdict_proved
from tests.repetitions import repeated
from tests.stops import StopAt

FURTHER = 3  # Questions after the flag, until the work has ended


def examples(kind: str, seed: int = 0) -> Labelled:
    """Classes with coefficients of all kinds: the first features separate some rows."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(40, 6)).astype(float)
    y = np.where(rng.random(40) < 0.5, "no", "yes")
    if kind == "complete":
        y = np.where(X @ [1.0, 2.0, 0.0, 0.0, 0.5, -1.0] > 0.2, "yes", "no")
    if kind == "quasi-complete":
        X[:, 0] = (y == "yes") & (rng.random(40) < 0.3)
    return labelled(X, y)


def same(partial: SeparationVerdict, full: SeparationVerdict) -> bool:
    """Whether all that is stated is what the verdict without a limit states."""
    stated = partial.verdict == "undecided" or partial.verdict == full.verdict
    return stated and partial.coefficients.items() <= full.coefficients.items()


@pytest.mark.parametrize("kind", ["overlap", "complete", "quasi-complete"])
def test_a_run_stopped_at_any_check_returns_what_is_verified(kind: str) -> None:
    labelled_rows, count = examples(kind), StopAt()
    full = verdict_for(labelled_rows, stop=count)
    assert full.verdict == kind
    assert full.classified
    sizes = set()
    for questions in np.unique(np.geomspace(1, count.asked + 1, 25).astype(int)).tolist():
        stop = StopAt(questions)
        decision = verdict_for(labelled_rows, stop=stop)
        assert stop.asked <= questions + FURTHER
        assert same(decision, full)
        assert decision.proved == (decision.verdict != "undecided")
        if decision.pair is not None:
            assert faults(decision.rows, decision.pair, decision.proofs) == []
            missing = len(full.coefficients) - len(decision.coefficients)
            assert ("too little time" in decision.method) == bool(missing)
            assert ("not decided" in str(decision)) == bool(missing)
        sizes.add(len(decision.coefficients))
    assert {0, 7} < sizes  # some of them in between


def partly(labelled_rows: Labelled) -> SeparationVerdict:
    """A verdict some of whose coefficients have no class."""
    count = StopAt()
    verdict_for(labelled_rows, stop=count)
    for questions in range(count.asked, 0, -1):
        decision = verdict_for(labelled_rows, stop=StopAt(questions))
        if 0 < len(decision.coefficients) < len(decision.names):
            return decision
    raise AssertionError("all or nothing is decided")


def accept_all(claims: Iterable[tuple[str, Claim]], _: object) -> Exact:
    return Exact([claim for _, claim in claims])


def test_a_partial_verdict_is_saved_certified_and_described(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    labelled_rows = examples("quasi-complete")
    partial = partly(labelled_rows)
    again = verdict_proved(labelled_rows, proof_arrays(partial))
    assert again.coefficients == partial.coefficients
    assert again.method == partial.method
    assert partial.as_json()["coefficients"] == partial.coefficients
    assert partial.certificate["coefficients"].keys() == partial.coefficients.keys()
    assert {name for name, _ in sign_claims(partial)} == partial.coefficients.keys()
    monkeypatch.setattr("perceptron_lab.experiments.certifying.learnt.accepted", accept_all)
    assert "not all of them" in verdict_claims(partial, None).missing["coefficients"]


def test_a_limit_around_a_verdict_counts() -> None:
    with time_limit(0.0):
        assert separation([[0.0], [1.0], [2.0]], [0, 0, 1]).verdict == "undecided"
        assert not maximum_support(np.eye(3)).proved


@pytest.mark.parametrize("seed", repeated(range(20), kept=3))
def test_maximum_support_ends_at_any_question(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(-2, 3, size=(12, 5)).astype(float)
    rows[6:9] = -rows[3:6]
    count = StopAt()
    with time_limit(np.inf, count):
        full = maximum_support(rows)
    assert full.proved
    for questions in {1, 2, count.asked // 2, count.asked}:
        stop = StopAt(questions)
        with time_limit(np.inf, stop):
            support = maximum_support(rows)
        assert stop.asked <= questions + FURTHER
        assert not support.proved or support.support.tolist() == full.support.tolist()


def test_finite_coefficients_are_solved_for_with_one_factorisation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from perceptron_lab.systems import exact_solutions

    factorised, calls = exact_solutions.factorised, []
    monkeypatch.setattr(
        "perceptron_lab.problems.separation.coefficients.factorised",
        lambda *arguments: calls.append(1) or factorised(*arguments),
    )
    decision = verdict_for(examples("overlap"))
    assert set(decision.coefficients.values()) == {"FINITE"}
    assert calls == [1]


def test_columns_of_fewer_rows_are_not_replaced() -> None:
    """All of them depend on others then: replaced ones would be roundings."""
    from perceptron_lab.problems.separation.separation import conditioned

    rng = np.random.default_rng(0)
    rows = labelled(rng.standard_normal((5, 9)), [0, 1, 0, 1, 0]).rows
    assert conditioned(rows) == (rows, None)


def test_long_weights_combine_rows_as_short_ones_do() -> None:
    rows, rng = examples("overlap").rows, np.random.default_rng(0)
    short = rng.integers(-9, 10, rows.count).tolist()
    every = np.arange(rows.count)
    plain = rows.combined(every, short)
    assert rows.combined(every, [entry << 2000 for entry in short]) == [
        entry << 2000 for entry in plain
    ]


@pytest.mark.parametrize("power", [-1070, -500, 0, 500, 1019])
@pytest.mark.parametrize("digits", [4, 53])
def test_sums_of_rows_neither_overflow_nor_underflow(power: int, digits: int) -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(-(2**digits) + 1, 2**digits, (9, 3)) * 2.0 ** (power - max(digits - 4, 0))
    rows, every = unlabelled(table), np.arange(9)
    numbers = [
        [Fraction(entry) * scale for entry, scale in zip(row, rows.scales, strict=True)]
        for row in table.tolist()
    ]
    for weights in ([0] * 9, [*range(9)], rng.integers(-(2**60), 2**60, 9).tolist()):
        columns = zip(*numbers, strict=True)
        sums = [sum(w * x for w, x in zip(weights, column, strict=True)) for column in columns]
        assert rows.combined(every, weights) == sums


@pytest.mark.parametrize("scale", [2.0**-1060, 2.0**1019])
def test_numbers_near_the_ends_of_the_range_of_doubles(scale: float) -> None:
    X = np.array([[0, 3], [1, 2], [2, 1], [1, 1], [3, 0], [2, 2]])
    for y in ([0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 1, 1]):
        found, plain = separation(X * scale, y), separation(X, y)
        assert (found.verdict, found.coefficients) == (plain.verdict, plain.coefficients)
