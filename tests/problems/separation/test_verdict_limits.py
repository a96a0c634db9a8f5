"""A verdict that is ended at any moment returns what is proved, and ends soon."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from perceptron_lab import maximum_support, separation
from perceptron_lab.core.time_limit import time_limit
from perceptron_lab.exact.whole_numbers import Claim
from perceptron_lab.experiments.certifying.exact_claims import Exact
from perceptron_lab.experiments.certifying.learnt import sign_claims, verdict_claims
from perceptron_lab.problems.separation.labelled import Labelled, labelled
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


def same(found: SeparationVerdict, whole: SeparationVerdict) -> bool:
    """Whether all that is stated is what the verdict without a limit states."""
    stated = found.verdict == "undecided" or found.verdict == whole.verdict
    return stated and found.coefficients.items() <= whole.coefficients.items()


@pytest.mark.parametrize("kind", ["overlap", "complete", "quasi-complete"])
def test_a_verdict_ends_at_any_question_with_what_is_proved(kind: str) -> None:
    given, count = examples(kind), StopAt()
    whole = verdict_for(given, stop=count)
    assert whole.verdict == kind
    assert whole.classified
    sizes = set()
    for questions in np.unique(np.geomspace(1, count.asked + 1, 25).astype(int)).tolist():
        stop = StopAt(questions)
        found = verdict_for(given, stop=stop)
        assert stop.asked <= questions + FURTHER
        assert same(found, whole)
        assert found.proved == (found.verdict != "undecided")
        if found.pair is not None:
            assert faults(found.rows, found.pair, found.proofs) == []
            missing = len(whole.coefficients) - len(found.coefficients)
            assert ("too little time" in found.method) == bool(missing)
            assert ("not decided" in str(found)) == bool(missing)
        sizes.add(len(found.coefficients))
    assert {0, 7} < sizes  # some of them in between


def partly(given: Labelled) -> SeparationVerdict:
    """A verdict some of whose coefficients have no class."""
    count = StopAt()
    verdict_for(given, stop=count)
    for questions in range(count.asked, 0, -1):
        found = verdict_for(given, stop=StopAt(questions))
        if 0 < len(found.coefficients) < len(found.names):
            return found
    raise AssertionError("all or nothing is decided")


def accept_all(claims: Iterable[tuple[str, Claim]], _: object) -> Exact:
    return Exact([claim for _, claim in claims])


def test_a_part_of_the_classes_is_saved_certified_and_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = examples("quasi-complete")
    found = partly(given)
    again = verdict_proved(given, proof_arrays(found))
    assert again.coefficients == found.coefficients
    assert again.method == found.method
    assert found.as_json()["coefficients"] == found.coefficients
    assert found.certificate["coefficients"].keys() == found.coefficients.keys()
    assert {name for name, _ in sign_claims(found)} == found.coefficients.keys()
    monkeypatch.setattr("perceptron_lab.experiments.certifying.learnt.accepted", accept_all)
    assert "not all of them" in verdict_claims(found, None).missing["coefficients"]


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
        whole = maximum_support(rows)
    assert whole.proved
    for questions in {1, 2, count.asked // 2, count.asked}:
        stop = StopAt(questions)
        with time_limit(np.inf, stop):
            found = maximum_support(rows)
        assert stop.asked <= questions + FURTHER
        assert not found.proved or found.support.tolist() == whole.support.tolist()


def test_finite_coefficients_are_solved_for_with_one_factorisation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from perceptron_lab.systems import exact_solutions

    factorised, made = exact_solutions.factorised, []
    monkeypatch.setattr(
        "perceptron_lab.problems.separation.coefficients.factorised",
        lambda *given: made.append(1) or factorised(*given),
    )
    found = verdict_for(examples("overlap"))
    assert set(found.coefficients.values()) == {"FINITE"}
    assert made == [1]


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
    assert rows.combined(every, [one << 2000 for one in short]) == [one << 2000 for one in plain]
