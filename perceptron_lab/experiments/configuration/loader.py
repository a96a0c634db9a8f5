"""The one loader of configurations: ``plab check`` and ``plab run`` see the same.

``-s path.to.key=value`` replaces one value of a file, under the same validation.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from perceptron_lab.core.errors import ConfigError
from perceptron_lab.experiments.configuration.catalogue import find_config
from perceptron_lab.experiments.configuration.config import (
    KNOWN_KEYS,
    AlgorithmEntry,
    ExperimentConfig,
    ProblemEntry,
)
from perceptron_lab.experiments.configuration.faults import (
    Crumbs,
    Fault,
    Place,
    dotted,
    received,
    refuse,
    shortened,
)
from perceptron_lab.experiments.configuration.mapping_source import source_of
from perceptron_lab.experiments.configuration.report_columns import unknown_columns
from perceptron_lab.experiments.configuration.unregistered import (
    cells_of_plugins,
    explained,
    taken_from_report,
)
from perceptron_lab.experiments.configuration.validation import faults_of, validated
from perceptron_lab.experiments.configuration.variants import (
    AlgorithmVariant,
    Instance,
    algorithm_variants,
    goal_of_none,
    problem_instances,
    repeated_algorithms,
    repeated_instances,
    unknown_algorithms,
)
from perceptron_lab.experiments.configuration.yaml_source import (
    MOST_LEVELS,
    Source,
    parse,
    read_source,
)

# Keys of a configuration that change nothing of what is run
_NOT_RUN: Final = ("experiment", "title", "process", "report", "plugins")
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
        The instances of its datasets, likewise.
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
        """Its name, and that of its folder of results.

        Where overrides changed what is run, a digest of the configuration follows: these results
        never take the place of the experiment's own.
        """
        if not self.changed:
            return self.config.experiment
        text = json.dumps(_run_by(self.config), sort_keys=True)
        return f"{self.config.experiment}--{hashlib.sha256(text.encode()).hexdigest()[:8]}"


Named = str | Path | Mapping[str, Any] | ExperimentConfig
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
    overrides = _texts(overrides)
    if isinstance(config, Experiment):
        if not overrides:
            return config
        again = load_experiment(config.config, overrides)
        return replace(again, base=config.base, changed=config.changed or again.changed)
    if isinstance(config, ExperimentConfig):
        return checked(
            Source("", config.model_dump(mode="json")), overrides, without_plugins=without_plugins
        )
    if isinstance(config, Mapping):
        return checked(source_of(config), overrides, without_plugins=without_plugins)
    if not isinstance(config, str | Path | Source):
        raise ConfigError(
            f"received {shortened(repr(config))} ({type(config).__name__}) as a configuration; "
            "give a file, the name of a shipped one (`plab list experiments`), or a mapping with "
            "experiment, problems and algorithms"
        )
    source = config if isinstance(config, Source) else read_source(find_config(config))
    if source.tree is None and not overrides:
        raise ConfigError(
            f"{source.name}:1:1: the file is empty; a configuration needs experiment, problems and "
            "algorithms (`plab show quickstart` prints one)"
        )
    base = Path(source.name).parent
    return checked(source, overrides, base, without_plugins=without_plugins)


def _texts(overrides: Iterable[str]) -> tuple[str, ...]:
    """Return overrides; a single text, and a mapping, are no list of texts."""
    if isinstance(overrides, str | Mapping):
        raise ConfigError(
            f"received {shortened(repr(overrides))} as overrides; give a list of texts, such as "
            "['budget.seconds=5']"
        )
    return tuple(overrides)


def checked(
    source: Source,
    overrides: Iterable[str] = (),
    base: Path = Path(),
    *,
    without_plugins: bool = False,
) -> Experiment:
    """Return the experiment that a source describes; errors as in :func:`load_experiment`."""
    overrides = tuple(overrides)
    before = deepcopy(source.tree) if overrides else None
    override(source, overrides)
    faults = [*source.faults, *taken_from_report(source.tree)]
    unreadable = {fault.crumbs for fault in faults if not fault.at_key}
    config = None
    try:
        config = validated(ExperimentConfig, source.tree)
        algorithms = _placed("algorithms", config.algorithms)
        problems = _placed("problems", config.problems)
    except ValidationError as error:
        found = faults_of(error, source.tree, KNOWN_KEYS)
        faults += [fault for fault in found if fault.crumbs not in unreadable]
        # What needs the registry is checked also where other parts are wrong.
        algorithms = _readable(source.tree, "algorithms", AlgorithmEntry, "name")
        problems = _readable(source.tree, "problems", ProblemEntry, "dataset")
    variants = [(at, algorithm_variants(entry, at, faults)) for at, entry in algorithms]
    instances = [(at, problem_instances(entry, at, faults)) for at, entry in problems]
    # Among entries that are wrong, a repetition may be an effect of what was left out.
    wrong = {fault.crumbs[0] for fault in faults if fault.crumbs}
    if "algorithms" not in wrong:
        faults += repeated_algorithms(variants)
    if "problems" not in wrong:
        faults += repeated_instances(instances)
    algorithms_found = tuple(variant for _, several in variants for variant in several)
    if "algorithms" not in wrong:
        faults += unknown_algorithms(problems, algorithms_found)
    problems_found = tuple(instance for _, several in instances for instance in several)
    if config and not faults:  # what is left out by a fault has columns as well
        faults += unknown_columns(config, algorithms_found, problems_found)
        faults += goal_of_none(config.goal, variants)
    plugins = ", ".join(config.plugins) if config else ""
    unchecked = [fault.unregistered for fault in faults if plugins and fault.unregistered]
    of_plugins = {fault.crumbs[:2] for fault in faults if fault.unregistered}
    faults = explained(faults, plugins, left_out=without_plugins)
    refuse(faults, source.place)
    assert config is not None
    return Experiment(
        config,
        base,
        algorithms_found,
        problems_found,
        bool(overrides) and not _is_named(overrides) and _changed(before, config),
        tuple(_shadowed(config, overrides)),
        tuple(dict.fromkeys(unchecked)),
        cells_of_plugins(config, dict(instances), of_plugins) if unchecked else 0,
    )


def _run_by(config: ExperimentConfig) -> dict[str, Any]:
    """Return the part of a configuration that decides what is run; defaults are left out."""
    return config.model_dump(mode="json", exclude=set(_NOT_RUN), exclude_defaults=True)


def _is_named(overrides: Iterable[str]) -> bool:
    """Return whether an override names the folder."""
    return any(assignment.partition("=")[0] == "experiment" for assignment in overrides)


def _changed(before: Any, config: ExperimentConfig) -> bool:
    """Return whether overrides changed what is run, under the experiment's own name."""
    try:
        own = validated(ExperimentConfig, before)
    except ValidationError:  # the overrides have made it whole
        named = before.get("experiment") if isinstance(before, dict) else None
        return named == config.experiment
    return own.experiment == config.experiment and _run_by(own) != _run_by(config)


