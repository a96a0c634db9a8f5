"""A fork server that loads its modules while its parent loads its own.

Both take one or two seconds; one after the other they are what a short experiment waits for most.
Nothing that takes time is imported here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from perceptron_lab import registry
from perceptron_lab.errors import PlabError
from perceptron_lab.experiments.cells.server_handle import ForkServer
from perceptron_lab.experiments.configuration.yaml_source import Source

_LISTS = ("problems", "algorithms")
"""The lists of a configuration whose entries, or parameters of them, name components."""
_KINDS = ("dataset", "algorithm", "learner")


def started_ahead(sources: Iterable[Source]) -> ForkServer | None:
    """Return a server that has begun to load what configurations need, as far as they can be read.

    Parameters
    ----------
    sources
        Configurations, not checked yet.

    Returns
    -------
    ForkServer or None
        None where it cannot be started: whoever needs one says why.
    """
    try:
        server = ForkServer(sorted(set(_modules(source.tree for source in sources))))
        server.start()
    except PlabError:  # whoever reads the configuration says so, too
        return None
    return server


def _modules(trees: Iterable[object]) -> Iterator[str]:
    """Yield the modules of the components that configurations name, by any text in the entries."""
    entries = [tree.get(key) for tree in trees if isinstance(tree, dict) for key in _LISTS]
    for name in _texts(entries):
        for kind in _KINDS:
            if name in registry.names(kind):
                target = registry.target(kind, name)
                yield target.partition(":")[0] if isinstance(target, str) else target.__module__


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, dict):
        yield from _texts(list(value.values()))
