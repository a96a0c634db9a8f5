"""Load and check configurations, for both ``plab check`` and ``plab run``.

``-s path.to.key=value`` replaces one value of a file, under the same validation.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Sized
from copy import deepcopy
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError
from perceptron_lab.experiments.configuration import cross_checks
from perceptron_lab.experiments.configuration.catalogue import find_config
from perceptron_lab.experiments.configuration.components import faults_of, validated
from perceptron_lab.experiments.configuration.config import (
    KNOWN_KEYS,
    AlgorithmEntry,
    ExperimentConfig,
    ProblemEntry,
)
from perceptron_lab.experiments.configuration.faults import Crumbs, Fault, refuse, shortened
from perceptron_lab.experiments.configuration.overrides import override, shadowed, texts_of
from perceptron_lab.experiments.configuration.variants import (
    AlgorithmVariant,
    Instance,
    algorithm_variants,
    problem_instances,
)
from perceptron_lab.experiments.configuration.yaml_source import (
    Source,
    list_in,
    mapping_in,
    read_source,
    source_of_mapping,
)

# Keys of a configuration that change no cell: rows serve every budget that they ended within
_NOT_RUN: Final = ("experiment", "title", "budget", "process", "report", "plugins")
Entry = TypeVar("Entry", bound=BaseModel)


@dataclass(frozen=True)
class Experiment:
    """A checked configuration, with the components that its entries stand for.

    Parameters
    ----------
    config
        The configuration.
    base
        The folder that its relative paths start from.
    variants
        The algorithms, each with its parameters and oracles, in the order of the configuration.
    instances
        The instances of its datasets, in the same way.
    changed
        Whether overrides changed what is run, and did not name the experiment.
    warnings
        Sentences on overrides that do less than they seem to, and on files that were not read.
    unchecked
        What only plugins know, which were not loaded: it is left out here.
    unchecked_cells
        The number of cells whose dataset or algorithm only plugins know; an entry of a dataset that
        does not list its instances counts as one.
    """

    config: ExperimentConfig
    base: Path
    variants: tuple[AlgorithmVariant, ...]
    instances: tuple[Instance, ...]
    changed: bool = False
    warnings: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    unchecked_cells: int = 0

    @property
    def name(self) -> str:
        """The name of the experiment and of its folder of results.

        Where overrides changed what is run, a digest of the configuration follows: these results
        never take the place of the experiment's own.
        """
        if not self.changed:
            return self.config.experiment
        # Without defaults: a new key of a later version must not change the folder's name
        text = json.dumps(_run_by(self.config), sort_keys=True)
        return f"{self.config.experiment}--{hashlib.sha256(text.encode()).hexdigest()[:8]}"


Named = str | Path | Mapping[str, object] | ExperimentConfig
"""A configuration as users give it: a file, the name of a shipped one, a mapping, or the record."""
Loadable = Named | Source | Experiment
"""As users give it, a file that was read, or a checked one."""


def load_experiment(
    config: Loadable, overrides: Iterable[str] = (), *, without_plugins: bool = False
) -> Experiment:
    """Read a configuration and check it whole; nothing is downloaded.

    One that was checked is returned as it is, if there are no overrides. A ConfigError says all
    that is wrong, one line each. Without plugins, names that may be theirs are no fault where the
    configuration states plugins; what they name is left out and said to be unchecked.
    """
    overrides = texts_of(overrides)
    if isinstance(config, Experiment):
        if not overrides:
            return config
        again = load_experiment(config.config, overrides)
        return replace(again, base=config.base, changed=config.changed or again.changed)
    source = source_of(config)
    if source.tree is None and not overrides:
        raise ConfigError(
            f"{source.name}:1:1: the file is empty; a configuration needs experiment, problems and "
            "algorithms (`plab show quickstart` prints one)"
        )
    return _checked(source, overrides, without_plugins)


def source_of(config: Named | Source) -> Source:
    """Return a configuration as a tree of values with their places; a file is read."""
    match config:
        case Source():
            return config
        case ExperimentConfig():
            return Source("", config.model_dump(mode="json"))
        case Mapping():
            return source_of_mapping(config)
        case str() | Path():
            return read_source(find_config(config))
    raise ConfigError(
        f"received {shortened(repr(config))} ({type(config).__name__}) as a configuration; "
        "give a file, the name of a shipped one (`plab list experiments`), or a mapping with "
        "experiment, problems and algorithms"
    )


def _checked(source: Source, overrides: Sequence[str], without_plugins: bool) -> Experiment:
    """Return the experiment that a source describes; errors as in :func:`load_experiment`."""
    before = deepcopy(source.tree) if overrides else None
    override(source, overrides)
    stated = mapping_in(source.tree).get("plugins")
    faults = [*source.faults, *(taken_from_report(source.tree) if stated else ())]
    unreadable = {fault.crumbs for fault in faults if not fault.at_key}
    config = None
    try:
        config = validated(ExperimentConfig, source.tree)
        algorithms = _placed("algorithms", config.algorithms)
        problems = _placed("problems", config.problems)
    except ValidationError as error:
        faults_found = faults_of(error, source.tree, KNOWN_KEYS)
        faults += [fault for fault in faults_found if fault.crumbs not in unreadable]
        # What needs the registry is checked also where other parts are wrong.
        algorithms = _readable(source.tree, "algorithms", AlgorithmEntry, "name")
        problems = _readable(source.tree, "problems", ProblemEntry, "dataset")
    variants = [(at, algorithm_variants(entry, at, faults)) for at, entry in algorithms]
    instances = [(at, problem_instances(entry, at, faults)) for at, entry in problems]
    algorithms_found = tuple(variant for _, several in variants for variant in several)
    problems_found = tuple(instance for _, several in instances for instance in several)
    # Among entries that are wrong, a repetition may be an effect of what was left out.
    faulty = {fault.crumbs[0] for fault in faults if fault.crumbs}
    if "algorithms" not in faulty:
        faults += cross_checks.repeated_algorithms(variants)
        faults += cross_checks.unknown_algorithms(problems, algorithms_found)
    if "problems" not in faulty:
        fixed = any(variant.seeds is not None for variant in algorithms_found)
        faults += cross_checks.repeated_instances(instances, fixed)
    if config and not faults:  # what is left out by a fault has columns as well
        faults += cross_checks.unknown_columns(config, algorithms_found, problems_found)
        faults += cross_checks.goal_of_none(config.goal, variants)
    plugins = ", ".join(config.plugins) if config else ""
    unchecked = [fault.unregistered for fault in faults if plugins and fault.unregistered]
    of_plugins = {fault.crumbs[:2] for fault in faults if fault.unregistered}
    faults = _explained(faults, plugins, left_out=without_plugins)
    refuse(faults, source.place)
    assert config is not None
    return Experiment(
        config,
        Path(source.name).parent,
        algorithms_found,
        problems_found,
        bool(overrides) and not _is_named(overrides) and _changed(before, config),
        tuple(shadowed(config, overrides)),
        tuple(dict.fromkeys(unchecked)),
        _cells_of_plugins(config, dict(instances), of_plugins) if unchecked else 0,
    )


def _run_by(config: ExperimentConfig) -> dict[str, object]:
    """Return the part of a configuration that decides what is run; defaults are left out."""
    return config.model_dump(mode="json", exclude=set(_NOT_RUN), exclude_defaults=True)


def _is_named(overrides: Iterable[str]) -> bool:
    """Return whether an override names the folder."""
    return any(assignment.partition("=")[0] == "experiment" for assignment in overrides)


def _changed(before: object, config: ExperimentConfig) -> bool:
    """Return whether overrides changed what is run, under the experiment's own name."""
    try:
        stored = validated(ExperimentConfig, before)
    except ValidationError:  # the overrides have made it whole
        return mapping_in(before).get("experiment") == config.experiment
    return stored.experiment == config.experiment and _run_by(stored) != _run_by(config)


