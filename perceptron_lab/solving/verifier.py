"""The verifier of a run: it accepts a claim only after proving it on the original data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np

from perceptron_lab.algorithms.base import State
from perceptron_lab.certificates.contract import PointProof
from perceptron_lab.certificates.infeasibility import InfeasibilityProof
from perceptron_lab.cones.operators.base import EXACT
from perceptron_lab.core.claims import (
    Claim,
    FeasiblePoint,
    MarginAbove,
    MarginBelow,
    NearlyWidest,
)
from perceptron_lab.core.errors import counted
from perceptron_lab.core.findings import NOTHING, Finding
from perceptron_lab.core.goals import Goal, MarginRatio, MarginUpper
from perceptron_lab.core.outward_rounding import text_above, text_below
from perceptron_lab.core.proved_outcome import ProvedOutcome
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.core.time_limit import TimeIsUp
from perceptron_lab.solving.failures import ends_run, log, sentence
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.certified import central_weights

Given = TypeVar("Given")
Proof = TypeVar("Proof")

# Interior shifts that may correct a boundary answer, relative to the point's length
SHIFTS = tuple(10.0**k for k in range(-15, -5))

# A claim that is repeated unchanged up to this tolerance of the system ends a run
LARGEST_TOLERANCE = 1e-7

# By this factor a computed ratio may miss the goal and still be worth a proof
HOPEFUL = 1.0 - 1e-6

_LIMITS = frozenset({Status.UPDATE_LIMIT, Status.TIME_LIMIT})


@dataclass
class Verifier:
    """The verifier of a run's claims, and the system, which each rejected claim makes stricter.

    ``upper`` is the least proved upper bound of the margin, and ``weights`` prove it on the
    original data; ``repeated`` says whether the last claim was the one before, unchanged, of an
    unchanged state.
    """

    system: ConicSystem
    goal: Goal = "decide"
    message: str = ""
    finding: Finding = NOTHING
    certificate: dict[str, Any] = field(default_factory=lambda: {"claims_rejected": 0})
    upper: float | None = None
    weights: FloatArray | None = None
    repeated: bool = False
    rejection: str = ""  # Why the last rejected claim could not be verified
    _last_attempt: tuple[float, float] = (0.0, np.inf)
    _last: Claim | None = None
    _settled: Status | None = None
    _updates: int = -1
    _best: tuple[PointProof, FloatArray] | None = None
    _bounded: tuple[FloatArray, float] | None = None  # The last weights, and the proved bound
    _least: tuple[float, FloatArray] = (math.inf, np.zeros(0))  # Computed bound, its weights
    _failure: Exception | None = None  # Of the last proof by weights
    _interrupted: FloatArray | None = None  # Weights whose proof of infeasibility had no time

    def settle(self, claim: Claim, state: State) -> Status | None:
        """Verify a claim; return the status that it proves, or None if it is rejected.

        A claim about another margin than the proved one is replaced by the bounds that its point
        and weights prove. A rejected claim makes the system stricter. UNVERIFIED: the algorithm
        repeats it nevertheless, up to the largest tolerance. A proved claim that is repeated
        without an update in between is the algorithm's final claim.
        """
        # An unchanged claim after an update may be proved yet: without one it is the final claim
        again = self._last is not None and same(claim, self._last)
        self.repeated = again and state.updates == self._updates
        if self.repeated and self._settled is not None:
            self._add(state.ending or "the algorithm repeats its claim: nothing more comes")
            return self._settled
        if again and self._settled is None and self.system.tolerance >= LARGEST_TOLERANCE:
            parts = ["the algorithm repeats a claim that cannot be verified", state.ending]
            self.say("; ".join(filter(None, parts)))
            return Status.UNVERIFIED
        self._last, self._updates = claim, state.updates
        match claim:
            case MarginBelow():
                self._settled = self._settle_weights(claim, state)
            case NearlyWidest():
                self._settled = self._settle_widest(claim)
            case FeasiblePoint() if self._feasible:  # the run continues after it
                if not self.message:
                    self.say("a point is proved strictly feasible")
                self._settled = Status.FEASIBLE
            case _:
                self._settled = self._settle_point(claim)
        if self._settled is None:
            self.certificate["claims_rejected"] += 1
            self.certificate["last_rejection"] = self.rejection
            # The next claim has to lie inside by ten times the tolerance: the run cannot stall
            self.system = self.system.stricter()
        return self._settled

    @property
    def _feasible(self) -> bool:
        return self._best is not None and self._best[0].feasible

    def _prove(self, point: FloatArray) -> PointProof:
        """Verify a point, and store the proof if it is the best so far."""
        # Proofs of points are deterministic, and this one is known
        if self._best is not None and np.array_equal(point, self._best[1]):
            return self._best[0]
        try:
            proof = self.system.prove_point(point)
        except Exception as error:
            if not ends_run(error):
                raise
            log(error, "the proof of a point failed")
            proof = PointProof(False, -math.inf, 0, f"no proof: {sentence(error)}")
        if self._best is None or _merit(proof) > _merit(self._best[0]):
            self._best = proof, point.copy()
        return proof

    def _settle_point(self, claim: FeasiblePoint | MarginAbove) -> Status | None:
        """Verify the claim of a point, after a shift into the interior if necessary."""
        proof = self._prove(claim.point)
        if proof.feasible:
            exact = f" ({proof.exact_rows} rows in exact arithmetic)" if proof.exact_rows else ""
            self.say(f"the point is proved strictly feasible{exact}")
            return Status.FEASIBLE
        lower = proof.margin_lower
        if isinstance(claim, MarginAbove):
            # A bound of another margin than the proved one can only be replaced by what is proved
            bound = claim.bound if self.system.margin_is_proved else lower
            if lower >= bound > -math.inf:
                self.say(finding=Finding(relaxed_margin=float(lower)))
                self.certificate["claim"] = {"margin_above": bound}
                return Status.MARGIN_BOUNDED
        elif self._shift_inside(claim.point):
            return Status.FEASIBLE
        verified = (
            f"only a margin of {text_below(lower, 3)} or more" if lower > -math.inf else "nothing"
        )
        self.rejection = f"of its point {verified} is proved"
        self.say(f"no proof of the claimed point (margin >= {text_below(lower, 3)})")
        return None

    def _settle_widest(self, claim: NearlyWidest) -> Status | None:
        """Verify the claim that a point attains the required ratio of the largest margin."""
        proof = self._prove(claim.point)
        self._bound(claim.weights)
        if not proof.feasible:
            self.say("no proof of the point of the largest margin")
            self.rejection = "its point is not proved strictly feasible"
            return None
        if self.proved(Status.FEASIBLE).reaches(self.goal):
            self.say(f"the goal {self.goal} is proved")
            return Status.FEASIBLE
        self.say("the point is proved strictly feasible, its ratio is not")
        return None

    def _shift_inside(self, point: FloatArray) -> bool:
        """Try point + delta * interior for growing delta, if an interior point is known."""
        interior = self.system.interior
        if interior is None:
            return False
        # Shifts are relative to the point: the claim does not depend on its length
        unit = float(np.linalg.norm(point) / np.linalg.norm(interior))
        for shift in SHIFTS:
            if self._prove(point + shift * unit * interior).feasible:
                self.certificate["interior_shift"] = shift * unit
                self.say(finding=Finding(interior_shift=shift * unit))
                return True
        return False

    def _bound(self, weights: FloatArray) -> float | None:
        """Prove an upper bound of the margin, and store it if it is the least so far."""
        if self._bounded is not None and np.array_equal(weights, self._bounded[0]):
            return self._bounded[1]
        upper = self._try_proof(self.system.prove_weights, weights)
        self._bounded = None if upper is None else (weights.copy(), upper)
        if upper is not None and (self.upper is None or upper < self.upper):
            self.upper, self.weights = upper, self.system.weights_to_origin(weights).copy()
        return upper

    def _bound_above(self, state: State) -> None:
        """Prove the bound by the state's weights, or by central weights without these."""
        if state.weights is not None:
            self._bound(state.weights)
        if self.upper is None:
            weights = self._try_proof(central_weights, self.system)
            if weights is not None:
                self._bound(weights)

    def _try_proof(self, proof: Callable[[Given], Proof | None], argument: Given) -> Proof | None:
        """Try a proof by weights; an exception counts as a failed proof."""
        try:
            return proof(argument)
        except Exception as error:
            if not ends_run(error):
                raise
            log(error, "the proof of weights failed")
            self._failure = error
            return None

    def _settle_weights(self, claim: MarginBelow, state: State) -> Status | None:
        """Verify the claim of weights: infeasibility first, then the bound of the margin."""
        upper = self._bound(claim.weights)
        if upper == 0.0:
            self.say(f"the weights prove it: {self._consequence(claim.weights)}")
            return Status.INFEASIBLE
        # Where a run continues after bounds, for a goal that they do not reach, the proof that
        # exact weights with A w = 0 are near is tried again when norm(A w) has halved.
        try_again = not self._feasible
        if try_again and self.goal != "decide" and upper is not None:
            products, least = self._last_attempt
            try_again = upper <= 0.5 * least
            self._last_attempt = (products, upper) if try_again else self._last_attempt
        if try_again and self._infeasible(claim.weights):
            return Status.INFEASIBLE
        exact = claim.bound == 0.0 and self.goal == "decide" and not self.system.cone.of_rows
        if exact and self._seek_exact_weights(claim.weights, state.point):
            return Status.INFEASIBLE
        if exact and self._irrational(claim.weights)[0]:
            return Status.INFEASIBLE
        bound = claim.bound if self.system.margin_is_proved else upper
        if upper is not None and bound is not None and upper <= bound:
            if self.goal == "decide" and self._seek_exact_weights(claim.weights, state.point):
                return Status.INFEASIBLE
            decide = self.goal == "decide"
            proved, remark = self._irrational(claim.weights) if decide else (False, "")
            if proved:
                return Status.INFEASIBLE
            self.say(f"a margin of at most {text_above(upper, 3)} is proved")
            self._add(remark)
            self.certificate["claim"] = {"margin_below": bound}
            return Status.MARGIN_BOUNDED
        verified = (
            "nothing" if upper is None else f"only a margin of at most {text_above(upper, 3)}"
        )
        self.say(f"margin <= {claim.bound:g} claimed, {verified} proved")
        self.rejection = f"it states a margin of at most {claim.bound:g}, and {verified} is proved"
        return None

    def _infeasible(self, weights: FloatArray) -> bool:
        """Try to prove that exact weights with A w = 0 exist near these."""
        self._failure = None
        proof = self._try_proof(partial(self.system.prove_infeasible, quick=True), weights)
        # Kept, since the end of the run has its own time for this proof
        late = isinstance(self._failure, TimeIsUp)
        self._interrupted = weights.copy() if late else self._interrupted
        return self._accept_infeasibility(proof)

    def _seek_exact_weights(self, weights: FloatArray, point: FloatArray) -> bool:
        """Search exact weights of rows in the remaining time, once other proofs have failed."""
        if self._interrupted is not None or self._feasible:
            return False
        return self._accept_infeasibility(
            self._try_proof(
                lambda argument: self.system.seek_contradiction(argument, point), weights
            )
        )

    def _irrational(self, weights: FloatArray) -> tuple[bool, str]:
        """Try to prove infeasibility by irrational weights; return whether it is, and a remark."""
        proof, remark = self._try_proof(self.system.prove_irrational, weights) or (None, "")
        return self._accept_infeasibility(proof), remark

    def _accept_infeasibility(self, proof: InfeasibilityProof | None) -> bool:
        """Store a proof that exact weights exist; return whether there is one."""
        if proof is None:
            return False
        self.upper, self.weights = 0.0, proof.weights
        self.certificate["infeasibility_ratio"] = proof.ratio
        self.certificate["infeasibility_method"] = proof.method
        self.say(
            "exact weights with A w = 0 are proved to exist near these: "
            f"{self._consequence(proof.weights)}"
        )
        self._add(proof.remark)
        return True

    def _consequence(self, weights: FloatArray) -> str:
        """Return a sentence on what weights with A w = 0 imply."""
        if not self.system.homogenised:
            return "no point is strictly feasible"
        closed = weights[0] > 0
        if not all(part.of_matrices for part, _ in self.system.cone.blocks):
            return f"no x is {'in' if closed else 'strictly inside'} all cones"
        return f"no x has F(x) positive {'semidefinite' if closed else 'definite'}"

    def infeasible(self, state: State) -> Status | None:
        """Return INFEASIBLE if the weights of the current state prove it.

        It is tried when norm(A w) has fallen, and products as many as there are unknowns have been
        spent since the last time: so many cost as much as trying.
        """
        products, (before, least) = self.system.counters.products, self._last_attempt
        # A proof by weights costs about as much as that many products
        if state.weights is None or products - before < self.system.operator.unknowns:
            return None
        upper = self._bound(state.weights)
        if upper == 0.0:
            self.say(f"the weights prove it: {self._consequence(state.weights)}")
            return Status.INFEASIBLE
        if upper is None or upper > 0.9 * least:
            return None
        self._last_attempt = products, upper
        return Status.INFEASIBLE if self._infeasible(state.weights) else None

    def reached(self, state: State, computed: tuple[float, float]) -> Status | None:
        """Return the status of the current state if it is proved to reach the goal.

        ``computed`` are the margin of its point and the bound of its weights, or NaN: nothing is
        proved for the sake of a ratio or a bound that they are far from. The weights of the least
        such bound are kept for the proof at the end.
        """
        if self.goal == "budget":
            return None
        if not isinstance(self.goal, MarginUpper) and not self._feasible:
            decided = self.infeasible(state)
            if decided is not None or self.goal == "decide":
                return decided
        margin, upper = computed
        if isinstance(self.goal, MarginRatio) and margin < self.goal.margin_ratio * upper * HOPEFUL:
            return None
        if isinstance(self.goal, MarginUpper) and upper * HOPEFUL > self.goal.margin_upper:
            if state.weights is not None and upper < self._least[0]:
                self._least = upper, state.weights.copy()
            return None
        self._bound_above(state)
        if isinstance(self.goal, MarginRatio):
            self._prove(state.point)
        status: Status | None = None
        if self._feasible:
            status = Status.FEASIBLE
        elif self.upper is not None:
            status = Status.INFEASIBLE if self.upper == 0.0 else Status.MARGIN_BOUNDED
        if status is None or not self.proved(status).reaches(self.goal):
            return None
        self.say(f"the goal {self.goal} is proved")
        if status is Status.INFEASIBLE:
            assert self.weights is not None
            self.say(f"the weights prove it: {self._consequence(self.weights)}")
        return status

    def proved(self, status: Status, *, spent: bool = False) -> ProvedOutcome:
        """Return the facts proved so far, in a run of this status."""
        lower = None if self._best is None else self._best[0].margin_lower
        relaxed = self.certificate.get("claim", {}).get("margin_above")
        reached = relaxed is not None and lower is not None and lower >= relaxed
        return ProvedOutcome(status, lower, self.upper, relaxed=reached, spent=spent)

    def close(self, status: Status, state: State) -> tuple[Status, PointProof, FloatArray]:
        """Prove the final bracket; return the status, the best proof and its point."""
        if self.goal != "decide" or not self._feasible:
            self._prove(state.point)
        assert self._best is not None
        proof, point = self._best
        if proof.feasible and status is not Status.FEASIBLE:
            self._add(
                f"{'the last' if status in _LIMITS else 'a'} point is proved strictly feasible"
            )
            status = Status.FEASIBLE
        self._bound_above(state)
        if self._least[0] < (math.inf if self.upper is None else self.upper):
            self._bound(self._least[1])
        late, decided = self._interrupted, status in (Status.FEASIBLE, Status.INFEASIBLE)
        if late is not None and not decided and self._infeasible(late):
            status = Status.INFEASIBLE
        if self.upper == 0.0 and status is not Status.INFEASIBLE:
            assert self.weights is not None
            self._add(f"the weights prove it: {self._consequence(self.weights)}")
            status = Status.INFEASIBLE
        conic = self.goal == "decide" and not self.system.cone.of_rows
        if status is Status.NUMERICAL_ERROR and conic and state.weights is not None:
            exact = self._seek_exact_weights(state.weights, state.point)
            status = Status.INFEASIBLE if exact else status
        data, name = self.system.provenance, self.system.margin_name
        self.certificate |= {"margin": name} if name else {}
        self.certificate |= {"method": proof.method, "exact_rows": proof.exact_rows, "data": data}
        if data != EXACT and status not in (Status.FEASIBLE, Status.INFEASIBLE):
            self._add(f"the data: {data}")
        return status, proof, point

    def conclude(self, status: Status, *, spent: bool) -> bool:
        """Return whether the goal is reached at the end; otherwise add that to the message."""
        proved = self.proved(status, spent=spent)
        reached = proved.reaches(self.goal)
        if not reached and (self.goal != "decide" or status is Status.MARGIN_BOUNDED):
            self._add(proved.missed(self.goal))
        rejected = self.certificate["claims_rejected"]
        if rejected and status not in (Status.FEASIBLE, Status.INFEASIBLE):
            self._add(
                f"{counted(rejected, 'claim')} could not be verified; the last one because "
                f"{self.rejection}"
            )
        return reached

    def say(self, sentence: str = "", finding: Finding = NOTHING) -> None:
        """Replace the message by a sentence, or by the sentence of a finding."""
        self.message, self.finding = sentence or finding.sentence, finding

    def _add(self, sentence: str) -> None:
        """Append a sentence to the message."""
        self.message = "; ".join(filter(None, [self.message, sentence]))


def _merit(proof: PointProof) -> tuple[bool, float]:
    """Rank proofs of points: feasible ones first, then by their margin."""
    return proof.feasible, proof.margin_lower


def same(left: Claim, right: Claim) -> bool:
    """Return whether two claims are of one kind, with the same point or weights."""
    name = "weights" if isinstance(left, MarginBelow) else "point"
    return type(left) is type(right) and np.array_equal(getattr(left, name), getattr(right, name))
