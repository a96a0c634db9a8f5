"""Generated streams: their margin, the labels turned round, the worst case of the notes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab.core.errors import InputError
from perceptron_lab.datasets.generated.streams import Streams
from perceptron_lab.datasets.problem import Task
from perceptron_lab.problems.streams import worst_case
from tests.repetitions import repeated


def task_of(seed: int = 0, **parameters: Any) -> Task:
    dataset = Streams(**parameters)
    (task,) = dataset.load(dataset.name, seed=seed, base=Path()).tasks
    return task


@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_the_planted_margin_is_that_of_all_examples(seed: int) -> None:
    dataset = Streams(dimension=6, rows=50, margin=0.2)
    problem = dataset.problem(seed)
    (task,) = problem.tasks
    assert problem.facts.margin is not None
    assert problem.facts.margin >= 0.2 - 1e-12
    for part in (np.asarray(task.examples), np.asarray(task.test_examples)):
        assert np.linalg.norm(part, axis=1) == pytest.approx(np.ones(50))
    assert {-1.0, 1.0} == set(task.labels) == set(task.test_labels)


@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_so_many_labels_are_turned_round(seed: int) -> None:
    full, turned = (task_of(seed, dimension=5, rows=40, flipped=share) for share in (0.0, 0.25))
    assert Streams(rows=40, flipped=0.25).problem(seed).facts.margin is None
    # by another name the directions are others: signs are compared with those of the test half
    direction = np.linalg.lstsq(np.asarray(turned.test_examples), turned.test_labels, rcond=None)[0]
    assert (
        np.sign(np.asarray(turned.test_examples) @ direction) == turned.test_labels
    ).mean() > 0.9
    flipped = np.sign(np.asarray(turned.examples) @ direction) != turned.labels
    assert 6 <= flipped.sum() <= 14
    assert not np.array_equal(full.examples, turned.examples)


def test_exactly_the_share_is_turned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Streams, "name", "one-stream")
    full, turned = (task_of(3, rows=40, flipped=share) for share in (0.0, 0.25))
    assert np.array_equal(full.examples, turned.examples)
    assert (full.labels != turned.labels).sum() == 10
    assert np.array_equal(full.test_labels, turned.test_labels)


@pytest.mark.parametrize("steepness", [1, 8, 2**26])
def test_the_worst_case_is_that_of_the_notes(steepness: int) -> None:
    case = worst_case(steepness)
    task = task_of(family="worst-case", steepness=steepness)
    assert np.array_equal(task.examples, case.examples)
    assert np.array_equal(task.labels, case.signs)


def test_the_seed_determines_a_stream() -> None:
    dataset = Streams(dimension=3, rows=9, flipped=0.3)
    first, again, other = (dataset.problem(seed).sha256 for seed in (0, 0, 1))
    assert first == again != other
    with pytest.raises(InputError, match="seed -1"):
        dataset.problem(-1)
    with pytest.raises(InputError, match="seed -1"):
        Streams(family="worst-case").problem(-1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"family": "worst-case", "steepness": 3}, "3; give a power of two from 1 to 67108864"),
        ({"family": "worst-case", "steepness": 2**27}, "give a power of two"),
        ({"family": "worst-case", "rows": 4}, "worst-case has no rows; it takes steepness"),
        ({"steepness": 4}, "planted has no steepness"),
        ({"flipped": 0.6}, "allowed: 0.5 or less"),
        ({"margin": 1.0}, "allowed: 0.9 or less"),
    ],
)
def test_other_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Streams(**parameters)
