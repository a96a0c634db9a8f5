"""Classifiers on dask collections: functions proved by passes, lazy predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

dask = pytest.importorskip("dask")
import dask.array as da  # noqa: E402

from perceptron_lab.core.errors import InputError  # noqa: E402
from perceptron_lab.core.results import Status  # noqa: E402
from perceptron_lab.estimators import (  # noqa: E402
    MarginPerceptronClassifier,
    MaxMarginClassifier,
    MirrorProxClassifier,
    PerceptronClassifier,
    SoftEllipsoidClassifier,
)
from tests.repetitions import thinned  # noqa: E402


@pytest.fixture(autouse=True)
def here() -> Any:
    with dask.config.set(scheduler="synchronous"):
        yield


def split(rows: Any, size: int) -> Any:
    return da.from_array(rows, chunks=(size, *rows.shape[1:]))


def separable(seed: int, count: int = 2000) -> tuple[Any, Any]:
    """Examples of three classes, around three centres."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, count)
    centres = np.array([[4.0, 0.0, 0.0], [-2.0, 3.5, 0.0], [-2.0, -3.5, 0.0]])
    return centres[labels] + rng.uniform(-1.0, 1.0, (count, 3)), np.array(["a", "b", "c"])[labels]


CLASSIFIERS = [
    PerceptronClassifier(),
    MarginPerceptronClassifier(b=0.5),
    PerceptronClassifier(fit_intercept=False),
    MaxMarginClassifier(fit_intercept=False, tol=0.01),
]


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=repr)
@pytest.mark.parametrize("seed", thinned(range(6), step=6))
def test_separated_classes_are_separated_in_parts(classifier: Any, seed: int) -> None:
    examples, labels = separable(seed)
    order = np.random.default_rng(seed).permutation(len(labels))
    classifier.fit(split(examples, 300), split(labels, 170))
    assert classifier.status_ is Status.FEASIBLE
    assert classifier.separable_
    assert classifier.classes_.tolist() == ["a", "b", "c"]
    assert np.allclose(np.linalg.norm(np.c_[classifier.coef_, classifier.intercept_], axis=1), 1.0)
    predicted = classifier.predict(split(examples[order], 700))
    assert isinstance(predicted, da.Array)
    assert (predicted.compute() == labels[order]).all()
    values = classifier.decision_function(split(examples, 700))
    assert values.shape == (2000, 3)
    assert np.array_equal(values.compute(), classifier.decision_function(examples))
    bounds, margins = classifier.margin_bounds_, classifier.margin_
    in_memory = type(classifier)(**classifier.get_params()).fit(examples, labels)
    assert (bounds[:, 0] <= in_memory.margin_bounds_[:, 1]).all()
    assert (in_memory.margin_bounds_[:, 0] <= bounds[:, 1]).all()
    assert (bounds[:, 0] <= margins).all()
    assert (margins <= bounds[:, 1]).all()


def test_frames_keep_their_names() -> None:
    frames = pytest.importorskip("dask.dataframe")
    examples, labels = separable(1, 400)
    table = pd.DataFrame(examples, columns=list("uvw")).assign(y=labels == "a")
    collection = frames.from_pandas(table, npartitions=3)
    classifier = PerceptronClassifier().fit(collection[list("uvw")], collection["y"])
    assert classifier.feature_names_in_.tolist() == list("uvw")
    assert classifier.intercept_.shape == (1,)
    predicted = classifier.predict(collection[list("uvw")])
    assert (predicted.compute() == table["y"]).all()
    values = classifier.decision_function(collection[list("uvw")]).compute()
    assert np.array_equal(values, classifier.decision_function(table[list("uvw")]))
    with pytest.raises(ValueError, match="feature names"):
        classifier.predict(collection[list("wvu")]).compute()


def test_inseparable_classes_are_proved_so() -> None:
    rng = np.random.default_rng(2)
    examples, labels = rng.standard_normal((600, 3)), rng.integers(0, 2, 600)
    with pytest.warns(ConvergenceWarning, match="no hyperplane separates class 1"):
        classifier = PerceptronClassifier().fit(split(examples, 100), split(labels, 100))
    assert not classifier.separable_
    assert classifier.margin_[0] < 0.0
    assert classifier.margin_bounds_[0, 1] <= 1e-3


def test_what_parts_do_not_allow_is_refused_with_a_remedy() -> None:
    examples, labels = separable(3, 60)
    X, y = split(examples, 20), split(labels, 20)
    with pytest.raises(InputError, match=r"MirrorProxClassifier learns from data in memory"):
        MirrorProxClassifier().fit(X, y)
    with pytest.raises(InputError, match=r"X.compute\(\)"):
        SoftEllipsoidClassifier().fit(X, y)
    with pytest.raises(InputError, match="fit_intercept=True with collections"):
        MaxMarginClassifier().fit(X, y)
    with pytest.raises(InputError, match="normalized=False with collections"):
        PerceptronClassifier(normalized=False).fit(X, y)
    with pytest.raises(InputError, match="sample_weight with collections"):
        PerceptronClassifier().fit(X, y, sample_weight=np.ones(60))
    with pytest.raises(InputError, match="kernel with collections"):
        PerceptronClassifier(kernel="rbf").fit(X, y)
    with pytest.raises(InputError, match="both as collections of dask"):
        PerceptronClassifier().fit(X, labels)
    with pytest.raises(InputError, match="one class, 'a'"):
        PerceptronClassifier().fit(X, split(np.full(60, "a"), 20))
