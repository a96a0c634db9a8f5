"""The fields of every kind of saved answer: allowed values, and the check that covers each.

``Result.save`` and ``plab solve --save`` write files of the fields :func:`result_fields`, `plab
run` those of :func:`cell_fields`, ``SeparationVerdict.save`` those of :data:`VERDICT`; the columns
of runs.csv are :func:`row_fields`. The page docs/notes/saved-answers.md is made of these lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from perceptron_lab.core import registry
from perceptron_lab.core.findings import SeparationAnswer
from perceptron_lab.core.saved_answers.fields import (
    AMOUNT,
    ANY,
    ARRAY,
    BRACKET,
    COUNT,
    DOUBLES,
    FINITE,
    FRACTION,
    GOAL,
    LIST,
    MAPPING,
    NUMBER,
    REAL,
    SHA256,
    TEXT,
    TRUTH,
    WEIGHTS,
    Check,
    Field,
    Kind,
    Values,
    exactly,
    list_of,
    mapping_of,
    one_of,
    or_null,
)

CELL_FORMAT: Final = 1
"""The format of certificates of cells."""
VERDICT_FORMAT: Final = 2
"""The format of verdicts that are written; those of format 1 are read as well."""
_METHODS: Final[dict[str, Kind]] = {"optimiser": "optimum", "learner": "learner"}

_TEXT_COLUMNS: Final = (
    *("problem", "label", "algorithm", "oracle", "parameters", "environment", "core"),
)
_AMOUNT_COLUMNS: Final = ("products", "seconds", "proof_seconds", "total_seconds")
_BOUND_KINDS: Final = ("worst case", "expectation")


def kind_of(certificate: Mapping[str, object], point_size: int, method: str = "") -> Kind:
    """Return the kind of an answer.

    Parameters
    ----------
    certificate
        Its contents distinguish linear answers and optima.
    point_size
        Entries of the point: learners have none.
    method
        The name of the algorithm, optimiser or learner; empty where the file does not say it.
    """
    registered = _METHODS.get(registry.kind_of_method(method))
    if registered is not None:
        return registered
    if "linear" in certificate:
        return "linear"
    if "levels" in certificate:
        return "optimum"
    return "cone" if point_size else "learner"


def _claims(kind: Kind) -> tuple[Field, ...]:
    """Return the fields that state something about the data."""
    margins = (Check.MARGIN_LOWER, Check.MARGIN_UPPER)
    lower, upper = margins if kind == "cone" else (Check.NO_MARGIN, Check.NO_MARGIN)
    return (
        Field("status", Values("a status, as in runs.csv", TEXT.allows), Check.STATUS),
        Field("proved", TRUTH, Check.PROVED),
        Field("margin_lower", or_null(NUMBER), lower),
        Field("margin_upper", or_null(NUMBER), upper),
        Field("goal_reached", or_null(TRUTH), Check.GOAL_REACHED, required=False),
        Field("message", TEXT, Check.MESSAGE if kind == "linear" else None),
    )


KINDS_OF_INFEASIBILITY: Final = ("no strict point", "boundary only", "no point", "weak", "strong")
"""What may be proved of a system without a strictly feasible point, the strongest last."""
INFEASIBILITY: Final = one_of("a kind of infeasibility", KINDS_OF_INFEASIBILITY)
_FINDING: Final = tuple(
    Field(f"finding.{name}", values, required=False)
    for name, values in (
        ("relaxed_margin", NUMBER),
        ("interior_shift", FINITE),
        ("claimed_feasible", TRUTH),
        ("rescalings", list_of(COUNT)),
        ("separation", one_of("an answer, as in runs.csv", tuple(SeparationAnswer))),
        ("out_of_memory", TEXT),
        ("infeasibility", INFEASIBILITY),
    )
)


def _bound(kind: Kind) -> tuple[Field, ...]:
    """Return the algorithm's guarantee; only the guarantees of cones come from a theorem."""
    check = None if kind == "cone" else Check.NO_BOUND
    return (
        Field("bound.value", or_null(REAL), check),
        Field("bound.theorem", TEXT, check),
        Field("bound.reason", TEXT, check),
        Field("bound.kind", one_of("worst case or expectation", _BOUND_KINDS), check),
    )


