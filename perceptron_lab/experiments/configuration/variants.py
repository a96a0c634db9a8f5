"""The entries of a configuration, each expanded into algorithm variants or instances.

An algorithm entry is one variant, or one per combination of its grid; a problem entry similarly,
times its instances. The same code serves ``plab check`` and ``plab run``; nothing is downloaded.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from perceptron_lab.core import registry
from perceptron_lab.core.errors import PlabError
from perceptron_lab.experiments.configuration.components import Component, build
from perceptron_lab.experiments.configuration.config import (
    AlgorithmEntry,
    BudgetLimits,
    ProblemEntry,
)
from perceptron_lab.experiments.configuration.faults import Crumbs, Fault, received

MOST_COMBINATIONS = 10_000
"""The largest sweep of one entry."""

SELECTORS = ("instances", "files")
"""The parameters of datasets that choose instances and do not change them."""


@dataclass(frozen=True)
class AlgorithmVariant:
    """One algorithm with its parameters and oracles.

    Parameters
    ----------
    algorithm
        The algorithm.
    oracles
        At most one per kind of cone; the default is used for the other kinds.
    label
        What rows and tables call it; different for different variants.
    limits
        Its own limits, in the place of the experiment's.
    seeds
        Its own seeds, in the place of the experiment's and the instance's; or None.
    family
        The label of its entry: that of all variants of one grid.
    """

    algorithm: Component
    oracles: tuple[Component, ...]
    label: str
    limits: BudgetLimits = field(default_factory=BudgetLimits)
    seeds: tuple[int, ...] | None = None
    family: str = ""

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that tell it from others, as JSON values."""
        return {
            "algorithm": self.algorithm.name,
            "parameters": self.algorithm.parameters,
            "oracle": [{"name": o.name, "parameters": o.parameters} for o in self.oracles],
        }


