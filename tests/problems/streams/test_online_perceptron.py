"""The online perceptron against the listing of the notes, on streams that are computed exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.core.errors import InputError
from perceptron_lab.problems.streams import online_perceptron
from tests.problems.streams.streams import all_examples, noisy, plain_perceptron, separable
from tests.repetitions import repeated

SEEDS = range(20)
FORMS: dict[str, Any] = {
    "double": np.asarray,
    "single": np.float32,
    "integers": lambda rows: rows.astype(int),
    "sparse": sp.csr_array,
    "single sparse": lambda rows: sp.csr_array(rows.astype(np.float32)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_it_makes_the_mistakes_of_the_listing(seed: int, form: str) -> None:
    examples, signs = noisy(seed)
    run = online_perceptron(FORMS[form](examples), signs, passes=5)
    weight, mistaken = plain_perceptron(examples, signs, [*range(60)] * 5)
    assert np.array_equal(run.weight, weight)
    assert run.mistakes.at.tolist() == mistaken
    assert run.threshold == 0.0
    assert np.array_equal(run.decision_function(FORMS[form](examples)), examples @ weight)


@pytest.mark.parametrize("form", ["double", "sparse"])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_an_affine_stream_is_the_lifted_one(seed: int, form: str) -> None:
    examples, signs = noisy(seed)
    run = online_perceptron(FORMS[form](examples), signs, affine=True, passes=3)
    lifted = online_perceptron(np.hstack([examples, np.ones((60, 1))]), signs, passes=3)
    assert np.array_equal(np.append(run.weight, -run.threshold), lifted.weight)
    assert np.array_equal(run.mistakes.at, lifted.mistakes.at)
    lifted_scores = np.hstack([examples, np.ones((60, 1))]) @ lifted.weight
    assert np.array_equal(run.decision_function(examples), lifted_scores)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_an_order_with_repetitions_is_followed(seed: int) -> None:
    examples, signs = noisy(seed)
    order = np.random.default_rng(seed).integers(0, 60, 100)
    mistakes = online_perceptron(examples, signs, order=order, passes=2).mistakes
    sequence = [*order, *order]
    mistaken = plain_perceptron(examples, signs, sequence)[1]
    assert mistakes.at.tolist() == mistaken
    assert mistakes.per_pass.tolist() == [
        sum(k < 100 for k in mistaken),
        sum(k > 99 for k in mistaken),
    ]
    assert np.array_equal(mistakes.presentations, np.bincount(sequence, minlength=60))
    rows = [sequence[k] for k in mistaken]
    assert np.array_equal(mistakes.of_example, np.bincount(rows, minlength=60))


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_it_stops_after_a_pass_without_a_mistake(seed: int) -> None:
    examples, signs = separable(seed, size=12)
    run = online_perceptron(examples, signs, passes=100_000)
    passes = len(run.mistakes.per_pass)
    assert run.mistakes.separated
    assert (signs * run.decision_function(examples) > 0).all()
    assert (run.mistakes.per_pass[:-1] > 0).all()
    assert np.array_equal(run.mistakes.presentations, np.full(12, passes))
    before = online_perceptron(examples, signs, passes=passes - 1)  # the last one changes nothing
    assert np.array_equal(before.weight, run.weight)
    assert not before.mistakes.separated


def test_passes_in_several_calls_are_one_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perceptron_lab.problems.streams.perceptron.TOGETHER", 6000)
    examples, signs = noisy(1)
    passes = 2 * 6000 // 60
    run = online_perceptron(examples, signs, passes=passes)
    weight, mistaken = plain_perceptron(examples, signs, [*range(60)] * passes)
    assert np.array_equal(run.weight, weight)
    assert run.mistakes.at.tolist() == mistaken
    assert run.mistakes.total == run.mistakes.per_pass.sum() == run.mistakes.of_example.sum()


def test_shuffled_passes_present_everything_once_in_an_order_of_the_seed() -> None:
    examples, signs = noisy(3)
    runs = [
        online_perceptron(examples, signs, order="shuffled", passes=4, seed=s) for s in (7, 7, 8)
    ]
    assert np.array_equal(runs[0].mistakes.at, runs[1].mistakes.at)
    assert not np.array_equal(runs[0].mistakes.at, runs[2].mistakes.at)
    assert np.array_equal(runs[0].mistakes.presentations, np.full(60, 4))
    rng = np.random.default_rng(7)
    sequence = rng.permuted(np.tile(np.arange(60), (4, 1)), axis=1)
    assert all(sorted(permutation) == [*range(60)] for permutation in sequence.tolist())
    assert runs[0].mistakes.at.tolist() == plain_perceptron(examples, signs, sequence.ravel())[1]


def test_shuffled_passes_do_not_depend_on_how_many_are_swept_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    examples, signs = noisy(3)
    history = online_perceptron(examples, signs, order="shuffled", passes=7, seed=5).mistakes
    monkeypatch.setattr("perceptron_lab.problems.streams.perceptron.TOGETHER", 120)
    assert np.array_equal(
        online_perceptron(examples, signs, order="shuffled", passes=7, seed=5).mistakes.at,
        history.at,
    )


def test_constraints_are_all_positive() -> None:
    examples, signs = separable(5)
    rows = examples * signs[:, None]
    assert np.array_equal(
        online_perceptron(rows, passes=9).mistakes.at,
        online_perceptron(examples, signs, passes=9).mistakes.at,
    )


def test_a_zero_example_is_always_a_mistake() -> None:
    run = online_perceptron([[0.0, 0.0], [1.0, 0.0]], passes=3)
    assert run.mistakes.per_pass.tolist() == [2, 1, 1]


def test_read_only_rows_on_disk_are_used_without_a_copy(tmp_path: Any) -> None:
    examples, signs = noisy(4)
    np.save(tmp_path / "rows.npy", examples)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    run = online_perceptron(mapped, signs, passes=2)
    assert np.array_equal(run.weight, online_perceptron(examples, signs, passes=2).weight)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"passes": 0}, "passes=0; give a whole number, 1 or more"),
        ({"passes": 1.5}, "passes=1.5"),
        ({"order": "random"}, "order='random'; give 'given', 'shuffled', or indices"),
        ({"order": [0, 60]}, "the indices 0 to 60; allowed are 0 to 59 for 60 examples"),
        ({"order": [[0]]}, "shape \\(1, 1\\)"),
        ({"order": [0.5]}, "type float64"),
        ({"labels": np.ones(60)}, "labels take 1 value"),
    ],
)
def test_malformed_streams_are_refused(arguments: dict[str, Any], message: str) -> None:
    labels = np.arange(60) % 2
    with pytest.raises(InputError, match=message):
        online_perceptron(all_examples(0), **{"labels": labels, **arguments})
