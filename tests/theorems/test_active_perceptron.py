"""Active perceptrons (Dasgupta, Kalai and Monteleoni 2005): angles, labels and rescaling."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.problems.streams.active_perceptron import (
    ActivePerceptron,
    active_perceptron,
    whitening,
)
from perceptron_lab.problems.streams.survivor import longest_survivor
from tests.repetitions import repeated

SEEDS = range(20)
DIMENSION = 6


def sphere(seed: int, count: int = 20_000) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Examples uniform on the sphere, the direction u, and the signs of u'x."""
    rng = np.random.default_rng(seed)
    examples = rng.standard_normal((count, DIMENSION))
    examples /= np.linalg.norm(examples, axis=1)[:, None]
    direction = rng.standard_normal(DIMENSION)
    direction /= np.linalg.norm(direction)
    return examples, direction, np.where(examples @ direction > 0.0, 1.0, -1.0)


def errors(model: ActivePerceptron, direction: FloatArray) -> FloatArray:
    """The exact error after the first label and after each mistake: angle / pi."""
    weights = np.array(model.weights)
    cosines = weights @ direction / np.linalg.norm(weights, axis=1)
    return np.asarray(np.arccos(np.clip(cosines, -1.0, 1.0)) / np.pi)


def plain(
    examples: FloatArray, signs: FloatArray, patience: int
) -> tuple[FloatArray, float, list[int]]:
    """The listing of the paper, example by example: v, s, and the examples that are requested."""
    v, s, correct = signs[0] * examples[0], 1.0 / np.sqrt(DIMENSION), 0
    requested = [0]
    for i in range(1, len(examples)):
        score = float(examples[i] @ v)
        if abs(score) > s:
            continue
        requested.append(i)
        if signs[i] * score <= 0.0:
            v, correct = v - 2.0 * score * examples[i], 0
        else:
            correct += 1
        if correct == patience:
            s, correct = s / 2.0, 0
    return v, s, requested


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_requests_and_updates_are_those_of_the_listing(seed: int) -> None:
    examples, _, signs = sphere(seed, 6000)
    model = active_perceptron(examples, signs, patience=5)
    v, s, requested = plain(examples, signs, 5)
    assert model.weight == pytest.approx(v, abs=1e-9)
    assert (model.threshold, model.labels) == (s, len(requested))
    assert model.presentations == len(examples)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_every_mistake_turns_v_towards_u(seed: int) -> None:
    """norm(v) = 1, and u'v grows by 2 abs(v'x) abs(u'x)."""
    examples, direction, signs = sphere(seed)
    model = active_perceptron(examples, signs)
    weights = np.array(model.weights)
    assert np.linalg.norm(weights, axis=1) == pytest.approx(np.ones(len(weights)), abs=1e-12)
    steps = np.diff(weights, axis=0)
    lengths = np.linalg.norm(steps, axis=1)  # 2 abs(v'x)
    gains = np.diff(weights @ direction)
    assert (gains >= 0.0).all()
    assert gains == pytest.approx(np.abs(steps @ direction), abs=1e-12)
    assert (lengths <= 2.0 / np.sqrt(DIMENSION) * (1 + 1e-12)).all()


@pytest.mark.parametrize("patience", [1, 5, 20])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_labels_stay_within_the_bound(seed: int, patience: int) -> None:
    """At most 1 + R (M + H + 1), on a stream with labels enough to break it."""
    examples, _, signs = sphere(seed)
    model = active_perceptron(examples, signs, patience=patience)
    bound = model.label_bound(patience)
    assert bound < len(examples), "the stream could not break this bound"
    assert model.labels <= bound


def test_the_bound_of_the_labels_is_nearly_attained() -> None:
    """Without a mistake, R labels for each halving, and R - 1 more; the last is not requested."""
    examples = np.array([[1.0, 0.0], *[[1e-9, 1.0]] * 11, [-1.0, 0.0]])
    model = active_perceptron(examples, np.array([1.0] * 12 + [-1.0]), patience=3)
    assert (model.labels, model.halvings, model.mistakes) == (12, 3, 0)
    assert model.label_bound(3) == 13


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_few_labels_suffice_where_passive_learners_need_many(seed: int) -> None:
    """The error 0.5 % within 20 d ln(1/eps) labels, which breaks with all labels given."""
    examples, direction, signs = sphere(seed)
    eps = 0.005
    allowed = 20 * DIMENSION * np.log(1.0 / eps)
    active = active_perceptron(examples, signs)
    labels = np.array([1, *active.mistakes_at])
    assert labels[np.argmax(errors(active, direction) <= eps)] <= allowed
    passive = active_perceptron(examples, signs, patience=None, reflect=False)
    assert passive.labels == len(examples)
    early = np.array([1, *passive.mistakes_at]) <= allowed
    assert errors(passive, direction)[early].min() > eps


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_rescaling_by_unlabelled_examples_restores_the_sphere(seed: int) -> None:
    """x = M z of condition 100: after whitening the labels are about those on the sphere."""
    examples, _, signs = sphere(seed)
    rng = np.random.default_rng([seed, 1])
    stretched = examples @ (
        np.linalg.qr(rng.standard_normal((DIMENSION, DIMENSION)))[0]
        * np.geomspace(1.0, 100.0, DIMENSION)
    )
    rescaled = active_perceptron(stretched @ whitening(stretched), signs)
    plainly = active_perceptron(stretched, signs)
    mistakes = [
        float(np.mean(rows @ model.weight * signs <= 0.0))
        for rows, model in (
            (stretched @ whitening(stretched), rescaled),
            (stretched, plainly),
        )
    ]
    assert mistakes[0] <= 0.003
    assert mistakes[1] >= 3 * mistakes[0]
    assert rescaled.labels <= 2 * active_perceptron(examples, signs).labels