def _shadowed(config: ExperimentConfig, overrides: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each override of the budget that some entries do not follow."""
    entries = [
        *((f"problems.{i}", one.dataset, one.budget) for i, one in enumerate(config.problems)),
        *(
            (f"algorithms.{i}", one.label or one.name, one.budget)
            for i, one in enumerate(config.algorithms)
        ),
    ]
    for assignment in overrides:
        path = assignment.partition("=")[0]
        one_limit = path.removeprefix("budget.") if path.startswith("budget.") else None
        names = [one_limit] if one_limit else ["updates", "seconds"] if path == "budget" else []
        own = [
            f"{place}.budget.{name} ({shown})"
            for name in names
            for place, shown, limits in entries
            if getattr(limits, name) is not None
        ]
        if own:
            yield f"-s {assignment} does not reach {', '.join(own)}; override these as well"


def instances_of(config: ExperimentConfig) -> list[Instance]:
    """Return the instances of a checked configuration, in its order."""
    faults: list[Fault] = []
    entries = _placed("problems", config.problems)
    instances = [one for at, entry in entries for one in problem_instances(entry, at, faults)]
    refuse(faults, lambda fault: Place(1, 1, ""))
    return instances


def _placed(key: str, entries: Iterable[Entry]) -> list[tuple[Crumbs, Entry]]:
    """Return entries with their places."""
    return [((key, index), entry) for index, entry in enumerate(entries)]


def _readable(tree: Any, key: str, kind: type[Entry], needed: str) -> list[tuple[Crumbs, Entry]]:
    """Return the entries whose component is named, without the parts that are wrong."""
    found = tree.get(key) if isinstance(tree, dict) else None
    entries: list[tuple[Crumbs, Entry]] = []
    for index, part in enumerate(found if isinstance(found, list) else []):
        if not isinstance(part, dict) or not isinstance(part.get(needed), str):
            continue
        try:
            entry = validated(kind, part)
        except ValidationError as error:
            wrong = {details["loc"][0] for details in error.errors()}
            entry = validated(kind, {key: part[key] for key in part if key not in wrong})
        entries.append(((key, index), entry))
    return entries


def override(source: Source, assignments: Iterable[str]) -> None:
    """Write overrides into a parsed configuration, in their order.

    A missing mapping on the way is made; a list is entered by index, its length as the index
    appends to it.
    """
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        name = f"-s {shortened(assignment)}"
        if not equals or not all(path.split(".")):
            raise ConfigError(
                f"{name}: an override is path.to.key=value, such as budget.seconds=5 "
                "or problems.0.instances=[mcp100]"
            )
        if path.count(".") >= MOST_LEVELS:
            raise ConfigError(f"{name}: a path of more than {MOST_LEVELS} keys; shorten it")
        value = parse(name, text)
        refuse(value.faults, value.place)
        crumbs = _write(source, path.split("."), value.tree, name)
        # Faults, places and origins of the value that was replaced are gone with it; that its own
        # key stands twice in the file is as wrong as before.
        source.values = {at: mark for at, mark in source.values.items() if _outside(at, crumbs)}
        source.keys = {
            at: mark for at, mark in source.keys.items() if _outside(at, crumbs) or at == crumbs
        }
        source.origins = {at: said for at, said in source.origins.items() if _outside(at, crumbs)}
        source.faults = [
            fault
            for fault in source.faults
            if _outside(fault.crumbs, crumbs) or (fault.at_key and fault.crumbs == crumbs)
        ]
        source.origins[crumbs] = name


def _outside(crumbs: Crumbs, around: Crumbs) -> bool:
    return crumbs[: len(around)] != around


def _write(source: Source, steps: list[str], value: Any, name: str) -> Crumbs:
    """Set the value and return its crumbs."""
    if not isinstance(source.tree, dict):
        source.tree = {}
    node: Any = source.tree
    crumbs: Crumbs = ()
    for place, step in enumerate(steps, 1):
        if not isinstance(node, dict | list):
            raise ConfigError(
                f"{name}: {dotted(crumbs)} is {received(node)} and has no part {step!r}; "
                f"override {dotted(crumbs)} as a whole"
            )
        whole = step.isascii() and step.isdecimal() and len(step) < 10
        if isinstance(node, list) and not (whole and int(step) <= len(node)):
            raise ConfigError(
                f"{name}: {dotted(crumbs)} is a list of {len(node)}; "
                f"allowed: an index from 0 to {len(node)} (which appends), not {step!r}"
            )
        key: Any = int(step) if isinstance(node, list) else step
        new = value if place == len(steps) else {}
        if isinstance(node, list) and key == len(node):
            node.append(new)
        elif place == len(steps) or (isinstance(node, dict) and node.get(step) is None):
            node[key] = new
        node, crumbs = node[key], (*crumbs, key)
    return crumbs
