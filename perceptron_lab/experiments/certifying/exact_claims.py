"""The exact claims of one answer, its status and the bracket of its margin, and its data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.cones.operators.gram import Gram
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray, IntArray, Status
from perceptron_lab.datasets.download.fetching import fetch
from perceptron_lab.datasets.download.registered_files import collection
from perceptron_lab.datasets.formats.columns import Columns, Contents
from perceptron_lab.datasets.formats.file_contents import (
    GRAPHS,
    PROGRAMS,
    kind_of,
    read_contents,
)
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.exact.checker import compiled_checker
from perceptron_lab.exact.dual_points import (
    dual_blocks,
    objective_at_least,
    objective_at_least_by_cuts,
)
from perceptron_lab.exact.kinds import in_units_of, kind_claim, kind_refused
from perceptron_lab.exact.points import (
    feasible,
    feasible_on_rows,
    margin_at_least,
    objective_at_most,
)
from perceptron_lab.exact.readings import Reading, of_contents, of_sdpa, of_system, of_table
from perceptron_lab.exact.weights import (
    infeasible_cone,
    infeasible_on_face,
    infeasible_rows,
    margin_at_most,
)
from perceptron_lab.exact.whole_numbers import CheckedSystem, Claim, exactly
from perceptron_lab.experiments.storage.certificate_files import Certificate
from perceptron_lab.experiments.verification.claims import OPTIMUM, Claims
from perceptron_lab.experiments.verification.reproof import original_of, system_of_weights
from perceptron_lab.numerics.exact_texts import written
from perceptron_lab.problems.optima.bound_verification import VECTORS
from perceptron_lab.problems.optima.maxcut.bounds import proved_upper
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram
from perceptron_lab.solving.infeasibility import NO_STRICT, STRONG
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.elimination import EliminatedSystem

# A bound may be weaker by this part of itself than the one proved in floating point: as for
# ``plab verify``, or by what rounds off a dual point
_PARTS = (Fraction(0), Fraction(1, 10**9))
NO_PROOF = "no exact proof was found"
_ON_BOUNDARY = "its point is on the boundary, where the checker has no factors"
_NO_DUAL = "no exactly feasible dual point X was found near the one that proves it"


@dataclass
class Exact:
    """The exact claims of an answer.

    Parameters
    ----------
    claims
        Those that the checker accepts, as JSON values.
    missing
        What is claimed and not proved exactly -> why not.
    kind
        The claim of the kind of infeasibility, in a separate file; or None.
    """

    claims: list[Claim] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    kind: Claim | None = None

    def add(
        self,
        name: str,
        attempts: Iterable[Claim | None],
        system: CheckedSystem,
        reason: str = NO_PROOF,
    ) -> Claim | None:
        """Add and return the first claim that the checker accepts, or add why it accepts none."""
        for claim in attempts:
            if claim is not None:
                reason = refused(system, claim)
                if not reason:
                    self.claims.append(claim)
                    return claim
        self.missing[name] = reason
        return None

    def add_kind(self, answer: CertifiedAnswer, certificate: Mapping[str, Any]) -> None:
        """Add the kind of infeasibility of a certificate, or why the checker refuses it."""
        claim = kind_claim(answer.original, certificate, answer.weights)
        pencil = None if claim is None else answer.original.exact_pencil()
        stated, reason = certificate.get("infeasibility"), NO_PROOF
        if claim is not None and pencil is not None:
            claim = in_units_of(claim, pencil.rows[0][4][0], answer.system)
            reason = kind_refused(claim, answer.system)
            self.kind = None if reason else claim
        strong = stated == STRONG and any(c["claim"] == "closed infeasible" for c in self.claims)
        if self.kind is None and not strong and stated not in (None, NO_STRICT):
            self.missing["infeasibility"] = f"{stated}: {reason}"


@dataclass(frozen=True)
class CertifiedAnswer:
    """An answer together with its data.

    Parameters
    ----------
    view
        The problem's system.
    reading, system
        How a checker reads the data, and its system.
    point, weights
        Of the answer; weights may be those of whole matrices.
    """

    view: ConicSystem
    reading: Reading
    system: CheckedSystem
    point: FloatArray
    weights: FloatArray | None

    @property
    def original(self) -> ConicSystem:
        """The system on the data as given."""
        return original_of(self.view)

    def whole(self) -> tuple[ConicSystem, FloatArray] | None:
        """Return the system in whose cone the weights are, and these."""
        if self.weights is None:
            return None
        system = system_of_weights(self.view, self.weights)
        return (system, self.weights) if self.weights.shape == (system.cone.size,) else None


def exact_claims(claims: Claims, answer: CertifiedAnswer) -> Exact:
    """Return the claims of a row with exact proofs, and the claims without."""
    exact, system, original = Exact(), answer.system, answer.original
    if claims.status is Status.FEASIBLE:
        attempts: Iterable[Claim | None]
        if isinstance(original, EliminatedSystem):
            x = original.exact(original.coordinates_of(answer.point))
            attempts = [feasible_on_rows(original, x, system)]
        else:
            attempts = feasible(original, answer.point, answer.view.interior, system)
        exact.add("feasible", attempts, system)
    if claims.status is Status.INFEASIBLE:
        exact.add("infeasible", _infeasible(answer), system)
    if claims.margin_lower is not None:
        bounds = _weaker(claims.margin_lower, -1)
        exact.add(
            "margin_lower",
            (margin_at_least(original, answer.point, bound, system) for bound in bounds),
            system,
        )
    if claims.margin_upper is not None and claims.status is not Status.INFEASIBLE:
        exact.add("margin_upper", _upper(answer, claims.margin_upper), system)
    return exact


def exact_optimum(
    claims: Claims, answer: CertifiedAnswer, proof: Mapping[str, FloatArray]
) -> Exact:
    """Return the claims of an optimiser's row with exact proofs, and the claims without.

    Parameters
    ----------
    proof
        The arrays of the result: of them V is used, of programs of MAXCUT's form.
    """
    exact, system, original = Exact(), answer.system, answer.original
    lower, upper = (claims.figures.get(name) for name in OPTIMUM)
    program = MaxCutProgram.of_system(original)
    if claims.status is Status.INFEASIBLE:
        exact.add("infeasible", _infeasible(answer), system)
    if upper is not None and claims.status is Status.INFEASIBLE:
        exact.missing[OPTIMUM[1]] = _ON_BOUNDARY
    elif upper is not None:
        attempts = objective_at_most(original, _start(answer, program), upper, system)
        exact.add(OPTIMUM[1], _close_claims(attempts, upper), system)
    if lower is not None:
        vectors = proof.get(VECTORS)
        if vectors is not None and program is not None:
            by_objective = objective_at_least(vectors, lower, system)
            attempts = iter([by_objective] if by_objective else [])
        else:
            blocks = dual_blocks(original, proof, lower)
            attempts = objective_at_least_by_cuts(blocks, lower, system)
        exact.add(OPTIMUM[0], _close_claims(attempts, lower), system, _NO_DUAL)
    return exact


def accepted(claims: Iterable[tuple[str, Claim]], system: CheckedSystem) -> Exact:
    """Return the claims, each with the name of what it proves, that the checker accepts.

    Parameters
    ----------
    system
        The checker's.
    """
    exact = Exact()
    for name, claim in claims:
        exact.add(name, [claim], system)
    return exact


def _start(answer: CertifiedAnswer, program: MaxCutProgram | None) -> FloatArray:
    """Return the point, of MAXCUT's form the one that the floating-point proof has raised."""
    point = answer.point
    if program is None or not point[0] > 0.0:
        return point
    raised = proved_upper(program, point[1:] / point[0])[1]
    return np.append(1.0, raised)