def test_sparse_examples_and_multiples_give_equal_answers() -> None:
    examples, _, signs = sphere(0, 2000)
    model = active_perceptron(examples, signs)
    lengths = 2.0 ** np.random.default_rng(0).integers(-3, 4, len(examples))
    for other in (sp.csr_array(examples), examples * lengths[:, None]):
        again = active_perceptron(other, signs > 0)
        assert np.array_equal(again.weight, model.weight)
        assert again.labels == model.labels


@pytest.mark.parametrize("patience", [0, 1.5, True, "3"])
def test_a_patience_that_is_no_number_of_labels_is_refused(patience: object) -> None:
    with pytest.raises(InputError, match="give a whole number, 1 or more, or None"):
        active_perceptron(np.eye(2), [1, 0], patience=patience)  # type: ignore[arg-type]


def test_zero_and_dependent_examples_are_refused() -> None:
    with pytest.raises(InputError, match=r"row 1 is zero .*remove it"):
        active_perceptron([[1.0, 0.0], [0.0, 0.0]], [1, 0])
    with pytest.raises(InputError, match="remove dependent features"):
        whitening(np.array([[1.0, 1.0], [2.0, 2.0]]))


@pytest.mark.parametrize("size", [1e-200, 1e154, 1e200])
def test_sizes_beyond_the_squares_of_doubles(size: float) -> None:
    """Streams of such norms are refused by name; the whitening of one is that of its multiple."""
    examples, _, signs = sphere(0, 100)
    with pytest.raises(InputError, match=r"row 0 has a norm outside 1e-150 \.\. 1e150 \(100 such"):
        active_perceptron(examples * size, signs)
    assert whitening(examples * size) * size == pytest.approx(whitening(examples), rel=1e-12)
    assert np.array_equal(whitening(sp.csr_array(examples)), whitening(examples.tolist()))


def planted(seed: int, count: int, margin: float) -> tuple[FloatArray, FloatArray]:
    """Unit examples with abs(u'x) >= margin for a random u, and the signs of u'x."""
    examples, direction, signs = sphere(seed, 4 * count)
    clear = np.flatnonzero(np.abs(examples @ direction) >= margin)[:count]
    assert len(clear) == count
    return examples[clear], signs[clear]


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_a_bound_of_mistakes_makes_a_learner_of_the_pac_model(seed: int) -> None:
    """1/rho^2 mistakes: the error is at most eps but for one stream in a million."""
    margin, eps, delta = 0.3, 0.02, 1e-6
    examples, signs = planted(seed, 30_000, margin)
    stream, test = slice(0, 20_000), slice(20_000, None)
    found = longest_survivor(
        examples[stream], signs[stream], mistakes=1 / margin**2, error=eps, confidence=delta
    )
    assert found.bound < 20_000, "the stream could not break this bound"
    assert found.labels <= found.bound
    mistaken = float(np.mean(examples[test] @ found.weight * signs[test] <= 0.0))
    assert mistaken <= eps


def test_a_survivor_is_right_on_all_of_its_examples() -> None:
    """Mistakes on examples 1, 3 and 4: the first weight survives one example, of two required."""
    examples, labels = [[1.0], [1.0], [-1.0], [1.0], [1.0], [-1.0]], [1, 1, 1, 1, 1, 0]
    options = {"mistakes": 0, "error": 0.5, "confidence": 0.5}
    survivor = longest_survivor(examples, labels, **options)
    assert (survivor.labels, survivor.weight.tolist()) == (6, [1.0])
    with pytest.raises(InputError, match="no weight survives 2 labels within 5"):
        longest_survivor([[-1.0], *examples[1:5]], [0, *labels[1:5]], **options)


def test_survivors_need_a_stream_and_probabilities() -> None:
    examples, signs = planted(0, 100, 0.3)
    with pytest.raises(InputError, match="no weight survives 461 labels within 100"):
        longest_survivor(examples, signs, mistakes=0, error=0.01, confidence=0.01)
    for numbers in ((0, 1.0, 0.01), (np.inf, 0.1, 0.1), (0, 1e-320, 0.1), (0, 0.1, np.nan)):
        wrong = dict(zip(("mistakes", "error", "confidence"), numbers, strict=True))
        with pytest.raises(InputError, match=f"mistakes={numbers[0]}, .*from 0 to 1e.100"):
            longest_survivor(examples, signs, **wrong)
    settings = {"mistakes": 20, "error": 0.3, "confidence": 0.1}
    survivors = [longest_survivor(x, signs, **settings) for x in (examples, sp.csr_array(examples))]
    assert np.array_equal(survivors[0].weight, survivors[1].weight)