_COUNTS: Final = (("updates", COUNT), ("queries", COUNT), ("iterations", COUNT))
# Fields of certificates that every run writes, though files of Python may be without
_ALWAYS: Final = tuple(
    f"certificate.{name}" for name in ("claims_rejected", "method", "exact_rows", "levels")
)
_KIND: Final = (
    Field("certificate.infeasibility", INFEASIBILITY, Check.KIND, required=False),
    Field("certificate.faces", COUNT, required=False),
    Field("certificate.boundary_point", list_of(FRACTION), Check.KIND, required=False),
    Field("certificate.chain", LIST, Check.KIND, required=False),
    Field("certificate.sequence", LIST, Check.KIND, required=False),
)
_CERTIFICATES: Final[dict[Kind, tuple[Field, ...]]] = {
    "cone": (
        Field("certificate.claims_rejected", COUNT, required=False),
        Field("certificate.last_rejection", TEXT, required=False),
        Field("certificate.claim.margin_above", NUMBER, required=False),
        Field("certificate.claim.margin_below", NUMBER, required=False),
        Field("certificate.margin", TEXT, Check.MARGIN_NAME, required=False),
        Field("certificate.method", TEXT, required=False),
        Field("certificate.exact_rows", COUNT, required=False),
        Field("certificate.data", TEXT, Check.PROVENANCE, required=False),
        Field("certificate.infeasibility_ratio", FINITE, required=False),
        Field("certificate.infeasibility_method", TEXT, required=False),
        *_KIND,
        Field("certificate.interior_shift", FINITE, required=False),
        Field("certificate.figures.*", NUMBER, Check.MEASURES, required=False),
        Field("certificate.answers.*", COUNT, required=False),
        Field("certificate.notes", list_of(TEXT), required=False),
        Field("certificate.exception", list_of(TEXT), required=False),
        Field("certificate.rows", TEXT, required=False),
        Field("certificate.passes", COUNT, required=False),
        Field("certificate.working_rows", COUNT, required=False),
        Field("certificate.weights.rows", list_of(COUNT), required=False),
        Field("certificate.weights.values", list_of(FINITE), required=False),
        Field("certificate.equations", COUNT, required=False),
        Field("certificate.x", list_of(FRACTION), required=False),
        Field("certificate.conflict", MAPPING, required=False),
        Field("certificate.implied_equalities", list_of(COUNT), required=False),
    ),
    "linear": (
        Field("certificate.method", TEXT),
        Field("certificate.data", TEXT, Check.PROVENANCE),
        Field("certificate.figures.*", NUMBER, Check.MEASURES, required=False),
        Field("certificate.linear.point", or_null(list_of(FRACTION)), Check.EXACT_POINT),
        Field("certificate.linear.weights", WEIGHTS, Check.EXACT_WEIGHTS),
        Field("certificate.linear.irreducible", TRUTH, Check.IRREDUCIBLE),
        Field("certificate.linear.tight", list_of(COUNT), Check.TIGHT),
        Field("certificate.linear.always", WEIGHTS, Check.ALWAYS),
        Field("certificate.linear.complete", TRUTH, Check.COMPLETE),
        Field("certificate.linear.violation", BRACKET, Check.VIOLATION),
        Field("certificate.linear.dual", WEIGHTS, Check.DUAL_WEIGHTS, required=False),
        Field("certificate.linear.ray", list_of(FRACTION), Check.RAY, required=False),
        Field("certificate.figures.*", NUMBER, Check.EXACT_OPTIMUM, required=False),
        Field("certificate.optimum_exact", or_null(FRACTION), Check.EXACT_OPTIMUM, required=False),
        Field(
            "certificate.contradiction",
            mapping_of(FRACTION, lambda name: True, "name of a condition"),
            Check.NAMES,
        ),
        Field("certificate.always_tight", list_of(TEXT), Check.NAMES),
    ),
    "optimum": (
        Field("certificate.levels", list_of(MAPPING), required=False),
        Field("certificate.data", TEXT, Check.PROVENANCE, required=False),
        *_KIND,
        Field("certificate.figures.*", NUMBER, Check.FIGURES, required=False),
        Field("certificate.answers.*", COUNT, required=False),
    ),
    "learner": (
        Field("certificate.figures.*", NUMBER, Check.LEARNT, required=False),
        Field("certificate.*", ANY, required=False),
    ),
}


def _certificate(kind: Kind, *, sourced: bool) -> tuple[Field, ...]:
    return tuple(
        replace(field, required=field.required or (sourced and field.path in _ALWAYS))
        for field in _CERTIFICATES[kind]
    )


def _arrays(kind: Kind) -> tuple[Field, ...]:
    exact = kind == "linear"
    arrays = [
        Field("point", DOUBLES, Check.ROUNDED if exact else Check.POINT),
        Field("weights", DOUBLES, Check.ROUNDED if exact else Check.WEIGHTS, required=False),
    ]
    if kind in ("optimum", "learner"):
        arrays.append(Field("proof.*", ARRAY, Check.PROOF, required=False))
    return tuple(arrays)


def _optimum(kind: Kind) -> tuple[Field, ...]:
    """Return the bounds of an optimum, which other answers do not have."""
    lower, upper = {
        "optimum": (Check.OPTIMUM_LOWER, Check.OPTIMUM_UPPER),
        "linear": (Check.EXACT_OPTIMUM, Check.EXACT_OPTIMUM),
    }.get(kind, (Check.NO_OPTIMUM, Check.NO_OPTIMUM))
    return (
        Field("optimum_lower", or_null(NUMBER), lower, required=False),
        Field("optimum_upper", or_null(NUMBER), upper, required=False),
    )


