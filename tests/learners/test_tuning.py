from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from perceptron_lab.ellipsoids.soft.ellipsoid import SoftEllipsoid
from perceptron_lab.errors import InputError
from perceptron_lab.learners.controls import LinearScorer, PolynomialSvm
from perceptron_lab.learners.features.gram_schmidt import GramSchmidtFeatures
from perceptron_lab.learners.features.kernel_rows import KernelRows
from perceptron_lab.learners.tuning import Grid, Trial, tune, tune_all
from tests.repetitions import examples

Seen = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Column:
    """Scores by one column, and writes down what it is trained on and scores."""

    column: int = 0
    sign: float = 1.0
    trained: Seen = field(default_factory=list, compare=False)
    scored: list[np.ndarray] = field(default_factory=list, compare=False)

    def fit(self, examples: Any, labels: Any) -> "Column":
        self.trained.append((np.asarray(examples), np.asarray(labels)))
        return self

    def scores(self, examples: Any) -> np.ndarray:
        self.scored.append(np.asarray(examples))
        return np.asarray(self.sign * examples[:, self.column])


def noisy(seed: int = 0, count: int = 90) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose first entry is their number and whose third entry tells the class."""
    rng = np.random.default_rng(seed)
    labels = np.where(np.arange(count) % 3 == 0, 1, -1)
    rows = rng.standard_normal((count, 4))
    rows[:, 0] = np.arange(count)
    rows[:, 2] += 2.0 * labels
    return rows, labels


def test_the_best_column_is_chosen() -> None:
    rows, labels = noisy()
    tuned = tune(Grid(Column(), {"column": [1, 2, 3], "sign": [1.0, -1.0]}), rows, labels)
    assert tuned.best.parameters == {"column": 2, "sign": 1.0}
    assert tuned.model == Column(2, 1.0)
    assert [trial.parameters for trial in tuned.trials] == [
        {"column": column, "sign": sign} for column in (1, 2, 3) for sign in (1.0, -1.0)
    ]
    assert tuned.best.mean == max(trial.mean for trial in tuned.trials)
    assert tuned.edges == ("sign",)


@settings(max_examples=examples(20))
@given(st.integers(0, 1000), st.integers(2, 6))
def test_every_example_is_held_out_once(seed: int, folds: int) -> None:
    rows, labels = noisy(seed)
    model = Column()
    tuned = tune(Grid(model, {"column": [2]}), rows, labels, folds=folds, seed=seed)
    held_out = np.concatenate([part[:, 0] for part in model.scored])
    assert sorted(held_out.tolist()) == list(range(90))
    for (training, given_labels), part, precision in zip(
        model.trained, model.scored, tuned.best.precisions, strict=True
    ):
        assert not set(training[:, 0]) & set(part[:, 0])
        assert len(training) + len(part) == 90
        numbers = training[:, 0].astype(int)
        assert ((labels[numbers] > 0) == given_labels).all()
        truth = labels[part[:, 0].astype(int)] > 0
        # A third is positive, in every fold.
        assert abs(truth.mean() - 1 / 3) < 0.06
        assert precision == pytest.approx(average_precision_score(truth, part[:, 2]))


def test_the_seed_determines_the_folds() -> None:
    rows, labels = noisy()
    grid = Grid(PolynomialSvm(), {"penalty": [0.1, 1.0]})
    first = tune(grid, rows, labels, seed=4)
    assert tune(grid, rows, labels, seed=4) == first
    assert tune(grid, rows, labels, seed=5).trials != first.trials


def test_of_equal_candidates_the_first_wins() -> None:
    rows, labels = noisy()
    tuned = tune(Grid(Column(2), {"sign": [0.5, 3.0, 1.0]}), rows, labels)
    assert tuned.best.parameters == {"sign": 0.5}
    assert tuned.edges == ("sign",)


class _Counting(GramSchmidtFeatures):
    """Writes down how many examples each transformer is trained on, and with which labels."""

    trained: Seen

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        type(self).trained.append((np.asarray(X), np.asarray(y)))
        return super().fit_transform(X, y)


def test_features_are_trained_within_the_folds() -> None:
    rows, labels = noisy()
    rows[:, 0] += 1.0
    _Counting.trained = []
    model = Column(0)
    tuned = tune(Grid(model, {"sign": [1.0, -1.0]}), rows, labels, features=_Counting(2), folds=3)
    # Once per fold, however many candidates; never on a held-out example.
    assert len(_Counting.trained) == 3
    assert [len(known) for known, _ in _Counting.trained] == [60, 60, 60]
    for place, (known, given_labels) in enumerate(_Counting.trained):
        made = GramSchmidtFeatures(2).fit(known, given_labels)
        rest = np.isin(rows[:, 0], known[:, 0], invert=True)
        np.testing.assert_allclose(model.scored[2 * place], made.transform(rows[rest]))
    assert len(tuned.trials) == 2


def test_models_share_folds_and_features() -> None:
    rows, labels = noisy()
    rows[:, 0] /= 90.0
    grids = {
        "svm": Grid(PolynomialSvm(), {"penalty": [0.1, 1.0, 10.0]}),
        "linear": Grid(LinearScorer(), {"regularisation": [1e-2, 1e-3, 1e-4]}),
        "soft": Grid(SoftEllipsoid(rank=2), {"regularisation": [1e-2, 1e-3, 1e-4]}),
    }
    features = GramSchmidtFeatures(3)
    together = tune_all(grids, sp.csr_array(rows), labels, features=features, seed=1)
    assert list(together) == ["svm", "linear", "soft"]
    alone = tune(grids["linear"], sp.csr_array(rows), labels, features=features, seed=1)
    assert alone == together["linear"]
    assert not hasattr(features, "pivots_")
    for tuned in together.values():
        assert tuned.best.mean > 0.5


def test_a_kernel_matrix_serves_all_folds() -> None:
    rows, labels = noisy()
    rows[:, 0] /= 90.0
    grid = Grid(PolynomialSvm(tolerance=1e-9), {"penalty": [0.1, 1.0, 10.0]})
    direct = tune(grid, rows, labels)
    known = tune(grid, KernelRows.of(PolynomialSvm().kernel, rows), labels)
    assert known.best.parameters == direct.best.parameters
    for one, other in zip(known.trials, direct.trials, strict=True):
        np.testing.assert_allclose(one.precisions, other.precisions, atol=1e-6)


@pytest.mark.parametrize(
    ("values", "chosen", "edges"),
    [
        ({"column": [1, 2, 3]}, {"column": 2}, ()),
        ({"column": [1, 2, 3]}, {"column": 1}, ("column",)),
        ({"column": [2, 3, 1]}, {"column": 3}, ("column",)),
        ({"column": [2]}, {"column": 2}, ()),
        ({"sign": ["low", "high"]}, {"sign": "low"}, ()),
        ({"sign": [True, False]}, {"sign": True}, ()),
        ({"column": [1, 2], "sign": [0.0, 1.0, 2.0]}, {"column": 2, "sign": 1.0}, ("column",)),
    ],
)
def test_edges(values: dict[str, list[Any]], chosen: dict[str, Any], edges: tuple[str]) -> None:
    assert Grid(Column(), values).edges(chosen) == edges


def test_the_mean_of_a_trial() -> None:
    assert Trial({}, (0.5, 1.0)).mean == 0.75


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"penalti": [1.0]}, r"PolynomialSvm has no parameter 'penalti' \(did you mean 'penalty'"),
        ({"penalty": []}, r"PolynomialSvm.penalty: values \[\]; give at least one, each once"),
        ({"penalty": [1.0, 1.0]}, "each once"),
    ],
)
def test_impossible_grids(values: dict[str, list[Any]], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Grid(PolynomialSvm(), values)


def test_values_out_of_range() -> None:
    rows, labels = noisy()
    with pytest.raises(InputError, match=r"PolynomialSvm with {'penalty': -1.0}: .*greater than 0"):
        tune(Grid(PolynomialSvm(), {"penalty": [1.0, -1.0]}), rows, labels)


def test_unequal_effort_is_refused() -> None:
    rows, labels = noisy()
    grids = {
        "svm": Grid(PolynomialSvm(), {"penalty": [0.1, 1.0]}),
        "linear": Grid(LinearScorer(), {"regularisation": [1e-3]}),
    }
    with pytest.raises(InputError, match=r"'svm': 2, 'linear': 1.*equally many"):
        tune_all(grids, rows, labels)


@pytest.mark.parametrize(
    ("positives", "folds", "reason"),
    [
        (30, 1, "1 folds of 90 examples, 30 of them positive; allowed: 2 to 30"),
        (2, 3, "3 folds of 90 examples, 2 of them positive; allowed: 2 to 2"),
        (0, 2, "0 positive examples of 90"),
    ],
)
def test_impossible_folds(positives: int, folds: int, reason: str) -> None:
    rows, _ = noisy()
    with pytest.raises(InputError, match=reason):
        tune(Grid(Column(), {"column": [1]}), rows, np.arange(90) < positives, folds=folds)


def test_features_of_a_precomputed_kernel() -> None:
    rows, labels = noisy()
    features = GramSchmidtFeatures(2, kernel="precomputed")
    with pytest.raises(InputError, match="precomputed kernel cannot be trained within folds"):
        tune(Grid(Column(), {"column": [0]}), rows @ rows.T, labels, features=features)
