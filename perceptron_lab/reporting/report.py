"""Reports: the tables and figures of experiments, made from their stored runs."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import starmap
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import pandas as pd

from perceptron_lab.core import registry
from perceptron_lab.core.atomic_files import replace_file
from perceptron_lab.core.errors import (
    ConfigError,
    DataError,
    PlabError,
    StoreError,
    counted,
    did_you_mean,
)
from perceptron_lab.core.results import Status
from perceptron_lab.experiments.configuration.config import Curves, ExperimentConfig
from perceptron_lab.experiments.configuration.loader import Named, load_experiment
from perceptron_lab.experiments.running.runner import RESULTS, ExperimentRows
from perceptron_lab.experiments.running.status import CellState, status
from perceptron_lab.experiments.storage import schema
from perceptron_lab.experiments.storage.exports import difference
from perceptron_lab.experiments.storage.reader import Reader, read_config_of
from perceptron_lab.experiments.storage.results_folder import (
    absent_of,
    folders_with_results,
    results_named,
)
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.solving.failures import registered_output_fault

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Made = TypeVar("Made")


def processors() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1


def in_order(
    make: Callable[..., Made],
    jobs: Sequence[tuple[object, ...]],
    processes: int,
    sizes: Sequence[float],
) -> Iterator[Made]:
    """Yield ``make(*job)`` of each job in their order; a process is worth its start for two jobs.

    The first error of a job is raised in its place, and jobs that have not begun are given up.

    Parameters
    ----------
    make
        A function of a module, as processes import it; so are jobs and what is made passed on.
    jobs
        Its arguments, those of one job each.
    processes
        How many work at a time. More than one import the main module again, which has to allow for
        it.
    sizes
        Of the jobs. The largest begin first, so that no process is left with one at the end.
    """
    # A process imports the package before it makes its first report
    workers = min(processes, len(jobs) // 2)
    if workers < 2 or registry.additions():  # which other processes do not have
        yield from starmap(make, jobs)
        return
    # A forked process would inherit the threads' locks of BLAS and OpenMP
    with ProcessPoolExecutor(workers, get_context("spawn"), _begin) as pool:
        largest_first = sorted(range(len(jobs)), key=lambda number: -sizes[number])
        begun = {number: pool.submit(make, *jobs[number]) for number in largest_first}
        try:
            for index in range(len(jobs)):
                yield begun.pop(index).result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _begin() -> None:
    """Prepare a process that only makes reports and pages."""
    # Ctrl-C reaches every process: the first one ends the others, once each has written its files
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Figures are many small objects that live as long as they do: a seventh of the time went into
    # looking for cycles among them, and 0.1 GB of memory is what it costs to look less often
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


Entry = str | Mapping[str, Any]
"""A figure of a report: its name, or the curves of one."""
Entries = Mapping[str, Sequence[Any]]
"""Names of ``tables``, and the :data:`Entry` of each of ``figures``."""
Target = Named
"""A folder of results; or a configuration: a file, the name of a shipped one, a mapping, or the
object."""
DEFAULT_TABLE: Final = "summary"
"""The table of an experiment that asks for none."""


@dataclass(frozen=True)
class Report:
    """A report that was written: its tables by name, and its files in their order.

    ``cautions`` are the findings of :func:`cautions`; ``edited`` says where runs.csv differs from
    the store that the report was made from, and is empty if it does not. ``failed`` names each
    table or figure that could not be made of the runs, and the reason; the others were written.
    """

    folder: Path
    title: str
    tables: Mapping[str, Table]
    files: tuple[Path, ...]
    cautions: tuple[str, ...]
    edited: str
    failed: tuple[str, ...] = ()


def check_report(report: Entries) -> None:
    """Refuse unknown tables and figures with a ConfigError, before an experiment spends hours.

    Parameters
    ----------
    report
        ``tables`` and ``figures``, lists of registered names; figures also of curves, as in a
        configuration. Both are optional.
    """
    _refuse_unknown("entry of the report", report, ("tables", "figures"))
    for kind in ("table", "figure"):
        requested = [name for name in report.get(f"{kind}s", ()) if isinstance(name, str)]
        _refuse_unknown(kind, requested, registry.names(kind))


def _refuse_unknown(kind: str, names: Iterable[str], known_names: Iterable[str]) -> None:
    for name in names:
        if name not in known_names:
            raise ConfigError(
                f"report: unknown {kind} {name!r}{did_you_mean(name, known_names)}; "
                f"known: {', '.join(known_names)}"
            )


def table(name: str, evidence: Evidence) -> Table:
    """Return a table by its name, such as ``table_6_1``.

    The name may be unknown (ConfigError), or the runs not those that it is made of, or contradict
    one another (DataError).
    """
    built: Table = registry.load("table", name)(evidence)
    return built


def table_frame(name: str, evidence: Evidence) -> pd.DataFrame:
    """Return a table by its name, with full precision; errors as of :func:`table`."""
    return table(name, evidence).frame


def figure(name: str, evidence: Evidence) -> Figure:
    """Return a figure by its name, such as ``figure_2``; errors as of :func:`table`."""
    from perceptron_lab.reporting.printing.drawing import draw  # it takes half a second

    return draw(registry.load("figure", name), evidence)


def curves(evidence: Evidence, columns: Curves) -> Figure:
    """Return a figure of columns of the runs; errors as of :func:`table`."""
    from perceptron_lab.reporting.printing.drawing import draw
    from perceptron_lab.reporting.studies.sweeps import draw_curves

    return draw(partial(draw_curves, curves=columns), evidence)


def figure_asked(entry: Entry) -> tuple[str, Callable[[Evidence], Figure]]:
    """Return the name of a figure's files, and the function that draws it."""
    if isinstance(entry, str):
        return entry, registry.load("figure", entry)
    from perceptron_lab.reporting.studies.sweeps import draw_curves

    columns = Curves.model_validate(entry["curves"])
    return columns.stem, partial(draw_curves, curves=columns)


