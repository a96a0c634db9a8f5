"""Explicit registries: a name maps to ``"module:object"``, so that listing imports nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from perceptron_lab.core.errors import ConfigError, UnknownNameError, did_you_mean, listed_by

Target = str | Callable[..., Any]
"""``"module:object"``, or the object: a class, for tables and figures a function."""

_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9._-]*")

# What the package registers, by modules below it
_OURS = {
    "algorithm": {
        "auto": "algorithms.automatic.auto:Auto",
        "perceptron": "algorithms.perceptrons.perceptron:Perceptron",
        "cyclic-perceptron": "algorithms.perceptrons.perceptron:CyclicPerceptron",
        "perceptron-with-margin": (
            "algorithms.margins.perceptron_with_margin:PerceptronWithMargin"
        ),
        "tau-perceptron": "algorithms.margins.perceptron_with_margin:TauPerceptron",
        "relaxation-with-margin": (
            "algorithms.margins.fixed_margin_perceptron:RelaxationWithMargin"
        ),
        "fixed-margin-perceptron": (
            "algorithms.margins.fixed_margin_perceptron:FixedMarginPerceptron"
        ),
        "fixed-length-perceptron": (
            "algorithms.margins.fixed_length_perceptron:FixedLengthPerceptron"
        ),
        "margin-bisection": "algorithms.margins.margin_bisection:MarginBisection",
        "second-order-perceptron": (
            "algorithms.perceptrons.second_order_perceptron:SecondOrderPerceptron"
        ),
        "deterministic-rescaled-perceptron": (
            "algorithms.rescaling.deterministic_rescaled_perceptron:DeterministicRescaledPerceptron"
        ),
        "correlation-rescaling": (
            "algorithms.rescaling.correlation_rescaling:CorrelationRescaling"
        ),
        "conic-rescaled-perceptron": (
            "algorithms.rescaling.conic_rescaled_perceptron:ConicRescaledPerceptron"
        ),
        "derandomised-rescaled-perceptron": (
            "algorithms.rescaling.derandomised_rescaled_perceptron:DerandomisedRescaledPerceptron"
        ),
        "space-dilation": "algorithms.rescaling.space_dilation:SpaceDilation",
        "ellipsoid": "algorithms.rescaling.ellipsoid:Ellipsoid",
        "central-cuts": "algorithms.rescaling.central_cuts:CentralCuts",
        "volumetric-cuts": "algorithms.rescaling.volumetric_cuts:VolumetricCuts",
        "simplex-cuts": "algorithms.rescaling.simplex_cuts:SimplexCuts",
        "relaxed-perceptron": "algorithms.perceptrons.relaxed_perceptron:RelaxedPerceptron",
        "rescaled-perceptron": "algorithms.rescaling.rescaled_perceptron:RescaledPerceptron",
        "normalized-perceptron": ("algorithms.nearest_point.most_violated:NormalizedPerceptron"),
        "winnow": "algorithms.perceptrons.winnow:Winnow",
        "von-neumann": "algorithms.nearest_point.most_violated:VonNeumann",
        "smoothed-perceptron": "algorithms.smoothing.smoothed_perceptron:SmoothedPerceptron",
        "gram-smoothed-perceptron": (
            "algorithms.smoothing.gram_smoothed_perceptron:GramSmoothedPerceptron"
        ),
        "smoothed-von-neumann": "algorithms.smoothing.smoothed_von_neumann:SmoothedVonNeumann",
        "iterated-smoothed-von-neumann": (
            "algorithms.smoothing.smoothed_von_neumann:IteratedSmoothedVonNeumann"
        ),
        "mirror-prox": "algorithms.saddle_points.mirror_prox:MirrorProx",
        "adaptive-mirror-prox": "algorithms.saddle_points.mirror_prox:AdaptiveMirrorProx",
        "sublinear-mirror-prox": "algorithms.saddle_points.sublinear:SublinearMirrorProx",
        "accelerated-winnow": "algorithms.saddle_points.accelerated_winnow:AcceleratedWinnow",
        "minimum-norm-point": "algorithms.nearest_point.minimum_norm_point:MinimumNormPoint",
        "bundle-mirror": "algorithms.nearest_point.bundle_mirror:BundleMirror",
        "projection-rescaling": ("algorithms.projection.projection_rescaling:ProjectionRescaling"),
        "primal-dual": "algorithms.saddle_points.primal_dual:PrimalDual",
        "whitened": "algorithms.rescaling.whitened:Whitened",
        "interior-point": "algorithms.interior_point.interior_point:InteriorPoint",
        "postprocessed": "algorithms.external.postprocessed:Postprocessed",
        "retrained": "algorithms.retrained:Retrained",
        "svc": "algorithms.external.linear_models:Svc",
        "linear-svc": "algorithms.external.linear_models:LinearSvc",
        "sklearn-perceptron": "algorithms.external.linear_models:SklearnPerceptron",
        "sgd": "algorithms.external.linear_models:Sgd",
        "nnls": "algorithms.external.scipy_solvers:Nnls",
        "highs": "algorithms.external.scipy_solvers:Highs",
        "clarabel": "algorithms.external.cone_program:Clarabel",
        "scs": "algorithms.external.cone_program:Scs",
        "clarabel-direct": "algorithms.external.direct:ClarabelDirect",
        "scs-direct": "algorithms.external.direct:ScsDirect",
        "ecos": "algorithms.external.direct:Ecos",
        "csdp": "algorithms.external.sdpa_programs:Csdp",
        "sdpa": "algorithms.external.sdpa_programs:Sdpa",
        "dsdp5": "algorithms.external.sdpa_programs:Dsdp",
        "qsopt-ex": "algorithms.external.exact_programs:QsoptEx",
        "soplex": "algorithms.external.exact_programs:SoPlex",
    },
    "learner": {
        "ellipsoid-separation": (
            "estimators.learners.registered.ellipsoid_separation:EllipsoidSeparation"
        ),
        "soft-ellipsoid": "estimators.learners.registered.tuned_classifiers:TunedSoftEllipsoid",
        "polynomial-svm": "estimators.learners.registered.tuned_classifiers:TunedPolynomialSvm",
        "linear-scorer": "estimators.learners.registered.tuned_classifiers:TunedLinearScorer",
        "soft-separation": "estimators.learners.registered.tuned_classifiers:TunedSoftSeparation",
        "separation-verdict": "estimators.learners.registered.separation_verdict:ProvedSeparation",
        "konis-program": "estimators.learners.registered.likelihood:KonisProgram",
        "newton-steps": "estimators.learners.registered.likelihood:NewtonSteps",
        "logistic-regression": (
            "estimators.learners.registered.likelihood:SklearnLogisticRegression"
        ),
        "online-perceptron": "estimators.learners.registered.online_perceptrons:StreamedPerceptron",
        "active-perceptron": "estimators.learners.registered.active_perceptron:LabelRequests",
        "online-kernel-perceptron": (
            "estimators.learners.registered.online_perceptrons:StreamedKernelPerceptron"
        ),
    },
    "optimiser": {
        "low-rank": "problems.optima.low_rank:LowRank",
        "objective-sequence": "problems.optima.objective_levels:ObjectiveSequence",
        "objective-bisection": "problems.optima.objective_levels:ObjectiveBisection",
        "deep-cut-ellipsoid": "problems.optima.deep_cut_ellipsoid:DeepCutEllipsoid",
        "verified-solver": "problems.optima.verified_solver:VerifiedSolver",
    },
    "oracle": {
        "most-violated": "cones.orthant:MostViolated",
        "first-violated": "cones.orthant:FirstViolated",
        "cyclic": "cones.orthant:Cyclic",
        "random": "cones.orthant:Random",
        "pivoted-cholesky": "cones.oracles.semidefinite:PivotedCholesky",
        "cholesky": "cones.oracles.semidefinite:Cholesky",
        "eigenvector": "cones.oracles.semidefinite:Eigenvector",
        "sparse-ldl": "cones.oracles.proving:SparseLdl",
        "leading-cholesky": "cones.oracles.proving:LeadingCholesky",
        "lanczos": "cones.oracles.proving:Lanczos",
        "auto": "cones.oracles.proving:AutoOracle",
    },
    "dataset": {
        "sdplib": "datasets.collections.semidefinite_programs:Sdplib",
        "sdpa": "datasets.collections.semidefinite_programs:SdpaFiles",
        "files": "datasets.collections.files:Files",
        "maxcut": "datasets.generated.maxcut:Maxcut",
        "margin-sets": "datasets.generated.margin_sets:MarginSets",
        "labelled-sets": "datasets.generated.labelled_sets:LabelledSets",
        "offset-classes": "datasets.generated.offset_classes:OffsetClasses",
        "decision-lists": "datasets.generated.decision_lists:DecisionLists",
        "streams": "datasets.generated.streams:Streams",
        "resisting": "datasets.generated.streams:Resisting",
        "sphere-streams": "datasets.generated.sphere_streams:SphereStreams",
        "rows-on-disk": "datasets.generated.rows_on_disk:RowsOnDisk",
        "rows-in-parts": "datasets.generated.rows_in_parts:RowsInParts",
        "tabular": "datasets.collections.tabular:Tabular",
        "rotated-digits": "datasets.collections.rotated_digits:RotatedDigits",
        "reuters": "datasets.collections.reuters:Reuters",
        "reuters-stream": "datasets.collections.text_streams:ReutersStream",
        "conic-sets": "datasets.generated.conic_sets:ConicSets",
        "infeasible-sdp": "datasets.generated.infeasible_programs:InfeasibleSdp",
        "conditioned-cones": "datasets.generated.conditioned_cones:ConditionedCones",
        "ellipsoid-sets": "datasets.generated.ellipsoid_sets:EllipsoidSets",
        "linear-systems": "datasets.generated.linear_systems:LinearSystems",
        "linear-programs": "datasets.generated.linear_programs:LinearPrograms",
        "netlib": "datasets.collections.netlib:Netlib",
        "separation-families": "datasets.generated.separation_families:SeparationFamilies",
        "textbook-separation": "datasets.collections.textbook_separation:TextbookSeparation",
        "inverted-balls": "datasets.generated.ellipsoid_sets:InvertedBalls",
        "ellipsoid-separation": (
            "problems.ellipsoids.hard.separation_system:EllipsoidSeparationSystems"
        ),
    },
    "table": {
        "summary": "reporting.plain_table:summary",
        "table_6_1": "reporting.papers.thesis.table_6_1.table:table_6_1",
        "table_6_1_oracles": "reporting.papers.thesis.table_6_1.oracles:table_6_1_oracles",
        "cuts": "reporting.papers.thesis.table_6_1.oracles:cuts_table",
        "maxcut_density": "reporting.papers.thesis.table_6_1.density:maxcut_density_table",
        "exponents": "reporting.papers.thesis.exponents:exponents",
        "rescalings": "reporting.papers.thesis.table_6_1.oracles:rescalings",
        "table_2": "reporting.papers.yu.costs:table_2",
        "retraining": "reporting.papers.yu.retraining:retraining_table",
        "infeasible": "reporting.papers.yu.costs:infeasible",
        "table_figure_2": "reporting.papers.yu.figure_2:table_figure_2",
        "table_figure_7_4": "reporting.papers.thesis.figure_7_4:table_figure_7_4",
        "conic": "reporting.papers.yu.costs:conic",
        "rates": "reporting.papers.yu.rates:rates_table",
        "lp_feasibility": "reporting.studies.answers:lp_feasibility",
        "profile": "reporting.studies.timing:profile_table",
        "margins": "reporting.studies.margins:margins_table",
        "augmentation": "reporting.papers.tsampouka:augmentation_table",
        "table_8_1": "reporting.papers.thesis.table_8_1.tables:table_8_1",
        "below_thesis": "reporting.papers.thesis.table_8_1.comparisons:below_thesis",
        "precision_differences": (
            "reporting.papers.thesis.table_8_1.comparisons:precision_differences"
        ),
        "rare_categories": "reporting.papers.thesis.table_8_1.tables:rare_categories",
        "learners": "reporting.papers.thesis.table_8_1.tables:learners",
        "mistakes": "reporting.papers.perceptron_notes:mistakes_table",
        "resisting": "reporting.papers.thesis.rescaling:resisting_table",
        "label_requests": "reporting.papers.thesis.chapter_9:label_requests_table",
        "rotated_digits": "reporting.papers.thesis.chapter_9:rotated_digits_table",
        "separation_verdicts": "reporting.studies.separation:separation_verdicts",
        "families": "reporting.studies.answers:families",
        "infeasible_programs": "reporting.studies.answers:infeasible_programs",
        "rescaling": "reporting.papers.thesis.rescaling:rescaling_table",
        "margin_dependence": "reporting.papers.thesis.margin_dependence:margin_dependence_table",
        "postprocessing": "reporting.studies.postprocessing:postprocessing_table",
        "optima_reached": "reporting.papers.thesis.figure_6_1:optima_reached",
        "levels": "reporting.papers.thesis.figure_6_1:levels",
        "effects": "reporting.papers.thesis.factors:effects_table",
        "rivals": "reporting.papers.thesis.factors:rivals_table",
        "accuracy": "reporting.studies.answers:accuracy",
        "proved_optima": "reporting.studies.optima:proved_optima_table",
        "best_optima": "reporting.studies.optima:best_optima",
        "maxcut_scaling": "reporting.studies.maxcut_scaling:maxcut_scaling_table",
    },
    "figure": {
        "table_6_1": "reporting.papers.thesis.table_6_1.table:table_6_1_figure",
        "cuts": "reporting.papers.thesis.table_6_1.oracles:cuts_figure",
        "maxcut_density": "reporting.papers.thesis.table_6_1.density:maxcut_density_figure",
        "figure_1": "reporting.papers.yu.costs:figure_1",
        "figure_2": "reporting.papers.yu.figure_2:figure_2",
        "figure_7_1": "reporting.papers.thesis.ellipses:figure_7_1",
        "figure_7_2": "reporting.papers.thesis.ellipses:figure_7_2",
        "figure_7_3": "reporting.papers.thesis.ellipses:figure_7_3",
        "figure_7_4": "reporting.papers.thesis.figure_7_4:figure_7_4",
        "convergence": "reporting.studies.convergence:convergence",
        "certificates": "reporting.studies.convergence:certificates",
        "rates": "reporting.papers.yu.rates:rates_figure",
        "profile": "reporting.studies.timing:profile_figure",
        "margins": "reporting.studies.margins:margins_figure",
        "augmentation": "reporting.papers.tsampouka:augmentation_figure",
        "scaling": "reporting.studies.timing:scaling",
        "maxcut_scaling": "reporting.studies.maxcut_scaling:maxcut_scaling_figure",
        "table_8_1": "reporting.papers.thesis.table_8_1.figures:table_8_1",
        "figure_8_1": "reporting.papers.thesis.table_8_1.figures:figure_8_1",
        "mistakes": "reporting.papers.perceptron_notes:mistakes_figure",
        "worst_case": "reporting.papers.perceptron_notes:worst_case",
        "rescaling": "reporting.papers.thesis.rescaling:rescaling_figure",
        "exponents": "reporting.papers.thesis.exponents:exponents_figure",
        "margin_dependence": "reporting.papers.thesis.margin_dependence:margin_dependence_figure",
        "postprocessing": "reporting.studies.postprocessing:postprocessing_figure",
        "resisting": "reporting.papers.thesis.rescaling:resisting_figure",
        "label_requests": "reporting.papers.thesis.chapter_9:label_requests_figure",
        "resisting_map": "reporting.theory.resisting_map:resisting_map",
        "newton_steps": "reporting.studies.separation:newton_steps",
        "figure_6_1": "reporting.papers.thesis.figure_6_1:figure_6_1",
        "rivals": "reporting.papers.thesis.factors:rivals_figure",
        "proved_optima": "reporting.studies.optima:proved_optima_figure",
    },
    "theory": {
        "figure_3_1": "reporting.theory.rescaling:figure_3_1",
        "figure_3_2": "reporting.theory.ellipsoid_method:figure_3_2",
        "figure_4_1": "reporting.theory.convergence:figure_4_1",
        "rescaling_factors": "reporting.theory.convergence:rescaling_factors",
        "start_probability": ("reporting.theory.start_probability:start_probability_exhibit"),
        "parameter_sets": "reporting.theory.convergence:parameter_sets",
        "relaxed_tries": "reporting.theory.start_probability:relaxed_tries",
        "normalised_margin": "reporting.theory.normalised_margin:normalised_margin",
        "ball_volumes": "reporting.theory.ellipsoid_method:ball_volumes",
        "learning_complexity": "reporting.theory.learning_complexity:learning_complexity",
        "tightness": "reporting.theory.tightness:tightness",
        "proof_costs": "reporting.theory.proof_costs:proof_costs",
        "claims": "reporting.theory.refutations.statements:claims",
        "contents": "reporting.theory.contents:contents",
    },
}

# Texts and not classes, so that listing and looking up names imports nothing
_TARGETS: dict[str, dict[str, Target]] = {
    kind: {name: f"perceptron_lab.{target}" for name, target in targets.items()}
    for kind, targets in _OURS.items()
}

# The names before any registration, by which additions are recognised
_PACKAGE = {kind: frozenset(targets) for kind, targets in _TARGETS.items()}


def names(kind: str) -> list[str]:
    """Return the registered names of a kind: algorithm, learner, optimiser, oracle, dataset, ..."""
    return list(_TARGETS[kind])


def target(kind: str, name: str) -> Target:
    """Return the target of a name, ``"module:object"`` or the object; nothing is imported.

    Raises
    ------
    UnknownNameError
        If the name is not registered; the message suggests the closest one.
    """
    targets_of_kind = _TARGETS[kind]
    if name not in targets_of_kind:
        # A name of another kind is a wrong place, not a typing error: no similar name is suggested
        other_kinds = [other_kind for other_kind, targets in _TARGETS.items() if name in targets]
        with_article = [
            f"{'an' if other_kind[0] in 'aeio' else 'a'} {other_kind}" for other_kind in other_kinds
        ]
        similar = "" if other_kinds else did_you_mean(name, targets_of_kind)
        remedy = f": it is {' and '.join(with_article)}" if other_kinds else similar
        if "optimiser" in other_kinds:
            remedy += " of programs with an objective, which optimum(...) minimises"
        names = "theory" if kind == "theory" else f"{kind}s"
        text = (
            f"unknown {kind} {name!r}{remedy}; {listed_by(targets_of_kind, f'plab list {names}')}"
        )
        raise UnknownNameError(text, bool(similar))
    return targets_of_kind[name]


METHODS = ("algorithm", "learner", "optimiser")
"""The kinds of what a configuration runs on problems."""


def kind_of_method(name: str) -> str:
    """Return the kind, one of :data:`METHODS`, that a name is registered for; or ``algorithm``."""
    return next((kind for kind in METHODS if name in _TARGETS[kind]), METHODS[0])


def load(kind: str, name: str) -> Any:
    """Import and return the object registered under a name; errors as in :func:`target`."""
    entry = target(kind, name)
    return loaded(entry) if isinstance(entry, str) else entry


def loaded(target: str) -> Any:
    """Import and return the object of a target ``"module:object"``."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


