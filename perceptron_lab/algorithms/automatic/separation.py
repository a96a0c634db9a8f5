"""The search of ``auto`` for a separator of a working set, or for weights with A w near 0."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from perceptron_lab.algorithms.automatic.sparse_rows import (
    PATH,
    as_stored,
    newton_search,
    path_separator,
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

    ``working`` holds the indices of the rows of norm 1, shape ``(k,)``. ``hull`` holds the weights
    of the last point of least norm, shape ``(k,)``. ``patience`` is the number of stretches of the
    space in the next attempt. ``steps``, ``newton_steps`` and ``path_steps`` count the primal-dual
    steps, the Newton steps and the steps of the interior-point method. ``events`` are the decisions
    in words, and ``transform`` is the matrix that whitens the rows.
    """

    operator: Matrix
    working: IntArray
    hull: FloatArray | None = None
    patience: int = FIRST_PATIENCE
    steps: int = 0
    newton_steps: int = 0
    path_steps: int = 0
    events: list[str] = field(default_factory=list)
    transform: FloatArray | None = None
    _condition_tested: bool = False
    _tries_newton: bool = field(init=False)
    _tries_path: bool = field(init=False)
    _tries_steps: bool = field(init=False)
    _newton_point: FloatArray | None = None
    _single_rows: RealArray | None = None
    _step_state: EntropicState | None = None
    _sweeps: RescaledSweeps | None = None
    _rows: FloatArray | None = None
    _wolfe_tried: bool = False
    _wolfe_ahead: bool = False
    _active_set: ActiveSet | None = None

    def __post_init__(self) -> None:
        entries = len(self.working) * self.operator.dimension
        self._tries_path = self._tries_newton = entries > SMALL and stays_sparse(self.operator)
        self._tries_steps = len(self.working) > FEW * self.operator.dimension

    @property
    def rows(self) -> FloatArray:
        """The rows in double precision, shape ``(k, n)``."""
        rows = self._rows
        if rows is None:
            rows = self.operator.rows(self.working)
        elif len(rows) < len(self.working):
            joining = self.operator.rows(self.working[len(rows) :])
            rows = np.concatenate([rows, joining])
        self._rows = rows
        return rows

    @property
    def sweeps(self) -> RescaledSweeps:
        """The rescaled perceptron on the working rows, extended by rows that have joined."""
        if self._sweeps is None:
            self._sweeps = RescaledSweeps(self.rows, self.transform)
        elif len(self._sweeps.rows) < len(self.working):
            self._sweeps.join(self.rows)
        return self._sweeps

    @property
    def summary(self) -> str:
        """The methods used so far with their step counts, as text."""
        parts = []
        if self.newton_steps:
            parts.append(f"{counted(self.newton_steps, 'Newton step')} on the squared hinge loss")
        if self.path_steps:
            parts.append(f"{counted(self.path_steps, 'step')} of the interior-point method")
        if self.steps:
            parts.append(f"{counted(self.steps, 'primal-dual step')} in single precision")
        if self._sweeps is not None:
            digits = "single" if self._sweeps.precision is np.float32 else "double"
            rescaled = counted(self._sweeps.stretches, "rescaling")
            parts.append(f"the rescaled perceptron in {digits} precision, with {rescaled}")
        return " and ".join(parts) or "Wolfe's algorithm"

    @property
    def _factoring(self) -> int:
        """The number of multiplications of a QR factorisation of the working rows."""
        return len(self.working) * self.operator.dimension**2

    @property
    def _steps_at_once(self) -> int:
        """The number of primal-dual steps between two checks."""
        return min(STEPS, max(FEWEST_STEPS, self.operator.dimension))

    def join(self, joining: IntArray) -> None:
        """Add rows to the working set, with weight 0."""
        if not self.steps and len(joining) >= self.operator.dimension:
            self._wolfe_ahead = False  # so many more: the first few steps were no more than a start
        self.working = np.concatenate([self.working, joining])
        if self.hull is not None:
            self.hull = np.concatenate([self.hull, np.zeros(len(joining))])

    def restart(self) -> None:
        """Restart the search, in double precision from now on."""
        self._tries_path = self._tries_newton = self._tries_steps = False
        self.transform = None
        self._sweeps = RescaledSweeps(self.rows, precision=np.float64)
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
            settled, point = self._try_wolfe_first(zero)
        if not settled:
            settled, point = self._by_primal_dual(zero)
        while not settled:
            check_time()
            before = self.sweeps.rows_examined
            point = self.sweeps.separate(rng, self.patience)
            if point is not None:
                break
            settled, point = self._by_wolfe(
                self._turns_after_sweeps(self.sweeps.rows_examined - before), zero
            )
            if not settled:
                if self._whiten(self.rows):
                    self._sweeps = RescaledSweeps(self.rows, self.transform, np.float64)
                self._extend_patience()
        return point

    def _by_newton(self, zero: float) -> Settled:
        """Minimise the squared hinge loss of sparse rows; not repeated after its first failure."""
        if not self._tries_newton:
            return False, None
        run = newton_search(self.operator, self.working, self._newton_point, zero)
        self.newton_steps += run.steps
        self._newton_point = run.point
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
        self._tries_newton = False
        # worth to be written out for steps only where they can be whitened as well
        self._tries_steps &= self._factoring <= CHEAP
        return False, None

    def _by_path(self, rng: np.random.Generator, zero: float) -> Settled:
        """Run the interior-point method on sparse rows; it is insensitive to small margins."""
        if not self._tries_path:
            return False, None
        rows = ConicSystem.from_rows(as_stored(self.operator, self.working), margin="directional")
        if not affordable(rows):
            return False, None
        path, length = PATH.start(rows, rng), math.inf
        try:
            point = path_separator(rows, path, zero)
        except NumericalError:
            point = None
        finally:  # also where the time is up
            assert path.weights is not None
            self.path_steps += path.updates
            self.hull = path.weights / path.weights.sum()
        if point is None:
            length = rows.upper(self.hull)
            self.events.append(
                f"the interior-point method on {counted(len(self.working), 'sparse row')} came to "
                f"a point of their hull of norm {length:.1e}"
            )
        if point is not None or length <= zero:
            return True, point
        self._tries_path, self.hull = False, None
        return False, None

    def _try_wolfe_first(self, zero: float) -> Settled:
        """Run Wolfe's algorithm on a small first set, or where it was faster than the steps."""
        if self._active_set is not None:
            point = self._largest_margin_point()
            if point is not None:
                return True, point
        begun, self._wolfe_tried = self._wolfe_tried, True
        entries = len(self.working) * self.operator.dimension
        turns = self._affordable_turns(entries) if self._wolfe_ahead else 0
        if not begun and entries <= SMALL:
            turns = 2 * self.operator.dimension
        if turns <= 0:
            return False, None
        self._wolfe_ahead, point = self._by_wolfe(turns, zero)
        return self._wolfe_ahead, point

    def _by_primal_dual(self, zero: float) -> Settled:
        """Alternate primal-dual steps in single precision with Wolfe's algorithm.

        From the first failure on the steps are left out.
        """
        if not self._tries_steps:
            return False, None
        if self._factoring <= AT_ONCE:
            self._whiten(self.rows)
        single = self._in_single()
        if self._step_state is not None:
            self._step_state = carried(self._step_state, single)
        left, first = MOST_STEPS, True
        while left > 0:
            testing = self._factoring <= CHEAP and not self._condition_tested
            most = self._steps_at_once // (2 if testing else 1)
            run = separate(single, most, start=self._step_state)
            self._step_state, left = run.state, left - most
            self.steps += run.iterations
            if run.separated:
                return True, run.point if self.transform is None else self.transform @ run.point
            check_time()
            if testing and self._whiten(self.rows):
                self._single_rows = self._step_state = None
                single, left = self._in_single(), MOST_STEPS
                continue
            # more steps once more: they are the faster ones of the two where a margin is not tiny
            turns = 0 if first else self._affordable_turns(single.size)
            first = False
            settled, point = self._by_wolfe(turns, zero) if turns > FEW_TURNS else (False, None)
            if settled:
                self._wolfe_ahead = True
                return True, point
            if run.length <= HOPELESS:
                break
        self._tries_steps, self._single_rows = False, None
        self.events.append(
            f"primal-dual steps did not separate {counted(len(self.working), 'row')}: the rescaled "
            "perceptron continued"
        )
        return False, None

    def _affordable_turns(self, entries: int) -> int:
        """Return the turns of Wolfe's algorithm that cost as much as a batch of steps.

        A step takes two multiplications an entry, in single precision; a turn prices all rows now
        and then, and goes over its triangular factor a few times. To begin, that is built again.
        """
        dimension, rows = self.operator.dimension, len(self.working)
        carrying = 0 if self.hull is None else int(np.count_nonzero(self.hull))
        work = self._steps_at_once * entries - 1.5 * carrying**2 * dimension
        return int(work / (rows * dimension / 4 + 4 * dimension**2))

    def _in_single(self) -> RealArray:
        """Return the whitened working rows in single precision, for the primal-dual steps."""
        written = self.rows if self.transform is not None else None
        source = self.operator, self.working, self.transform
        self._single_rows = in_single(*source, converted=self._single_rows, written=written)
        return self._single_rows

    def _turns_after_sweeps(self, products: int) -> int:
        """Return the turns of Wolfe's algorithm that follow sweeps with this many row products."""
        dimension = self.operator.dimension
        if self.sweeps.stretches < self.patience:
            return 4 * dimension
        return max(100, round(SHARE * products / dimension))

    def _by_wolfe(self, turns: int, zero: float) -> Settled:
        """Run a number of turns of Wolfe's algorithm for the point of least norm in the hull.

        Returns whether that settles it, and the separator if there is one.
        """
        nearest, self.hull, steps = minimum_norm_point(self.rows, turns, self.hull, separator=True)
        length = float(np.linalg.norm(nearest))
        self.events.append(
            f"{counted(steps, 'step')} of Wolfe's algorithm on {counted(len(self.rows), 'row')}: "
            f"the point of their hull nearest to 0 has norm {length:.1e}"
        )
        if separates(self.rows, nearest):
            return True, nearest
        if length <= zero:
            return True, None
        check_time()
        if steps < turns:
            even = equal_scores(self.rows[self.hull > 0.0])
            if separates(self.rows, even):
                self.events.append("the point of equal scores on the rows that carry it separates")
                return True, even
            point = self._largest_margin_point()
            if point is not None or np.linalg.norm(self.hull @ self.rows) <= zero:
                return True, point
        return False, None

    def _whiten(self, rows: FloatArray) -> bool:
        """Whiten the rows if their condition number is large; the condition is tested once."""
        dimension = self.operator.dimension
        if self._condition_tested or dimension > LARGEST_DIMENSION:
            return False
        self._condition_tested = True
        check_time(2.0 * self._factoring)
        factor = PivotedFactor.of_gram(rows)
        if factor.condition <= ILL_CONDITIONED:
            return False
        self.transform = factor.inverse()
        self.events.append(
            f"the rows have condition number {factor.condition:.0e} and rank "
            f"{len(factor.pivot_columns)} of {dimension}: they were whitened"
        )
        return True

    def _largest_margin_point(self) -> FloatArray | None:
        """Return the separator of largest margin, or None; then the hull may contain 0."""
        assert self.hull is not None
        rows, carrying = self.rows, np.flatnonzero(self.hull)
        exact, self._active_set = self._active_set or ActiveSet(carrying, rows[carrying]), None
        exact.enter(rows, np.arange(len(rows)))
        if exact.vanishing:
            self.hull = np.zeros(len(rows))
            np.add.at(self.hull, exact.active, exact.multipliers / exact.multipliers.sum())
            self.events.append("a convex combination of the rows is 0")
        elif separates(rows, exact.point):
            self.events.append(f"the largest margin of these rows is {1.0 / exact.length:.1e}")
            self._active_set = exact  # for when more rows join
            return exact.point
        return None

    def _extend_patience(self) -> None:
        """Double the number of stretches of the next attempt, and change to double precision."""
        if self.patience > MOST_PATIENCE:
            assert self.hull is not None
            length = float(np.linalg.norm(self.hull @ self.rows))
            raise NumericalError(
                f"{counted(len(self.working), 'row')} not separated after "
                f"{counted(self.sweeps.stretches, 'rescaling')}, and their hull is {length:.1e} "
                "from 0: the margin is beyond double precision here"
            )
        self.patience *= 2
        if self.sweeps.precision is np.float32:
            self._sweeps = self.sweeps.in_double()
            self.events.append("from here on in double precision")


def rounding(dimension: int) -> float:
    """Return the norm below which a point of the hull of unit rows is treated as 0."""
    return float(1e-13 * np.sqrt(dimension))
