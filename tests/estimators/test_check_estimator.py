"""scikit-learn's own checks; in the long run all, in processes with scipy's array API switched on.

The switch must be set before scipy is imported.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import sklearn

import perceptron_lab

pytestmark = pytest.mark.slow

SCRIPT = """
import json, sys, warnings
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator
from perceptron_lab.estimators import *
from perceptron_lab.estimators.learners.features import GramSchmidtFeatures

warnings.simplefilter("ignore")
for text in sys.argv[1:]:
    estimator, seen = eval(text), []
    check_estimator(
        estimator,
        on_fail=None,
        on_skip=None,
        callback=lambda check_name, status, exception, **others: seen.append(
            [check_name, status, str(exception)]
        ),
    )
    offered = len(list(estimator_checks_generator(estimator)))
    print(json.dumps({"seen": seen, "offered": offered}))
"""


# Repetitions must agree with weights to 1e-7, which asks for a well-conditioned problem.
EXACT = "rank=0, regularisation=1.0, tol=1e-15"
EQUIVALENCE = "check_sample_weight_equivalence_on_{}_data"
EQUIVALENCES = {EQUIVALENCE.format(kind) for kind in ("dense", "sparse")}
MISLABELLED = EQUIVALENCES if sklearn.__version__.startswith("1.6.") else set()
"""Checks of a release that gives weighted and repeated examples different labels, of two."""


FEATURES = ("GramSchmidtFeatures()", "GramSchmidtFeatures(bias=1.0, kernel='rbf')")
SEPARATING = [
    "PerceptronClassifier(max_iter=200)",
    "MarginPerceptronClassifier(max_iter=200)",
    "EllipsoidMethodClassifier(max_iter=100)",
    "RescaledPerceptronClassifier(max_iter=50)",
    "SmoothedPerceptronClassifier(max_iter=20)",
    "MirrorProxClassifier(max_iter=20)",
    "MaxMarginClassifier(max_iter=50)",
]

ORDERED = SEPARATING[:4]
"""Methods that take violated examples in their order, which these checks change between the fits.

Without such a change the fits are equal: ``test_a_row_of_weight_k_is_k_rows_exactly``.
"""


LEAST = {
    "EllipsoidSeparationClassifier()": 50,
    **dict.fromkeys(SEPARATING, 50),
    f"SoftEllipsoidClassifier({EXACT}, class_weight='balanced')": 60,
    "SoftEllipsoidClassifier()": 60,
    f"SoftEllipsoidClassifier({EXACT}, whiten=True)": 55,
    "SoftSeparationClassifier()": 50,
    "SquaredHingeClassifier()": 50,
    **dict.fromkeys(FEATURES, 45),
}
"""The estimators, and how many checks scikit-learn offers for them, or more."""

ARRAYS = "check_array_api_input"
"""The only check that scikit-learn skips without the switch."""


def failed(estimator: str, report: dict[str, Any]) -> set[str]:
    """Return the checks that do not pass although they should."""
    assert len(report["seen"]) == report["offered"] >= LEAST[estimator]
    allowed = EQUIVALENCES if estimator in ORDERED else MISLABELLED
    return {name for name, status, _ in report["seen"] if status != "passed"} - allowed


@pytest.mark.parametrize("estimator", ["EllipsoidSeparationClassifier()", *FEATURES])
def test_every_check_but_the_one_of_the_switch_passes(
    estimator: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["", estimator])
    with warnings.catch_warnings():
        exec(SCRIPT, {})
    assert failed(estimator, report := json.loads(capsys.readouterr().out)) <= {ARRAYS}, report


@pytest.mark.long
@pytest.mark.parametrize("estimator", LEAST)
def test_every_check_passes(estimator: str) -> None:
    root = str(Path(perceptron_lab.__file__).parents[1])
    environment = os.environ | {"SCIPY_ARRAY_API": "1", "PYTHONPATH": root}
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, estimator],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert not failed(estimator, report := json.loads(ended.stdout)), report
