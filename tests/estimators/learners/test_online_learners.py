"""Perceptrons on streams as learners: both theorems in every row, and proofs that are held to."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.collections.tabular import Tabular
from perceptron_lab.datasets.generated.streams import Streams
from perceptron_lab.datasets.problem import Task
from perceptron_lab.estimators.learners.learning import Learned
from perceptron_lab.estimators.learners.registered.online_perceptrons import (
    OnlineLearner,
    StreamedKernelPerceptron,
    StreamedPerceptron,
)
from perceptron_lab.experiments.storage.certificate_files import (
    Certificate,
    read_certificate,
    write_certificate,
)
from perceptron_lab.experiments.verification.claims import Verdict
from perceptron_lab.experiments.verify import verify
from perceptron_lab.problems.streams import worst_case
from tests.experiments.certified import certified, forbid_algorithms
from tests.repetitions import repeated

SMALL = {"dimension": 5, "rows": 20}
SETS: dict[str, Any] = {
    "separable": Streams(margin=0.05, **SMALL),
    "turned": Streams(flipped=0.2, **SMALL),
    "wine": Tabular("wine", instances=["wine-1-rest"], scaling="standard", test_fraction=0.8),
    "steep": Streams(family="worst-case", steepness=16),
}
LEARNERS: list[OnlineLearner] = [
    StreamedPerceptron(passes=5),
    StreamedPerceptron(passes=5, order="shuffled", affine=False),
    StreamedKernelPerceptron(passes=2, gamma=0.5),
    StreamedKernelPerceptron(passes=2, order="shuffled", kernel="polynomial", polynomial_degree=2),
]


def task_of(name: str, seed: int = 0) -> Task:
    dataset = SETS[name]
    task: Task = dataset.load(dataset.names()[0], seed=seed, base=Path()).tasks[0]
    return task


def check_both_theorems(learned: Learned) -> None:
    figures = learned.figures
    for name in ("hinge_bound", "novikoff_bound"):
        assert figures.get(f"{name}_upper", np.inf) >= max(
            figures["mistakes"], figures.get(f"{name}_lower", 0.0)
        )
    assert (learned.arrays["mistaken"] <= learned.arrays["hinge_bound"]).all()
    assert learned.arrays["mistaken"][-1] == figures["mistakes"]
    assert learned.arrays["presented"][-1] == figures["presentations"] == learned.iterations
    assert (learned.status is Status.FEASIBLE) == ("novikoff_bound_upper" in figures)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("seed", repeated(range(20), kept=1))
def test_no_more_mistakes_than_either_theorem_allows(
    seed: int, name: str, learner: OnlineLearner
) -> None:
    task = task_of(name, seed)
    learned = learner.learn(task, seed)
    check_both_theorems(learned)
    assert learned.scores.shape == task.test_labels.shape
    again = learner.prove(task, learned.proof, seed)
    assert again.status is learned.status
    assert {name: learned.figures[name] for name in again.counts} == again.counts
    for bound, value in again.bounds.items():
        assert value == pytest.approx(learned.figures[bound], rel=1e-9)


def test_a_separable_stream_is_proved_separable_and_a_turned_one_is_not() -> None:
    learner = StreamedPerceptron(passes=30, affine=False)
    separable, turned = (learner.learn(task_of(name), 0) for name in ("separable", "turned"))
    assert (separable.status, separable.figures["separated"]) == (Status.FEASIBLE, 1.0)
    assert separable.figures["novikoff_bound_lower"] <= 0.05**-2 * (1 + 1e-9)
    assert (turned.status, turned.figures["separated"]) == (Status.FITTED, 0.0)
    assert turned.figures["passes"] == 30
    assert "Theorem 1 has no comparison" in turned.message


@pytest.mark.parametrize("steepness", [1, 2, 16, 64])
def test_the_worst_case_has_its_exact_number_of_mistakes(steepness: int) -> None:
    (task,) = Streams(family="worst-case", steepness=steepness).problem(0).tasks
    case = worst_case(steepness)
    figures = StreamedPerceptron(passes=10**6, affine=False).learn(task, 0).figures
    assert figures["mistakes"] == case.mistakes == 2 * steepness**2 - 2 * steepness + 5
    assert figures["passes"] == case.passes
    assert figures["novikoff_bound_lower"] <= case.novikoff <= figures["novikoff_bound_upper"]


def test_the_seed_is_that_of_the_shuffled_orders() -> None:
    task = task_of("turned")
    first, again, other = (LEARNERS[1].learn(task, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.arrays["mistaken"], again.arrays["mistaken"])
    assert not np.array_equal(first.arrays["mistaken"], other.arrays["mistaken"])


@pytest.fixture(scope="module")
def proof() -> dict[str, Any]:
    """The arrays that prove the bounds of the separable stream."""
    return LEARNERS[0].learn(task_of("separable"), 0).proof


@pytest.mark.parametrize(
    "change",
    [
        lambda proof: {**proof, "hinge_multipliers": 2.0 * proof["hinge_multipliers"]},
        lambda proof: {**proof, "hinge_multipliers": proof["hinge_multipliers"] - 1e-9},
        lambda proof: {**proof, "hinge_comparison": proof["hinge_comparison"][1:]},
        lambda proof: {**proof, "novikoff_comparison": np.nan * proof["novikoff_comparison"]},
        lambda proof: {name: part for name, part in proof.items() if name != "hinge_multipliers"},
    ],
)
def test_arrays_that_prove_nothing_are_refused(change: Any, proof: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="the proof's arrays"):
        LEARNERS[0].prove(task_of("separable"), change(proof), 0)


def test_kernels_have_their_own_parameters() -> None:
    with pytest.raises(InputError, match="kernel linear has no gamma"):
        StreamedKernelPerceptron(kernel="linear", gamma=1.0)
    assert StreamedKernelPerceptron(kernel="polynomial").polynomial_degree == 3


# -- certificates ---------------------------------------------------------------------------------

TURNED = {"dataset": "streams", "flipped": 0.2, **SMALL}
STREAMED = {"name": "online-perceptron", "parameters": {"passes": 4}}


@pytest.fixture(scope="module")
def streamed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certified(tmp_path_factory.mktemp("streamed"), TURNED, STREAMED)


def judged(path: Path, change: Callable[[Certificate], Certificate]) -> Any:
    other = path.with_name("changed.npz")
    write_certificate(other, change(read_certificate(path)))
    (cell,) = verify(other).cells
    return cell


def figures(certificate: Certificate, **factors: float) -> Certificate:
    before = certificate.certificate["figures"]
    changed = {name: before[name] * factor for name, factor in factors.items()}
    return replace(certificate, certificate={"figures": dict(before) | changed})


def test_bounds_are_verified_again_for_inseparable_streams(
    streamed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forbid_algorithms(monkeypatch)
    verdict = judged(streamed, lambda proof: proof)
    assert (verdict.verdict, verdict.status) == (Verdict.PROVED, "FITTED")
    assert set(verdict.unchecked) == {"average_precision", "cpu_seconds", "error"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda proof: figures(proof, hinge_bound_upper=0.99), "hinge_bound_upper .* is proved"),
        (lambda proof: figures(proof, hinge_bound_lower=1.01), "hinge_bound_lower .* is proved"),
        (lambda proof: figures(proof, hinge_loss_upper=0.9), "hinge_loss_upper .* is proved"),
        (lambda proof: figures(proof, mistakes=0.5), "mistakes .* is stored, .* is counted"),
        (lambda proof: replace(proof, status=Status.FEASIBLE, proved=True), "FEASIBLE is claimed"),
    ],
)
def test_claims_that_the_stream_contradicts_are_refuted(
    change: Callable[[Certificate], Certificate], message: str, streamed: Path
) -> None:
    verdict = judged(streamed, change)
    assert verdict.verdict is Verdict.NOT_PROVED
    assert re.search(message, verdict.message), verdict.message
