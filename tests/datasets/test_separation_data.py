"""Data whose separation is known: by construction, and from the literature."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab import separation
from perceptron_lab.core.errors import InputError
from perceptron_lab.datasets.collections.textbook_separation import ANSWERS, TextbookSeparation
from perceptron_lab.datasets.generated.separation_families import SeparationFamilies
from perceptron_lab.datasets.problem import Task
from perceptron_lab.problems.separation.labelled import labelled
from perceptron_lab.problems.separation.separation import verdict_for
from tests.problems.separation.labelled_systems import KINDS, Labelled, truth
from tests.repetitions import repeated

EXTREMES = list(product(KINDS, (0, 30), (False, True)))


def task_of(record: Any, name: str, seed: int = 0) -> Task:
    (task,) = record.load(name, seed=seed, base=Path()).tasks
    return task


@pytest.mark.parametrize(("kind", "gap", "degenerate"), EXTREMES)
def test_the_answer_by_construction_is_that_of_the_judge(
    kind: str, gap: int, degenerate: bool
) -> None:
    finite = None if kind == "complete" else 1
    dataset = SeparationFamilies(kind, 14, finite, 1, gap=gap, degenerate=degenerate)
    task, expected = task_of(dataset, dataset.name, 5), dataset.known_answer(5)
    design = np.column_stack([np.asarray(task.examples), np.ones(len(task.labels))])
    judged = truth(Labelled(design, task.labels.astype(int).tolist(), affine=False))
    assert expected.verdict == kind == judged.verdict
    assert np.flatnonzero(~expected.separated).tolist() == judged.overlap
    assert list(expected.classes) == judged.classes


@pytest.mark.parametrize(("kind", "gap", "degenerate"), EXTREMES)
@pytest.mark.parametrize("seed", repeated([0, 1], kept=1))
def test_the_answer_by_construction_is_ours(
    kind: str, gap: int, degenerate: bool, seed: int
) -> None:
    dataset = SeparationFamilies(kind=kind, rows=40, infinite=2, gap=gap, degenerate=degenerate)
    task, truth = task_of(dataset, dataset.name, seed), dataset.known_answer(seed)
    verdict = separation(task.examples, task.labels)
    assert verdict.verdict == truth.verdict
    np.testing.assert_array_equal(verdict.separated_rows, np.flatnonzero(truth.separated))
    constant = len(truth.classes) - len(verdict.coefficients)
    assert constant == len(verdict.constant_columns)
    full = verdict_for(labelled(task.examples, task.labels, leave_out=False))
    assert tuple(full.coefficients.values()) == truth.classes


def test_degenerate_examples_repeat_rows_and_have_dependent_columns() -> None:
    dataset = SeparationFamilies(rows=40, degenerate=True)
    examples = np.asarray(task_of(dataset, dataset.name).examples)
    assert len(np.unique(examples, axis=0)) <= 30
    assert np.linalg.matrix_rank(np.c_[examples, np.ones(40)]) == examples.shape[1] + 1 - 3
    assert not examples[:, -3].any()


def test_seeds_and_names_determine_the_examples() -> None:
    first = SeparationFamilies(kind="overlap", gap=7)
    assert first.name == "overlap-40-2i-2f-gap7"
    first_task, same, other = (task_of(first, first.name, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first_task.examples, same.examples)
    assert (np.asarray(first_task.examples) != np.asarray(other.examples)).any()


def test_too_few_rows_are_refused() -> None:
    dataset = SeparationFamilies(rows=10, infinite=3, finite=4)
    with pytest.raises(InputError, match="10 distinct rows, but 16 are needed for these features"):
        dataset.problem(0)


@pytest.mark.parametrize("name", ANSWERS)
def test_textbook_examples_have_the_answers_of_their_sources(name: str) -> None:
    record = TextbookSeparation()
    task = task_of(record, name)
    verdict = separation(task.examples, task.labels)
    assert verdict.verdict == ANSWERS[name].verdict
    classes = list(verdict.coefficients.values())[:-1]
    pairs = zip(record.features(name), classes, strict=True)
    assert (
        tuple(feature for feature, answer in pairs if answer != "FINITE") == ANSWERS[name].diverging
    )