def cautions(folder: Path, evidence: Evidence, executed: ExperimentRows | None = None) -> list[str]:
    """Return a sentence for each fault of the rows of an experiment as a whole.

    Rows made in different environments (their seconds do not compare), rows made by another version
    of the code than today's, and cells without a row that serves the latest request: of the
    run that has just ended there, if it is given; otherwise the store is asked. A row that was
    skipped says why, such as data that are missing: the next run tries it again, and no sentence
    is needed. Certificates may be missing, as no report is made of them.
    """
    if executed is not None:
        cells, stale, missing = executed.cells, executed.stale, executed.missing
    else:
        now, frame = status(folder, certificates=False), evidence.frame
        skipped = frame.loc[frame["status"] == Status.SKIPPED, ["problem", "label", "seed"]]
        named = set(skipped.itertuples(index=False, name=None))
        cells, stale = len(now.cells), now.counts[CellState.STALE]
        absent = [cell for cell in now.cells if cell.state is CellState.MISSING]
        missing = sum((cell.problem, cell.label, cell.seed) not in named for cell in absent)
    environments = evidence.frame["environment"].nunique()
    sentences = []
    if environments > 1:
        sentences.append(f"rows of {environments} environments: do not compare their seconds")
    if stale:
        sentences.append(f"{stale} of {len(evidence.frame)} rows are of another code version")
    if missing:
        sentences.append(f"{missing} of {cells} cells have no usable row")
    return sentences


def write_report(folder: Path, report: Entries, title: str) -> list[Path]:
    """Write a report as :func:`make_report` does, and return the files."""
    return list(make_report(folder, report, title).files)


def make_report(
    folder: Path,
    report: Entries,
    title: str,
    executed: ExperimentRows | None = None,
) -> Report:
    """Make the tables (CSV, LaTeX, HTML, Markdown) and figures (PNG, PDF, SVG) of an experiment.

    A table or figure that these runs do not suit fails alone: it is named, its earlier files stay
    as they were, and the others are written. Everything is made before the first file is written,
    and each file is replaced at once.

    Parameters
    ----------
    folder
        The experiment's folder, which holds its store.
    report
        ``tables`` and ``figures``, as for :func:`check_report`. Without any table there is that of
        :data:`DEFAULT_TABLE`.
    title
        The captions, to which the findings of :func:`cautions` are added.
    executed
        The run that has just ended there, whose rows need not be read again.

    Raises
    ------
    ConfigError
        If a name is unknown.
    DataError
        If there is no store, or it is damaged, empty or contradicts itself.
    StoreError
        If a file cannot be written.
    """
    check_report(report)
    edited = ""
    if executed is not None:
        evidence = Evidence.of_rows(executed.rows, folder)
    else:
        # A run that has just ended wrote runs.csv itself; at any other time it may have been
        # edited.
        with Reader.open(folder) as reader:
            rows = reader.rows()
        evidence, edited = Evidence.of_rows(rows, folder), difference(folder, rows)
    warnings_of_rows = cautions(folder, evidence, executed)
    caption = f"{title} ({'; '.join(warnings_of_rows)})" if warnings_of_rows else title
    tables: dict[str, Table] = {}
    contents: dict[Path, bytes] = {}
    failures = Failures(folder)
    for name in report.get("tables") or (DEFAULT_TABLE,):
        with failures.of("table", name):
            built = table(name, evidence)
            texts = built.texts(caption)
            tables[name] = built
            contents |= {folder / f"{name}.{kind}": text.encode() for kind, text in texts.items()}
    for entry in report.get("figures", ()):
        from perceptron_lab.reporting.printing.figure_files import render  # it takes half a second

        name, make = figure_asked(entry)
        with failures.of("figure", name):
            files = render(make, evidence, caption)
            contents |= {folder / f"{name}.{kind}": content for kind, content in files.items()}
    for path, content in contents.items():
        try:
            replace_file(path, content)
        except OSError as error:
            raise StoreError(
                f"{path} cannot be written ({error.strerror}); make it writable, then run "
                "`plab report`; the runs are stored"
            ) from error
    # Last: a bug in one table must not cost the files of the others
    failures.raise_bug()
    failed = tuple(failures.sentences)
    return Report(folder, title, tables, tuple(contents), tuple(warnings_of_rows), edited, failed)