def instances_of(config: ExperimentConfig) -> list[Instance]:
    """Return the instances of a checked configuration, in its order."""
    faults: list[Fault] = []
    entries = _placed("problems", config.problems)
    instances = [
        instance for at, entry in entries for instance in problem_instances(entry, at, faults)
    ]
    refuse(faults)
    return instances


def _placed(key: str, entries: Iterable[Entry]) -> list[tuple[Crumbs, Entry]]:
    """Return entries with their places."""
    return [((key, index), entry) for index, entry in enumerate(entries)]


def _readable(tree: object, key: str, kind: type[Entry], needed: str) -> list[tuple[Crumbs, Entry]]:
    """Return the entries that name their component, without their invalid keys."""
    entries: list[tuple[Crumbs, Entry]] = []
    for index, part in enumerate(list_in(mapping_in(tree).get(key))):
        if not isinstance(mapping_in(part).get(needed), str):
            continue
        try:
            entry = validated(kind, part)
        except ValidationError as error:
            faulty = {details["loc"][0] for details in error.errors()}
            entry = validated(kind, {key: part[key] for key in part if key not in faulty})
        entries.append(((key, index), entry))
    return entries


def taken_from_report(tree: object) -> Iterator[Fault]:
    """Take tables and figures that are not registered out of a tree; yield a fault for each."""
    requested = mapping_in(mapping_in(tree).get("report"))
    for kind in ("table", "figure"):
        names = list_in(requested.get(f"{kind}s"))
        for name in list(names):
            if isinstance(name, str) and name not in registry.names(kind):
                names.remove(name)
                yield Fault(("report", f"{kind}s"), "", unregistered=f"{kind} {name!r}")


