"""A goal that is called reached is reached by the bracket that is proved, or is refuted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.core.results import Status
from perceptron_lab.experiments.storage.certificate_files import (
    Certificate,
    identity_of,
    read_certificate,
    write_certificate,
)
from perceptron_lab.experiments.verification.claims import Verdict, Verified
from perceptron_lab.experiments.verify import verify
from tests.experiments.certified import (
    FEASIBLE,
    INFEASIBLE,
    LEARNER,
    SEPARABLE,
    certified,
    forbid_algorithms,
)

UPPER = {"goal": {"margin_upper": 0.2}}
RATIO = {"goal": {"margin_ratio": 0.5}}
SMALL = {"goal": {"margin_upper": 1e-9}}
RUNS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], bool]] = {
    "decide": (FEASIBLE, {"name": "perceptron"}, {}, True),
    "decide, missed": (INFEASIBLE, {"name": "von-neumann"}, {"budget": {"updates": 3}}, False),
    "decide, bounded": (
        INFEASIBLE,
        {"name": "mirror-prox", "parameters": {"epsilon": 0.2}},
        {},
        False,
    ),
    "relaxed": (
        INFEASIBLE,
        {"name": "relaxed-perceptron", "parameters": {"sigma": 0.9}},
        {},
        True,
    ),
    "upper": (INFEASIBLE, {"name": "mirror-prox"}, UPPER, True),
    "upper, missed": (
        INFEASIBLE,
        {"name": "mirror-prox"},
        SMALL | {"budget": {"updates": 20}},
        False,
    ),
    "upper, relaxed": (
        INFEASIBLE,
        {"name": "relaxed-perceptron", "parameters": {"sigma": 0.9}},
        SMALL,
        False,
    ),
    "ratio": (FEASIBLE, {"name": "minimum-norm-point"}, RATIO, True),
    "ratio, missed": (FEASIBLE, {"name": "perceptron"}, {"goal": {"margin_ratio": 0.999}}, False),
    "budget": (FEASIBLE, {"name": "perceptron"}, {"goal": "budget"}, False),
}


def verdict(path: Path) -> Verified:
    (cell,) = verify(path).cells
    return cell


@pytest.mark.parametrize("name", RUNS)
def test_goal_reached_is_stored_and_verified_again(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, algorithm, more, reached = RUNS[name]
    path = certified(tmp_path, problem, algorithm, **more)
    assert read_certificate(path).goal_reached is reached
    forbid_algorithms(monkeypatch)
    verified = verdict(path)
    assert (verified.verdict, verified.message) == (Verdict.PROVED, "")
    assert verified.unchecked == (("goal_reached",) if name == "budget" else ())


Change = Callable[[Certificate], Certificate]


def with_goal(answer: Certificate, goal: Any) -> Certificate:
    """Another goal, in a certificate that says that it is its own."""
    other = replace(answer, algorithm={**answer.algorithm, "goal": goal})
    return replace(other, cell=identity_of(other))


FORGED: dict[str, tuple[str, Change, str]] = {
    "a smaller bound was asked for": (
        "upper",
        lambda answer: with_goal(answer, {"margin_upper": 1e-9}),
        "the goal margin_upper=1e-09 is called reached",
    ),
    "a smaller bound, in an old file": (
        "upper",
        lambda answer: replace(with_goal(answer, {"margin_upper": 1e-9}), goal_reached=None),
        "called bounded, and no bound that was asked for is proved",
    ),
    "no bound": (
        "upper",
        lambda answer: replace(answer, margin_upper=None),
        "is missed: no upper bound is proved",
    ),
    "no bound, in an old file": (
        "upper",
        lambda answer: replace(answer, margin_upper=None, goal_reached=None),
        "called bounded, and no bound that was asked for is proved",
    ),
    "a bound that is not proved": (
        "upper",
        lambda answer: replace(with_goal(answer, {"margin_upper": 1e-9}), margin_upper=1e-9),
        "a margin <= 1e-09 is claimed",
    ),
    "missed, and called reached": (
        "upper, missed",
        lambda answer: replace(answer, goal_reached=True),
        "the goal margin_upper=1e-09 is called reached; the goal margin_upper 1e-09 is missed",
    ),
    "missed, and called bounded": (
        "upper, missed",
        lambda answer: replace(answer, status=Status.MARGIN_BOUNDED, proved=True),
        "called bounded, and no bound that was asked for is proved",
    ),
    "a larger ratio was asked for": (
        "ratio, missed",
        lambda answer: replace(answer, goal_reached=True),
        "the goal margin_ratio=0.999 is called reached",
    ),
    "a ratio without a bound from above": (
        "ratio",
        lambda answer: replace(answer, margin_upper=None),
        "no ratio is proved",
    ),
    "undecided, and called decided": (
        "decide, missed",
        lambda answer: replace(answer, goal_reached=True),
        "the goal decide is called reached",
    ),
    "bounded, and called decided": (
        "decide, bounded",
        lambda answer: replace(answer, goal_reached=True),
        "the goal decide is called reached",
    ),
    "reached, and called missed": (
        "ratio",
        lambda answer: replace(answer, goal_reached=False),
        "is called missed, and it is reached",
    ),
    "a relaxed answer that was asked for more": (
        "relaxed",
        lambda answer: replace(
            answer, certificate={**answer.certificate, "claim": {"margin_above": -1e-3}}
        ),
        "the goal decide is called reached",
    ),
    "a relaxed answer that was asked for nothing": (
        "relaxed",
        lambda answer: replace(answer, certificate={}),
        "called bounded, and no bound that was asked for is proved",
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_goal_is_refuted(name: str, tmp_path: Path) -> None:
    run, change, words = FORGED[name]
    problem, algorithm, more, _ = RUNS[run]
    path = certified(tmp_path, problem, algorithm, **more)
    write_certificate(path, change(read_certificate(path)))
    verified = verdict(path)
    assert verified.verdict is Verdict.NOT_PROVED
    assert words in verified.message


def test_an_old_file_that_knows_no_goals_is_proved_as_before(tmp_path: Path) -> None:
    for name, (problem, algorithm, more, _) in RUNS.items():
        path = certified(tmp_path, problem, algorithm, **more)
        answer = read_certificate(path)
        certificate = {key: value for key, value in answer.certificate.items() if key != "claim"}
        write_certificate(path, replace(answer, goal_reached=None, certificate=certificate))
        expected = Verdict.NOT_PROVED if name == "upper, relaxed" else Verdict.PROVED
        assert verdict(path).verdict is expected, name


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda answer: replace(answer, goal_reached="yes"), "allowed: a truth value or nothing"),
        (lambda answer: with_goal(answer, {"margin_ratio": 2}), "give a number above 0"),
        (lambda answer: with_goal(answer, 3), "give decide, budget"),
        (lambda answer: replace(answer, certificate={"claim": 3}), "allowed: a mapping"),
        (lambda answer: replace(answer, certificate={"claim": {"margin_above": "x"}}), "a number"),
    ],
)
def test_malformed_goals_are_damage(change: Any, words: str, tmp_path: Path) -> None:
    path = certified(tmp_path, FEASIBLE, {"name": "perceptron"})
    write_certificate(path, change(read_certificate(path)))
    verified = verdict(path)
    assert verified.verdict is Verdict.DAMAGED
    assert words in verified.message


def test_a_learner_has_no_goal(tmp_path: Path) -> None:
    path = certified(tmp_path, SEPARABLE, LEARNER)
    assert read_certificate(path).goal_reached is None
    write_certificate(path, replace(read_certificate(path), goal_reached=True))
    assert "a learner has none" in verdict(path).message
