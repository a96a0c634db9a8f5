"""scikit-learn classifiers that separate two classes by an ellipsoid."""

from __future__ import annotations

from perceptron_lab.estimators.ellipsoid_separation import EllipsoidSeparationClassifier
from perceptron_lab.estimators.soft_ellipsoid import SoftEllipsoidClassifier

__all__ = ["EllipsoidSeparationClassifier", "SoftEllipsoidClassifier"]
