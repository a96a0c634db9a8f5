"""A separator of a few rows, or weights that show that there is none: the search of `auto`."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from perceptron_lab.algorithms.nearest_point.active_set import ActiveSet
from perceptron_lab.algorithms.rescaling.rescaled_sweeps import SweptRows, imaged, separates
from perceptron_lab.compiled.entropic_separation import Course, carried, separate
from perceptron_lab.compiled.minimum_norm import minimum_norm_point
from perceptron_lab.errors import NumericalError, counted
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.operators.whitening import LARGEST_DIMENSION, Whitening
from perceptron_lab.results import FloatArray, IntArray

FEW = 2.5  # Rows, in units of the dimension, that are not worth primal-dual steps
STEPS = 100  # Primal-dual steps between looks at what they have come to
MOST_STEPS = 400  # Primal-dual steps in one attempt
HOPELESS = 1e-5  # An upper bound of the margin below which primal-dual steps are too many
# Stretches of the space in the first attempt; every further one makes twice as many
FIRST_PATIENCE = 8
MOST_PATIENCE = 2000  # Stretches of the space in one attempt, beyond which doubles cannot go
SHARE = 0.5  # Work of Wolfe's algorithm at most, as a part of that of the sweeps before it
CHEAP = 1e9  # Multiplications of a factorisation that is no more costly than a hundred steps or so
ILL_CONDITIONED = 10.0  # Rows of a larger condition number are whitened
_CHUNK = 2**17  # Entries that are converted to single precision at a time


@dataclass
class Separation:
    """Rows of a system, more of which may join, and the search for y with a'y > 0 for all of them.

    1. Primal-dual steps in single precision, while they are few: they are the fastest where the
       margin is not too small. If the first ones do not suffice and the rows are ill-conditioned,
       the rows are whitened.
    2. The rescaled perceptron, in compiled sweeps in single precision: it does not mind small
       margins.
    3. Wolfe's algorithm towards the point of least norm in the hull, for as much work as was spent
       on 2. Where it gets there, that point separates the rows; or 0 is in the hull, and its
       weights prove that nothing does; or its margin drowns in rounding, and the active rows decide
       (:mod:`~perceptron_lab.algorithms.nearest_point.active_set`).
    4. Where it does not get there, the rows are whitened, if they are ill-conditioned and have not
       been.

    From 4 on everything is in double precision, and 2 and 3 take turns, with twice the stretches
    each time.

    ``working`` says which rows of the operator, of norm 1, shape ``(k,)``; ``hull`` are the weights
    of the last point of least norm, shape ``(k,)``; ``patience`` counts the stretches of the space
    in the next attempt; ``events`` are the decisions, in words; ``transform`` whitens the rows.
    """

    operator: Matrix
    working: IntArray
    hull: FloatArray | None = None
    patience: int = FIRST_PATIENCE
    steps: int = 0
    events: list[str] = field(default_factory=list)
    transform: FloatArray | None = None
    _tested: bool = False
    _single: npt.NDArray[np.float32] | None = field(init=False)
    _course: Course | None = None
    _swept: SweptRows | None = None

    def __post_init__(self) -> None:
        few = len(self.working) <= FEW * self.operator.dimension
        self._single = None if few else self._in_single(self.working)

    @property
    def swept(self) -> SweptRows:
        """The rows in double precision, and in the space in which they are swept."""
        if self._swept is None:
            self._swept = SweptRows(self.operator.rows(self.working), self.transform)
        return self._swept

    @property
    def summary(self) -> str:
        """The work so far, in words."""
        steps = counted(self.steps, "primal-dual step")
        parts = [f"{steps} in single precision"] if self.steps else []
        if self._swept is not None:
            digits = "single" if self._swept.precision is np.float32 else "double"
            rescaled = counted(self._swept.stretches, "rescaling")
            parts.append(f"the rescaled perceptron in {digits} precision, with {rescaled}")
        return " and ".join(parts)

    def join(self, joining: IntArray) -> None:
        """Take more rows in."""
        self.working = np.concatenate([self.working, joining])
        if self._single is not None:
            self._single = np.concatenate([self._single, self._in_single(joining)])
        if self._swept is not None:
            self._swept.join(self.operator.rows(joining))
        if self.hull is not None:
            self.hull = np.concatenate([self.hull, np.zeros(len(joining))])

    def restart(self) -> None:
        """Search anew, in double precision from now on."""
        self._single = self.transform = None
        self._swept = SweptRows(self.swept.given, precision=np.float64)
        self.events.append("sweeps begun again in double precision")

    def separate(self, rng: np.random.Generator, zero: float) -> FloatArray | None:
        """Return y with a'y > 0 for all rows, or None: then norm(A hull) <= zero.

        A numerical error, if neither is found as far as doubles go.
        """
        point = self._stepped()
        while point is None:
            before = self.swept.seen
            point = self.swept.separate(rng, self.patience)
            if point is not None:
                break
            nearest, optimal = self._nearest(self.swept.seen - before)
            if separates(self.swept.given, nearest):
                return nearest
            length = float(np.linalg.norm(nearest))
            if length <= zero:
                return None
            if optimal:
                point = self._sharpened()
                assert self.hull is not None
                if point is not None or np.linalg.norm(self.hull @ self.swept.given) <= zero:
                    return point
            if self._whiten(self.swept.given):
                self._swept = SweptRows(self.swept.given, self.transform, np.float64)
            self._persist(length)
        return point

    def _stepped(self) -> FloatArray | None:
        """Return a separator by primal-dual steps, unproved, or None from the first failure on."""
        if self._single is None:
            return None
        if self._course is not None:
            self._course = carried(self._course, self._single)
        left = MOST_STEPS
        while left > 0:
            run = separate(self._single, STEPS, start=self._course)
            self._course, left = run.course, left - STEPS
            self.steps += run.iterations
            if run.separated:
                return run.point if self.transform is None else self.transform @ run.point
            cheap = len(self.working) * self.operator.dimension**2 <= CHEAP
            if cheap and not self._tested and self._whiten(self.operator.rows(self.working)):
                self._single, self._course = self._in_single(self.working), None
                left = MOST_STEPS
            elif run.length <= HOPELESS:
                break
        self._single = None
        self.events.append(
            f"primal-dual steps did not separate {counted(len(self.working), 'row')}: the rescaled "
            "perceptron went on"
        )
        return None

    def _in_single(self, indices: IntArray) -> npt.NDArray[np.float32]:
        """Return some rows in the space of the steps; never all of them in double precision."""
        dimension = self.operator.dimension if self.transform is None else self.transform.shape[1]
        single = np.empty((len(indices), dimension), np.float32)
        step = max(1, _CHUNK // self.operator.dimension)
        for first in range(0, len(indices), step):
            at = slice(first, first + step)
            single[at] = imaged(self.operator.rows(indices[at]), self.transform)
        return single

    def _nearest(self, seen: int) -> tuple[FloatArray, bool]:
        """Go on towards the point of least norm; return it and whether it was reached."""
        rows, dimension = self.swept.given, self.operator.dimension
        stuck = self.swept.stretches < self.patience
        turns = 4 * dimension if stuck else max(100, round(SHARE * seen / dimension))
        nearest, self.hull, made = minimum_norm_point(rows, turns, self.hull, separator=True)
        self.events.append(
            f"{counted(made, 'step')} of Wolfe's algorithm on {counted(len(rows), 'row')}: the "
            f"point of their hull nearest to 0 has norm {np.linalg.norm(nearest):.1e}"
        )
        return nearest, made < turns

    def _whiten(self, rows: FloatArray) -> bool:
        """Choose the map that whitens the rows if they are ill-conditioned; it is tried once."""
        dimension = self.operator.dimension
        if self._tested or dimension > LARGEST_DIMENSION:
            return False
        self._tested = True
        whitening = Whitening(Matrix(rows), np.ones(len(rows)), unit=True)
        if whitening.condition <= ILL_CONDITIONED:
            return False
        self.transform = whitening.map
        rank, condition = whitening.map.shape[1], whitening.condition
        self.events.append(
            f"the rows have condition number {condition:.0e} and rank {rank} of {dimension}: they "
            "were whitened"
        )
        return True

    def _sharpened(self) -> FloatArray | None:
        """Return the separator of largest margin, or None; the hull may have turned out to be 0."""
        assert self.hull is not None
        rows, carrying = self.swept.given, np.flatnonzero(self.hull)
        exact = ActiveSet(carrying, rows[carrying])
        exact.enter(rows, np.arange(len(rows)))
        if exact.vanishing:
            self.hull = np.zeros(len(rows))
            np.add.at(self.hull, exact.active, exact.multipliers / exact.multipliers.sum())
            self.events.append("a convex combination of the rows is 0")
        elif separates(rows, exact.point):
            self.events.append(f"the largest margin of these rows is {1.0 / exact.length:.1e}")
            return exact.point
        return None

    def _persist(self, length: float) -> None:
        """Prepare a longer attempt."""
        if self.patience > MOST_PATIENCE:
            raise NumericalError(
                f"{counted(len(self.working), 'row')} not separated after "
                f"{counted(self.swept.stretches, 'rescaling')}, and their hull is {length:.1e} "
                "from 0: the margin is beyond double precision here"
            )
        self.patience *= 2
        if self.swept.precision is np.float32:
            self._swept = self.swept.in_double()
            self.events.append("from here on in double precision")


def rounding(dimension: int) -> float:
    """Return how close to 0 a point of the hull of unit rows must be not to be told from it."""
    return float(1e-13 * np.sqrt(dimension))
