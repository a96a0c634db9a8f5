"""The exact claims of one answer: its status, and the bracket of its margin."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.exact.compiled_checker import compiled_checker
from perceptron_lab.exact.dual_points import objective_at_least_by_cuts
from perceptron_lab.exact.optima import objective_at_least, objective_at_most
from perceptron_lab.exact.points import Claim, feasible, margin_at_least
from perceptron_lab.exact.readings import Reading
from perceptron_lab.exact.weights import infeasible_cone, infeasible_rows, margin_at_most
from perceptron_lab.exact.whole_numbers import exactly, written
from perceptron_lab.experiments.certifying.dual_blocks import dual_blocks
from perceptron_lab.experiments.verification.claims import OPTIMUM, Claims
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram
from perceptron_lab.problems.optima.maxcut.upper_bound import proved_upper
from perceptron_lab.problems.optima.proofs import VECTORS
from perceptron_lab.systems import ConicSystem

# A bound may be weaker by this part of itself than the one proved in floating point: as for
# ``plab verify``, or by what rounds off a dual point
_PARTS = (Fraction(0), Fraction(1, 10**9))
_NO_PROOF = "no exact proof was found"
_NO_DUAL = "no exactly feasible X of the other side was found near the one that proves it"


@dataclass
class Exact:
    """The exact claims of an answer.

    Parameters
    ----------
    claims
        Those that the checker accepts, as JSON values.
    missing
        What is claimed and not proved exactly -> why not.
    """

    claims: list[Claim] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """An answer on its data.

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
    system: Any
    point: FloatArray
    weights: FloatArray | None

    @property
    def original(self) -> ConicSystem:
        """The system on the data as given."""
        return self.view if self.view.origin is None else self.view.origin

    def whole(self) -> tuple[ConicSystem, FloatArray] | None:
        """Return the system in whose cone the weights are, and these."""
        if self.weights is None:
            return None
        original = self.original
        if self.weights.shape != (original.cone.size,):
            original = original.completed(required=False)
        fits = self.weights.shape == (original.cone.size,)
        return (original, self.weights) if fits else None


def exact_claims(claims: Claims, answer: Answer) -> Exact:
    """Return the claims of a row that are proved exactly, and those that are not."""
    found = Exact()
    if claims.status is Status.FEASIBLE:
        _add(found, "feasible", answer, _feasible(answer))
    if claims.status is Status.INFEASIBLE:
        _add(found, "infeasible", answer, _infeasible(answer))
    if claims.margin_lower is not None:
        _add(found, "margin_lower", answer, _lower(answer, claims.margin_lower))
    if claims.margin_upper is not None and claims.status is not Status.INFEASIBLE:
        _add(found, "margin_upper", answer, _upper(answer, claims.margin_upper))
    return found


def exact_optimum(claims: Claims, answer: Answer, proof: Mapping[str, FloatArray]) -> Exact:
    """Return the claims of an optimiser's row that are proved exactly, and those that are not.

    Parameters
    ----------
    proof
        The arrays of the result: of them V is used, of programs of MAXCUT's form.
    """
    found = Exact()
    lower, upper = (claims.figures.get(name) for name in OPTIMUM)
    program = MaxCutProgram.of_system(answer.original)
    if claims.status is Status.INFEASIBLE:
        _add(found, "infeasible", answer, _infeasible(answer))
    if upper is not None:
        start = _start(answer, program)
        attempts = objective_at_most(answer.original, start, upper, answer.system)
        _add(found, OPTIMUM[1], answer, _near(attempts, upper))
    if lower is not None:
        vectors = proof.get(VECTORS)
        if vectors is not None and program is not None:
            made = objective_at_least(vectors, lower, answer.system)
            attempts = iter([made] if made else [])
        else:
            blocks = dual_blocks(answer.original, proof, lower)
            attempts = objective_at_least_by_cuts(blocks, lower, answer.system)
        _add(found, OPTIMUM[0], answer, _near(attempts, lower), _NO_DUAL)
    return found


