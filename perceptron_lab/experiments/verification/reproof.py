"""Verify claims on the original data from a point, weights or a learner's arrays.

Nothing here knows how the answer was found: the proofs are those of
:mod:`perceptron_lab.certificates`, and for separations by ellipsoids those of
:mod:`perceptron_lab.problems.ellipsoids.hard.separation_verification`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from perceptron_lab.algorithms.resisting.system import COUNTED
from perceptron_lab.core.claims import UNPROVED
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.outward_rounding import text_above, text_below
from perceptron_lab.core.results import PROVED, Bound, FloatArray, Status
from perceptron_lab.core.saved_answers.fields import Check, Kind
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.estimators.learners.learning import NO_BOUND as LEARNT_BOUND
from perceptron_lab.estimators.learners.learning import Learner, prove
from perceptron_lab.exact.kinds import PROOFS, kind_fault
from perceptron_lab.experiments.storage.certificate_files import Certificate
from perceptron_lab.experiments.verification.claims import OPTIMUM, Checks, Claims, ProofOutcome
from perceptron_lab.experiments.verification.linear_answers import prove_linear
from perceptron_lab.experiments.verification.stated_fields import ReadArrays, stated
from perceptron_lab.numerics.roundoff import UNIT_ROUNDOFF
from perceptron_lab.problems.optima.bound_verification import NO_BOUND as OPTIMUM_BOUND
from perceptron_lab.problems.optima.bound_verification import (
    VECTORS,
    reverified_bounds,
    reverified_cut,
)
from perceptron_lab.problems.optima.exact_objective import boundary_objective
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.elimination import EliminatedSystem
from perceptron_lab.systems.linear_system import LinearSystem

# The endings of figures that are lower bounds; a cut and its ratio are some as well
_LOWER: Final = ("_lower", "cut", "cut_ratio")
# The statements about the data that an algorithm's row may make.
_STATEMENTS: Final = PROVED - {Status.UNBOUNDED}

# By this part of itself a bound may be missed: machines add up numbers in different orders.
TOLERANCE: Final = 1e-9
# A margin by so much, of rows and eigenvalues of size 1, but never by a thousandth of itself
ROUNDING: Final = UNIT_ROUNDOFF
# Bounds by vectors and a point of MAXCUT's form are reached up to rounding errors themselves
SHARP: Final = 1e-11


def reprove(
    claims: Claims, certificate: Certificate, problem: Problem, method: object
) -> ProofOutcome:
    """Prove claims from a certificate, on its problem; no ``method`` means an algorithm.

    Otherwise it is the record of a learner or an optimiser.
    """
    linear = isinstance(problem.system, LinearSystem)
    kind: Kind = "linear" if method is None and linear else "cone"
    if method is not None:
        kind = "learner" if isinstance(method, Learner) else "optimum"
    # A file of another kind could pass by claims that its own kind need not prove
    if certificate.contents.kind != kind:
        raise DataError(f"its fields are not those of an answer of the kind {kind!r}")
    arrays = ReadArrays({name: numbers_in(array) for name, array in certificate.proof.items()})
    if isinstance(method, Learner):
        reproved = prove_learnt(claims, problem, method, int(certificate.problem["seed"]), arrays)
        # Nothing verifies these, so they must not appear in a verified answer
        if certificate.point.size or certificate.weights is not None:
            none = "a point or weights are claimed, and a learner has none"
            reproved = replace(reproved, faults=(*reproved.faults, none))
        return _with_fields(reproved, certificate, arrays, LEARNT_BOUND)
    point = numbers_in(certificate.point)
    weights = None if certificate.weights is None else numbers_in(certificate.weights)
    if method is not None:
        system = ConicSystem.of(problem.system)
        outcome = _with_kind(ProofOutcome(()), certificate, system, weights)
        x = certificate.certificate.get("boundary_point", ())
        outcome = prove_optimum(
            claims, system, point, weights, arrays, x if Check.KIND in outcome.verified else ()
        )
        reproved = stated(outcome, certificate, system)
        reproved = _with_kind(reproved, certificate, system, weights)
        return _with_fields(reproved, certificate, arrays, OPTIMUM_BOUND)
    if isinstance(problem.system, LinearSystem):
        reproved = prove_linear(claims, problem.system, certificate)
    else:
        system = system_of_claims(claims, certificate, problem)
        y = system.coordinates_of(point)
        reproved = stated(prove_claims(claims, system, y, weights), certificate, system)
        reproved = _with_kind(reproved, certificate, system, weights)
    unproved = tuple(sorted(filter(_unproved, claims.figures)))
    measured, unclaimed = _other_measures(claims, problem, point)
    figures = _figures(name for name in claims.figures if not _unproved(name))
    return replace(
        reproved,
        faults=(*reproved.faults, *measured),
        unchecked=(*reproved.unchecked, *unproved),
        verified=reproved.verified | figures,
        unclaimed=unclaimed,
    )


def system_of_claims(claims: Claims, certificate: Certificate, problem: Problem) -> ConicSystem:
    """Return the system that a run's certificate is about.

    Equations in place of rows are those of points alone: any infeasible ones would refute a system.
    """
    system = ConicSystem.of(problem.system)
    fixed = system.fixed(certificate.certificate)
    eliminated = isinstance(fixed, EliminatedSystem) and fixed is not system
    return system if eliminated and claims.status is not Status.FEASIBLE else fixed


def _with_kind(
    finding: ProofOutcome,
    certificate: Certificate,
    system: ConicSystem,
    weights: FloatArray | None,
) -> ProofOutcome:
    """Return an outcome with what is proved of the kind of infeasibility."""
    entries = certificate.certificate
    present = sorted({"infeasibility", "boundary_point", *PROOFS} & entries.keys())
    refusal: str | None = f"the status {certificate.status} has no {', '.join(present)}"
    if not present or certificate.status is Status.INFEASIBLE:
        refusal = kind_fault(original_of(system), entries, weights)
    if refusal:
        return replace(finding, faults=(*finding.faults, refusal))
    verified = finding.verified | ({Check.KIND} if refusal == "" else set())
    return replace(finding, verified=verified)


def _with_fields(
    finding: ProofOutcome, certificate: Certificate, arrays: ReadArrays, bound: Bound
) -> ProofOutcome:
    """Return an outcome with the arrays that its proofs have read; check the constant bound."""
    faults = list(finding.faults)
    if certificate.bound != bound:
        faults.append("a bound on updates is claimed, but no theorem gives one")
    read = {f"proof.{name}" for name in arrays.read}
    return replace(
        finding, faults=tuple(faults), verified=finding.verified | read | {Check.NO_BOUND}
    )


def prove_claims(
    claims: Claims, system: ConicSystem, point: FloatArray, weights: FloatArray | None
) -> ProofOutcome:
    """Prove the claims of an algorithm's row.

    Parameters
    ----------
    claims
        FEASIBLE: the point is strictly feasible. INFEASIBLE: the weights prove it. With any
        status: the bracket of the margin, and whether it reaches the goal.
    system
        The problem's.
    point
        On the data as given, shape ``(unknowns,)``.
    weights
        On the data as given, flat; or None.
    """
    faults = list(claims.contradictions(_STATEMENTS, claims.margin_lower, claims.margin_upper))
    lower, upper = None, None
    if claims.status is Status.FEASIBLE or claims.margin_lower is not None:
        lower = _lower(claims, system, point, faults)
    if claims.status is Status.INFEASIBLE or claims.margin_upper is not None:
        upper = _upper(claims, system, weights, faults)
    # The bracket may be used as claimed: a wrong one is among the faults already
    faults += claims.goal_faults()
    if claims.status is Status.MARGIN_BOUNDED and not claims.bounded:
        faults.append("the margin is called bounded, and no bound that was asked for is proved")
    verified = _passed(
        {
            Check.POINT: lower is not None,
            Check.WEIGHTS: upper is not None,
            Check.MARGIN_LOWER: claims.margin_lower is not None,
            Check.MARGIN_UPPER: claims.margin_upper is not None,
            Check.STATUS: claims.status in _STATEMENTS,
        }
    )
    unchecked = ("goal_reached",) if claims.of_unknown_budget else ()
    return ProofOutcome(tuple(faults), lower, upper, unchecked, verified=verified)


def _figures(names: Iterable[str]) -> Checks:
    """Return figures as the paths of verified fields."""
    return frozenset(f"certificate.figures.{name}" for name in names)


def _passed(checks: Mapping[Check, bool]) -> Checks:
    """Return the checks that were made."""
    return frozenset(check for check, passed in checks.items() if passed)


def prove_optimum(
    claims: Claims,
    system: ConicSystem,
    point: FloatArray,
    weights: FloatArray | None,
    proof: Mapping[str, FloatArray],
    boundary_point: Sequence[str] = (),
) -> ProofOutcome:
    """Prove the claims of an optimiser's row: the bounds of the optimum, or that there is no point.

    Parameters
    ----------
    claims
        The status, and the figures ``optimum_lower`` and ``optimum_upper``.
    system, point, weights, proof
        The program; the arrays of the result.
    boundary_point
        An exact x in the closed cone, which is proved, of an INFEASIBLE program.
    """
    faults = list(claims.contradictions(_STATEMENTS, *claims.figures.values()))
    faults += claims.goal_faults()
    faults += claims.no_margin("an optimiser proves no margin")
    if claims.status is Status.INFEASIBLE:
        _upper(claims, system, weights, faults)
    elif weights is not None:
        faults.append("weights are claimed, and they prove nothing of an optimum")
    lower, upper = claims.figures.get(OPTIMUM[0]), claims.figures.get(OPTIMUM[1])
    if claims.status is Status.FEASIBLE and upper is None:
        faults.append("a feasible point is claimed, and no bound of its objective")
    if point.shape != (system.unknowns,):
        faults.append(f"a point of shape {point.shape} in a problem of {system.unknowns} unknowns")
        return ProofOutcome(tuple(faults))
    bounds = reverified_bounds(system, point, proof, lower)
    if boundary_point and claims.status is Status.INFEASIBLE:
        bounds = bounds[0], boundary_objective(system, boundary_point)
    part = SHARP if VECTORS in proof else TOLERANCE
    for name, claimed, again in zip(OPTIMUM, (lower, upper), bounds, strict=True):
        if claimed is not None:
            size = (1.0 + abs(claimed)) * part / TOLERANCE
            faults += _missed(name, again, claimed, size, digits=13)
    cut = _cut_figures(reverified_cut(system, proof), bounds[1])
    faults += _cut_faults(claims, cut)
    verified = _passed(
        {
            Check.NO_MARGIN: True,
            Check.STATUS: claims.status in _STATEMENTS,
            Check.POINT: upper is not None and not boundary_point,
            Check.WEIGHTS: claims.status is Status.INFEASIBLE or weights is None,
            Check.OPTIMUM_LOWER: lower is not None,
            Check.OPTIMUM_UPPER: upper is not None,
        }
    )
    proved = {*OPTIMUM, *cut} & claims.figures.keys()
    return ProofOutcome(
        tuple(faults),
        optimum_lower=bounds[0],
        optimum_upper=bounds[1],
        verified=verified | _figures(proved),
        unclaimed=tuple(sorted({*OPTIMUM, *(k for k in cut if cut[k])} - claims.figures.keys())),
    )


def _cut_figures(value: float | None, upper: float | None) -> dict[str, float | None]:
    """Return the verified weight of a cut and its verified ratio to the largest cut."""
    ratio = None
    if value is not None and upper is not None and value > 0.0 and upper > 0.0:
        ratio = value / upper
    return {"cut": value, "cut_ratio": ratio}


def _cut_faults(claims: Claims, cut: Mapping[str, float | None]) -> Iterator[str]:
    """Yield the claims on a cut that are not proved."""
    for name, again in cut.items():
        claimed = claims.figures.get(name)
        if claimed is not None:
            yield from _missed(name, again, claimed, abs(claimed))
    # A cut's weight is a number and no bound: one that is too small is wrong as well
    value, claimed = cut["cut"], claims.figures.get("cut")
    if value is not None and claimed is not None and claimed < value - TOLERANCE * abs(value):
        yield f"cut {claimed:.10g} is claimed, and the cut has {value:.10g}"


def prove_learnt(
    claims: Claims, problem: Problem, learner: Any, seed: int, proof: Mapping[str, FloatArray]
) -> ProofOutcome:
    """Prove the claims of a learner's row on its training examples.

    Parameters
    ----------
    claims
        The status, and the figures that are bounds.
    problem
        Its tasks are learnt; their features are extracted again.
    learner, seed
        The learner's record, and the seed of the cell.
    proof
        The arrays that prove it.
    """
    bounds = claims.bounds
    faults = list(claims.contradictions(PROVED, *bounds.values()))
    faults += claims.no_margin("a learner proves no margin")
    if claims.goal_reached is not None:
        faults.append("a goal is claimed, and a learner has none")
    reproved = prove(learner, problem.tasks, seed, proof)
    if reproved is None:
        faults.append(f"a learner {type(learner).__name__} proves nothing")
        return ProofOutcome(
            tuple(faults), unchecked=tuple(sorted(claims.figures.keys() - bounds.keys()))
        )
    # t = 0 is proved where nothing separates, and with it every positive bound of t.
    bounded = reproved.status is Status.INFEASIBLE and claims.status is Status.MARGIN_BOUNDED
    if claims.status is not reproved.status and not bounded:
        faults.append(
            f"{claims.status} is claimed, {reproved.status} is proved ({reproved.message})"
        )
    for name, value in bounds.items():
        if name not in reproved.bounds:
            faults.append(f"{name} {value:.10g} is claimed, and nothing proves such a bound")
        else:
            faults += _missed(name, reproved.bounds[name], value, 1.0 + abs(value))
    for name, count in reproved.counts.items():
        if claims.figures.get(name) != count:
            stored = claims.figures.get(name, math.nan)
            faults.append(f"{name} {stored:.10g} is stored, {count:.10g} is counted")
    proved = bounds.keys() | reproved.counts.keys()
    verified = {Check.NO_MARGIN, Check.POINT, Check.WEIGHTS, Check.GOAL_REACHED}
    verified |= {Check.STATUS} if claims.status in PROVED else set()
    return ProofOutcome(
        tuple(faults),
        unchecked=tuple(sorted(claims.figures.keys() - proved)),
        verified=_figures(proved) | verified,
        unclaimed=tuple(sorted((reproved.bounds.keys() | reproved.counts) - claims.figures.keys())),
    )


def _unproved(figure: str) -> bool:
    """Return whether a figure of an algorithm is one that its point and weights cannot prove."""
    return figure.startswith(UNPROVED) or figure in COUNTED


def _other_measures(
    claims: Claims, problem: Problem, point: FloatArray
) -> tuple[list[str], tuple[str, ...]]:
    """Return which measures of an answer are not those of its point, and which are left out."""
    if not claims.figures or point.shape != (problem.system.unknowns,):
        return [], ()
    measures = problem.measure(point) if problem.measure else {}
    scalars = {name for name, value in measures.items() if np.ndim(value) == 0}
    faults = []
    for name, claimed in claims.figures.items():
        exact = name in OPTIMUM and isinstance(problem.system, LinearSystem)
        if _unproved(name) or exact:
            continue
        value = measures.get(name)
        if value is None:
            faults.append(f"{name} {claimed:.10g} is stored, and nothing measures it")
        elif not np.allclose(value, claimed, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
            faults.append(f"{name} {claimed:.10g} is stored, {float(value):.10g} is measured")
    return faults, tuple(sorted(scalars - claims.figures.keys()))


def _lower(
    claims: Claims, system: ConicSystem, point: FloatArray, faults: list[str]
) -> float | None:
    """Return the margin that is proved of the point; add to the faults."""
    unknowns = system.operator.unknowns
    if point.shape != (unknowns,):
        faults.append(f"a point of shape {point.shape} in a problem of {unknowns} unknowns")
        return None
    # Stored answers are on the original data, while the system may be scaled
    proof = original_of(system).prove_point(point)
    lower = proof.margin_lower if np.isfinite(proof.margin_lower) else None
    if claims.status is Status.FEASIBLE and not proof.feasible:
        faults.append("the point is not proved strictly feasible")
    claimed = claims.margin_lower
    if claimed is not None and not _reaches("_lower", proof.margin_lower, claimed, _size(claimed)):
        verified = text_below(proof.margin_lower, 10)
        faults.append(f"a margin >= {claimed:.10g} is claimed, {verified} is proved")
    return lower


def _upper(
    claims: Claims, system: ConicSystem, weights: FloatArray | None, faults: list[str]
) -> float | None:
    """Return the upper bound of the margin that the weights prove; add to the faults."""
    if weights is None:
        faults.append("weights that prove a bound are claimed, and there are none")
        return None
    original = system_of_weights(system, weights)
    if weights.shape != (original.cone.size,):
        faults.append(f"weights of shape {weights.shape} in a cone of size {original.cone.size}")
        return None
    upper = original.prove_weights(weights)
    # Doubles may leave an upper bound slightly above 0, where an exact proof still decides
    if claims.status is Status.INFEASIBLE and upper != 0.0:
        proof = original.prove_infeasible(weights) or original.prove_irrational(weights)[0]
        if proof is None:
            faults.append("the weights do not prove that no point is strictly feasible")
        else:
            upper = 0.0
    claimed = claims.margin_upper
    if claimed is not None and not _reaches("_upper", upper, claimed, _size(claimed)):
        verified = "nothing" if upper is None else text_above(upper, 10)
        faults.append(f"a margin <= {claimed:.10g} is claimed, {verified} is proved")
    return upper


def original_of(system: ConicSystem) -> ConicSystem:
    """Return the system on the original data, in whose coordinates answers are stored."""
    return system if system.origin is None else system.origin


def system_of_weights(system: ConicSystem, weights: FloatArray) -> ConicSystem:
    """Return the system on the data as given in whose cone weights are, if they are in one."""
    original = original_of(system)
    if weights.shape == (original.cone.size,):
        return original
    # Some algorithms need whole matrices, unless they are too large; and so their weights.
    return original.completed(required=False)


def numbers_in(array: object) -> FloatArray:
    """Return an array of a certificate as numbers; all else is damage."""
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f":
        raise DataError("an array of the certificate does not hold numbers")
    return np.ascontiguousarray(array, dtype=np.float64)


def _size(margin: float) -> float:
    """Return the scale to which the tolerance of a bound of the margin is relative."""
    rounding = min(ROUNDING, 1e-3 * abs(margin))
    return max(abs(margin), rounding / TOLERANCE)


def _missed(
    name: str, proved: float | None, claimed: float, size: float, *, digits: int = 10
) -> Iterator[str]:
    """Yield the fault of a figure that is not proved as claimed."""
    if not _reaches(name, proved, claimed, size):
        verified = "nothing" if proved is None else f"{proved:.{digits}g}"
        yield f"{name} {claimed:.{digits}g} is claimed, {verified} is proved"


def _reaches(name: str, value: float | None, claimed: float, size: float) -> bool:
    """Return whether a bound is as good as the one claimed, but for the tolerance."""
    if value is None or math.isnan(value):
        return False
    if name.endswith(_LOWER):
        return value >= claimed - TOLERANCE * size
    return value <= claimed + TOLERANCE * size
