"""The one loader of configurations: ``plab check`` and ``plab run`` see the same."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from perceptron_lab.errors import ConfigError
from perceptron_lab.experiments.configuration.config import (
    KNOWN_KEYS,
    AlgorithmEntry,
    ExperimentConfig,
    ProblemEntry,
)
from perceptron_lab.experiments.configuration.faults import Crumbs, Fault, Place, refuse
from perceptron_lab.experiments.configuration.overrides import override
from perceptron_lab.experiments.configuration.validation import faults_of, validated
from perceptron_lab.experiments.configuration.variants import (
    AlgorithmVariant,
    Instance,
    algorithm_variants,
    problem_instances,
    repeated_algorithms,
    repeated_instances,
)
from perceptron_lab.experiments.configuration.yaml_source import Source, read_source

Entry = TypeVar("Entry", bound=BaseModel)


def read_config(path: Path, overrides: Iterable[str] = ()) -> ExperimentConfig:
    """Read a configuration file and check it whole; nothing is downloaded.

    Parameters
    ----------
    path
        The file.
    overrides
        ``path.to.key=value`` each.

    Raises
    ------
    ConfigError
        If anything is wrong: all of it, one line each.
    """
    source = read_source(path)
    if source.tree is None and not overrides:
        raise ConfigError(
            f"{path}:1:1: the file is empty; a configuration needs experiment, problems and "
            "algorithms (`plab show quickstart` prints one)"
        )
    return checked(source, overrides)


def checked_config(config: ExperimentConfig, overrides: Iterable[str] = ()) -> ExperimentConfig:
    """Check a configuration that was built in Python, with overrides.

    Raises
    ------
    ConfigError
        As :func:`read_config` does.
    """
    return checked(Source("", config.model_dump(mode="json")), overrides)


def checked(source: Source, overrides: Iterable[str] = ()) -> ExperimentConfig:
    """Return the configuration that a source holds; errors as in :func:`read_config`."""
    override(source, overrides)
    faults = list(source.faults)
    unreadable = {fault.crumbs for fault in faults if not fault.at_key}
    config = None
    try:
        config = validated(ExperimentConfig, source.tree)
    except ValidationError as error:
        found = faults_of(error, source.tree, KNOWN_KEYS)
        faults += [fault for fault in found if fault.crumbs not in unreadable]
    _check_entries(source.tree, faults)
    refuse(faults, source.place)
    assert config is not None
    return config


def variants_of(config: ExperimentConfig) -> list[AlgorithmVariant]:
    """Return the algorithm variants of a checked configuration, in its order."""
    faults: list[Fault] = []
    variants = [
        variant
        for index, entry in enumerate(config.algorithms)
        for variant in algorithm_variants(entry, ("algorithms", index), faults)
    ]
    refuse(faults, _nowhere)
    return variants


def instances_of(config: ExperimentConfig) -> list[Instance]:
    """Return the instances of a checked configuration, in its order."""
    faults: list[Fault] = []
    instances = [
        instance
        for index, entry in enumerate(config.problems)
        for instance in problem_instances(entry, ("problems", index), faults)
    ]
    refuse(faults, _nowhere)
    return instances


def _nowhere(fault: Fault) -> Place:
    return Place(1, 1, "")


def _check_entries(tree: Any, faults: list[Fault]) -> None:
    """Check what needs the registry, also where other parts of the configuration are wrong."""
    algorithms = [
        (crumbs, algorithm_variants(entry, crumbs, faults))
        for crumbs, entry in _entries(tree, "algorithms", AlgorithmEntry, "name")
    ]
    problems = [
        (crumbs, problem_instances(problem, crumbs, faults))
        for crumbs, problem in _entries(tree, "problems", ProblemEntry, "dataset")
    ]
    # Among entries that are wrong, a repetition may be an effect of what was left out.
    wrong = {fault.crumbs[0] for fault in faults if fault.crumbs}
    if "algorithms" not in wrong:
        faults += repeated_algorithms(algorithms)
    if "problems" not in wrong:
        faults += repeated_instances(problems)


def _entries(tree: Any, key: str, kind: type[Entry], needed: str) -> list[tuple[Crumbs, Entry]]:
    """Return the entries whose component is named, without the parts that are wrong."""
    found = tree.get(key) if isinstance(tree, dict) else None
    entries: list[tuple[Crumbs, Entry]] = []
    for index, part in enumerate(found if isinstance(found, list) else []):
        if isinstance(part, dict) and isinstance(part.get(needed), str):
            entries.append(((key, index), _usable(kind, part)))
    return entries


def _usable(kind: type[Entry], part: dict[str, Any]) -> Entry:
    try:
        return validated(kind, part)
    except ValidationError as error:
        wrong = {details["loc"][0] for details in error.errors()}
        return validated(kind, {key: value for key, value in part.items() if key not in wrong})