def accepted(claims: Iterable[tuple[str, Claim]], system: Any) -> Exact:
    """Return the claims, each with the name of what it proves, that the checker accepts.

    Parameters
    ----------
    system
        The checker's.
    """
    found = Exact()
    for name, claim in claims:
        said = refused(system, claim)
        if said:
            found.missing[name] = said
        else:
            found.claims.append(claim)
    return found


def _start(answer: Answer, program: MaxCutProgram | None) -> FloatArray:
    """Return the point, of MAXCUT's form the one that the floating-point proof has raised."""
    point = answer.point
    if program is None or not point[0] > 0.0:
        return point
    raised = proved_upper(program, point[1:] / point[0])[1]
    return np.append(1.0, raised)


def _near(attempts: Iterable[Claim], claimed: float) -> Iterator[Claim]:
    """Yield the claims whose bound is that of a row, or weaker by a small part of it."""
    for claim in attempts:
        missed = abs(Fraction(*claim["bound"]) - Fraction(claimed))
        if missed <= _PARTS[-1] * Fraction(max(1.0, abs(claimed))):
            yield claim


def _add(
    found: Exact,
    name: str,
    answer: Answer,
    attempts: Iterator[Claim | None],
    said: str = _NO_PROOF,
) -> None:
    """Keep the first claim that the checker accepts, or say why there is none."""
    for claim in attempts:
        if claim is not None:
            said = refused(answer.system, claim)
            if not said:
                found.claims.append(claim)
                return
    found.missing[name] = said


def refused(system: Any, claim: Claim) -> str:
    """Return why the checker refuses a claim; empty if it accepts it."""
    module = compiled_checker()
    try:
        module.check_claim(system, json.loads(json.dumps(written(claim))))
    except (module.Refuted, ValueError) as error:
        return str(error)
    return ""


def _feasible(answer: Answer) -> Iterator[Claim | None]:
    yield from feasible(answer.original, answer.point, answer.view.interior, answer.system)


def _infeasible(answer: Answer) -> Iterator[Claim | None]:
    whole = answer.whole()
    if whole is None:
        return
    system, weights = whole
    if system.cone.of_rows:
        heavy = weights > 1e-13 * weights.max(initial=0.0)
        support = np.flatnonzero(heavy & (weights > 0.0))
        yield infeasible_rows(_vectors(answer, support), support.tolist(), weights[support])
        return
    proof = system.prove_infeasible(weights)
    inside = weights if proof is None else proof.weights
    closed = system.homogenised
    yield infeasible_cone(system.cone, inside, answer.system, homogenised=closed)


def _vectors(answer: Answer, support: Any) -> list[list[int]]:
    """Return the rows of the data that have weights, D times, in whole numbers."""
    operator = answer.view.unnormalised().operator
    if answer.reading.fields["form"] == "cone" and isinstance(operator, Matrix | Classes):
        bits = answer.system.scale.bit_length() - 1
        return [exactly(np.asarray(row, dtype=float), bits) for row in operator.rows(support)]
    wanted: dict[int, list[int]] = {i: [] for i in support.tolist()}
    for number, (_, _, _, columns, values) in enumerate(answer.system.rows):
        if number in wanted:
            line = [0] * answer.system.width
            for at, value in zip(columns, values, strict=True):
                line[at] = value
            wanted[number] = line
    return list(wanted.values())


def _lower(answer: Answer, claimed: float) -> Iterator[Claim | None]:
    bound = Fraction(claimed)
    for part in _PARTS:
        weaker = bound - part * abs(bound)
        yield margin_at_least(answer.original, answer.point, weaker, answer.system)


def _upper(answer: Answer, claimed: float) -> Iterator[Claim | None]:
    whole = answer.whole()
    if whole is None:
        return
    system, weights = whole
    bound = Fraction(claimed)
    for part in _PARTS:
        weaker = bound + part * bound
        yield margin_at_most(system.cone, weights, weaker, system.margin_name or "directional")