def _close_claims(attempts: Iterable[Claim], claimed: float) -> Iterator[Claim]:
    """Yield the claims whose bound equals that of a row or is slightly weaker."""
    for claim in attempts:
        missed = abs(Fraction(*claim["bound"]) - Fraction(claimed))
        if missed <= _PARTS[-1] * Fraction(max(1.0, abs(claimed))):
            yield claim


def refused(system: CheckedSystem, claim: Claim) -> str:
    """Return why the checker refuses a claim; empty if it accepts it."""
    module = compiled_checker()
    try:
        module.check_claim(system, json.loads(json.dumps(written(claim))))
    except (module.Refuted, ValueError) as error:
        return str(error)
    return ""


def _infeasible(answer: CertifiedAnswer) -> Iterator[Claim | None]:
    completed = answer.whole()
    if completed is None:
        return
    system, weights = completed
    if system.cone.of_rows:
        heavy = weights > 1e-13 * weights.max(initial=0.0)
        support = np.flatnonzero(heavy & (weights > 0.0))
        yield infeasible_rows(_vectors(answer, support), support.tolist(), weights[support])
        return
    proof = system.prove_infeasible(weights)
    inside = weights if proof is None else proof.weights
    closed = system.homogenised
    yield infeasible_cone(system.cone, inside, answer.system, homogenised=closed)
    yield infeasible_on_face(system.cone, weights, answer.system)


