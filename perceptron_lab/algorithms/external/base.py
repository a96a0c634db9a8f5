"""Base classes of external solvers: those called once, and models trained repeatedly."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from mmap import mmap
from typing import Any, ClassVar, TypeVar

import numpy as np
import scipy.sparse as sp

from perceptron_lab.algorithms.base import AnyAlgorithm, S, SeesAll, State, Step, claim_bound
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core import registry
from perceptron_lab.core.claims import Claim, FeasiblePoint
from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.killable_calls import killable, mapping
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.core.time_limit import TimeIsUp, seconds_left, time_limit
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.system import Counters

_Value = TypeVar("_Value")

QUICK = 20_000
"""Entries of data, and of the cone, up to which solvers are called in this process."""
Rows = FloatArray | sp.csr_array  # Rows as a solver takes them, dense or sparse


class ExternalAlgorithm(SeesAll[S]):
    """An external solver, whose answers are verified like those of all algorithms."""

    guarantee: ClassVar[Guarantee] = Guarantee(
        "", note="a reference solver without a bound in these terms"
    )
    needs_all_entries: ClassVar[bool] = False  # most refuse all matrix blocks
    measures: ClassVar[bool] = True

    def bound(self, facts: Facts) -> Bound:
        """Return no bound: no theorem bounds the number of calls."""
        return Bound(None, type(self).__name__, self.guarantee.note)


@dataclass(kw_only=True)
class SingleAnswerState(State):
    """The point and the weights of the solver's answer, or the reason why there is none."""

    answer: Claim | None = None
    silence: str = ""


class SingleAnswerSolver(ExternalAlgorithm[SingleAnswerState]):
    """A solver that is called once, in a single update, and claims its answer.

    Of large data it works in a process that is killed when the time is up. If it gives up, the run
    ends at its budget, if that is spent, or else with the solver's own reason as a numerical error.
    """

    def start(self, system: ConicSystem, rng: np.random.Generator) -> SingleAnswerState:
        """Return the state at 0, before the solver is called."""
        refuse_other_cones(self, system)
        return SingleAnswerState(np.zeros(system.dimension))

    def step(
        self, system: ConicSystem, state: SingleAnswerState, most: int
    ) -> Step[SingleAnswerState]:
        """Call the solver in the first step; repeat its claim in later ones."""
        if state.silence:
            raise NumericalError(state.silence)
        if state.answer is None:
            state.updates, state.iterations = 1, 1
            state.ending = f"{type(self).__name__} is asked once, and has answered"
            arguments = self, system, state, seconds_left()
            with suppress(TimeIsUp):  # the driver's clock then ends the run
                state, counters = in_time(system, _call_solver, *arguments)
                system.counters.queries = counters.queries
                system.counters.products = counters.products
        return state, state.answer

    @abstractmethod
    def ask(self, system: ConicSystem, state: SingleAnswerState) -> Claim:
        """Run the solver, set the state's point and weights, and return the claim.

        Raises
        ------
        NumericalError
            If the solver gives no answer; the message says why.
        """


def _call_solver(
    solver: SingleAnswerSolver, system: ConicSystem, state: SingleAnswerState, seconds: float
) -> tuple[SingleAnswerState, Counters]:
    """Call a solver; return the state with its answer or failure, and the counters."""
    try:
        with quiet(), time_limit(seconds):
            state.answer = solver.ask(system, state)
    except NumericalError as error:
        state.silence = str(error)
    return state, system.counters


def in_time(system: ConicSystem, function: Callable[..., _Value], *arguments: object) -> _Value:
    """Call a solver's function, in a process that can be killed if the data are large.

    Sparse data of large matrices are large as well: the entries of the cone count as those of the
    data do. Of rows in a file of numpy's format the other process maps the file; other buffers of
    files are used in this one, as a second copy might fill the memory.

    Raises
    ------
    TimeIsUp
        If a time limit ends first.
    """
    data: Any = system.operator.stored if isinstance(system.operator, Matrix) else None
    quick = not _sendable(data) or max(data.size, system.cone.size) <= QUICK
    return function(*arguments) if quick else killable(function, *arguments)


def _sendable(data: object) -> bool:
    """Return whether data can be passed to another process without copying a mapped file."""
    if sp.issparse(data) or ((mapped := mapping(data)) is not None and mapped.mode != "c"):
        return True
    part = data
    while isinstance(part, np.ndarray):
        part = part.base
    return isinstance(data, np.ndarray) and not isinstance(part, mmap)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence a solver's warnings: the verification decides whether its answer is right."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@dataclass(kw_only=True)
class TrainedState(State):
    """The length of the next training, and whether the model has converged."""

    length: int
    trained: bool = False

    def count(self, solver: str, iterations: int, longest: int) -> None:
        """Count a training; double the next length unless the model has converged."""
        self.updates += 1
        self.iterations += iterations
        self.phase = f"at most {self.length} iterations"  # the budget is looked at in between
        self.ending = f"{solver} stopped at its limit of {self.length} iterations"
        if iterations < self.length:
            self.ending = f"{solver} converged after {iterations} iterations"
        self.trained = iterations < self.length or self.length == longest
        self.length = min(2 * self.length, longest)


def stacked(*parts: Rows | sp.csc_array) -> Rows:
    """Return row blocks stacked vertically, sparse if they are sparse."""
    pair: Any = parts
    return sp.csr_array(sp.vstack(pair)) if sp.issparse(parts[0]) else np.vstack(pair)


def refuse_other_cones(algorithm: AnyAlgorithm, system: ConicSystem) -> None:
    """Raise InputError unless the system consists of rows."""
    if not system.cone.of_rows:
        name = registry.name_of("algorithm", algorithm)
        raise InputError(f"{name} separates rows and kernels only; choose another algorithm")


def rows_of(system: ConicSystem) -> Rows:
    """Return the data as the system sees them, scaled: for rows, those of norm 1.

    Sparse ones with indices of 32 bits, where these suffice: most solvers take no others.
    """
    rows = system.matrix.scaled()
    if isinstance(rows, np.ndarray) or max(rows.nnz, *rows.shape) > np.iinfo(np.int32).max:
        return rows
    indices = rows.indices.astype(np.int32, copy=False), rows.indptr.astype(np.int32, copy=False)
    return sp.csr_array((rows.data, *indices), rows.shape)


def supported(system: ConicSystem, state: State, epsilon: float) -> Claim | None:
    """Return the claim that a point with weights allows: a separator, a bound, or None."""
    assert state.weights is not None
    if system.lowest(system.scores(state.point)) > 0.0:
        return FeasiblePoint(state.point.copy())
    small = system.upper(state.weights) <= system.worth(epsilon)
    return claim_bound(system, state.weights, epsilon) if small else None


def claimed(system: ConicSystem, state: State, epsilon: float) -> Claim:
    """Return the claim that a point with weights allows; otherwise the point itself."""
    return supported(system, state, epsilon) or FeasiblePoint(state.point.copy())
