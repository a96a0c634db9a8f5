"""The search of ``auto`` for a separator of a few rows, or weights that prove infeasibility."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from perceptron_lab.algorithms.automatic.sparse_rows import (
    PATH,
    as_stored,
    followed,
    searched,
    stays_sparse,
)
from perceptron_lab.algorithms.interior_point.interior_point import affordable
from perceptron_lab.algorithms.nearest_point.active_set import ActiveSet
from perceptron_lab.algorithms.nearest_point.minimum_norm_point import equal_scores
from perceptron_lab.algorithms.rescaling.rescaled_sweeps import RescaledSweeps, in_single, separates
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.whitening import LARGEST_DIMENSION, PivotedFactor
from perceptron_lab.core.errors import NumericalError, counted
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import TimeIsUp, check_time, time_is_up
from perceptron_lab.numerics.compiled.entropic_separation import EntropicState, carried, separate
from perceptron_lab.numerics.compiled.kernel import RealArray
from perceptron_lab.numerics.compiled.minimum_norm import minimum_norm_point
from perceptron_lab.systems import ConicSystem

FEW = 2.5  # Rows, in units of the dimension, that are not worth steps
# Primal-dual steps between looks at what they have come to: as many as unknowns, within these;
# half of them before the first look, so that a factorisation costs no more than they do
FEWEST_STEPS, STEPS = 50, 100
MOST_STEPS = 400  # Primal-dual steps in one attempt
HOPELESS = 1e-5  # An upper bound of the margin below which primal-dual steps are too many
# Stretches of the space in the first attempt; every further one makes twice as many
FIRST_PATIENCE = 8
MOST_PATIENCE = 2000  # Stretches of the space in one attempt, beyond which doubles cannot go
SHARE = 0.5  # Work of Wolfe's algorithm at most, as a part of that of the sweeps before it
SMALL = 2**19  # Entries of the first rows at most, written out, for which Wolfe's may come first
FEW_TURNS = 10  # Steps of Wolfe's algorithm that are not worth to begin with
AT_ONCE = 2**20  # Multiplications of a factorisation that need not wait for steps to fail
CHEAP = 1e9  # Multiplications of a factorisation that is no more costly than a hundred steps or so
ILL_CONDITIONED = 10.0  # Rows of a larger condition number are whitened


# Whether the search has come to its end, and the separator, if there is one
Settled = tuple[bool, FloatArray | None]


@dataclass
class RowSeparation:
    """A growing set of rows of a system, and the search for y with a'y > 0 for all of them.

    0. Large sparse rows: Newton's method on their squared hinge loss, on the rows as stored
       (:mod:`~perceptron_lab.numerics.compiled.hinge_newton`), which ends with a separator or with
       weights that prove infeasibility; where it ends with neither, by the interior-point method,
       if its normal equations are not too large. What follows is for rows that are written out, for
       sparse ones where that was in vain.
    1. A few steps of Wolfe's algorithm towards the point of least norm in the hull of the first
       rows: they suffice where the rows that matter lie evenly around it, whatever the margin is.
       Where Wolfe's algorithm gets to the end, that point separates the rows; or 0 is in the hull,
       and its weights prove that nothing does; or its margin drowns in rounding, and the active
       rows decide (:mod:`~perceptron_lab.algorithms.nearest_point.active_set`).
    2. Primal-dual steps in single precision, while they are few: they are the fastest where the
       margin is not too small. Ill-conditioned rows are whitened, if the first steps do not
       suffice, small ones before that; from the second failure on Wolfe's algorithm takes turns
       with them.
    3. The rescaled perceptron, in compiled sweeps in single precision: it does not mind small
       margins.
    4. Wolfe's algorithm, for as much work as was spent on 3.
    5. Where it does not get there, the rows are whitened, if they are ill-conditioned and have not
       been.

    From 5 on everything is in double precision, and 3 and 4 take turns, with twice the stretches
    each time.

    ``working`` says which rows of the operator, of norm 1, shape ``(k,)``; ``hull`` are the weights
    of the last point of least norm, shape ``(k,)``; ``patience`` counts the stretches of the space
    in the next attempt; ``steps``, ``newton`` and ``led`` the primal-dual and the Newton steps, and
    those of the interior-point method; ``events`` are the decisions, in words; ``transform``
    whitens the rows.
    """

    operator: Matrix
    working: IntArray
    hull: FloatArray | None = None
    patience: int = FIRST_PATIENCE
    steps: int = 0
    newton: int = 0
    led: int = 0
    events: list[str] = field(default_factory=list)
    transform: FloatArray | None = None
    _tested: bool = False
    _sparse: bool = field(init=False)
    _leading: bool = field(init=False)
    _stepping: bool = field(init=False)
    _reached: FloatArray | None = None
    _single: RealArray | None = None
    _course: EntropicState | None = None
    _swept: RescaledSweeps | None = None
    _given: FloatArray | None = None
    _begun: bool = False
    _nearer: bool = False
    _exact: ActiveSet | None = None

    def __post_init__(self) -> None:
        entries = len(self.working) * self.operator.dimension
        self._leading = self._sparse = entries > SMALL and stays_sparse(self.operator)
        self._stepping = len(self.working) > FEW * self.operator.dimension

    @property
    def given(self) -> FloatArray:
        """The rows in double precision, shape ``(k, n)``."""
        rows = self._given
        if rows is None:
            rows = self.operator.rows(self.working)
        elif len(rows) < len(self.working):
            joining = self.operator.rows(self.working[len(rows) :])
            rows = np.concatenate([rows, joining])
        self._given = rows
        return rows

    @property
    def swept(self) -> RescaledSweeps:
        """The rows in double precision, and in the space in which they are swept."""
        if self._swept is None:
            self._swept = RescaledSweeps(self.given, self.transform)
        elif len(self._swept.given) < len(self.working):
            self._swept.join(self.given)
        return self._swept

    @property
    def summary(self) -> str:
        """The work so far, in words."""
        parts = []
        if self.newton:
            parts.append(f"{counted(self.newton, 'Newton step')} on the squared hinge loss")
        if self.led:
            parts.append(f"{counted(self.led, 'step')} of the interior-point method")
        if self.steps:
            parts.append(f"{counted(self.steps, 'primal-dual step')} in single precision")
        if self._swept is not None:
            digits = "single" if self._swept.precision is np.float32 else "double"
            rescaled = counted(self._swept.stretches, "rescaling")
            parts.append(f"the rescaled perceptron in {digits} precision, with {rescaled}")
        return " and ".join(parts) or "Wolfe's algorithm"

    @property
    def _factoring(self) -> int:
        """The multiplications of a factorisation of the rows."""
        return len(self.working) * self.operator.dimension**2

    @property
    def _steps_at_once(self) -> int:
        return min(STEPS, max(FEWEST_STEPS, self.operator.dimension))

    def join(self, joining: IntArray) -> None:
        """Take more rows in."""
        if not self.steps and len(joining) >= self.operator.dimension:
            self._nearer = False  # so many more: the first few steps were no more than a start
        self.working = np.concatenate([self.working, joining])
        if self.hull is not None:
            self.hull = np.concatenate([self.hull, np.zeros(len(joining))])

    def restart(self) -> None:
        """Restart the search, in double precision from now on."""
        self._leading = self._sparse = self._stepping = False
        self.transform = None
        self._swept = RescaledSweeps(self.given, precision=np.float64)
        self.events.append("sweeps begun again in double precision")

    def separate(self, rng: np.random.Generator, zero: float) -> FloatArray | None:
        """Return y with a'y > 0 for all rows, or None: then norm(A hull) <= zero.

        A numerical error, if neither is found as far as doubles go; TimeIsUp, if not before that.
        The hull is then that of the last weights.
        """
        settled, point = self._by_newton(zero)
        if not settled:
            settled, point = self._by_path(rng, zero)
        if not settled:
            settled, point = self._begin(zero)
        if not settled:
            settled, point = self._stepped(zero)
        while not settled:
            check_time()
            before = self.swept.seen
            point = self.swept.separate(rng, self.patience)
            if point is not None:
                break
            settled, point = self._by_nearest(self._turns(self.swept.seen - before), zero)
            if not settled:
                if self._whiten(self.given):
                    self._swept = RescaledSweeps(self.given, self.transform, np.float64)
                self._persist()
        return point

    def _by_newton(self, zero: float) -> Settled:
        """Seek a separator of sparse rows, or weights; it is left out after the first failure."""
        if not self._sparse:
            return False, None
        run = searched(self.operator, self.working, self._reached, zero)
        self.newton += run.steps
        self._reached = run.point
        if run.separated:
            return True, run.point
        self.events.append(
            f"Newton's method on {counted(len(self.working), 'sparse row')} came to a point of "
            f"their hull of norm {run.length:.1e}"
        )
        if run.length <= zero:
            self.hull = run.weights
            return True, None
        if time_is_up():
            self.hull = run.weights if run.length < math.inf else None
            raise TimeIsUp
        self._sparse = False
        # worth to be written out for steps only where they can be whitened as well
        self._stepping &= self._factoring <= CHEAP
        return False, None

    def _by_path(self, rng: np.random.Generator, zero: float) -> Settled:
        """Seek either in sparse rows along the central path, which minds no small margin."""
        if not self._leading:
            return False, None
        rows = ConicSystem.from_rows(as_stored(self.operator, self.working), margin="directional")
        if not affordable(rows):
            return False, None
        path, length = PATH.start(rows, rng), math.inf
        try:
            point = followed(rows, path, zero)
        except NumericalError:
            point = None
        finally:  # also where the time is up
            assert path.weights is not None
            self.led += path.updates
            self.hull = path.weights / path.weights.sum()
        if point is None:
            length = rows.upper(self.hull)
            self.events.append(
                f"the interior-point method on {counted(len(self.working), 'sparse row')} came to "
                f"a point of their hull of norm {length:.1e}"
            )
        if point is not None or length <= zero:
            return True, point
        self._leading, self.hull = False, None
        return False, None

    def _begin(self, zero: float) -> Settled:
        """Try Wolfe's algorithm on the first rows, or where it has been ahead of the steps."""
        if self._exact is not None:
            point = self._sharpened()
            if point is not None:
                return True, point
        begun, self._begun = self._begun, True
        entries = len(self.working) * self.operator.dimension
        turns = self._turns_beside(entries) if self._nearer else 0
        if not begun and entries <= SMALL:
            turns = 2 * self.operator.dimension
        if turns <= 0:
            return False, None
        self._nearer, point = self._by_nearest(turns, zero)
        return self._nearer, point

    def _stepped(self, zero: float) -> Settled:
        """Seek a separator by primal-dual steps and in turns by Wolfe's algorithm.

        From the first failure on the steps are left out.
        """
        if not self._stepping:
            return False, None
        if self._factoring <= AT_ONCE:
            self._whiten(self.given)
        single = self._in_single()
        if self._course is not None:
            self._course = carried(self._course, single)
        left, first = MOST_STEPS, True
        while left > 0:
            testing = self._factoring <= CHEAP and not self._tested
            most = self._steps_at_once // (2 if testing else 1)
            run = separate(single, most, start=self._course)
            self._course, left = run.course, left - most
            self.steps += run.iterations
            if run.separated:
                return True, run.point if self.transform is None else self.transform @ run.point
            check_time()
            if testing and self._whiten(self.given):
                self._single = self._course = None
                single, left = self._in_single(), MOST_STEPS
                continue
            # more steps once more: they are the faster ones of the two where a margin is not tiny
            turns = 0 if first else self._turns_beside(single.size)
            first = False
            settled, point = self._by_nearest(turns, zero) if turns > FEW_TURNS else (False, None)
            if settled:
                self._nearer = True
                return True, point
            if run.length <= HOPELESS:
                break
        self._stepping, self._single = False, None
        self.events.append(
            f"primal-dual steps did not separate {counted(len(self.working), 'row')}: the rescaled "
            "perceptron continued"
        )
        return False, None

    def _turns_beside(self, entries: int) -> int:
        """Return the number of iterations of Wolfe's algorithm that cost as much as some steps.

        A step takes two multiplications an entry, in single precision; a turn prices all rows now
        and then, and goes over its triangular factor a few times. To begin, that is built again.
        """
        dimension, rows = self.operator.dimension, len(self.working)
        carrying = 0 if self.hull is None else int(np.count_nonzero(self.hull))
        work = self._steps_at_once * entries - 1.5 * carrying**2 * dimension
        return int(work / (rows * dimension / 4 + 4 * dimension**2))

    def _in_single(self) -> RealArray:
        """Return the rows in the space of the steps."""
        written = self.given if self.transform is not None else None
        source = self.operator, self.working, self.transform
        self._single = in_single(*source, converted=self._single, written=written)
        return self._single

    def _turns(self, products: int) -> int:
        """Return the turns of Wolfe's algorithm that are due after sweeps over so many rows."""
        dimension = self.operator.dimension
        if self.swept.stretches < self.patience:
            return 4 * dimension
        return max(100, round(SHARE * products / dimension))

    def _by_nearest(self, turns: int, zero: float) -> Settled:
        """Continue towards the point of least norm in the hull, for so many turns.

        Returns whether that settles it, and the separator if there is one.
        """
        nearest, self.hull, steps = minimum_norm_point(self.given, turns, self.hull, separator=True)
        length = float(np.linalg.norm(nearest))
        self.events.append(
            f"{counted(steps, 'step')} of Wolfe's algorithm on {counted(len(self.given), 'row')}: "
            f"the point of their hull nearest to 0 has norm {length:.1e}"
        )
        if separates(self.given, nearest):
            return True, nearest
        if length <= zero:
            return True, None
        check_time()
        if steps < turns:
            even = equal_scores(self.given[self.hull > 0.0])
            if separates(self.given, even):
                self.events.append("the point of equal scores on the rows that carry it separates")
                return True, even
            point = self._sharpened()
            if point is not None or np.linalg.norm(self.hull @ self.given) <= zero:
                return True, point
        return False, None

    def _whiten(self, rows: FloatArray) -> bool:
        """Choose the map that whitens the rows if they are ill-conditioned; it is tried once."""
        dimension = self.operator.dimension
        if self._tested or dimension > LARGEST_DIMENSION:
            return False
        self._tested = True
        check_time(2.0 * self._factoring)
        factor = PivotedFactor.of_gram(rows)
        if factor.condition <= ILL_CONDITIONED:
            return False
        self.transform = factor.inverse()
        self.events.append(
            f"the rows have condition number {factor.condition:.0e} and rank {len(factor.kept)} of "
            f"{dimension}: they were whitened"
        )
        return True

    def _sharpened(self) -> FloatArray | None:
        """Return the separator of largest margin, or None; the hull may have turned out to be 0."""
        assert self.hull is not None
        rows, carrying = self.given, np.flatnonzero(self.hull)
        exact, self._exact = self._exact or ActiveSet(carrying, rows[carrying]), None
        exact.enter(rows, np.arange(len(rows)))
        if exact.vanishing:
            self.hull = np.zeros(len(rows))
            np.add.at(self.hull, exact.active, exact.multipliers / exact.multipliers.sum())
            self.events.append("a convex combination of the rows is 0")
        elif separates(rows, exact.point):
            self.events.append(f"the largest margin of these rows is {1.0 / exact.length:.1e}")
            self._exact = exact  # for when more rows join
            return exact.point
        return None

    def _persist(self) -> None:
        """Prepare a longer attempt."""
        if self.patience > MOST_PATIENCE:
            assert self.hull is not None
            length = float(np.linalg.norm(self.hull @ self.given))
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
    """Return the distance below which a point of the hull of unit rows counts as 0."""
    return float(1e-13 * np.sqrt(dimension))
