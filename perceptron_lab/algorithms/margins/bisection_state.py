"""The rounds of a bisection for the largest margin, and what is known between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from perceptron_lab.algorithms.base import State
from perceptron_lab.algorithms.margins.bisection_trial import MarginTrial, SweptRows, WeightedPoint

Outcome = Literal["reached", "exhausted", "hopeless", "known"]


class Round(NamedTuple):
    """A round: the margin asked for, and how it ended.

    ``reached``: the point has the margin ``margin`` > beta. ``exhausted``: the epochs were used up.
    ``hopeless``: the weights show that no point has the margin beta. ``known``: it was not run,
    since one of the two was known of beta before. ``margin`` is that of the relaxed module's point
    where beta was not reached, 0 where there is none; ``bound`` is that of the round's weights.
    Epochs are those of ``rows`` rows.
    """

    number: int
    beta: float
    outcome: Outcome
    margin: float
    bound: float
    epochs: float
    rows: int
    updates: int

    def __str__(self) -> str:
        how = f"round {self.number}: beta {self.beta:.6g}"
        if self.outcome == "known":
            return f"{how}, known before"
        found = f", margin {self.margin:.6g}" if self.margin else ""
        took = f"{self.epochs:.4g} epochs of {self.rows} rows"
        return f"{how} {self.outcome}{found} in {took}, bound {self.bound:.6g}"


@dataclass(kw_only=True)
class BisectionState(State):
    """The margin asked for, the step, the best point with its margin, and the least bound.

    ``point`` is the best point, or until there is one that of the round; ``weights`` are those of
    the least bound ``upper`` = norm(A w) / <e, w> so far, but for news of a thousandth.
    """

    swept: SweptRows
    shortest: float
    longest: float
    beta: float
    width: float
    best: WeightedPoint
    upper: float
    trial: MarginTrial | None = None
    rounds: list[Round] = field(default_factory=list)

    def learn(self, bound: float, trial: MarginTrial, part: float = 1.0) -> None:
        """Show the weights of a round if their bound is below this part of the least one."""
        if bound < part * self.upper:
            self.upper, self.weights = bound, trial.weights()

    def close(self, outcome: Outcome, trial: MarginTrial, margin: float = 0.0) -> None:
        """End the round under way, and choose the next beta."""
        bound, rows = trial.bound(), len(trial.swept.rows)
        self.learn(bound, trial)
        self._add(outcome, margin, bound, trial.seen / rows, rows, trial.updates)
        self.iterations += 1
        self.trial = None

    def skip(self) -> None:
        """Leave a round out of which it is known how it would end."""
        self._add("known", 0.0, self.upper, 0.0, 0, 0)

    def _add(
        self, outcome: Outcome, margin: float, bound: float, epochs: float, rows: int, updates: int
    ) -> None:
        number = len(self.rounds) + 1
        ended = Round(number, self.beta, outcome, margin, bound, epochs, rows, updates)
        self.rounds.append(ended)
        self.notes.append(str(ended))
        higher = outcome == "reached" or self.beta <= self.best.margin
        self.width /= 2.0
        self.beta += self.width if higher else -self.width
        self.phase = f"round {number + 1}"
