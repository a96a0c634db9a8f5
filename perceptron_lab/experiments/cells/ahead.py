"""A fork server that loads its modules while its parent loads its own.

Both take one or two seconds; one after the other they are what a short experiment waits for most.
Nothing that takes time is imported here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from perceptron_lab import registry
from perceptron_lab.errors import PlabError
from perceptron_lab.experiments.cells.server_handle import ForkServer
from perceptron_lab.experiments.gallery import find_config
from perceptron_lab.experiments.yaml_source import read_source

_NAMED = {"problems": "dataset", "algorithms": "name"}
"""The lists of a configuration, and the key under which an entry names its component."""
_KINDS = ("dataset", "algorithm", "learner")


def started_ahead(configs: Iterable[str]) -> ForkServer | None:
    """Return a server that has begun to load what configurations need, as far as they can be read.

    Parameters
    ----------
    configs
        Files, or names of shipped configurations, not checked yet.

    Returns
    -------
    ForkServer or None
        None where it cannot be started: whoever needs one says why.
    """
    try:
        trees = [read_source(find_config(config)).tree for config in configs]
        server = ForkServer(sorted(set(_modules(trees))))
        server.start()
    except PlabError:  # whoever reads the configuration says so, too
        return None
    return server


def _modules(trees: Iterable[object]) -> Iterator[str]:
    """Yield the modules of the components that configurations name."""
    for name in _names(trees):
        for kind in _KINDS:
            if name in registry.names(kind):
                target = registry.target(kind, name)
                yield target.__module__ if isinstance(target, type) else target.partition(":")[0]


def _names(trees: Iterable[object]) -> Iterator[str]:
    for tree in trees:
        for entries, key in _NAMED.items():
            found = tree.get(entries) if isinstance(tree, dict) else None
            for entry in found if isinstance(found, list) else []:
                if isinstance(entry, dict) and isinstance(entry.get(key), str):
                    yield entry[key]
