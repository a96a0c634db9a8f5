"""Bounds of optima are proved again from point and proof, and from nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from perceptron_lab.core.results import Status
from perceptron_lab.experiments.storage.certificate_files import (
    Certificate,
    read_certificate,
    write_certificate,
)
from perceptron_lab.experiments.verification.claims import Verdict, Verified
from perceptron_lab.experiments.verify import verify
from tests.experiments.certified import EMPTY, MAXCUT, attempted, certified

DEEP = {"name": "deep-cut-ellipsoid", "parameters": {"width": 1e-3}}


def judged(path: Path, change: Callable[[Certificate], Certificate]) -> Verified:
    other = path.with_name("changed.npz")
    write_certificate(other, change(read_certificate(path)))
    (cell,) = verify(other).cells
    return cell


def claiming(answer: Certificate, **changed: float) -> Certificate:
    figures = dict(answer.certificate["figures"]) | changed
    return replace(answer, certificate=dict(answer.certificate) | {"figures": figures})


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certified(tmp_path_factory.mktemp("optimum"), MAXCUT, DEEP)


def test_the_bounds_are_proved(path: Path) -> None:
    assert judged(path, lambda answer: answer).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda answer: claiming(answer, optimum_upper=0.5), "optimum_upper 0.5 is claimed"),
        (lambda answer: claiming(answer, optimum_lower=99.0), "optimum_lower 99 is claimed"),
        (lambda answer: replace(answer, proof={}), "nothing is proved"),
        (lambda answer: replace(answer, point=-answer.point), "nothing is proved"),
        (lambda answer: replace(answer, point=answer.point[:-1]), "a point of shape"),
        (
            lambda answer: replace(answer, proof={"dual": 1.1 * answer.proof["dual"]}),
            "optimum_lower",
        ),
        (lambda answer: replace(answer, certificate={"figures": {}}), "no bound of its objective"),
        (lambda answer: replace(answer, status=Status.INFEASIBLE), "weights"),
    ],
)
def test_unproved_optima_are_refuted(
    change: Callable[[Certificate], Certificate], message: str, path: Path
) -> None:
    verdict = judged(path, change)
    assert verdict.verdict is Verdict.NOT_PROVED
    assert message in verdict.message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda answer: answer, ""),
        (lambda answer: claiming(answer, cut=9.5), "cut 9.5 is claimed"),
        (lambda answer: claiming(answer, cut_ratio=1.0), "cut_ratio 1 is claimed"),
        (
            lambda answer: replace(answer, proof=dict(answer.proof) | {"signs": np.zeros(8)}),
            "nothing is",
        ),
        (
            lambda answer: replace(answer, proof=dict(answer.proof) | {"signs": np.ones(8)}),
            "0 is proved",
        ),
        (
            lambda answer: replace(answer, proof=dict(answer.proof) | {"signs": np.ones(5)}),
            "nothing is",
        ),
    ],
)
def test_a_cut_and_its_ratio_are_proved_again(
    change: Callable[[Certificate], Certificate], message: str, tmp_path: Path
) -> None:
    verdict = judged(certified(tmp_path, MAXCUT, {"name": "low-rank"}), change)
    assert verdict.verdict is (Verdict.NOT_PROVED if message else Verdict.PROVED), verdict.message
    assert message in verdict.message


def test_a_program_without_points_is_proved_to_have_none(tmp_path: Path) -> None:
    (tmp_path / "empty.dat-s").write_text(EMPTY)
    problem = {"dataset": "sdpa", "files": ["empty.dat-s"]}
    certificate = certified(tmp_path, problem, {"name": "objective-bisection"})
    assert read_certificate(certificate).status is Status.INFEASIBLE
    assert judged(certificate, lambda answer: answer).verdict is Verdict.PROVED


def test_problems_without_an_objective_are_skipped(tmp_path: Path) -> None:
    rows = {"dataset": "margin-sets", "family": "gaussian", "dimension": 4, "rows": 8}
    assert attempted(tmp_path, rows, {"name": "objective-sequence"}) is None


@pytest.fixture(scope="module")
def low_rank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certified(
        tmp_path_factory.mktemp("low-rank"), MAXCUT, {"name": "low-rank"}, goal={"width": 1e-7}
    )


def test_an_interval_of_vectors_and_point_is_proved_with_its_goal(low_rank: Path) -> None:
    certificate = read_certificate(low_rank)
    assert certificate.goal_reached is True
    assert certificate.algorithm["goal"] == {"width": 1e-7}
    assert judged(low_rank, lambda answer: answer).verdict is Verdict.PROVED


def turned(answer: Certificate) -> Certificate:
    vectors = answer.proof["vectors"].copy()
    vectors[0] *= -1.0
    return replace(answer, proof={"vectors": vectors})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (turned, "optimum_lower"),
        (
            lambda answer: claiming(
                answer, optimum_upper=answer.certificate["figures"]["optimum_lower"]
            ),
            "",
        ),
        (
            lambda answer: replace(answer, proof={"vectors": 0.0 * answer.proof["vectors"]}),
            "nothing",
        ),
        (lambda answer: replace(answer, point=-answer.point), "nothing is proved"),
        (lambda answer: replace(answer, goal_reached=False), "called missed"),
    ],
)
def test_a_changed_interval_is_refuted(
    change: Callable[[Certificate], Certificate], message: str, low_rank: Path
) -> None:
    verdict = judged(low_rank, change)
    assert verdict.verdict is Verdict.NOT_PROVED
    assert message in verdict.message
