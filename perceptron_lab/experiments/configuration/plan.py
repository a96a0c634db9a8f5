"""The cells of an experiment: every instance, seed and algorithm variant, in that order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from perceptron_lab.core import registry
from perceptron_lab.core.errors import DataError, MissingDataError, PlabError
from perceptron_lab.core.goals import Budget, Goal, Width
from perceptron_lab.core.run_options import TraceOptions
from perceptron_lab.experiments.configuration.components import Component
from perceptron_lab.experiments.configuration.loader import Loadable, load_experiment
from perceptron_lab.experiments.configuration.variants import AlgorithmVariant, Instance
from perceptron_lab.numerics.compiled.kernel import compiled_only
from perceptron_lab.solving.failures import registered_code_error

if TYPE_CHECKING:
    from perceptron_lab.datasets.dataset import Dataset
    from perceptron_lab.datasets.problem import Problem

_GOAL: TypeAdapter[Goal] = TypeAdapter(Goal)


@dataclass(frozen=True)
class Cell:
    """One run: an algorithm variant on an instance with a seed.

    Parameters
    ----------
    instance
        The instance.
    variant
        The algorithm.
    goal, budget
        When the run ends.
    seed
        The only source of randomness.
    trace
        What its trace holds in addition to the usual records.
    """

    instance: Instance
    variant: AlgorithmVariant
    goal: Goal
    budget: Budget
    seed: int
    trace: TraceOptions = field(default_factory=TraceOptions)

    @cached_property
    def problem_key(self) -> str:
        """A key that is equal for cells that share a problem."""
        return canonical(self.instance.identity | {"title": self.instance.title, "seed": self.seed})

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The settings of the run as JSON values, all parameters among them."""
        parameters = {"dataset_parameters": self.instance.dataset.parameters}
        goal = _GOAL.dump_python(self.goal, mode="json")
        identity = self.instance.identity | self.variant.identity
        return identity | parameters | {"goal": goal, "seed": self.seed}

    @property
    def algorithm_seed(self) -> int:
        """A seed of the algorithm's own, the same whatever the goal, budget and order of cells."""
        content = self.instance.identity | self.variant.identity | {"seed": self.seed}
        # From the settings and not from a counter: adding a cell changes no other one's numbers
        return int(digest(content), 16)

    @property
    def goal_of_method(self) -> Goal | None:
        """The goal of the method: none for learners, a width for optimisers."""
        kind = self.variant.algorithm.kind
        if kind == "algorithm" or (kind == "optimiser" and isinstance(self.goal, Width)):
            return self.goal
        return None

    def identify(self, sha256: str) -> str:
        """Return the cell's name, given the sha256 of its data.

        16 hexadecimal digits of all that determines its course; neither the budget nor the records
        of its trace are part of it.
        """
        goal = _GOAL.dump_python(self.goal, mode="json")
        content = self.instance.identity | self.variant.identity
        return digest(content | {"sha256": sha256, "goal": goal, "seed": self.seed})

    def own_file(self, base: Path) -> Path | None:
        """Return the user's own file that the problem is read from, or None."""
        dataset: Dataset = self.instance.dataset.record
        return dataset.own_file(self.instance.name, base)

    def load(self, base: Path) -> Problem:
        """Load the problem; relative paths start from ``base``.

        The same instance and seed give the same problem, whatever the algorithm.
        """
        dataset: Dataset = self.instance.dataset.record
        with compiled_only():  # norms and margins have the same last digits for every size
            return dataset.load(self.instance.name, seed=self.seed, base=base)


def plan(experiment: Loadable) -> list[Cell]:
    """Return the cells of an experiment, as checked once; no data are loaded."""
    experiment = load_experiment(experiment)
    config, cells = experiment.config, []
    for instance in experiment.instances:
        usual = tuple(config.seeds) if instance.seeds is None else instance.seeds
        seeds_of_variants = [
            usual if variant.seeds is None else variant.seeds for variant in experiment.variants
        ]
        budget = instance.limits.applied_to(config.budget)
        cells += [
            Cell(
                instance,
                variant,
                config.goal,
                variant.limits.applied_to(budget),
                seed,
                config.trace_options,
            )
            # Cells of one problem are neighbours: whoever loads it can keep it for the next one
            for seed in dict.fromkeys(chain.from_iterable(seeds_of_variants))
            for variant, seeds in zip(experiment.variants, seeds_of_variants, strict=True)
            if seed in seeds and instance.runs(variant)
        ]
    return cells


