"""scikit-learn estimators with verified answers, and the learners of experiments."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perceptron_lab.estimators.ellipsoid_separation import (
        EllipsoidSeparationClassifier as EllipsoidSeparationClassifier,
    )
    from perceptron_lab.estimators.ellipsoid_separation import (
        SoftSeparationClassifier as SoftSeparationClassifier,
    )
    from perceptron_lab.estimators.online_classifiers import (
        MarginPerceptronClassifier as MarginPerceptronClassifier,
    )
    from perceptron_lab.estimators.online_classifiers import (
        PerceptronClassifier as PerceptronClassifier,
    )
    from perceptron_lab.estimators.separators import (
        EllipsoidMethodClassifier as EllipsoidMethodClassifier,
    )
    from perceptron_lab.estimators.separators import MaxMarginClassifier as MaxMarginClassifier
    from perceptron_lab.estimators.separators import MirrorProxClassifier as MirrorProxClassifier
    from perceptron_lab.estimators.separators import (
        RescaledPerceptronClassifier as RescaledPerceptronClassifier,
    )
    from perceptron_lab.estimators.separators import (
        SmoothedPerceptronClassifier as SmoothedPerceptronClassifier,
    )
    from perceptron_lab.estimators.soft_ellipsoid import (
        SoftEllipsoidClassifier as SoftEllipsoidClassifier,
    )
    from perceptron_lab.estimators.soft_ellipsoid import (
        SquaredHingeClassifier as SquaredHingeClassifier,
    )

_MODULES = {
    "EllipsoidMethodClassifier": "separators",
    "EllipsoidSeparationClassifier": "ellipsoid_separation",
    "MarginPerceptronClassifier": "online_classifiers",
    "MaxMarginClassifier": "separators",
    "MirrorProxClassifier": "separators",
    "PerceptronClassifier": "online_classifiers",
    "RescaledPerceptronClassifier": "separators",
    "SmoothedPerceptronClassifier": "separators",
    "SoftEllipsoidClassifier": "soft_ellipsoid",
    "SoftSeparationClassifier": "ellipsoid_separation",
    "SquaredHingeClassifier": "soft_ellipsoid",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    """Import an estimator on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