@dataclass(frozen=True)
class Instance:
    """One instance of a dataset.

    Parameters
    ----------
    dataset
        The dataset.
    name
        The instance, one of the dataset's names.
    title
        What rows and tables call it: its name, followed by the parameters that a grid gave it if
        the grid gives several instances of that name.
    seeds
        Its own seeds, in the place of the experiment's; or None.
    limits
        Its own limits, in the place of the experiment's.
    algorithms
        The labels of the algorithm variants that run on it; or None for all.
    optional
        Whether its cells are SKIPPED where its data are not there, and cannot be had.
    crumbs
        The place of its entry, ``("problems", index)``; no part of what it is.
    """

    dataset: Component
    name: str
    title: str
    seeds: tuple[int, ...] | None = None
    limits: BudgetLimits = field(default_factory=BudgetLimits)
    algorithms: frozenset[str] | None = None
    optional: bool = False
    crumbs: Crumbs = field(default=(), compare=False)

    def runs(self, variant: AlgorithmVariant) -> bool:
        """Return whether an algorithm variant runs on it."""
        return self.algorithms is None or not self.algorithms.isdisjoint(
            (variant.label, variant.family)
        )

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that tell it from others, as JSON values."""
        parameters = self.dataset.parameters
        return {
            "dataset": self.dataset.name,
            "dataset_parameters": {k: v for k, v in parameters.items() if k not in SELECTORS},
            "instance": self.name,
        }


def algorithm_variants(
    entry: AlgorithmEntry, crumbs: Crumbs, faults: list[Fault]
) -> list[AlgorithmVariant]:
    """Return the variants of an entry without faults.

    Parameters
    ----------
    entry
        The entry.
    crumbs
        Its place, ``("algorithms", index)``.
    faults
        What is wrong is added here.
    """
    swept = "oracle" in entry.grid
    if entry.oracle is not None and swept:
        faults.append(_given_twice(crumbs, "oracle"))
    seeds = None if entry.seeds is None else tuple(entry.seeds)
    kind = registry.kind_of_method(entry.name)
    variants = []
    at_parameters = (*crumbs, "parameters")
    for parameters, key_paths, suffix in _choices(
        entry.parameters, at_parameters, entry.grid, faults
    ):
        spec = parameters.pop("oracle", None) if swept else entry.oracle
        at = key_paths["oracle"] if swept else (*crumbs, "oracle")
        algorithm = build(kind, entry.name, (*crumbs, "name"), parameters, key_paths, faults)
        oracles = _oracles(spec, at, faults)
        if algorithm is None or oracles is None:
            continue
        if oracles and not algorithm.asks_oracles:
            text = f"the algorithm {entry.name!r} asks no separation oracle; delete `oracle`"
            faults.append(Fault(at, text, at_key=True))
            continue
        family = entry.label or entry.name
        variants.append(
            AlgorithmVariant(algorithm, oracles, family + suffix, entry.budget, seeds, family)
        )
    return variants


def problem_instances(entry: ProblemEntry, crumbs: Crumbs, faults: list[Fault]) -> list[Instance]:
    """Return the instances of an entry; arguments as in :func:`algorithm_variants`."""
    seeds = None if entry.seeds is None else tuple(entry.seeds)
    instances: list[tuple[Component, str, str]] = []
    for parameters, key_paths, suffix in _choices(entry.parameters, crumbs, entry.grid, faults):
        dataset = build(
            "dataset", entry.dataset, (*crumbs, "dataset"), parameters, key_paths, faults
        )
        if dataset is None:
            continue
        try:
            names = dataset.record.names()
        except PlabError as error:
            faults.append(Fault(crumbs, str(error)))
            continue
        if not names:
            faults.append(Fault(crumbs, f"the dataset {entry.dataset!r} has no instances here"))
        instances += [(dataset, name, suffix) for name in names]
    # A suffix only where it tells instances apart: other titles are the names of the dataset
    counts = Counter(name for _, name, _ in instances)
    return [
        Instance(
            dataset,
            name,
            name + suffix if counts[name] > 1 else name,
            seeds,
            entry.budget,
            None if entry.algorithms is None else frozenset(entry.algorithms),
            entry.missing == "skip",
            crumbs,
        )
        for dataset, name, suffix in instances
    ]


def _choices(
    parameters: dict[str, object],
    at: Crumbs,
    grid: Mapping[str, Sequence[object]],
    faults: list[Fault],
) -> Iterator[tuple[dict[str, object], dict[str, Crumbs], str]]:
    """Yield parameters with their places and a suffix of labels, one per combination of a grid."""
    crumbs = at[:2]  # of the entry
    faults += [_given_twice(crumbs, key) for key in grid if key in parameters]
    # Before any combination is made: a few long lists give millions
    if prod(map(len, grid.values())) > MOST_COMBINATIONS:
        text = f"the sweep has more than {MOST_COMBINATIONS} combinations; shorten its lists"
        faults.append(Fault((*crumbs, "grid"), text))
        return
    key_paths = {key: (*at, key) for key in parameters}
    # By indices, so that a fault can name the place of the value in the grid
    for indices in product(*(range(len(values)) for values in grid.values())):
        selection = dict(zip(grid, indices, strict=True))
        swept = {key: grid[key][index] for key, index in selection.items()}
        printed = {key: _brief(value) for key, value in swept.items() if key not in SELECTORS}
        # The name of an oracle speaks for itself; the value of a parameter does not.
        words = [f" {v}" if key == "oracle" else f" {key}={v}" for key, v in printed.items()]
        swept_at = {key: (*crumbs, "grid", key, index) for key, index in selection.items()}
        yield parameters | swept, key_paths | swept_at, "".join(words)


def _given_twice(crumbs: Crumbs, key: str) -> Fault:
    text = f"{key!r} is given here and outside of the grid; keep one of the two"
    return Fault((*crumbs, "grid", key), text, at_key=True)


def _oracles(spec: object, at: Crumbs, faults: list[Fault]) -> tuple[Component, ...] | None:
    """Return the oracles of a specification, or None after adding to ``faults``."""
    if spec is None:
        return ()
    placed = [(at, spec)]
    if isinstance(spec, list):
        placed = [((*at, index), oracle) for index, oracle in enumerate(spec)]
    built: list[Component | None] = []
    for path, entry_of_list in placed:
        match entry_of_list:
            case str(name):
                built.append(build("oracle", name, path, {}, {}, faults))
            case {"name": str(name), **others}:
                parameters = {str(key): value for key, value in others.items()}
                key_paths = {key: (*path, key) for key in parameters}
                built.append(build("oracle", name, (*path, "name"), parameters, key_paths, faults))
            case _:
                allowed = "a name, {name: ..., parameter: ...}, or a list of those"
                faults.append(
                    Fault(path, f"received {received(entry_of_list)}; allowed: {allowed}")
                )
                built.append(None)
    oracles = tuple(oracle for oracle in built if oracle is not None)
    for kind, count in Counter(oracle.record.kind for oracle in oracles).items():
        if count > 1:
            faults.append(Fault(at, f"two oracles for {kind} cones; allowed: one per kind"))
            return None
    # With one oracle left out the algorithm would run with a default that nobody asked for
    return oracles if len(oracles) == len(built) else None


def _brief(value: object) -> str:
    """Return a swept value as it appears in a label."""
    match value:
        case str():
            return value
        case dict():
            inner = ",".join(f"{k}={_brief(v)}" for k, v in value.items() if k != "name")
            return f"{value.get('name', '')}({inner})"
    return json.dumps(value)