@dataclass(frozen=True)
class Loaded:
    """The figures of a problem that a run keeps after loading it once, which shows that it can be.

    Parameters
    ----------
    sha256
        Of its data: each cell's own process loads them again, and compares. Empty without data, so
        that its cells have other names once there are some.
    constraints, dimension
        The rank of its cone, and its unknowns; None without data.
    oracles
        The names of the oracles that separate its cone unless others are chosen.
    teachable, judging
        Whether it has examples to learn from, and test examples to judge learners by.
    missing
        The reason why its cells are SKIPPED: its data are not there. Empty where they are.
    """

    sha256: str = ""
    constraints: int | None = None
    dimension: int | None = None
    oracles: tuple[str, ...] = ()
    teachable: bool = False
    judging: bool = False
    missing: str = ""

    @classmethod
    def of(cls, problem: Problem) -> Loaded:
        """Return those of a problem."""
        system = problem.system
        oracles = [
            Component("oracle", registry.name_of("oracle", record), record)
            for record in system.oracles.values()
        ]
        return cls(
            sha256=problem.sha256,
            constraints=system.constraints,
            dimension=system.unknowns,
            oracles=tuple(map(str, oracles)),
            teachable=bool(problem.tasks),
            judging=all(len(task.test_labels) for task in problem.tasks),
        )


def loaded(cell: Cell, base: Path) -> Loaded:
    """Load the problem of a cell; the data of an optional one may be missing."""
    try:
        return Loaded.of(cell.load(base))
    except MissingDataError as error:
        if not cell.instance.optional:
            raise
        return Loaded(missing=str(error))


def load_problems(cells: Sequence[Cell], base: Path) -> dict[str, Loaded]:
    """Load the problems of all cells, each once; return :attr:`Cell.problem_key` -> its figures.

    Where a problem cannot be loaded, nothing is run; but optional ones may be missing. All of a
    user's own files that cannot be read are named in one error.
    """
    problems: dict[str, Loaded] = {}
    faults: dict[str, PlabError] = {}
    for cell in cells:
        if cell.problem_key in problems:
            continue
        try:
            problems[cell.problem_key] = loaded(cell, base)
        except PlabError as error:
            faults.setdefault(f"problem {cell.instance.title}: {error}", error)
            # Other data may be downloads, which are not all tried after a failure
            if cell.own_file(base) is None:
                break
        except Exception as error:
            if not (fault := registered_code_error(error)):
                raise
            raise DataError(f"problem {cell.instance.title}: {fault}") from error
    if faults:
        raise DataError("\n".join(faults)) from next(iter(faults.values()))
    return problems


def untaught(cell: Cell, problem: Loaded) -> str:
    """Return which examples a learner needs and a problem lacks, or an empty string."""
    algorithm, dataset = cell.variant.algorithm, cell.instance.dataset
    if algorithm.kind != "learner" or problem.missing:
        return ""
    reason = (
        f"{algorithm.name} is a learner, and {cell.instance.title} of the dataset {dataset.name}"
    )
    splits = "test_fraction" in dataset.parameters
    if not problem.teachable:
        remedy = "give labels and a test_fraction" if splits else "choose a dataset that has them"
        return f"{reason} has no training and test examples; {remedy}, or an algorithm"
    if algorithm.record.judged and not problem.judging:
        remedy = "give a test_fraction" if splits else "choose another"
        return f"{reason} has no test examples to judge it by; {remedy}"
    return ""


def canonical(content: dict[str, object]) -> str:
    """Return JSON in which equal contents are equal texts."""
    # Names of cells depend on every byte: any change here loses all stored rows
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def digest(content: dict[str, object]) -> str:
    """Return the first 16 hexadecimal digits of the sha256 of a content's canonical JSON."""
    return hashlib.sha256(canonical(content).encode()).hexdigest()[:16]
