"""The answer to one file: solved once, shown as a row of an experiment would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from perceptron_lab import registry
from perceptron_lab.datasets.formats.problem_files import read_system
from perceptron_lab.driver import Oracle
from perceptron_lab.durable_files import replacing
from perceptron_lab.errors import DataError
from perceptron_lab.experiments.configuration.components import Component
from perceptron_lab.experiments.storage.rows import Row, Run, row_of
from perceptron_lab.goals import Budget, Goal
from perceptron_lab.results import Result
from perceptron_lab.solving import solve
from perceptron_lab.system import ConicSystem

_OF_EXPERIMENTS: Final = ("cell", "environment", "core")
"""Columns of runs.csv that name cells and machines."""


@dataclass(frozen=True)
class Answer:
    """A file, the system that it states, and the result of an algorithm on it.

    Parameters
    ----------
    file, system
        The data.
    algorithm, oracles, seed
        As they were asked for; no oracles stand for those of the cones.
    result
        The answer.
    """

    file: Path
    system: ConicSystem
    algorithm: Component
    oracles: tuple[Oracle, ...]
    seed: int
    result: Result

    def __str__(self) -> str:
        notes = [f"  {note}" for note in self.result.certificate.get("notes", [])]
        size = f"{self.system.cone.rank} constraints, dimension {self.system.operator.unknowns}"
        return "\n".join([f"{self.file}: {size}; {self.algorithm}", str(self.result), *notes])

    def row(self) -> Row:
        """Return the row of runs.csv, without the columns that name cells and machines."""
        asks = self.algorithm.asks_oracles
        oracles = self.oracles or (self.system.cone.oracles.values() if asks else ())
        run = Run(
            problem=self.file.name,
            label=self.algorithm.name,
            constraints=int(self.system.cone.rank),
            dimension=int(self.system.operator.unknowns),
            algorithm=self.algorithm,
            oracles=[registry.name_of("oracle", oracle) for oracle in oracles],
            seed=self.seed,
            status=self.result.status,
            message=self.result.message,
            goal=self.result.goal,
            result=self.result,
        )
        row = row_of(run) | {"parameters": self.algorithm.parameters}
        return {name: value for name, value in row.items() if name not in _OF_EXPERIMENTS}

    def save(self, path: Path) -> None:
        """Write the result; an earlier file is whole until the new one is."""
        try:
            with replacing(path) as partial:
                self.result.save(partial)
        except OSError as error:
            text = f"{path}: cannot be written ({error.strerror}); choose another"
            raise DataError(text) from None


def answer(
    file: Path,
    *,
    labels: str | None = None,
    memory: int | None = None,
    algorithm: str = "auto",
    oracles: Sequence[str] = (),
    goal: Goal = "decide",
    budget: Budget | None = None,
    seed: int = 0,
) -> Answer:
    """Solve the system in a file; ``plab solve`` in Python.

    The parameters are those of :func:`~perceptron_lab.datasets.formats.problem_files.read_system`
    and :func:`~perceptron_lab.solving.solve`, the algorithm and the oracles by their names.
    """
    chosen = Component("algorithm", algorithm, registry.load("algorithm", algorithm)())
    asked = tuple(registry.load("oracle", name)() for name in oracles)
    system = read_system(file, labels, memory=memory)
    result = solve(system, chosen.record, oracle=asked or None, goal=goal, budget=budget, seed=seed)
    return Answer(file, system, chosen, asked, seed, result)
