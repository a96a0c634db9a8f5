"""Names of a user's own: what they stand for is checked, and tried on a small system, at once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from perceptron_lab.algorithms.advance import advance
from perceptron_lab.algorithms.base import Algorithm, State
from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError, InputError, PlabError
from perceptron_lab.core.records import fault_of, needed_of
from perceptron_lab.core.registry import Target
from perceptron_lab.core.results import Bound
from perceptron_lab.datasets.dataset import Dataset
from perceptron_lab.estimators.learners.learning import Learner
from perceptron_lab.problems.optima.optimiser import Optimiser
from perceptron_lab.solving.failures import sentence
from perceptron_lab.systems import ConicSystem


def register(kind: str, name: str, target: Target) -> None:
    """Add a user's own algorithm, dataset, table, ... under a new name.

    A class is checked at once: it derives from the base class of its kind, defines what that leaves
    to it, and is a dataclass whose parameters have defaults (those of datasets need none). An
    algorithm is started on a system of two unknowns and makes one step, which has to update, claim
    or enter a new phase. What ``"module:Class"`` names is imported, and so checked, when it is
    first used.

    Parameters
    ----------
    kind
        ``algorithm``, ``learner``, ``optimiser``, ``oracle``, ``dataset``, ``table``, ``figure`` or
        ``theory``.
    name
        A name that is not taken yet.
    target
        The class, or ``"module:Class"``. For a table a function that makes a
        :class:`~perceptron_lab.reporting.printing.table.Table` of the
        :class:`~perceptron_lab.reporting.evidence.Evidence` of an experiment, for a figure one that
        makes a matplotlib ``Figure`` of it; either may be decorated with
        :func:`~perceptron_lab.reporting.needs.needs`, for `plab check`. For ``theory`` a function
        without arguments that returns an :class:`~perceptron_lab.reporting.theory.exhibit.Exhibit`.

    Raises
    ------
    ConfigError
        If the kind is unknown, the name is taken, or the target does not pass these checks.

    Examples
    --------
    >>> from perceptron_lab import register
    >>> from perceptron_lab.core import registry
    >>> from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
    >>> register("algorithm", "my-perceptron", Perceptron)
    >>> "my-perceptron" in registry.names("algorithm")
    True
    >>> registry.unregister("algorithm", "my-perceptron")
    """
    registry.register(kind, name, target)
    if isinstance(target, str):
        return
    try:
        _CHECKS[kind](target)
    except _Unfit as error:
        registry.unregister(kind, name)
        raise ConfigError(f"the {kind} {name!r} is not registered: {error}") from error.__cause__


class _Unfit(Exception):
    """The reason why something cannot be registered."""


def _check_record(target: object, base: type | None, *, defaults: bool) -> None:
    """Check a class of parameters."""
    if isinstance(target, type) and base is not None and not issubclass(target, base):
        raise _Unfit(
            f"{target.__name__} does not derive from {base.__module__}.{base.__name__}; write "
            f"`class {target.__name__}({base.__name__})`"
        )
    fault = fault_of(target)
    if fault:
        raise _Unfit(fault)
    needed = needed_of(target)
    if defaults and needed:
        raise _Unfit(f"parameter {needed[0]!r} has no default; give one")


def _check_algorithm(target: Any) -> None:
    """Check the class of an algorithm, then start it and let it make a step."""
    _check_record(target, Algorithm, defaults=True)
    try:
        algorithm = target()
    except Exception as error:
        raise _Unfit(f"{target.__name__}() failed: {sentence(error)}") from error
    disc = ConicSystem.second_order(np.eye(3), [3])
    for system in (ConicSystem.from_rows([[1.0, 0.0], [-0.6, 0.8]]), disc):
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                _try(algorithm, system)
        except InputError:  # it does not run on such systems
            continue
        return


def _try(algorithm: Algorithm[Any], system: ConicSystem) -> None:
    """Start an algorithm, make one step, ask for its bound."""
    rng, doing = np.random.default_rng(0), "view"
    try:
        view = algorithm.view(system).started({}, rng)
        doing = "start"
        state = algorithm.start(view, rng)
        if not isinstance(state, State):
            raise _Unfit(f"start returned {type(state).__name__}; return a State")
        before, doing = (state.updates, state.phase), "step"
        stepped, claim = advance(algorithm, view, state, 1)
        if (stepped.updates, stepped.phase) == before and claim is None:
            raise _Unfit(
                "its first step made no update, no claim and no new phase, so that a run would "
                "never end; count updates in state.updates"
            )
        doing = "bound"
        bound = algorithm.bound(system.facts(0.1))
    except (_Unfit, PlabError):
        raise
    except Exception as error:
        raise _Unfit(f"{doing} failed on a system of two rows: {sentence(error)}") from error
    if not isinstance(bound, Bound):
        raise _Unfit(f"bound returned {type(bound).__name__}; return a Bound")


def _check_oracle(target: Any) -> None:
    _check_record(target, None, defaults=True)
    for name in ("kind", "start"):
        if not hasattr(target, name):
            raise _Unfit(f"{target.__name__} does not define {name}")


def _check_function(target: object) -> None:
    """Check a function of one argument, the evidence."""
    _check_call(target, [None], "of the evidence", "with the evidence alone")


def _check_call(target: object, arguments: list[None], kind: str, how: str) -> None:
    """Check a function of so many arguments."""
    if not callable(target):
        raise _Unfit(f"received {target!r}; give a function {kind}")
    try:
        inspect.signature(target).bind(*arguments)
    except (TypeError, ValueError) as error:
        raise _Unfit(f"it cannot be called {how} ({error})") from None


_CHECKS: Final[dict[str, Callable[[object], None]]] = {
    "algorithm": _check_algorithm,
    "learner": lambda target: _check_record(target, Learner, defaults=True),
    "optimiser": lambda target: _check_record(target, Optimiser, defaults=True),
    "dataset": lambda target: _check_record(target, Dataset, defaults=False),
    "oracle": _check_oracle,
    "table": _check_function,
    "figure": _check_function,
    "theory": lambda target: _check_call(target, [], *["without arguments"] * 2),
}
