"""scikit-learn classifiers: linear and kernel functions with proofs, and ellipsoids."""

from __future__ import annotations

from perceptron_lab.estimators.ellipsoid_separation import EllipsoidSeparationClassifier
from perceptron_lab.estimators.perceptrons import MarginPerceptronClassifier, PerceptronClassifier
from perceptron_lab.estimators.separators import (
    EllipsoidMethodClassifier,
    MaxMarginClassifier,
    MirrorProxClassifier,
    RescaledPerceptronClassifier,
    SmoothedPerceptronClassifier,
)
from perceptron_lab.estimators.soft_ellipsoid import SoftEllipsoidClassifier
from perceptron_lab.estimators.soft_separation import SoftSeparationClassifier
from perceptron_lab.estimators.squared_hinge import SquaredHingeClassifier

__all__ = [
    "EllipsoidMethodClassifier",
    "EllipsoidSeparationClassifier",
    "MarginPerceptronClassifier",
    "MaxMarginClassifier",
    "MirrorProxClassifier",
    "PerceptronClassifier",
    "RescaledPerceptronClassifier",
    "SmoothedPerceptronClassifier",
    "SoftEllipsoidClassifier",
    "SoftSeparationClassifier",
    "SquaredHingeClassifier",
]