def module_of(target: Target) -> str:
    """Return the module of a target; nothing is imported."""
    return target.partition(":")[0] if isinstance(target, str) else target.__module__


def name_of(kind: str, record: object) -> str:
    """Return the registered name of a record's class, or the class's own name."""
    cls = type(record)
    # By class or by path: plugins register either
    path = f"{cls.__module__}:{cls.__qualname__}"
    targets = _TARGETS[kind].items()
    return next((name for name, target in targets if target in (cls, path)), cls.__name__)


def named_in(value: object, kinds: Sequence[str]) -> set[tuple[str, str]]:
    """Return kind and name of the components that texts in nested lists and mappings name."""
    if isinstance(value, str):
        return {(kind, value) for kind in kinds if value in _TARGETS[kind]}
    if isinstance(value, dict):
        value = list(value.values())
    parts = value if isinstance(value, list | tuple) else ()
    return {reference for part in parts for reference in named_in(part, kinds)}


def additions() -> list[tuple[str, str, Target]]:
    """Return kind, name and target of each addition to the package's own names."""
    return [
        (kind, name, target)
        for kind, targets in _TARGETS.items()
        for name, target in targets.items()
        if name not in _PACKAGE[kind]
    ]


def register(kind: str, name: str, target: Target) -> None:
    """Add a name without loading its target; see :func:`.registration.register`."""
    if kind not in _TARGETS:
        raise ConfigError(f"unknown kind {kind!r}; known: {', '.join(_TARGETS)}")
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise ConfigError(
            f"the name {name!r} of the {kind}; allowed: letters, digits, dots, hyphens, "
            "underscores, beginning with a letter or digit"
        )
    # A path without an object is found now and not in the middle of a run
    if isinstance(target, str) and ":" not in target:
        raise ConfigError(f"target {target!r}; give the class or function, or 'module:name'")
    # Stored rows name components: two of one name would be taken for each other
    if name in _TARGETS[kind]:
        raise ConfigError(f"the {kind} {name!r} is registered already; choose another name")
    _TARGETS[kind][name] = target


def unregister(kind: str, name: str) -> None:
    """Remove a name that was added by :func:`register`.

    Raises
    ------
    ConfigError
        If nothing is registered by this name, or it is one of the package's own.
    """
    target(kind, name)
    # Stored rows and shipped configurations rely on the package's own names
    if name in _PACKAGE[kind]:
        raise ConfigError(
            f"the {kind} {name!r} is the package's own; only additions can be removed"
        )
    del _TARGETS[kind][name]
