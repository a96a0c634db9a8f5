"""An experiment as tables and figures see it before it is run: what they need, and what it has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, Protocol

from perceptron_lab.core import registry
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.run_options import TraceOptions
from perceptron_lab.datasets.dataset import Dataset
from perceptron_lab.experiments.configuration.faults import Fault
from perceptron_lab.experiments.configuration.loader import Experiment
from perceptron_lab.experiments.configuration.variants import Instance
from perceptron_lab.solving.failures import own_error

NEEDS: Final = "needs"
"""The attribute of a function of the evidence that holds its needs, functions of an outline."""


class Method(NamedTuple):
    """The algorithm or learner that a label stands for, with its parameters as JSON values."""

    algorithm: str
    parameters: Mapping[str, Any]

    @property
    def learns(self) -> bool:
        """Whether it is a learner."""
        return self.algorithm in registry.names("learner")


class Outline(Protocol):
    """Problems and labels of an experiment, which its plan knows as well as its runs do.

    :class:`Plan` and :class:`~perceptron_lab.reporting.evidence.Evidence` are outlines.
    """

    def problems(self) -> list[str]:
        """Return the titles of the problems."""

    def methods(self) -> Mapping[str, Method]:
        """Return label -> its algorithm or learner."""

    def dataset(self, problem: str) -> Dataset:
        """Return the record of the dataset that a problem belongs to."""

    def instance(self, problem: str) -> str:
        """Return the dataset's own name of a problem."""

    def parameters(self, problem: str) -> Mapping[str, Any]:
        """Return the parameters of the dataset that a problem belongs to."""

    def shapes(self) -> Mapping[str, tuple[int, int]]:
        """Return problem -> dimension and constraints, of those whose shape is known."""

    def recorded(self) -> TraceOptions:
        """Return what the traces hold beside their usual records."""


Need = Callable[[Outline], object]
"""It raises a DataError that names what is missing; a value that it returns is for other users."""


@dataclass(frozen=True)
class Plan:
    """The outline of a checked configuration."""

    experiment: Experiment

    def problems(self) -> list[str]:
        """Return the titles of the problems, in the order of the configuration."""
        return list(self._instances)

    def methods(self) -> Mapping[str, Method]:
        """Return label -> its algorithm or learner, in the order of the configuration."""
        return {
            one.label: Method(one.algorithm.name, one.algorithm.parameters)
            for one in self.experiment.variants
        }

    def dataset(self, problem: str) -> Dataset:
        """Return the record of the dataset that a problem belongs to."""
        record: Dataset = self._instances[problem].dataset.record
        return record

    def instance(self, problem: str) -> str:
        """Return the dataset's own name of a problem."""
        return self._instances[problem].name

    def parameters(self, problem: str) -> Mapping[str, Any]:
        """Return the parameters of the dataset that a problem belongs to."""
        return self._instances[problem].dataset.parameters

    def shapes(self) -> Mapping[str, tuple[int, int]]:
        """Return problem -> shape, of the problems whose parameters give dimension and rows."""
        sizes = {
            problem: [self.parameters(problem).get(name) for name in ("dimension", "rows")]
            for problem in self.problems()
        }
        return {
            problem: (dimension, rows)
            for problem, (dimension, rows) in sizes.items()
            if isinstance(dimension, int) and isinstance(rows, int)
        }

    def recorded(self) -> TraceOptions:
        """Return what the traces are to hold."""
        return self.experiment.config.trace_options

    @cached_property
    def _instances(self) -> dict[str, Instance]:
        return {instance.title: instance for instance in self.experiment.instances}


def unsuitable(experiment: Experiment) -> Iterator[Fault]:
    """Yield a fault for each table and figure of the report that the experiment does not suit.

    Nothing is said where parts of the experiment are left out, as only plugins know them.
    """
    if experiment.unchecked:
        return
    plan, report = Plan(experiment), experiment.config.report
    asked = [("table", place, name) for place, name in enumerate(report.tables)]
    asked += [
        ("figure", place, name)
        for place, name in enumerate(report.figures)
        if isinstance(name, str)
    ]
    for kind, place, name in asked:
        try:
            for check in getattr(registry.load(kind, name), NEEDS, ()):
                check(plan)
        except DataError as error:
            said = str(error).removeprefix(f"{name}: ")
            yield Fault(
                ("report", f"{kind}s", place), f"the {kind} {name!r} cannot be made: {said}"
            )
        except Exception as error:
            if not (said := own_error(error)):
                raise
            yield Fault(("report", f"{kind}s", place), f"the needs of the {kind} {name!r}: {said}")
