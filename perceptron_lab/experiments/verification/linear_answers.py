"""Verify answers about linear conditions in exact arithmetic, and recompute their fields."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from perceptron_lab.algorithms.linear.deciding import LinearDecision
from perceptron_lab.algorithms.linear.linear_optimum import OptimumFields
from perceptron_lab.algorithms.linear.linear_result import (
    NO_BOUND,
    NOT_MINIMAL,
    certificate_of,
    message,
)
from perceptron_lab.algorithms.linear.proofs import (
    PROOF,
    LinearProof,
    admissible,
    always_tight,
    combination,
    contradiction,
    irreducible,
    tight_at,
)
from perceptron_lab.algorithms.linear.proofs import faults as proof_faults
from perceptron_lab.core.results import OPTIMUM_EXACT, PROVED, FloatArray, Status
from perceptron_lab.core.saved_answers.fields import Check
from perceptron_lab.experiments.storage.certificate_files import Certificate
from perceptron_lab.experiments.verification.claims import OPTIMUM, Claims, ProofOutcome
from perceptron_lab.numerics.exact_doubles import to_double
from perceptron_lab.systems.linear_system import LinearSystem


def prove_linear(claims: Claims, system: LinearSystem, certificate: Certificate) -> ProofOutcome:
    """Verify an answer about linear conditions; every comparison is exact.

    FEASIBLE: the point satisfies all conditions, and what is called tight at every point is.
    INFEASIBLE: the weights are Farkas'. Names, message, doubles and the bracket of the least
    violation are made again of these exact numbers.
    """
    faults, verified = (
        list(claims.contradictions(PROVED, *claims.figures.values())),
        frozenset[Check](),
    )
    faults += claims.no_margin("a closed set has no margin")
    if claims.proved:
        proof = LinearProof.of_json(certificate.certificate.get(PROOF))
        faults += proof_faults(system, claims.status, proof)
        if not faults:
            # Only with a valid proof: all other fields are made again from its numbers
            answer = LinearAnswer(system, certificate, proof)
            faults += answer.faults()
            verified = frozenset(answer.verified())
    lower, upper = (None if faults else claims.figures.get(name) for name in OPTIMUM)
    return ProofOutcome(
        (*faults, *claims.goal_faults()),
        optimum_lower=lower,
        optimum_upper=upper,
        verified=verified,
    )


@dataclass(frozen=True)
class LinearAnswer:
    """An answer whose exact point or weights are proved, and the rest of its fields.

    Parameters
    ----------
    system
        The conditions.
    certificate
        The fields.
    proof
        The exact numbers.
    """

    system: LinearSystem
    certificate: Certificate
    proof: LinearProof

    def faults(self) -> Iterator[str]:
        """Yield the fields that do not follow from the exact numbers."""
        infeasible = self.certificate.status is Status.INFEASIBLE
        yield from self._infeasible_faults() if infeasible else self._feasible_faults()
        decision = self._decision
        recomputed = certificate_of(self.system, decision)
        for name in ("data", "contradiction", "always_tight"):
            if self.certificate.certificate[name] != recomputed[name]:
                yield f"certificate.{name} does not follow from the exact numbers and the data"
        expected = message(self.system, decision)
        if OPTIMUM_EXACT in self.certificate.certificate:
            fields = self._optimum
            expected = fields.message or expected
            yield from self._optimum_faults(fields)
        # Answers of earlier versions lack the remark
        if self.certificate.message not in (expected, expected.replace(NOT_MINIMAL, "", 1)):
            yield "the message does not follow from the exact numbers and the data"
        if self.certificate.bound != NO_BOUND:
            yield "a bound on updates is claimed, but no theorem gives one"
        yield from self._rounding_faults()

    def verified(self) -> Iterator[Check]:
        """Yield the checks that :meth:`faults` and the proof have made.

        That a contradiction is not called irreducible, or a partition complete, claims nothing: it
        is verified only where the opposite cannot be proved.
        """
        yield from (Check.EXACT_POINT, Check.EXACT_WEIGHTS, Check.TIGHT, Check.NAMES)
        yield from (Check.MESSAGE, Check.ROUNDED, Check.PROVENANCE, Check.NO_BOUND)
        yield from (Check.NO_MARGIN, Check.STATUS)
        yield from (Check.DUAL_WEIGHTS, Check.RAY, Check.EXACT_OPTIMUM)
        proof, feasible = self.proof, self.certificate.status is not Status.INFEASIBLE
        if feasible or proof.irreducible == irreducible(self.system, proof.weights):
            yield Check.IRREDUCIBLE
        if not feasible or proof.complete == self._completed:
            yield Check.COMPLETE
        if not feasible or proof.complete:
            yield Check.ALWAYS
        if feasible or proof.violation[0] == self._least:
            yield Check.VIOLATION

    @property
    def _optimum(self) -> OptimumFields:
        decision = self._decision
        return OptimumFields.of(self.system, decision.status, self.proof, decision.method)

    def _optimum_faults(self, fields: OptimumFields) -> Iterator[str]:
        flat = self.certificate.contents.flat
        for name, value in (("optimum_lower", fields.lower), ("optimum_upper", fields.upper)):
            claimed = [flat.get(name), flat.get(f"certificate.figures.{name}")]
            if any(bound != value for bound in claimed if bound is not None):
                yield f"{name} does not follow from the exact numbers and the data"
        if self.certificate.certificate[OPTIMUM_EXACT] != fields.exact:
            yield "the optimum does not follow from the exact numbers and the data"

    @property
    def _completed(self) -> bool:
        return set(self.proof.tight) <= always_tight(self.system, self.proof.always)

    @property
    def _decision(self) -> LinearDecision:
        status, method = self.certificate.status, self.certificate.certificate["method"]
        return LinearDecision(status, self.proof, method, self.certificate.point)

    @property
    def _least(self) -> float:
        """The lower bound w'b / sum |w| of the least violation, of a contradiction's weights."""
        value = contradiction(self.system, self.proof.weights) or Fraction()
        least = value / sum(map(abs, self.proof.weights.values()))
        return to_double(least, rounding="down")

    def _feasible_faults(self) -> Iterator[str]:
        proof = self.proof
        assert proof.point is not None
        if proof.weights or proof.irreducible:
            yield "both a contradiction and a point are claimed"
        if proof.violation != (0.0, 0.0):
            yield f"a violation in {list(proof.violation)} is claimed, and the point has none"
        if list(proof.tight) != tight_at(self.system, proof.point):
            yield "`tight` is not the inequalities that are tight at the point"
        if proof.complete and proof.always and not self._balanced:
            yield "the weights `always` do not add up to 0, or are no weights of conditions"

    @property
    def _balanced(self) -> bool:
        always = self.proof.always
        if not admissible(self.system, always) or not all(always.values()):
            return False
        row, right = combination(self.system, always)
        return not row and not right

    def _infeasible_faults(self) -> Iterator[str]:
        proof = self.proof
        if proof.point is not None or proof.tight or proof.always or proof.complete:
            yield "a point, or its tight conditions, and a contradiction are claimed"
        if not all(proof.weights.values()):
            yield "a weight of the contradiction is 0"
        # 0 is a valid bound as well, only not the best one
        if proof.violation[1] is not None or proof.violation[0] not in (0.0, self._least):
            yield f"a violation in {list(proof.violation)} is claimed, {self._least} is proved"

    def _rounding_faults(self) -> Iterator[str]:
        """Yield a fault for each array of doubles that is not the exact numbers, rounded."""
        proof, count = self.proof, len(self.system.conditions)
        point = proof.point or (Fraction(),) * len(self.system.variables)
        if not _rounded(self.certificate.point, point):
            yield "the doubles of the point are not its exact numbers, rounded"
        weights = [proof.weights.get(k, Fraction()) for k in range(count)] if proof.weights else []
        doubles = self.certificate.weights
        if not _rounded(np.zeros(0) if doubles is None else doubles, weights):
            yield "the doubles of the weights are not the exact ones, rounded"


def _rounded(doubles: FloatArray, exact: tuple[Fraction, ...] | list[Fraction]) -> bool:
    """Return whether each double is as near to its exact number as doubles are."""
    if doubles.shape != (len(exact),):
        return False
    return all(
        _nearest(double, number) for double, number in zip(doubles.tolist(), exact, strict=True)
    )


def _nearest(double: float, exact: Fraction) -> bool:
    if math.isnan(double):
        return False
    if math.isinf(double):  # beyond the range
        return abs(exact) > sys.float_info.max and (double > 0) == (exact > 0)
    # In fractions: a difference of doubles would itself be rounded
    error = abs(Fraction(double) - exact)
    neighbours = (math.nextafter(double, end) for end in (-math.inf, math.inf))
    return all(
        error <= abs(Fraction(neighbour) - exact)
        for neighbour in neighbours
        if math.isfinite(neighbour)
    )
