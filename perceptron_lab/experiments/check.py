"""An experiment before it is run: its outline, which tables and figures need, and its check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from perceptron_lab.core import registry
from perceptron_lab.core.errors import DataError, PlabError
from perceptron_lab.core.run_options import TraceOptions
from perceptron_lab.datasets.dataset import Dataset
from perceptron_lab.experiments.configuration.faults import Crumbs, Fault, refuse
from perceptron_lab.experiments.configuration.loader import (
    Experiment,
    Loadable,
    load_experiment,
    source_of,
)
from perceptron_lab.experiments.configuration.plan import (
    Cell,
    Loaded,
    canonical,
    loaded,
    plan,
    untaught,
)
from perceptron_lab.experiments.configuration.variants import Instance
from perceptron_lab.experiments.configuration.yaml_source import Source
from perceptron_lab.solving.failures import registered_code_error

NEEDS: Final = "needs"
"""The attribute of a function of the evidence that holds its needs, functions of an outline."""


class Method(NamedTuple):
    """The algorithm or learner that a label stands for, with its parameters as JSON values."""

    algorithm: str
    parameters: Mapping[str, Any]

    @property
    def learns(self) -> bool:
        """Whether it is a learner."""
        return self.algorithm in registry.names("learner")


class Outline(Protocol):
    """Problems and labels of an experiment, which its plan knows as well as its runs do.

    :class:`Plan` and :class:`~perceptron_lab.reporting.evidence.Evidence` are outlines.
    """

    def problems(self) -> list[str]:
        """Return the titles of the problems."""

    def methods(self) -> Mapping[str, Method]:
        """Return label -> its algorithm or learner."""

    def dataset(self, problem: str) -> Dataset:
        """Return the record of the dataset that a problem belongs to."""

    def instance(self, problem: str) -> str:
        """Return the dataset's own name of a problem."""

    def parameters(self, problem: str) -> Mapping[str, Any]:
        """Return the parameters of the dataset that a problem belongs to."""

    def shapes(self) -> Mapping[str, tuple[int, int]]:
        """Return problem -> dimension and constraints, of those whose shape is known."""

    def recorded(self) -> TraceOptions:
        """Return the further contents of the traces."""


Need = Callable[[Outline], object]
"""It raises a DataError that names what is missing; a value that it returns is for other users."""


@dataclass(frozen=True)
class Plan:
    """The outline of a checked configuration."""

    experiment: Experiment

    def problems(self) -> list[str]:
        """Return the titles of the problems, in the order of the configuration."""
        return list(self._instances)

    def methods(self) -> Mapping[str, Method]:
        """Return label -> its algorithm or learner, in the order of the configuration."""
        return {
            variant.label: Method(variant.algorithm.name, variant.algorithm.parameters)
            for variant in self.experiment.variants
        }

    def dataset(self, problem: str) -> Dataset:
        """Return the record of the dataset that a problem belongs to."""
        record: Dataset = self._instances[problem].dataset.record
        return record

    def instance(self, problem: str) -> str:
        """Return the dataset's own name of a problem."""
        return self._instances[problem].name

    def parameters(self, problem: str) -> Mapping[str, Any]:
        """Return the parameters of the dataset that a problem belongs to."""
        return self._instances[problem].dataset.parameters

    def shapes(self) -> Mapping[str, tuple[int, int]]:
        """Return problem -> shape, of the problems whose parameters give dimension and rows."""
        sizes = {
            problem: [self.parameters(problem).get(name) for name in ("dimension", "rows")]
            for problem in self.problems()
        }
        return {
            problem: (dimension, rows)
            for problem, (dimension, rows) in sizes.items()
            if type(dimension) is type(rows) is int
        }

    def recorded(self) -> TraceOptions:
        """Return what the traces are to hold."""
        return self.experiment.config.trace_options

    @cached_property
    def _instances(self) -> dict[str, Instance]:
        return {instance.title: instance for instance in self.experiment.instances}


