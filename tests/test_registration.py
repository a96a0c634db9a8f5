"""What is registered is checked and tried at once; what does not pass is not registered."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab import check, register, solve
from perceptron_lab.algorithms.base import Algorithm, State
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.core import registry
from perceptron_lab.core.claims import Claim, FeasiblePoint
from perceptron_lab.core.errors import ConfigError, InputError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.results import Bound, Status
from perceptron_lab.datasets.dataset import Dataset
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.estimators.learners.learning import Learned, Learner
from perceptron_lab.systems import ConicSystem

pytestmark = pytest.mark.usefixtures("user_registrations")


@dataclass(frozen=True)
class Sums(Algorithm[State]):
    """y <- y + a for a violated row a."""

    def start(self, system: ConicSystem, rng: np.random.Generator) -> State:
        """Start at 0."""
        return State(np.zeros(system.dimension))

    def step(self, system: ConicSystem, state: State, most: int) -> tuple[State, Claim | None]:
        """Add one cut."""
        cut = system.cut(state.point)
        if cut is None:
            return state, FeasiblePoint(state.point.copy())
        state.point += cut.normal
        state.updates += 1
        return state, None

    def bound(self, facts: Facts) -> Bound:
        """There is none."""
        return Bound(None, "", "none")


@dataclass(frozen=True)
class Idle(Sums):
    """It forgets to count."""

    def step(self, system: ConicSystem, state: State, most: int) -> tuple[State, Claim | None]:
        """Move, and count nothing."""
        state.point += 1.0
        return state, None


@dataclass(frozen=True)
class Raising(Sums):
    """It divides by zero."""

    def step(self, system: ConicSystem, state: State, most: int) -> tuple[State, Claim | None]:
        """Fail."""
        raise KeyError("alpha")


@dataclass(frozen=True)
class StartsBadly(Sums):
    """It returns an array in the place of a state."""

    def start(self, system: ConicSystem, rng: np.random.Generator) -> State:
        """Return something else."""
        return np.zeros(2)  # type: ignore[return-value]


@dataclass(frozen=True)
class NoBound(Sums):
    """It returns a number in the place of a bound."""

    def bound(self, facts: Facts) -> Bound:
        """Return something else."""
        return 3.0  # type: ignore[return-value]


@dataclass(frozen=True)
class NoRows(Sums):
    """It refuses rows, as it may."""

    def start(self, system: ConicSystem, rng: np.random.Generator) -> State:
        """Start on other cones."""
        if system.cone.of_rows:
            raise InputError("no rows")
        return super().start(system, rng)


@dataclass(frozen=True)
class Needy(Sums):
    """It needs a parameter."""

    eta: float
    rho: float = 1.0


class Plain(Sums):
    """It derives from a dataclass and is one."""


class Hungry(Sums):
    """It has an __init__ of its own."""

    def __init__(self, rate: float) -> None:
        object.__setattr__(self, "rate", rate)


class Bare(Algorithm[State]):
    """It defines nothing."""


@dataclass(frozen=True)
class Data(Dataset):
    """It has a parameter without a default."""

    files: list[str]

    def names(self) -> list[str]:
        """Return the names."""
        return self.files

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Load nothing."""
        raise NotImplementedError


@dataclass(frozen=True)
class Learns(Learner):
    """It has no parameters."""

    def learn(self, task: Any, seed: int) -> Learned:
        """Learn nothing."""
        raise NotImplementedError


@dataclass(frozen=True)
class Kindless:
    """No oracle."""


