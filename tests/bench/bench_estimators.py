"""CPU seconds of warm fits of all estimators and of scikit-learn's nearest counterparts.

Run: `python -m pytest -s tests/bench/bench_estimators.py`. The best of several fits counts, both in
one process with one thread. Accuracy is that on the examples themselves. No counterpart proves
anything, and all may stop earlier. Those of ``UNLIKE`` have none: the classifiers beside them solve
another problem. docs/estimators.md has the same pairs.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from perceptron_lab import estimators as ours

FITS = 3
HARD = {"C": 1e6, "kernel": "linear", "max_iter": 100_000}
PAIRS: dict[str, tuple[Any, Any]] = {
    "PerceptronClassifier": (ours.PerceptronClassifier(), Perceptron()),
    "MarginPerceptronClassifier": (ours.MarginPerceptronClassifier(), SGDClassifier()),
    "SmoothedPerceptronClassifier": (ours.SmoothedPerceptronClassifier(), LinearSVC()),
    "MirrorProxClassifier": (ours.MirrorProxClassifier(), LinearSVC()),
    "RescaledPerceptronClassifier": (ours.RescaledPerceptronClassifier(), LinearSVC()),
    "EllipsoidMethodClassifier": (ours.EllipsoidMethodClassifier(), LinearSVC()),
    "MaxMarginClassifier": (ours.MaxMarginClassifier(), LinearSVC()),
    "MaxMarginClassifier, hard": (ours.MaxMarginClassifier(), SVC(**HARD)),
    "MaxMarginClassifier, rbf": (ours.MaxMarginClassifier(kernel="rbf"), SVC()),
    "SquaredHingeClassifier": (ours.SquaredHingeClassifier(), LinearSVC()),
    "SoftEllipsoidClassifier": (
        ours.SoftEllipsoidClassifier(),
        QuadraticDiscriminantAnalysis(reg_param=0.01),
    ),
    "EllipsoidSeparationClassifier": (
        ours.EllipsoidSeparationClassifier(),
        QuadraticDiscriminantAnalysis(reg_param=0.01),
    ),
    "SoftSeparationClassifier": (
        ours.SoftSeparationClassifier(),
        QuadraticDiscriminantAnalysis(reg_param=0.01),
    ),
}
# Estimators of problems that no estimator of scikit-learn solves
UNLIKE = {
    "SmoothedPerceptronClassifier",
    "MirrorProxClassifier",
    "RescaledPerceptronClassifier",
    "EllipsoidMethodClassifier",
    "SoftEllipsoidClassifier",
    "EllipsoidSeparationClassifier",
    "SoftSeparationClassifier",
}
BINARY = {"SquaredHingeClassifier", "SoftEllipsoidClassifier"}
BINARY |= {"EllipsoidSeparationClassifier", "SoftSeparationClassifier"}
SMALL = {name for name in PAIRS if name.endswith(("hard", "rbf", "SeparationClassifier"))}
SLOW = {"EllipsoidMethodClassifier", "RescaledPerceptronClassifier"}


def digits() -> tuple[Any, Any]:
    examples, labels = load_digits(return_X_y=True)
    return examples / 16.0, labels


def breast_cancer() -> tuple[Any, Any]:
    examples, labels = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(examples), labels


def normal(*, separable: bool) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    examples = rng.standard_normal((20_000, 100))
    if separable:
        return examples, examples @ rng.standard_normal(100) > 0.0
    return examples, examples[:, 0] + rng.standard_normal(len(examples)) > 0.0


DATA: dict[str, Callable[[], tuple[Any, Any]]] = {
    "digits": digits,
    "breast cancer": breast_cancer,
    "20 000 x 100, separable": lambda: normal(separable=True),
    "20 000 x 100, inseparable": lambda: normal(separable=False),
}


def best_seconds(model: Any, examples: Any, labels: Any) -> float:
    """Return the CPU seconds of the fastest of some fits, after a first one."""
    seconds = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(1 + FITS):
            began = time.process_time()
            model.fit(examples, labels)
            seconds.append(time.process_time() - began)
    return min(seconds[1:])


@pytest.mark.timeout(1000)
@pytest.mark.parametrize(("name", "data"), [(name, data) for name in PAIRS for data in DATA])
def test_seconds_of_fits(name: str, data: str) -> None:
    large = data.startswith("20 000")
    if (data == "digits" and name in BINARY) or (large and name in SMALL | SLOW):
        pytest.skip("two classes only, or too large")
    examples, labels = DATA[data]()
    model, counterpart = PAIRS[name]
    mine, theirs = (best_seconds(m, examples, labels) for m in (model, counterpart))
    scores = model.score(examples, labels), counterpart.score(examples, labels)
    assert scores[0] > 0.5
    beside = "beside, of another problem," if name in UNLIKE else "and"
    print(
        f"\n{name} {beside} {type(counterpart).__name__} on {data}: {mine:.4f} and {theirs:.4f} s, "
        f"ratio {mine / theirs:.2g}; accuracy {scores[0]:.4f} and {scores[1]:.4f}"
    )