def _vectors(answer: CertifiedAnswer, support: IntArray) -> list[list[int]]:
    """Return the rows of the data that have weights, D times, in whole numbers."""
    operator = answer.view.unnormalised().operator
    if answer.reading.fields["form"] == "cone" and isinstance(operator, Matrix | Classes):
        bits = answer.system.scale.bit_length() - 1
        return [exactly(np.asarray(row, dtype=float), bits) for row in operator.rows(support)]
    lines: dict[int, list[int]] = {i: [] for i in support.tolist()}
    for number, (_, _, _, columns, values) in enumerate(answer.system.rows):
        if number in lines:
            line = [0] * answer.system.width
            for at, value in zip(columns, values, strict=True):
                line[at] = value
            lines[number] = line
    return list(lines.values())


def _upper(answer: CertifiedAnswer, claimed: float) -> Iterator[Claim | None]:
    completed = answer.whole()
    if completed is None:
        return
    system, weights = completed
    for bound in _weaker(claimed, 1):
        yield margin_at_most(system.cone, weights, bound, system.margin_name or "directional")


def _weaker(claimed: float, sign: int) -> Iterator[Fraction]:
    """Yield a bound, and one that is weaker by a small part of its size."""
    bound = Fraction(claimed)
    return (bound + sign * part * abs(bound) for part in _PARTS)


def reading_of(certificate: Certificate, problem: Problem, base: Path | None) -> Reading:
    """Return how a checker reads the data of a problem.

    A user's file that holds what no checker reads by itself, as row names, texts or missing
    entries, is written again, like generated data: then the certificate is about the numbers
    written, which are the decimals of a text.

    Parameters
    ----------
    base
        The folder that relative paths start from; None for that of the certificate.
    """
    described = certificate.problem
    parameters = dict(described["parameters"])
    folder = Path(certificate.base) if base is None else base
    question: Any = parameters.get("question", "feasibility")
    if described["dataset"] == "sdplib":
        return _of_registered(described["instance"].removesuffix(".recession"), question)
    path = _file_of(described, parameters, folder)
    kind = "" if path is None else kind_of(path)
    if path is not None and kind in PROGRAMS:
        return of_sdpa(path, question)
    system = ConicSystem.of(problem.system)
    reading = None if path is None else of_table(path, system)
    tabled = kind not in GRAPHS and not isinstance(system.operator, Gram)
    if reading is None and path is not None and tabled:
        reading = of_contents(_contents_of(path, parameters), system)
    return of_system(system) if reading is None else reading


def _contents_of(path: Path, parameters: dict[str, Any]) -> Contents:
    """Return the numbers of a user's own file, with the decimals of a text."""
    columns_given = {field.name: parameters.get(field.name) for field in fields(Columns)}
    columns = Columns(**{name: value for name, value in columns_given.items() if value})
    return read_contents(path, columns, exact=True)


def _of_registered(name: str, question: Any) -> Reading:
    """Return the reading of an instance of SDPLIB, whose own bytes are the registered ones."""
    path = fetch("sdplib", name)
    reading = of_sdpa(path, question)
    if hashlib.sha256(reading.content).hexdigest() != collection("sdplib").file(name).sha256:
        raise DataError(f"{path} was changed while it was read; try again")
    return reading


def _file_of(described: Any, parameters: dict[str, Any], folder: Path) -> Path | None:
    """Return the file of a user's own problem; None of other datasets."""
    from perceptron_lab.datasets.collections.files import stem_of

    if described["dataset"] not in ("files", "sdpa") or parameters.get("test_fraction"):
        return None
    instance = described["instance"].removesuffix(".recession")
    return next((folder / name for name in parameters["files"] if stem_of(name) == instance), None)
