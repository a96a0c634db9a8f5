"""Shared fixtures (the mirror with real files, the fork server) and the share of a long run."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings

from tests.registrations import registrations
from tests.repetitions import (
    by_test,
    drawn,
    examples,
    leave_out,
    leave_out_combinations,
    leave_out_repetitions,
    left_out,
    mark_combinations,
    spread,
)

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # as `plab` does; must precede the first import of numpy

settings.register_profile("few", deadline=None, max_examples=examples(50), derandomize=True)
settings.register_profile("long", deadline=None, max_examples=50, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "few"))


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("repetitions")
    group.addoption("--share", type=float, default=1.0, help="run a share of the tests, 0 to 1")
    group.addoption("--seed", type=int, default=0, help="the seed by which --share draws them")
    group.addoption("--each", type=int, default=0, help="at most so many repetitions of a test")


def pytest_configure(config: pytest.Config) -> None:
    leave_out(config.option.markexpr)


def pytest_report_header(config: pytest.Config) -> str | None:
    share, seed = config.option.share, config.option.seed
    return f"a share of {share:g}, drawn with --seed {seed}" if share < 1.0 else None


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect the tests without looking for garbage: nearly all is kept to the end.

    The tests themselves, which leave little, are interrupted for it less often.
    """
    session.config.args = _rotated(session.config)
    gc.disable()
    gc.set_threshold(10_000, 10, 10)
    try:
        return (yield)
    finally:
        gc.freeze()  # nor is it looked at again
        gc.enable()


def _rotated(config: pytest.Config) -> list[str]:
    """Return what a worker collects, the whole suite file by file from another file in each worker.

    In a fresh clone a module's assertions are rewritten and compiled when it is first imported.
    Workers that began with the same file would all do that at the same time. So each does its
    share, and reads from the cache what the others have written.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None or config.args != config.getini("testpaths"):
        return config.args
    files = sorted(str(path) for path in (config.rootpath / "tests").rglob("test_*.py"))
    number = int(worker["workerid"].removeprefix("gw"))
    first = len(files) * number // worker["workercount"]
    return files[first:] + files[:first]


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Generator[None]:
    yield  # the decorators and the parametrised fixtures
    if left_out():
        leave_out_combinations(metafunc)
    if metafunc.config.option.share == 1.0:
        leave_out_repetitions(metafunc, metafunc.config.option.each)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    if not left_out():
        mark_combinations(items)
    yield  # the selection by -m
    selected = {item.nodeid for item in _selected(config, items)}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in selected])
    items[:] = _longest_first([item for item in items if item.nodeid in selected])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a test in a worker, which reports the test, and set-up and end only if they do not pass.

    For most tests, six messages to the process that collects them cost more than the test.
    """
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def _selected(config: pytest.Config, items: list[pytest.Item]) -> list[pytest.Item]:
    share, seed, each = config.option.share, config.option.seed, config.option.each
    drawn_items = [item for item in items if drawn(item.nodeid, share, seed)]
    if not each:
        return drawn_items
    tests = by_test(drawn_items)
    return [test[position] for test in tests for position in spread(len(test), each)]


def _longest_first(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the tests, files with slow ones first and those with few others last.

    Workers take whole files in this order (`--no-loadscope-reorder`): at the end none waits long
    for a file that another one has begun.
    """
    counts = Counter(item.path for item in items)
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    # By path as well, as each worker collects them in another order
    return sorted(items, key=lambda item: (item.path not in slow, -counts[item.path], item.path))


@pytest.fixture(scope="session")
def sdplib_folder() -> Path:
    """The folder of SDPLIB files in the mirror; skips without one."""
    mirror = os.environ.get("PLAB_DATA_MIRROR", "")
    folder = Path(mirror) / "sdplib"
    if not mirror or not folder.is_dir():
        pytest.skip("needs the real SDPLIB files: set PLAB_DATA_MIRROR to a folder with sdplib/")
    return folder


@pytest.fixture
def user_registrations() -> Iterator[None]:
    """Take back at the end of a test what it has registered."""
    with registrations():
        yield


@pytest.fixture(scope="session")
def searched_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A link to a folder in which the processes of cells look for modules; empty at first."""
    link = tmp_path_factory.mktemp("searched") / "link"
    link.symlink_to(tmp_path_factory.mktemp("empty"))
    return link


@pytest.fixture
def modules_of_cells(searched_folder: Path, tmp_path: Path) -> Iterator[None]:
    """Let cells, in processes of the shared server, find modules in the folder of the test."""
    empty = searched_folder.readlink()
    _link(searched_folder, tmp_path)
    yield
    _link(searched_folder, empty)


def _link(link: Path, folder: Path) -> None:
    link.unlink()
    link.symlink_to(folder)


@pytest.fixture(scope="session")
def shared_server(searched_folder: Path) -> Iterator[Any]:
    """A fork server for all tests, since its start takes longer than most of them.

    It has imported what any cell may need, which each cell would have to do for itself.
    """
    from perceptron_lab.core import registry
    from perceptron_lab.experiments.cells.server_handle import ForkServer

    kinds = ("algorithm", "learner", "oracle", "dataset")
    targets = [registry.target(kind, name) for kind in kinds for name in registry.names(kind)]
    modules = {target.partition(":")[0] for target in targets if isinstance(target, str)}

    searched = [*sys.path, str(searched_folder)]  # without what a test adds

    class StartedHere(ForkServer):
        """Starts in the folder of the suite: a test may start it in a folder that it deletes."""

        def start(self) -> None:
            with contextlib.chdir(Path(__file__).parents[1]), pytest.MonkeyPatch.context() as patch:
                patch.setattr(sys, "path", searched)
                super().start()

    server = StartedHere(sorted(modules))
    yield server
    server.close()


@pytest.fixture(scope="session", autouse=True)
def _shared_server(shared_server: Any) -> Iterator[None]:
    from perceptron_lab.experiments.cells import server_handle, supervisor

    before, supervise = _settings(), supervisor.supervise

    def supervise_there(jobs: Any, **arguments: Any) -> Any:
        # The server does not see what a test changes in the environment.
        same = _settings() == before
        return supervise(jobs, **({"server": shared_server} if same else {}) | arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server_handle, "started_ahead", lambda _: None)
        patch.setattr(supervisor, "supervise", supervise_there)
        yield


def _settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("PLAB_")}