class NotData(Dataset):
    """A dataset that is no dataclass."""

    def names(self) -> list[str]:
        """Return the names."""
        return []

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Load nothing."""
        raise NotImplementedError


def evidence(runs: Any) -> Any:
    """Return a table of the evidence."""
    return runs


def two(runs: Any, more: Any) -> Any:
    """Need another argument."""
    return runs, more


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("algorithm", Sums),
        ("algorithm", NoRows),
        ("algorithm", Plain),
        ("dataset", Data),
        ("learner", Learns),
        ("oracle", registry.load("oracle", "cyclic")),
        ("table", evidence),
        ("figure", lambda runs: runs),
    ],
)
def test_components_that_fit_their_contract_are_registered(kind: str, target: Any) -> None:
    register(kind, "mine", target)
    assert registry.load(kind, "mine") is target


def test_the_trial_of_a_registration_solves() -> None:
    register("algorithm", "mine", Sums)
    assert solve([[1.0, 0.0], [0.5, 1.0]], "mine").status is Status.FEASIBLE


@pytest.mark.parametrize("name", registry.names("algorithm"))
def test_every_algorithm_of_the_package_passes(name: str) -> None:
    target = registry.load("algorithm", name)
    register("algorithm", "mine", target)
    assert registry.load("algorithm", "mine") is target


@pytest.mark.parametrize(
    ("kind", "target", "message"),
    [
        ("algorithm", Idle, "made no update, no claim and no new phase"),
        ("algorithm", Raising, r"step failed on a system of two rows: KeyError: 'alpha'"),
        ("algorithm", StartsBadly, "start returned ndarray; return a State"),
        ("algorithm", NoBound, "bound returned float; return a Bound"),
        ("algorithm", Needy, "parameter 'eta' has no default; give one"),
        ("algorithm", Bare, "Bare does not define bound, start, step"),
        ("algorithm", Kindless, r"Kindless does not derive from perceptron_lab\.algorithms\.base"),
        ("algorithm", Hungry, "Hungry has its own __init__; delete it, and write @dataclass"),
        ("algorithm", Sums(), r"received Sums\(\); give its class"),
        ("dataset", NotData, "NotData is no dataclass; write @dataclass"),
        ("dataset", Sums, r"does not derive from .*Dataset; write `class Sums\(Dataset\)`"),
        ("learner", Data, "does not derive from"),
        ("oracle", Kindless, "Kindless does not define kind"),
        ("table", two, "cannot be called with the evidence alone"),
        ("figure", 3, "received 3; give a function"),
    ],
)
def test_components_that_do_not_fit_are_refused(kind: str, target: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=f"the {kind} 'mine' is not registered: .*{message}"):
        register(kind, "mine", target)
    assert "mine" not in registry.names(kind)


@pytest.mark.parametrize("target", [Bare, Hungry, Sums(), lambda: Sums()])
def test_errors_of_unchecked_components_state_the_cause(target: Any) -> None:
    registry.register("algorithm", "mine", target)
    config = {
        "experiment": "own",
        "problems": [{"dataset": "maxcut", "instances": ["random-8-12"]}],
        "algorithms": [{"name": "mine"}],
    }
    with pytest.raises(ConfigError, match=r"^algorithms\.0\.name: the algorithm 'mine' cannot be"):
        check(config)


@pytest.mark.parametrize("name", [3, "", "my own", "-mine"])
def test_a_name_must_be_writable_in_a_configuration(name: Any) -> None:
    with pytest.raises(ConfigError, match="letters, digits, dots, hyphens, underscores"):
        register("algorithm", name, Sums)


def test_a_name_of_another_kind_is_distinguished_from_an_unknown_one() -> None:
    with pytest.raises(ConfigError, match="unknown algorithm 'soft-ellipsoid': it is a learner; "):
        solve([[1.0]], "soft-ellipsoid")
    with pytest.raises(ConfigError, match=r"'low-rank': it is an optimiser of .* optimum"):
        solve([[1.0]], "low-rank")


def test_the_traceback_of_user_code_is_the_cause() -> None:
    with pytest.raises(ConfigError) as caught:
        register("algorithm", "mine", Raising)
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_registered_name_cannot_be_taken() -> None:
    with pytest.raises(ConfigError, match="'perceptron' is registered already"):
        register("algorithm", "perceptron", Sums)
    assert registry.load("algorithm", "perceptron") is Perceptron
