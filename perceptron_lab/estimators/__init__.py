"""scikit-learn classifiers of two classes: by an ellipsoid, or by a linear function."""

from __future__ import annotations

from perceptron_lab.estimators.ellipsoid_separation import EllipsoidSeparationClassifier
from perceptron_lab.estimators.soft_ellipsoid import SoftEllipsoidClassifier
from perceptron_lab.estimators.soft_separation import SoftSeparationClassifier
from perceptron_lab.estimators.squared_hinge import SquaredHingeClassifier

__all__ = [
    "EllipsoidSeparationClassifier",
    "SoftEllipsoidClassifier",
    "SoftSeparationClassifier",
    "SquaredHingeClassifier",
]
