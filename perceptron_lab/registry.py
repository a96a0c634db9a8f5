"""Explicit registries: a name stands for ``"module:Class"``, so that listing loads nothing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from perceptron_lab.errors import ConfigError, did_you_mean

_TARGETS: dict[str, dict[str, str | type]] = {
    "algorithm": {
        "auto": "perceptron_lab.algorithms.auto:Auto",
        "perceptron": "perceptron_lab.algorithms.perceptron:Perceptron",
        "cyclic-perceptron": "perceptron_lab.algorithms.cyclic_perceptron:CyclicPerceptron",
        "space-dilation": "perceptron_lab.algorithms.space_dilation:SpaceDilation",
        "ellipsoid": "perceptron_lab.algorithms.ellipsoid:Ellipsoid",
        "relaxed-perceptron": "perceptron_lab.algorithms.relaxed_perceptron:RelaxedPerceptron",
        "rescaled-perceptron": "perceptron_lab.algorithms.rescaled_perceptron:RescaledPerceptron",
        "normalized-perceptron": (
            "perceptron_lab.algorithms.normalized_perceptron:NormalizedPerceptron"
        ),
        "winnow": "perceptron_lab.algorithms.winnow:Winnow",
        "von-neumann": "perceptron_lab.algorithms.von_neumann:VonNeumann",
        "smoothed-perceptron": "perceptron_lab.algorithms.smoothed_perceptron:SmoothedPerceptron",
        "smoothed-von-neumann": "perceptron_lab.algorithms.smoothed_von_neumann:SmoothedVonNeumann",
        "iterated-smoothed-von-neumann": (
            "perceptron_lab.algorithms.smoothed_von_neumann:IteratedSmoothedVonNeumann"
        ),
        "mirror-prox": "perceptron_lab.algorithms.mirror_prox:MirrorProx",
        "adaptive-mirror-prox": (
            "perceptron_lab.algorithms.adaptive_mirror_prox:AdaptiveMirrorProx"
        ),
        "minimum-norm-point": "perceptron_lab.algorithms.minimum_norm_point:MinimumNormPoint",
        "primal-dual": "perceptron_lab.algorithms.primal_dual:PrimalDual",
        "whitened": "perceptron_lab.algorithms.whitened:Whitened",
        "svc": "perceptron_lab.peers.svc:Svc",
        "linear-svc": "perceptron_lab.peers.linear_svc:LinearSvc",
        "sklearn-perceptron": "perceptron_lab.peers.sklearn_perceptron:SklearnPerceptron",
        "sgd": "perceptron_lab.peers.sgd:Sgd",
        "nnls": "perceptron_lab.peers.nnls:Nnls",
        "highs": "perceptron_lab.peers.highs:Highs",
        "clarabel": "perceptron_lab.peers.clarabel:Clarabel",
        "scs": "perceptron_lab.peers.scs:Scs",
    },
    "learner": {
        "ellipsoid-separation": (
            "perceptron_lab.ellipsoids.learners.ellipsoid_separation:EllipsoidSeparation"
        ),
        "soft-ellipsoid": "perceptron_lab.ellipsoids.learners.soft_ellipsoid:TunedSoftEllipsoid",
        "polynomial-svm": "perceptron_lab.ellipsoids.learners.polynomial_svm:TunedPolynomialSvm",
        "linear-scorer": "perceptron_lab.ellipsoids.learners.linear_scorer:TunedLinearScorer",
    },
    "oracle": {
        "most-violated": "perceptron_lab.oracles.orthant:MostViolated",
        "first-violated": "perceptron_lab.oracles.orthant:FirstViolated",
        "cyclic": "perceptron_lab.oracles.orthant:Cyclic",
        "random": "perceptron_lab.oracles.orthant:Random",
        "pivoted-cholesky": "perceptron_lab.oracles.semidefinite:PivotedCholesky",
        "cholesky": "perceptron_lab.oracles.semidefinite:Cholesky",
        "eigenvector": "perceptron_lab.oracles.semidefinite:Eigenvector",
    },
    "dataset": {
        "sdplib": "perceptron_lab.datasets.sdplib:Sdplib",
        "sdpa": "perceptron_lab.datasets.sdpa_files:SdpaFiles",
        "maxcut": "perceptron_lab.datasets.maxcut:Maxcut",
        "margin-sets": "perceptron_lab.datasets.margin_sets:MarginSets",
        "rows-on-disk": "perceptron_lab.datasets.rows_on_disk:RowsOnDisk",
        "tabular": "perceptron_lab.datasets.tabular:Tabular",
        "reuters": "perceptron_lab.datasets.reuters:Reuters",
        "conic-sets": "perceptron_lab.datasets.conic_sets:ConicSets",
        "ellipsoid-sets": "perceptron_lab.datasets.ellipsoid_sets:EllipsoidSets",
        "inverted-balls": "perceptron_lab.datasets.inverted_balls:InvertedBalls",
    },
}

_PACKAGE = {kind: frozenset(targets) for kind, targets in _TARGETS.items()}


def names(kind: str) -> list[str]:
    """Return the registered names of a kind: algorithm, learner, oracle or dataset."""
    return list(_TARGETS[kind])


def target(kind: str, name: str) -> str | type:
    """Return what a name stands for, ``"module:Class"`` or a class; nothing is imported.

    Raises
    ------
    ConfigError
        If the name is not registered; the message suggests the closest one.
    """
    known = _TARGETS[kind]
    if name not in known:
        raise ConfigError(
            f"unknown {kind} {name!r}{did_you_mean(name, known)}; known: {', '.join(known)}"
        )
    return known[name]


def load(kind: str, name: str) -> Any:
    """Import and return the class that a name stands for; errors are those of :func:`target`."""
    found = target(kind, name)
    if isinstance(found, type):
        return found
    module, _, attribute = found.partition(":")
    return getattr(import_module(module), attribute)


def name_of(kind: str, record: object) -> str:
    """Return the registered name of a record's class, or the class's own name."""
    here = type(record)
    path = f"{here.__module__}:{here.__qualname__}"
    known = _TARGETS[kind].items()
    return next((name for name, target in known if target in (here, path)), here.__name__)


def additions() -> list[tuple[str, str, str | type]]:
    """Return kind, name and target of what was registered beside the package's own."""
    return [
        (kind, name, target)
        for kind, targets in _TARGETS.items()
        for name, target in targets.items()
        if name not in _PACKAGE[kind]
    ]


def register(kind: str, name: str, target: str | type) -> None:
    """Add a user's own algorithm, learner, oracle or dataset under a new name.

    Parameters
    ----------
    kind
        ``algorithm``, ``learner``, ``oracle`` or ``dataset``.
    name
        A name that is not taken yet.
    target
        The class, or ``"module:Class"``.

    Raises
    ------
    ConfigError
        If the kind is unknown or the name is taken.
    """
    if kind not in _TARGETS:
        raise ConfigError(f"unknown kind {kind!r}; known: {', '.join(_TARGETS)}")
    if isinstance(target, str) and ":" not in target:
        raise ConfigError(f"target {target!r}; give the class, or 'module:Class'")
    if name in _TARGETS[kind]:
        raise ConfigError(f"the {kind} {name!r} is registered already; choose another name")
    _TARGETS[kind][name] = target