def _settings(prefix: str) -> tuple[Field, ...]:
    """Return the fields that identify the data and the algorithm of an answer."""
    return (
        Field(f"{prefix}sha256", SHA256, Check.DATA),
        Field(f"{prefix}problem.dataset", TEXT, Check.SETTINGS),
        Field(f"{prefix}problem.parameters", MAPPING, Check.SETTINGS),
        Field(f"{prefix}problem.instance", TEXT, Check.SETTINGS),
        Field(f"{prefix}problem.seed", COUNT),
        Field(f"{prefix}algorithm.name", TEXT),
        Field(f"{prefix}algorithm.parameters", MAPPING),
        Field(f"{prefix}algorithm.oracle", ANY),
    )


def result_fields(kind: Kind, *, sourced: bool) -> tuple[Field, ...]:
    """Return the fields of a file of ``Result.save``.

    Parameters
    ----------
    kind
        Of the answer.
    sourced
        Whether ``source`` is read, which says for `plab verify` what data it is of.
    """
    base = Field("source.base", TEXT)
    digests = mapping_of(SHA256, lambda name: True, "name of a part")
    parts = Field("source.parts", digests, Check.DATA, required=False)
    source = Field("source", MAPPING, required=False)
    return (
        *_claims(kind),
        Field("goal", or_null(GOAL), required=False),
        *_FINDING,
        *_optimum(kind),
        *_arrays(kind),
        *_bound(kind),
        *(Field(name, values) for name, values in _COUNTS),
        *(Field(name, AMOUNT) for name in ("products", "seconds", "proof_seconds")),
        Field("total_seconds", AMOUNT),
        *(Field(f"trace.{name}", list_of(values)) for name, values in _COUNTS),
        *(Field(f"trace.{name}", list_of(AMOUNT)) for name in ("products", "seconds")),
        Field("trace.phase", list_of(TEXT)),
        *(Field(f"trace.{name}", list_of(NUMBER)) for name in ("margin", "upper")),
        Field("measure.*", ARRAY, required=False),
        *_certificate(kind, sourced=sourced),
        *((*_settings("source."), base, parts) if sourced else (source,)),
    )


def cell_fields(kind: Kind) -> tuple[Field, ...]:
    """Return the fields of a file in ``certificates/`` of a folder of results."""
    return (
        Field("format", exactly(CELL_FORMAT), Check.FORM),
        Field("cell", TEXT, Check.IDENTITY),
        *_claims(kind),
        *_arrays(kind),
        *_bound(kind),
        *(Field(f"counts.{name}", values) for name, values in _COUNTS),
        Field("counts.products", AMOUNT),
        *_CERTIFICATES[kind],
        *_settings(""),
        Field("algorithm.goal", or_null(ANY)),
        Field("base", TEXT),
    )


VERDICT_1: Final = (
    Field("format", exactly(1), Check.FORM),
    Field("verdict", TEXT, Check.SEPARATION),
    Field("proved", TRUTH, Check.SEPARATION),
    Field("names", list_of(TEXT), Check.SEPARATION),
    Field("classes", LIST, Check.SEPARATION),
    Field("coefficients", mapping_of(TEXT, lambda name: True, "name"), Check.SEPARATION),
    Field("proof.overlap", DOUBLES, Check.SEPARATION, required=False),
    Field("proof.weights", DOUBLES, Check.SEPARATION, required=False),
    Field("proof.exact", DOUBLES, Check.SEPARATION, required=False),
    Field("proof.exact.method", TEXT, required=False),
    Field("source", or_null(MAPPING), Check.SOURCE),
)
"""The fields of a file of ``SeparationVerdict.save``, in format 1."""
VERDICT: Final = (
    Field("format", exactly(VERDICT_FORMAT), Check.FORM),
    *VERDICT_1[1:],
    Field("intercept", or_null(TEXT), Check.SEPARATION),
    Field("constant_columns", list_of(TEXT), Check.SEPARATION),
    Field("reference_levels", MAPPING, Check.SEPARATION),
    Field("model", MAPPING, Check.SEPARATION, required=False),
)
"""The fields of a file of ``SeparationVerdict.save``."""


def row_fields(kind: Kind) -> tuple[Field, ...]:
    """Return the columns of runs.csv, of a row whose answer is of a kind."""
    return (
        Field("cell", TEXT, Check.IDENTITY),
        *_claims(kind),
        Field("finding", or_null(TEXT), required=False),
        Field("goal", or_null(TEXT)),
        *_optimum(kind),
        Field("optimum_width", or_null(NUMBER), Check.WIDTH, required=False),
        Field("measure.*", or_null(NUMBER), Check.MEASURES, required=False),
        Field("constraints", or_null(COUNT), Check.SIZE),
        Field("dimension", or_null(COUNT), Check.SIZE),
        Field("bound", or_null(REAL), None if kind == "cone" else Check.NO_BOUND),
        *(Field(name, or_null(TEXT)) for name in _TEXT_COLUMNS),
        *(Field(name, or_null(COUNT)) for name in ("seed", "updates", "queries", "iterations")),
        *(Field(name, or_null(AMOUNT)) for name in _AMOUNT_COLUMNS),
        *(Field(f"{name}.*", ANY, required=False) for name in ("problem", "algorithm", "oracle")),
    )
