"""The options of one run, passed as one record from ``solve`` or an experiment's cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Protocol

import numpy.typing as npt
from pydantic import AfterValidator, BaseModel, ConfigDict

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.goals import Budget, Goal
from perceptron_lab.core.refusals import STRICT, Count
from perceptron_lab.core.results import FloatArray, Trace

Observe = Callable[[FloatArray], Mapping[str, Any]]  # A function of a point, for the trace
Watch = Callable[[Trace], None]  # Called with the trace whenever it has a new record
Stop = Callable[[], str | None]  # Called between chunks of steps; a text is the reason to end


def callbacks(watch: Watch | None, stop: Stop | None) -> tuple[Watch | None, Stop | None]:
    """Return both callbacks, with StopIteration from ``watch`` turned into a reason to stop.

    The text of the exception is the reason, as in scipy.optimize; all others pass. What ``stop``
    returns is refused unless it is None or a text.
    """
    if watch is None and stop is None:
        return None, None
    ended: list[str] = []

    def watching(trace: Trace) -> None:
        try:
            if watch is not None:
                watch(trace)
        except StopIteration as end:
            # Kept until the loop asks, because an exception here would lose the point of the run
            ended.append(str(end) or "watch raised StopIteration")

    def stopping() -> str | None:
        reason = None if stop is None else stop()
        # True would be a natural answer too, but gives no reason for the message
        if not isinstance(reason, str | None):
            raise InputError(f"stop returned {reason!r}; return None, or a text to end the run")
        return ended[0] if ended else reason

    return watch and watching, stopping


class Oracle(Protocol):
    """A record of :mod:`perceptron_lab.cones.oracles`: how the blocks of one kind are separated."""

    @property
    def kind(self) -> str:
        """The kind of cone."""
        ...


def without_repeats(noun: str) -> AfterValidator:
    """Return a validator that refuses repeated numbers; ``noun`` names them."""

    def check(numbers: Sequence[int]) -> Sequence[int]:
        repeated = [number for index, number in enumerate(numbers) if number in numbers[:index]]
        if repeated:
            raise ValueError(
                f"the {noun} {repeated[0]} is listed twice; allowed: different {noun}s"
            )
        return numbers

    return AfterValidator(check)


class TraceOptions(BaseModel):
    """Additional records and values of a trace; each field is a key of configurations.

    Parameters
    ----------
    trace_measures
        Whether every record of a trace holds the problem's own measures of its point.
    trace_cuts
        Whether it holds number, mean norm and mean depth of the cuts since the record before.
    record_at
        Updates at which the trace has a record, in addition to the first, the last, the powers of
        two and the beginnings of phases; 1 or more each, none twice.
    """

    model_config = STRICT | ConfigDict(frozen=True)

    trace_measures: bool = False
    trace_cuts: bool = False
    record_at: Annotated[list[Count], without_repeats("update")] = []

    @property
    def trace_options(self) -> TraceOptions:
        """The trace options among the fields of this record."""
        return TraceOptions(**{name: getattr(self, name) for name in TraceOptions.model_fields})

    def covers(self, other: TraceOptions) -> bool:
        """Return whether a trace with these options contains everything the others request."""
        return all(
            # More records than requested do no harm
            set(requested) <= set(present)
            if isinstance(requested, list)
            else requested in (False, present)
            for (_, requested), (_, present) in zip(other, self, strict=True)
        )


@dataclass(frozen=True)
class RunOptions:
    """The options of a run; see :func:`perceptron_lab.solving.entry.solve`.

    Parameters
    ----------
    oracles
        At most one per kind of cone; each cone has a default.
    goal, budget, seed, start, facts, observe, watch, stop
        As for ``solve``.
    trace
        Additional records and values of the trace.
    """

    oracles: Sequence[Oracle] = ()
    goal: Goal = "decide"
    budget: Budget = field(default_factory=Budget)
    seed: int = 0
    start: npt.ArrayLike | None = None
    facts: Facts | None = None
    trace: TraceOptions = field(default_factory=TraceOptions)
    observe: Observe | None = None
    watch: Watch | None = None
    stop: Stop | None = None
