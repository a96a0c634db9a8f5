"""The lower bound as a problem: rows that are chosen against whoever asks."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from perceptron_lab.algorithms.resisting.system import ResistingSystem
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.datasets.generated.generator import GeneratedDataset, plain
from perceptron_lab.datasets.problem import Problem, sha256_of_arrays


@parameter_record
class Resisting(GeneratedDataset):
    """Unit rows of a margin, chosen while an algorithm asks: none makes fewer mistakes than forced.

    A resisting oracle (`Kharechko2009`, section 2.1) answers each query by a row that the point
    violates, <a, y> <= 0, so that the rows have the margin rho in the end, whatever was asked:
    orthogonal planes, in each of which the arc of the directions left is halved by every cut. Every
    algorithm makes ``measure.forced`` mistakes at least: floor(1 / rho^2) where that is at most n,
    else of the order of n ln(1 / rho) (:mod:`perceptron_lab.algorithms.resisting.forced` has the
    theorem).

    Algorithms that learn by cuts at their own points alone ask directly: perceptron, second-order-
    perceptron, winnow, ellipsoid, space-dilation, deterministic-rescaled-perceptron, correlation-
    rescaling. A row that was shown and is violated again is another mistake. All others are run in
    rounds: on the rows shown so far, as a system of its own, until a point is proved, which is the
    next query. The budget is that of all rounds together.

    The instance's name holds its parameters, as in ``resisting-10-0.01`` (dimension, margin).
    Nothing in it is random. ``measure.mistakes`` counts the points answered by a row that they
    violate, ``measure.rounds`` the rounds (0: it asks directly); ``measure.final_margin`` is a
    lower bound of the margin of all rows, at least rho, by the theorem.

    Parameters
    ----------
    dimension
        n, 1 to 1000 (default 10).
    margin
        rho, 1e-9 to 1 (default 0.01): as the double it is, so that for 0.1, which is above a tenth,
        floor(1 / rho^2) = 99.
    """

    dimension: Annotated[int, Field(ge=1, le=1000)] = 10
    margin: Annotated[float, Field(ge=1e-9, le=1)] = 0.01

    @property
    def name(self) -> str:
        """The instance's name, which holds its parameters."""
        return f"resisting-{self.dimension}-{plain(self.margin)}"

    def problem(self, seed: int) -> Problem:
        """Return the system before anything was asked."""
        with self.random(seed, 8 * 32 * self.dimension**2):  # nothing is drawn
            system = ResistingSystem.of_margin(self.dimension, self.margin)
        known = system.adversary.figures
        digest = sha256_of_arrays(np.array([self.dimension, self.margin]), system.adversary.rows)
        return Problem(self.name, system, digest, system.facts(self.margin), lambda point: known)
