"""Streams of examples for online learners, and rows chosen against an algorithm."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, Field

from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.dataset import Defaults, defaulted_with
from perceptron_lab.datasets.generated.generator import GeneratedDataset, plain
from perceptron_lab.datasets.generated.margin_sets import above_margin, random_unit
from perceptron_lab.datasets.problem import Problem, Task, sha256_of_arrays
from perceptron_lab.systems import ConicSystem

STEEPEST = 2**26
"""Largest K for which K + 1/K, the largest weight of the worst case, is a double."""

_DEFAULTS: Defaults = {
    "planted": {"dimension": 20, "rows": 1000, "margin": 0.1, "flipped": 0.0},
    "worst-case": {"steepness": 64},
}


def worst_case_examples(steepness: int) -> tuple[FloatArray, FloatArray]:
    """Return the examples of `PerceptronNotes`, section 3.1, in the order of the notes, and signs.

    Shapes ``(4, 2)`` and ``(4,)``. See
    :func:`perceptron_lab.problems.streams.perceptron.worst_case`.
    """
    examples = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0 / steepness, 1.0]])
    return examples, np.array([1.0, 1.0, -1.0, 1.0])


def is_exact(steepness: int) -> bool:
    """Return whether the perceptron processes the worst case of K without rounding."""
    return 1 <= steepness <= STEEPEST and steepness & (steepness - 1) == 0


def _exact(steepness: int | None) -> int | None:
    if steepness is not None and not is_exact(steepness):
        raise ValueError(
            f"{steepness}; give a power of two from 1 to {STEEPEST}, so that K is exact"
        )
    return steepness


@parameter_record
class Streams(GeneratedDataset):
    """Generated streams of labelled examples, in the order in which they are presented.

    Sought is w with s_i a_i'w > 0, through the origin. The instance's name holds all its
    parameters, as in ``planted-20x1000-0.1-0`` (dimension x rows, margin, share of labels flipped);
    name and seed determine it.

    ``planted``: unit examples with abs(a_i'u) >= margin for a random unit vector u, the labels the
    signs of a_i'u, both equally likely. Of these as many as ``flipped`` says, chosen at random, are
    then turned round: with 0 the stream is separable with this margin at least, so that Theorem 1
    of `PerceptronNotes` allows 1 / margin^2 mistakes at most; with more it is not separable, in
    general, and only Theorem 2 bounds the mistakes. Test examples are as many others, none of their
    labels turned round.

    ``worst-case``: the four examples of `PerceptronNotes`, section 3.1, on which the perceptron
    makes exactly 2 K^2 - 2 K + 5 mistakes in the order given, for K = ``steepness``. Nothing is
    random in it, and the four are its test examples as well.

    Parameters
    ----------
    family
        ``planted`` (default) or ``worst-case``.
    dimension
        Of planted: features, 2 or more (default 20).
    margin
        Of planted, 1e-6 to 0.9 (default 0.1).
    flipped
        Of planted: the share of labels that are turned round, 0 (default) to 0.5.
    steepness
        Of worst-case, the notes' K: a power of two from 1 to 2^26 (default 64).
    rows
        Of planted: examples, 2 or more (default 1000).
    """

    family: Literal["planted", "worst-case"] = "planted"
    dimension: Annotated[int, Field(ge=2, le=100_000)] | None = None
    margin: Annotated[float, Field(ge=1e-6, le=0.9)] | None = None
    flipped: Annotated[float, Field(ge=0, le=0.5)] | None = None
    steepness: Annotated[int | None, AfterValidator(_exact)] = None
    rows: Annotated[int, Field(ge=2, le=10_000_000)] | None = None

    _of_the_family = defaulted_with(
        "family", _DEFAULTS, "dimension", "margin", "flipped", "steepness", "rows"
    )

    @property
    def name(self) -> str:
        """The instance's name, which contains its parameters."""
        if self.dimension is None or self.margin is None or self.flipped is None:
            return f"worst-case-{self.steepness}"
        share = f"{plain(self.margin)}-{plain(self.flipped)}"
        return f"planted-{self.dimension}x{self.rows}-{share}"

    def problem(self, seed: int) -> Problem:
        """Generate the instance."""
        task, point = self._planted(seed) if self.family == "planted" else self._worst_case(seed)
        examples = np.asarray(task.examples)
        system = ConicSystem.from_labelled(examples, task.labels, affine=False)
        arrays = (examples, task.labels, np.asarray(task.test_examples), task.test_labels)
        return self.stated(system, *arrays, point=point, tasks=(task,))

    def _planted(self, seed: int) -> tuple[Task, FloatArray | None]:
        """Return a stream around a random direction, and the direction if no labels are flipped."""
        assert self.dimension is not None
        assert self.margin is not None
        assert self.rows is not None
        count, share = self.rows, self.flipped or 0.0
        with self.random(seed, 16 * self.dimension * count) as rng:
            direction = random_unit(rng, self.dimension)
            # Training and test examples in one draw, so that both have the same distribution.
            rows = above_margin(rng, direction, 2 * count, self.margin)
            signs = rng.permutation(np.where(np.arange(2 * count) % 2 == 0, 1.0, -1.0))
            # An exact number and not a probability, so that instances are comparable.
            turned = rng.choice(count, round(share * count), replace=False)
        examples, labels = signs[:, None] * rows, signs[:count].copy()
        labels[turned] *= -1.0
        task = Task("positive", examples[:count], labels, examples[count:], signs[count:])
        return task, None if len(turned) else direction

    def _worst_case(self, seed: int) -> tuple[Task, FloatArray | None]:
        """Return the four examples, and the shortest consistent w."""
        assert self.steepness is not None
        with self.random(seed, 64):  # nothing is drawn, and a negative seed is refused
            examples, labels = worst_case_examples(self.steepness)
        task = Task("positive", examples, labels, examples, labels)
        return task, np.array([2.0 * self.steepness, -1.0])


@parameter_record
class Resisting(GeneratedDataset):
    """Unit rows of a given margin, chosen against the algorithm so as to force mistakes.

    A resisting oracle (`Kharechko2009`, section 2.1) answers each query by a row that the point
    violates, <a, y> <= 0, so that the rows have the margin rho in the end, whatever was asked:
    orthogonal planes, in each of which the arc of the directions left is halved by every cut. Every
    algorithm makes ``measure.forced`` mistakes at least: floor(1 / rho^2) where that is at most n,
    else of the order of n ln(1 / rho) (:mod:`perceptron_lab.algorithms.resisting.forced` has the
    theorem).

    Algorithms that learn by cuts at their own points alone ask directly: perceptron, second-order-
    perceptron, winnow, ellipsoid, space-dilation, deterministic-rescaled-perceptron, correlation-
    rescaling. A row that was shown and is violated again is another mistake. All others are run in
    rounds: on the rows shown so far, as a separate system, until a point is proved, which is the
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
        """The instance's name, which contains its parameters."""
        return f"resisting-{self.dimension}-{plain(self.margin)}"

    def problem(self, seed: int) -> Problem:
        """Return the system before the first query."""
        # Imported here, so that streams need none of it.
        from perceptron_lab.algorithms.resisting.system import ResistingSystem

        with self.random(seed, 8 * 32 * self.dimension**2):  # nothing is drawn
            system = ResistingSystem.of_margin(self.dimension, self.margin)
        figures = system.adversary.figures
        digest = sha256_of_arrays(np.array([self.dimension, self.margin]), system.adversary.rows)
        return Problem(self.name, system, digest, system.facts(self.margin), lambda point: figures)
