"""Accuracy of the separating classifiers on the embedded data sets, beside scikit-learn's.

`python -m tests.bench.accuracy_table [WORD]` prints, in percent and as Markdown, the mean accuracy
of five stratified folds on standardised features, for classifiers whose name holds the word.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from perceptron_lab import estimators as ours

LOADERS = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}
OURS: dict[str, Any] = {
    "PerceptronClassifier": ours.PerceptronClassifier(),
    "MarginPerceptronClassifier": ours.MarginPerceptronClassifier(),
    "EllipsoidMethodClassifier": ours.EllipsoidMethodClassifier(max_iter=20_000),
    "RescaledPerceptronClassifier": ours.RescaledPerceptronClassifier(),
    "SmoothedPerceptronClassifier": ours.SmoothedPerceptronClassifier(),
    "MirrorProxClassifier": ours.MirrorProxClassifier(),
    "MaxMarginClassifier": ours.MaxMarginClassifier(),
    "MaxMarginClassifier(kernel='rbf')": ours.MaxMarginClassifier(kernel="rbf"),
}
THEIRS: dict[str, Any] = {
    "Perceptron": Perceptron(),
    "LinearSVC": LinearSVC(),
    "SVC(C=1e6, kernel='linear')": SVC(C=1e6, kernel="linear", max_iter=100_000),
    "SVC()": SVC(),
}


def accuracy(model: Any, data: str) -> float:
    """Return the mean accuracy of five folds, the same for every model."""
    rows, labels = LOADERS[data](return_X_y=True)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        accuracies = cross_val_score(make_pipeline(StandardScaler(), model), rows, labels, cv=folds)
    return float(accuracies.mean())


def lines(word: str = "") -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"| | {' | '.join(LOADERS)} |"
    yield "|---|" + "---|" * len(LOADERS)
    for name, model in (OURS | THEIRS).items():
        if word in name:
            cells = [f"{100.0 * accuracy(model, data):.1f}" for data in LOADERS]
            yield f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    for line in lines(*sys.argv[1:2]):
        print(line, flush=True)