def _explained(faults: Sequence[Fault], plugins: str, *, left_out: bool) -> list[Fault]:
    """Return the faults, those of names that plugins may know left out, or with the plugins' own.

    Parameters
    ----------
    plugins
        As the configuration states them; without any, names that resemble no other one are said to
        need them.
    left_out
        Whether nothing is to be run, so that the names need not be known.
    """
    explained = []
    for fault in faults:
        if plugins and fault.unregistered:
            if left_out:
                continue
            file = plugins if plugins.endswith(".py") and "," not in plugins else "FILE.py"
            remedy = f"plugins: {plugins} is not loaded: add --plugin {file}, or install it"
            fault = replace(fault, message=f"unknown {fault.unregistered}; {remedy}")
        elif fault.unregistered and not fault.suggests:
            remedy = "if it is your own, state plugins: [FILE.py], and run with --plugin FILE.py"
            fault = replace(fault, message=f"{fault.message}; {remedy}")
        explained.append(fault)
    return explained


def _cells_of_plugins(
    config: ExperimentConfig, instances: Mapping[Crumbs, Sized], of_plugins: Collection[Crumbs]
) -> int:
    """Return the number of cells whose dataset or algorithm is registered by a plugin.

    Parameters
    ----------
    config
        The configuration.
    instances
        Place of an entry of ``problems`` -> its instances, of datasets that are known.
    of_plugins
        The places of entries that name what is not registered.
    """
    count = 0
    for i, problem in enumerate(config.problems):
        stated = problem.parameters.get("instances", problem.grid.get("instances", [None]))
        sweep = prod(len(values) for name, values in problem.grid.items() if name != "instances")
        unknown = ("problems", i) in of_plugins
        several = len(stated) * sweep if unknown else len(instances[("problems", i)])
        for j, algorithm in enumerate(config.algorithms):
            label = algorithm.label or algorithm.name
            runs = problem.algorithms is None or label in problem.algorithms
            if runs and (unknown or ("algorithms", j) in of_plugins):
                seeds = algorithm.seeds or problem.seeds or config.seeds
                count += several * prod(map(len, algorithm.grid.values())) * len(seeds)
    return count