@dataclass
class Failures:
    """The tables and figures of a report that could not be made, of the runs or by their code.

    ``folder`` holds their earlier files, if there may be such.
    """

    folder: Path | None = None
    sentences: list[str] = field(default_factory=list)
    bug: Exception | None = None

    @contextmanager
    def of(self, kind: str, name: str) -> Iterator[None]:
        """Keep the failure of one table or figure from the others."""
        try:
            yield
        except PlabError as error:
            self._add(kind, name, str(error).removeprefix(f"{name}: "))
        except Exception as error:
            if fault := registered_output_fault(kind, name, error):
                self._add(kind, name, fault)
            else:
                # A bug ends the command, but only after all others are made
                self.bug = self.bug or error

    def raise_bug(self) -> None:
        """Raise the first error of the package's own code, once all others are made."""
        if self.bug is not None:
            raise self.bug

    def _add(self, kind: str, name: str, sentence: str) -> None:
        first = f"{name}.{_FIRST_FILE[kind]}"
        earlier = self.folder is not None and (self.folder / first).exists()
        left = "; its earlier files are unchanged" if earlier else ""
        self.sentences.append(f"{kind} {name}: {sentence}{left}")


_FIRST_FILE: Final = {"table": "csv", "figure": "png"}


def report(target: Target | None = None, *, output: str | Path = RESULTS) -> list[Path]:
    """Rebuild the tables and figures of results; ``plab report`` in Python.

    A table or figure that the runs do not suit keeps no other one from being written.

    Parameters
    ----------
    target
        A folder of results, or of several such folders; or a configuration (a file, the name of a
        shipped one, a mapping, or the object), which stands for the results of its experiment,
        reported as it says now; None for every experiment in ``output``.
    output
        The folder of all results.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    ConfigError
        If the configuration is wrong.
    DataError
        If there are no results, or no report can be made of them; also if some tables or figures
        could not be made, once all others are written: the message names them.
    StoreError
        If a file cannot be written.

    Examples
    --------
    >>> from perceptron_lab import run
    >>> [path.name for path in report(run("quickstart").folder) if path.suffix in (".csv", ".png")]
    ['table_6_1.csv', 'table_6_1.png']
    """
    reports = list(rebuilt([] if target is None else [target], Path(output)))
    files = [path for made_report in reports for path in made_report.files]
    failed = [
        f"{made_report.folder}: {sentence}"
        for made_report in reports
        for sentence in made_report.failed
    ]
    if failed:
        listed = "\n".join(failed)
        raise DataError(
            f"{listed}\nwritten: {counted(len(files), 'file')} of the other tables and figures"
        )
    return files


def rebuilt(targets: Sequence[Target], output: Path, processes: int = 1) -> Iterator[Report]:
    """Rebuild reports in their order, once all targets are known to have results.

    Parameters
    ----------
    targets, output
        As for :func:`report`; no targets stand for every experiment in ``output``.
    processes
        How many make reports at a time. More than one import the main module again, which has to
        allow for it.
    """
    requested = experiments_asked(targets, output)
    jobs = [(folder, config.report.model_dump(), config.title) for folder, config in requested]
    yield from in_order(make_report, jobs, processes, sizes_of(requested))


def sizes_of(requested: Iterable[tuple[Path, ExperimentConfig]]) -> list[int]:
    """Return about how long reports take, in bytes of a store: a figure as long as two million."""
    return [
        schema.path_of(folder).stat().st_size + 2_000_000 * len(config.report.figures)
        for folder, config in requested
    ]


def experiments_asked(
    targets: Sequence[Target], output: Path
) -> list[tuple[Path, ExperimentConfig]]:
    """Return the folders that targets stand for, with their configurations; all have results.

    Parameters
    ----------
    targets, output
        As for :func:`rebuilt`.
    """
    experiments: list[tuple[Path, ExperimentConfig]] = []
    for target in targets or folders_with_results(output):
        named = results_named(target, output)
        if named is not None:
            contains_results = schema.is_store(named) or not schema.folders_below(named)
            folders = [named] if contains_results else folders_with_results(named)
            experiments += [(folder, read_config_of(folder)) for folder in folders]
        else:
            config = load_experiment(target, without_plugins=True).config
            experiments.append((output / config.experiment, config))
    # All targets, before the first report is written
    for folder, _ in experiments:
        if not schema.is_store(folder):
            raise absent_of(folder)
    return experiments
