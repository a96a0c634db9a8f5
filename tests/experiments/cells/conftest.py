"""Tests of processes, which count those that there are, and start many of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Any

import pytest

from perceptron_lab.core import registry
from perceptron_lab.experiments.cells import server_handle, supervisor
from perceptron_lab.experiments.cells.server_handle import ForkServer
from perceptron_lab.experiments.cells.supervisor import supervise
from tests.experiments.cells.clusters import cluster_of
from tests.experiments.processes import KEPT
from tests.repetitions import left_out

ABSENT = "no.such.module"


@pytest.fixture(scope="session")
def server(shared_server: ForkServer) -> Iterator[ForkServer]:
    """A server for the cells of toys, which tests share that need none of their own.

    One of its modules cannot be imported: the cells that need it would say so.
    """
    components = [registry.target("algorithm", "ellipsoid"), registry.target("dataset", "maxcut")]
    modules = [ABSENT, "tests.experiments.toys", *map(registry.module_of, components)]
    with closing(ForkServer(modules)) as warm_server:
        KEPT.extend([warm_server, shared_server])
        yield warm_server


@pytest.fixture(autouse=True)
def _shared_server(server: ForkServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def supervise_there(jobs: Any, **arguments: Any) -> Any:
        return supervise(jobs, **{"server": server} | arguments)

    monkeypatch.setattr(
        "perceptron_lab.experiments.cells.server_handle.started_ahead", lambda _: None
    )
    monkeypatch.setattr(supervisor, "supervise", supervise_there)


@pytest.fixture
def bare_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers that load what the cells of toys need and nothing else: they start sooner."""
    monkeypatch.setattr(server_handle, "CORE", ())


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Workers, which stay between the tests as those of a real cluster do: two in the long run.

    Each starts as slowly as a command. Two in threads are in test_dask_clusters.py.
    """
    with cluster_of(1 if left_out() else 2) as started:
        yield started


@pytest.fixture
def threads(bare_servers: None) -> Callable[[int], Any]:
    """Return a function that starts workers in threads of this process, which takes no time."""
    return partial(cluster_of, processes=False, protocol="tcp")