def unsuitable(experiment: Experiment) -> Iterator[Fault]:
    """Yield a fault for each table and figure of the report that the experiment does not suit.

    Nothing is said where parts of the experiment are left out, as only plugins know them.
    """
    if experiment.unchecked:
        return
    plan = Plan(experiment)
    for kind, position, name in experiment.config.report.registered:
        crumbs = ("report", f"{kind}s", position)
        try:
            # Not every table or figure states what it needs
            for check in getattr(registry.load(kind, name), NEEDS, ()):
                check(plan)
        except DataError as error:
            reason = str(error).removeprefix(f"{name}: ")
            yield Fault(crumbs, f"the {kind} {name!r} cannot be made: {reason}")
        except Exception as error:
            if not (reason := registered_code_error(error)):
                raise
            yield Fault(crumbs, f"the needs of the {kind} {name!r}: {reason}")


LARGEST: Final = 20_000_000
"""Bytes up to which a check reads a file."""


def check(config: Loadable, overrides: Iterable[str] = ()) -> list[Cell]:
    """Check a configuration; nothing is downloaded or run. ``plab check`` in Python.

    Tables and figures that the experiment does not suit are faults as well, and so is what is wrong
    in your own files of up to 20 MB, which are read. Plugins that it states are not loaded; cells
    of what only they know are left out.

    Parameters
    ----------
    config
        A file, the name of a shipped configuration, a mapping, or a configuration.
    overrides
        ``path.to.key=value`` each.

    Returns
    -------
    list of Cell
        What would be run, in this order.

    Raises
    ------
    ConfigError
        If there is no such file, or anything is wrong in it: all of it, one line each.

    Examples
    --------
    >>> from perceptron_lab import check
    >>> len(check("quickstart"))
    6
    >>> check("quickstart", ["seeds=[3]"])[0].seed
    3
    """
    return plan(checked_with_report(config, overrides))


def checked_with_report(config: Loadable, overrides: Iterable[str] = ()) -> Experiment:
    """Load an experiment whose report can be made; raise the errors of :func:`check`."""
    source = config if isinstance(config, Experiment) else source_of(config)
    experiment = load_experiment(source, overrides, without_plugins=True)
    faults = [*unsuitable(experiment), *faults_of_files(experiment)]
    refuse(faults, source.place) if isinstance(source, Source) else refuse(faults)
    return replace(experiment, warnings=(*experiment.warnings, *unread(experiment)))


def faults_of_files(experiment: Experiment) -> Iterator[Fault]:
    """Yield the faults of the files, and the learners for which they have no examples.

    Each is read as its entry says, with the first seed; those above :data:`LARGEST` are not.
    """
    loaded_problems: dict[tuple[Path, str], Loaded] = {}
    for cell, path in _own_files(experiment):
        # A check has to answer at once, and reading more would take longer
        if _is_large(path):
            continue
        at, key = _crumbs_of(experiment, cell), (path, canonical(cell.instance.identity))
        if key not in loaded_problems:
            try:
                loaded_problems[key] = loaded(cell, experiment.base)
            except PlabError as error:
                # Kept as missing, so that one wrong file is one fault and not one per algorithm
                loaded_problems[key] = Loaded(missing=str(error))
                yield Fault(at, str(error))
        if lacking := untaught(cell, loaded_problems[key]):
            yield Fault(at, lacking)


def unread(experiment: Experiment) -> list[str]:
    """Return a sentence on each file that is too large to be read by a check."""
    paths = dict.fromkeys(path for _, path in _own_files(experiment))
    return [
        f"{path}: not read, as it takes more than {LARGEST / 1e6:g} MB; `plab run` reads it first"
        for path in paths
        if _is_large(path)
    ]


def _own_files(experiment: Experiment) -> Iterator[tuple[Cell, Path]]:
    """Yield each cell whose problem is read from a user's own file, with the file."""
    for cell in plan(experiment):
        path = cell.own_file(experiment.base)
        if path is not None:
            yield cell, path


def _is_large(path: Path) -> bool:
    # An absent file is not large: its reader reports it
    return path.is_file() and path.stat().st_size > LARGEST


def _crumbs_of(experiment: Experiment, cell: Cell) -> Crumbs:
    """Return the position of a file in its entry's list, or of the entry if a grid has files."""
    crumbs, dataset = cell.instance.crumbs, cell.instance.dataset
    listed = experiment.config.problems[int(crumbs[1])].parameters.get("files")
    if listed is None:
        return crumbs
    return (*crumbs, "files", dataset.record.names().index(cell.instance.name))
