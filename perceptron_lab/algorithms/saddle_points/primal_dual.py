"""Primal-dual hybrid gradient for feasibility problems, with Bregman distances.

In single precision on rows: compiled passes, checked in double precision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptron_lab.algorithms.base import State, Step, Systems, claim_bound, claim_of
from perceptron_lab.algorithms.saddle_points.mirror_prox import AveragedIterates, ball, entropy_root
from perceptron_lab.cones.base import Frame, Oracles
from perceptron_lab.cones.operators.base import blocks
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.row_source import Dense
from perceptron_lab.cones.spectral import barycentre, gibbs
from perceptron_lab.core.claims import Claim, FeasiblePoint
from perceptron_lab.core.errors import ConfigError, InputError, NumericalError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.compiled.entropic_separation import EntropicState, begin, separate
from perceptron_lab.numerics.compiled.entropic_steps import softmin
from perceptron_lab.numerics.compiled.entropic_trials import LONGEST, ROUNDING, TOTAL, TRIALS
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.systems import ConicSystem

RESOLUTION = 1e-6  # A norm(A x) that single precision can hardly tell from 0
_CHUNK = 256
_UNIT = 1e-3  # Single-precision rows whose norms differ from 1 by no more are used as they are
_RATE = "Theorem 1 of Chambolle and Pock (2016), with the constant sqrt(2 ln n)"
_ADAPTIVE = Bound(None, _RATE, "no rate is proved for adaptive steps; take constant ones")


@dataclass(kw_only=True)
class SingleState(State):
    """The rows in single precision, and the sums and iterates of the steps on them."""

    rows: npt.NDArray[np.float32]
    run_state: EntropicState


def start_single(system: ConicSystem) -> SingleState:
    """Return the state at x_0 = e / n and y_1."""
    rows = single_rows(system)
    state = begin(rows)
    system.counters.products += 1
    return SingleState(
        point=state.points[0],
        weights=state.entries[1],
        rows=rows,
        run_state=state,
        phase="single precision",
        notes=["passes in single precision, claims checked in double precision"],
    )


def single_rows(system: ConicSystem) -> npt.NDArray[np.float32]:
    """Return the unit rows of a system in single precision; a copy, unless they are stored so."""
    operator = system.operator
    if not system.cone.of_rows:
        fault = f"a {type(system.cone).__name__} cone"
    elif not isinstance(operator, Matrix):
        fault = f"a {type(operator).__name__} operator"
    elif not isinstance(operator.stored, np.ndarray) or not system.unit_rows:
        fault = "rows that are sparse or were not normalised"
    else:
        return rounded_rows(operator.stored, operator.scale)
    raise InputError(
        f"primal-dual: precision 'single' received {fault}; give dense rows by "
        "ConicSystem.from_rows, or precision 'double'"
    )


def rounded_rows(data: Dense, scale: FloatArray | None) -> npt.NDArray[np.float32]:
    """Return rows times their scale in single precision."""
    if data.dtype == np.float32 and (scale is None or np.abs(scale - 1.0).max() <= _UNIT):
        return np.ascontiguousarray(data)
    rows = np.empty(data.shape, np.float32)
    for at, block in blocks(data):
        factor = 1.0 if scale is None else scale[at, None]
        np.multiply(block, factor, out=rows[at], casting="same_kind")
    return rows


def step_single(
    system: ConicSystem, state: SingleState, most: int, epsilon: float
) -> tuple[Claim | None, bool]:
    """Make up to ``most`` steps in single precision; return a claim and whether to leave it."""
    iterations = min(most, _CHUNK)
    run = separate(state.rows, iterations, start=state.run_state)
    state.point, state.weights = run.point, run.weights
    state.updates += run.iterations
    state.iterations = round(run.state.numbers[TRIALS])
    system.counters.products += run.products
    system.counters.queries += run.products - run.iterations
    if run.separated:
        scores = system.scores(run.point)
        lowest = system.lowest(scores)
        if state.claimed != state.updates and system.inside(lowest, scores):
            state.claimed = state.updates
            return FeasiblePoint(run.point.copy()), False
        state.notes.append(
            f"a point separated in single precision only (least score {lowest:.1e} in double); "
            "continued in double precision"
        )
        return None, True
    check_time()
    if run.iterations < iterations:
        state.notes.append("single precision overflowed; continued in double precision")
        return None, True
    claim, bound = None, system.worth(epsilon)
    if run.length <= bound and system.norm(system.combine(run.weights)) <= bound:
        state.claimed = state.updates
        claim = claim_bound(system, run.weights, epsilon)
    if run.length <= RESOLUTION:
        state.notes.append(
            f"norm(A x) came down to {run.length:.1e}, which single precision can hardly tell "
            "from 0; continued in double precision"
        )
        return claim, True
    return claim, False


@dataclass(kw_only=True)
class PrimalDualState(State):
    """Sums over the iterations, weighted by their steps, and the last iterates.

    ``point`` is sum eta y_t, ``weights`` sum eta x_t, ``scores`` A*point, ``image`` A weights,
    ``total`` sum eta; ``values`` and ``frame`` are the spectrum of ``scores``, ``log_partition`` is
    the logarithm of its Gibbs sum: the last x_t is its softmin ``share``, and ``share_image`` is
    A x_t. ``centre`` is y_{t+1} and ``centre_scores`` A*y_{t+1}.
    """

    centre: FloatArray
    centre_scores: FloatArray
    scores: FloatArray
    image: FloatArray
    values: FloatArray
    frame: object
    log_partition: float
    share: FloatArray
    share_image: FloatArray
    eta: float = 1.0
    total: float = 0.0

    @classmethod
    def at_start(cls, system: ConicSystem) -> PrimalDualState:
        """Return the state with empty sums at x_0 = e / n and y_1."""
        scores, share = np.zeros(system.cone.size), barycentre(system.cone)
        values, frame = system.cone.spectrum(scores)
        image = system.combine(share)
        centre = ball(system, image / (system.atom_norm() * entropy_root(system.cone.rank)))
        return cls(
            point=np.zeros(system.dimension),
            weights=scores.copy(),
            centre=centre,
            centre_scores=system.scores(centre),
            scores=scores,
            image=np.zeros(system.dimension),
            values=values,
            frame=frame,
            log_partition=math.log(system.cone.rank),
            share=share,
            share_image=image,
        )

    @classmethod
    def of_single(cls, system: ConicSystem, single: SingleState) -> PrimalDualState:
        """Return the double-precision state with the same sums, unless these overflowed."""
        state, run = cls.at_start(system), single.run_state
        if run.numbers[TOTAL] and all(
            np.isfinite(array).all() for array in (run.centre, run.points, run.entries)
        ):
            state.total = float(run.numbers[TOTAL])
            state.point, state.weights = run.points[0].copy(), run.entries[1].copy()
            state.scores, state.image = system.scores(state.point), system.combine(state.weights)
            state.values, state.frame = system.spectrum(state.scores)
            temperature = system.atom_norm() / entropy_root(system.cone.rank)
            state.share, state.log_partition = gibbs(
                system.cone, state.values, state.frame, temperature
            )
            state.share_image = system.combine(state.share)
            state.centre = ball(system, run.centre.astype(np.float64))
            state.centre_scores = system.scores(state.centre)
        state.updates, state.iterations = single.updates, single.iterations
        state.claimed, state.notes, state.phase = single.claimed, single.notes, "double precision"
        return state

    def claim(self, system: ConicSystem, epsilon: float) -> Claim | None:
        """Return the claim that the averages or the last iterates allow, if there is one."""
        if not self.updates or self.claimed == self.updates:
            return None
        average = system.norm(self.image) / self.total
        claim = claim_of(system, self, float(self.values.min()), self.scores, average, epsilon)
        # The last iterates carry no guarantee, but their scores are known already
        if claim is None and system.inside(system.lowest(self.centre_scores), self.centre_scores):
            claim = FeasiblePoint(self.centre.copy())
        if claim is None and system.norm(self.share_image) <= system.worth(epsilon):
            claim = claim_bound(system, self.share, epsilon)
        self.claimed = self.updates if claim is not None else self.claimed
        return claim

    def adapt(self, trials: int, longest: float) -> None:
        """Set the next trial step eta after k trials; ``longest`` is h of the last trial."""
        # Both factors tend to 1 with the number of trials, so that the steps settle
        longer, shorter = 1.0 + (trials + 1) ** -0.6, 1.0 - (trials + 1) ** -0.3
        self.eta = min(shorter * longest, longer * self.eta)
        # A step of 1, in units of 1 / L, is covered by the theory: no shorter one is needed
        if not self.eta >= 1.0:  # NaN as well
            self.eta = 1.0
        self.eta = min(self.eta, LONGEST)

    def add(self, trial: TrialStep, eta: float) -> None:
        """Add x_t and y_t, weighted by eta, to the sums, and store them as the last iterates."""
        assert self.weights is not None
        self.point += eta * self.centre
        self.weights += eta * trial.share
        self.image += eta * trial.image
        self.scores, (self.values, self.frame) = trial.scores, trial.spectrum
        self.log_partition = trial.log_partition
        self.share, self.share_image = trial.share, trial.image
        self.total += eta
        self.updates += 1


class TrialStep(NamedTuple):
    """x_t, A x_t and y_{t+1} of one trial step, and its largest admissible length."""

    scores: FloatArray
    spectrum: tuple[FloatArray, Frame]
    log_partition: float
    share: FloatArray
    image: FloatArray
    centre: FloatArray
    longest: float


@parameter_record
class PrimalDual(AveragedIterates[PrimalDualState | SingleState]):
    """Primal-dual hybrid gradient for max over norm(y) <= 1 of min over x in Delta(K) of <x, A*y>.

    The saddle value is the margin rho where that is positive. From x_0 = e / n, with the entropy on
    Delta(K), y_1 = ball(sigma A x_0), and for t = 1, 2, ...

        x_t = argmin over x of <x, A*y_t> + KL(x, x_{t-1}) / tau,
        y_{t+1} = ball(y_t + sigma A(2 x_t - x_{t-1})),      ball(y) = y / max(1, norm(y)),

    tau = eta sqrt(2 ln n) / L, sigma = eta / (L sqrt(2 ln n)), n the total rank, L >= norm(A(atom))
    (1 for unit rows). ln x_t is linear in the sum of eta A*y: x_t is the softmin of that sum at the
    temperature L / sqrt(2 ln n), on every cone, and nothing underflows. The same sum holds the
    scores of the average of the y_t. Two products per iteration, half of Mirror-Prox.

    *Constant steps*, eta = 1: the averages satisfy norm(A x) - min <., A*y> <= sqrt(2 ln n) L / T,
    as those of Mirror-Prox (proved in docs/notes/saddle-points.md). They separate after
    floor(sqrt(2 ln n) L / rho) + 1 iterations, or norm(A x) <= epsilon after
    floor(sqrt(2 ln n) L / epsilon) + 1.

    *Adaptive steps*, the rule of PDLP: a step is taken if eta <= h, with

        h = (KL(x_t, x_{t-1}) L / sqrt(2 ln n) + norm(dy)^2 L sqrt(2 ln n) / 2) / abs(<A dx, dy>),

    else tried again, and the next one is min((1 - (k + 1)^-0.3) h, (1 + (k + 1)^-0.6) eta) after k
    trials, never below 1, for which h >= eta always. Averages weigh each pair by eta. No rate is
    proved for it; in practice it is several times faster. A trial in vain costs one product.

    The last y and x are claimed too, where they separate or bound the margin before the averages.

    *Single precision*, for dense rows and adaptive steps: the iteration is compiled, and goes once
    over a copy of the unit rows in single precision. Sums are kept in double precision, and claims
    are confirmed there on the rows as given. Where they are not, or norm(A x) comes near the
    resolution of single precision, the steps continue in double precision from the same sums.

    Parameters
    ----------
    steps
        ``adaptive`` (default) or ``constant``.
    precision
        ``double`` (default) or ``single``.
    epsilon
        norm(A x) <= epsilon is claimed as a bound of the margin; > 0 (default 1e-6).

    References
    ----------
    A. Chambolle and T. Pock, On the ergodic convergence rates of a first-order primal-dual
    algorithm, Mathematical Programming 159 (2016); D. Applegate et al., Practical large-scale
    linear programming using primal-dual hybrid gradient, NeurIPS (2021), for the rule;
    `YuKilincCarbonell2014` for the saddle problem.
    """

    systems: ClassVar[Systems] = {"runs": "rows kernel second-order semidefinite product"}
    guarantee: ClassVar[Guarantee] = Guarantee(
        "sqrt(2 ln(n)) L / rho + 1",
        _RATE,
        note="for constant steps; none is known for adaptive steps, the default",
    )
    theorems: ClassVar[tuple[str, str]] = (_RATE, _RATE)

    steps: Literal["adaptive", "constant"] = "adaptive"
    precision: Literal["double", "single"] = "double"
    epsilon: Positive = 1e-6

    def __post_init__(self) -> None:
        if self.precision == "single" and self.steps == "constant":
            raise ConfigError(
                "primal-dual: precision 'single' received steps 'constant'; single precision takes "
                "adaptive steps only: leave one of the two out"
            )

    def compiled(self, system: ConicSystem, oracles: Oracles) -> Functions:
        """Return the compiled steps for rows."""
        if not system.cone.of_rows:
            return ()
        return (separate,) if self.precision == "single" else (softmin,)

    def start(self, system: ConicSystem, rng: np.random.Generator) -> PrimalDualState | SingleState:
        """Return the state with empty sums at x_0 = e / n and y_1."""
        single = self.precision == "single"
        return start_single(system) if single else PrimalDualState.at_start(system)

    def step(
        self, system: ConicSystem, state: PrimalDualState | SingleState, most: int
    ) -> Step[PrimalDualState | SingleState]:
        """Make up to ``most`` iterations; claim the average or the last y, or weights."""
        if isinstance(state, SingleState):
            claim, double = step_single(system, state, most, self.epsilon)
            return (PrimalDualState.of_single(system, state) if double else state), claim
        for _ in range(most):
            claim = state.claim(system, self.epsilon)
            if claim is not None:
                return state, claim
            trials, accepted = state.iterations, False
            while not accepted:
                trial, eta, trials = _try(system, state), state.eta, trials + 1
                if self.steps == "adaptive":
                    state.adapt(trials, trial.longest)
                accepted = self.steps == "constant" or eta <= trial.longest or eta == 1.0
            state.iterations = trials
            state.add(trial, eta)
            state.centre, state.centre_scores = trial.centre, system.scores(trial.centre)
        return state, None

    def bound(self, facts: Facts) -> Bound:
        """Return floor(sqrt(2 ln n) L / rho) + 1 for constant steps."""
        return _ADAPTIVE if self.steps == "adaptive" else super().bound(facts)

    def certificate_bound(self, facts: Facts, epsilon: float) -> Bound:
        """Return floor(sqrt(2 ln n) L / epsilon) + 1 for constant steps."""
        return _ADAPTIVE if self.steps == "adaptive" else super().certificate_bound(facts, epsilon)


def _try(system: ConicSystem, state: PrimalDualState) -> TrialStep:
    """Return the step of length eta, and the h of the rule."""
    size, root, eta = system.atom_norm(), entropy_root(system.cone.rank), state.eta
    temperature = size / root
    scores, spectrum, share, log_partition, dot = _softmin(system, state, temperature)
    image = system.combine(share)
    # The extrapolation 2 A x_t - A x_{t-1} of the primal-dual hybrid gradient
    turn = image - state.share_image
    centre = ball(system, state.centre + (eta / (size * root)) * (image + turn))
    move = centre - state.centre
    along = eta * dot
    entropy = temperature * (state.log_partition - log_partition) - along
    # The entropy is a difference of large terms: slack for their rounding
    slack = ROUNDING * (abs(along) + temperature * abs(log_partition))
    distance = max(entropy, 0.0) + slack + system.norm(move) ** 2 * size * root / 2.0
    # h: the largest step for which the coupling term is dominated by the Bregman distances
    coupling = abs(system.operator.inner(turn, move))
    longest = distance / coupling if coupling > 0.0 else math.inf
    return TrialStep(scores, spectrum, log_partition, share, image, centre, longest)


def _softmin(
    system: ConicSystem, state: PrimalDualState, temperature: float
) -> tuple[FloatArray, tuple[FloatArray, Frame], FloatArray, float, float]:
    """Return the new scores, spectrum, softmin x and logarithm of its sum, and <x, A*y>."""
    if not system.cone.of_rows:
        scores = state.scores + state.eta * state.centre_scores
        spectrum = system.spectrum(scores)
        share, log_partition = gibbs(system.cone, *spectrum, temperature)
        return scores, spectrum, share, log_partition, float(share @ state.centre_scores)
    system.counters.queries += 1
    scores, share = np.empty_like(state.scores), np.empty_like(state.scores)
    _, log_partition, along = softmin(
        state.scores, state.centre_scores, state.eta, temperature, scores, share
    )
    if not math.isfinite(log_partition):
        raise NumericalError("the scores of the point are not finite (overflow)")
    return scores, (scores, None), share, log_partition, along
