"""Names that only plugins know: a configuration states the plugins, and loads none of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from math import prod
from typing import Any

from perceptron_lab.core import registry
from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.configuration.faults import Crumbs, Fault


def taken_from_report(tree: Any) -> Iterator[Fault]:
    """Take tables and figures that plugins may know out of a tree that states plugins."""
    asked = tree.get("report") if isinstance(tree, dict) and tree.get("plugins") else None
    for kind in ("table", "figure"):
        names: Any = asked.get(f"{kind}s") if isinstance(asked, dict) else None
        for name in list(names) if isinstance(names, list) else []:
            if isinstance(name, str) and name not in registry.names(kind):
                names.remove(name)
                yield Fault(("report", f"{kind}s"), "", unregistered=f"{kind} {name!r}")


def explained(faults: Sequence[Fault], plugins: str, *, left_out: bool) -> list[Fault]:
    """Return the faults, those of names that plugins may know left out, or with the plugins' own.

    Parameters
    ----------
    plugins
        As the configuration states them; without any, names that resemble no other one are said to
        need them.
    left_out
        Whether nothing is to be run, so that the names need not be known.
    """
    found = []
    for fault in faults:
        if plugins and fault.unregistered:
            if left_out:
                continue
            file = plugins if plugins.endswith(".py") and "," not in plugins else "FILE.py"
            mend = f"plugins: {plugins} is not loaded: add --plugin {file}, or install it"
            fault = replace(fault, message=f"unknown {fault.unregistered}; {mend}")
        elif fault.unregistered and "did you mean" not in fault.message:
            mend = "if it is your own, state plugins: [FILE.py], and run with --plugin FILE.py"
            fault = replace(fault, message=f"{fault.message}; {mend}")
        found.append(fault)
    return found


def cells_of_plugins(
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
