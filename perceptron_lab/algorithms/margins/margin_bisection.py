"""The largest margin by bisection, plain or on a working set (`TsampoukaShaweTaylor`)."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from perceptron_lab.algorithms.base import InCoordinates, Step, Systems
from perceptron_lab.algorithms.margins.bisection_trial import (
    AllRows,
    BisectionState,
    MarginTrial,
    Module,
    Outcome,
    SweptRows,
    WeightedPoint,
    WorkingRows,
)
from perceptron_lab.algorithms.margins.fixed_length_perceptron import FixedLengthPerceptron
from perceptron_lab.algorithms.margins.fixed_margin_perceptron import Factor
from perceptron_lab.algorithms.sweeping import dense_rows, rows_operator
from perceptron_lab.cones.base import Oracles
from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.core import registry
from perceptron_lab.core.claims import Claim, FeasiblePoint, MarginBelow
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Count, Positive, Proportion, parameter_record
from perceptron_lab.core.results import Bound, Guarantee
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.numerics.compiled.margin_sweeps import (
    fixed_length_sweep,
    fixed_margin_sweep,
    margin_sweep,
)
from perceptron_lab.systems import ConicSystem

# Weights that lower the bound by less than this part are not shown before the end of a round
NEWS = 1e-3
PROVABLE = 1e-12  # What the proof of norm(A w) may add to its computed value, for rows of norm 1


@parameter_record
class MarginBisection(InCoordinates[BisectionState]):
    """The largest margin gamma_d by bisection, with perceptrons that ask for a given margin.

    A round looks for a unit u with y_k'u > beta for all rows y_k: first for beta = r / 2, where the
    shortest row has the norm r >= gamma_d. It sweeps over the rows from the best point so far, from
    a = 0 before there is one, with the update of ``fixed-margin-perceptron`` (``free-length``) or
    ``fixed-length-perceptron``, until the condition holds for all rows, and the point is claimed,
    or until its epochs are used up. Then the step, r / 2 at first, is halved, and added to beta or,
    after a failure, taken from it. A beta that the best point has reached needs no round. The end
    is a step that is a small part of the best margin.

    The second procedure (``relaxed`` > 0) lets a round that has failed at the point a_f continue
    with the update of ``perceptron-with-margin`` until y_k'a > b = beta norm(a_f) for all rows, for
    a part of the epochs. Its point a_s has a margin above b / norm(a_s), which may be the best one
    although the round has failed.

    Rounds have weights too, a = A w, and norm(A w) / <e, w> >= gamma_d: the goal ``margin_ratio``
    can be proved from both sides. With f_t = 1 and a free length, beta norm(a) >= y_k'a makes the
    bound of a round that continues without end come down to beta in the limit, by (2.42), or below.
    So a round is ``hopeless`` as soon as its bound is beta or less, and it is known to be so if
    that of an earlier one is; in the first procedure that changes nothing but the time. How close
    to gamma_d the bounds come depends on the epochs, and is less with a fixed length, which forgets
    old updates.

    On a working set a round sweeps over some of the rows, at first those of least score at the
    mean. Where the condition holds for these, all rows are priced, by one product, and of those for
    which it fails the ones of least score join: epochs are those of the set, and a failure costs
    little. The rows may be sparse, or on disk.

    With a free length a round from another point than 0 has no bound. With a fixed one (2.56) holds
    from all a_0 = A w, w >= 0, since it takes no more than u_0'u > 0: eta_opt is that of the gap
    step / 2, so that a round with beta + step / 2 <= gamma_d does not fail if its epochs are worth
    the updates (2.58).

    With the goal ``decide`` the first point ends the run. ``iterations`` counts the rounds that
    were run, ``products`` a product per m rows looked at; ``notes`` tell how each round ended.

    Parameters
    ----------
    module
        ``free-length`` (default), the paper's choice since it has no rate, or ``fixed-length``.
    factor
        f_t: ``one`` (default), or ``angle`` (2.32).
    epochs
        Epochs of a round at most, 1 or more (default 2000).
    relaxed
        The part of them that is left for the relaxed module, 0 to below 1: 0 (default) is the first
        procedure, 0.5 the second one in equal parts.
    tolerance
        The step at which it ends, as a part of the best margin, between 0 and 1 (default 1e-3).
    rounds
        Rounds at most, 1 to 60 (default 50): it ends without a point if none has succeeded.
    hopeless
        Whether weights end or save rounds (default). Without, every failure takes all its epochs,
        as in the paper.
    working_set
        Whether to sweep over a working set (default: over all rows, which must be dense).
    block
        Number of rows that may join at a time, as a multiple of the dimension, > 0 (default 2);
        twice as many are there at first.

    References
    ----------
    `TsampoukaShaweTaylor`, section 3.
    """

    systems: ClassVar[Systems] = {"runs": "rows", "coordinates: runs": "kernel"}
    guarantee: ClassVar[Guarantee] = Guarantee(
        "",
        "section 3",
        "TsampoukaShaweTaylor",
        note="rounds begin at the best point so far, not at 0",
    )
    uses_oracle: ClassVar[bool] = False
    takes_start: ClassVar[bool] = False

    module: Module = "free-length"
    factor: Factor = "one"
    epochs: Count = 2000
    relaxed: Annotated[float, Field(ge=0, lt=1)] = 0.0
    tolerance: Proportion = 1e-3
    rounds: Annotated[int, Field(ge=1, le=60)] = 50
    hopeless: bool = True
    working_set: bool = False
    block: Positive = 2.0

    def compiled(self, system: ConicSystem, oracles: Oracles) -> Functions:
        """Return the sweeps of both modules."""
        module = fixed_margin_sweep if self.module == "free-length" else fixed_length_sweep
        return (module, margin_sweep) if self.relaxed else (module,)

    def start(self, system: ConicSystem, rng: np.random.Generator) -> BisectionState:
        """Return the state before the first round, which asks for half of the shortest norm."""
        name = registry.name_of("algorithm", self)
        operator = rows_operator(system, name)
        weights = barycentre(system.cone)
        mean = system.combine(weights)
        swept: SweptRows
        if self.working_set:
            most = math.ceil(self.block * system.dimension)
            swept = WorkingRows.least(operator, system.scores(mean), most)
            lengths = operator.row_norms()
        else:
            swept = AllRows(dense_rows(system, name, "set working_set for sparse ones"))
            lengths = np.sqrt(swept.squares)
        half = float(lengths.min()) / 2.0
        zero = np.zeros(system.dimension)
        return BisectionState(
            zero,
            weights=weights,
            phase="round 1",
            swept=swept,
            shortest=2.0 * half,
            longest=float(lengths.max()),
            beta=half,
            width=half,
            best=WeightedPoint(zero, np.zeros(system.cone.size), 0.0),
            upper=system.norm(mean),
        )

    def step(self, system: ConicSystem, state: BisectionState, most: int) -> Step[BisectionState]:
        """Make up to ``most`` updates; claim a point of larger margin, and the best in the end."""
        target, phase = state.updates + most, state.phase
        claim = self._last_claim(system, state) if self._ended(state) else None
        while claim is None and state.updates < target and state.phase == phase:
            if state.trial is None:
                state.trial = self._trial(state)
            trial, examined = state.trial, state.trial.rows_examined
            updates = trial.sweep(target - state.updates)
            state.updates += updates
            system.counters.queries += updates
            system.counters.products += (trial.rows_examined - examined) / system.cone.size
            # Until a round succeeds the result's point is that of the current round
            if not state.best.margin:
                state.point = trial.point
            check_time()
            claim = self._after_sweep(system, state, trial)
        return state, claim

    def _trial(self, state: BisectionState) -> MarginTrial:
        """Return a trial for the margin beta, started at the best point."""
        rate = 1.0
        if self.module == "fixed-length":
            like = FixedLengthPerceptron(beta=state.beta, gap=state.width / 2.0, factor=self.factor)
            rate = like.learning_rate(state.shortest, state.longest)
        budget = self.epochs * (1.0 - self.relaxed)
        angle = self.factor == "angle"
        return MarginTrial(state.beta, state.best, state.swept, self.module, angle, budget, rate)

    def _after_sweep(
        self, system: ConicSystem, state: BisectionState, trial: MarginTrial
    ) -> Claim | None:
        """End or continue the current round after a sweep; claim a point of larger margin."""
        if trial.satisfied:
            return self._satisfied(system, state, trial)
        if trial.bound_check_due:
            bound = trial.bound()
            state.learn(bound, trial, 1.0 - NEWS)
            # The bound by the weights excludes the margin beta: further epochs are in vain
            if self.hopeless and not trial.limit and bound <= trial.beta:
                self._fail(state, trial, "hopeless")
        if state.trial and trial.exhausted:
            self._fail(state, trial, "exhausted")
        return None

    def _satisfied(
        self, system: ConicSystem, state: BisectionState, trial: MarginTrial
    ) -> Claim | None:
        """Compute all scores: extend the working set by violated rows, or end the round."""
        claim: Claim | None = None
        scores = system.scores(trial.point)
        score = system.lowest(scores)
        margin = score / float(np.linalg.norm(trial.point))
        if margin > state.best.margin:
            state.best = WeightedPoint(trial.point.copy(), trial.weights(), margin)
            state.point = state.best.point
            if system.inside(score, scores):
                claim = FeasiblePoint(state.point.copy())
        if not trial.join(scores):
            reached = not trial.limit and margin > 0.0
            state.close("reached" if reached else "exhausted", trial, margin)
            self._choose(state)
        return claim

    def _fail(self, state: BisectionState, trial: MarginTrial, outcome: Outcome) -> None:
        """Change to the relaxed module, or end the round without having reached the margin."""
        if self.relaxed and not trial.limit and trial.point.any():
            trial.relax(self.epochs * self.relaxed)
            state.phase += ", relaxed"
            return
        state.close(outcome, trial)
        self._choose(state)

    def _choose(self, state: BisectionState) -> None:
        """Skip the rounds whose outcome follows from the bounds."""
        while not self._ended(state) and (
            state.beta <= state.best.margin or (self.hopeless and state.beta >= state.upper)
        ):
            state.skip()
        if self._ended(state):
            state.ending = f"the bisection has come to steps of {state.width:.3g}"

    def _ended(self, state: BisectionState) -> bool:
        """Return whether the step is within tolerance or all rounds are used."""
        small = state.width <= self.tolerance * state.best.margin
        return small or len(state.rounds) >= self.rounds

    def _last_claim(self, system: ConicSystem, state: BisectionState) -> Claim:
        """Return the final claim: the best point, or the least bound of the weights."""
        if state.best.margin:
            return FeasiblePoint(state.best.point.copy())
        assert state.weights is not None
        # The claimed bound leaves room for the rounding errors of its proof
        rounding = PROVABLE * system.atom_norm() + system.resolution
        return MarginBelow(state.weights.copy(), (1.0 + 1e-9) * state.upper + rounding)

    def bound(self, facts: Facts) -> Bound:
        """Return no bound: none is stated for rounds that start from another one's point."""
        return Bound(None, self.guarantee.source, self.guarantee.note)
