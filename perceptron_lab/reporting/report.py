"""A report: the tables and figures of one experiment, made from its stored runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from perceptron_lab import registry
from perceptron_lab.durable_files import replace_file
from perceptron_lab.errors import ConfigError, StoreError, did_you_mean
from perceptron_lab.experiments.running.runner import Rows
from perceptron_lab.reporting.cautions import cautions
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def check_report(report: Mapping[str, Sequence[str]]) -> None:
    """Refuse unknown tables and figures, before an experiment spends hours on its runs.

    Parameters
    ----------
    report
        ``tables`` and ``figures``, each a list of registered names; both optional.

    Raises
    ------
    ConfigError
        If a key or a name is unknown; the message suggests the closest one.
    """
    _refuse_unknown("entry of the report", report, ("tables", "figures"))
    for kind in ("table", "figure"):
        _refuse_unknown(kind, report.get(f"{kind}s", ()), registry.names(kind))


def table(name: str, evidence: Evidence) -> Table:
    """Return a table by its name, such as ``table_6_1``.

    Raises
    ------
    ConfigError
        If the name is unknown.
    DataError
        If the runs are not those that the table is made of, or contradict one another.
    """
    made: Table = registry.load("table", name)(evidence)
    return made


def table_frame(name: str, evidence: Evidence) -> pd.DataFrame:
    """Return a table by its name, with full precision; errors as of :func:`table`."""
    return table(name, evidence).frame


def figure(name: str, evidence: Evidence) -> Figure:
    """Return a figure by its name, such as ``figure_2``; errors as of :func:`table`."""
    from perceptron_lab.reporting.printing.drawing import draw  # it takes half a second

    return draw(registry.load("figure", name), evidence)


@dataclass(frozen=True)
class Report:
    """A report that was written.

    Parameters
    ----------
    evidence
        The runs that it was made from.
    cautions
        The findings of :func:`~perceptron_lab.reporting.cautions.cautions`.
    files
        The files written, in the order of the report.
    """

    evidence: Evidence
    cautions: tuple[str, ...]
    files: tuple[Path, ...]


def write_report(folder: Path, report: Mapping[str, Sequence[str]], title: str) -> list[Path]:
    """Write a report as :func:`make_report` does, and return the files."""
    return list(make_report(folder, report, title).files)


def make_report(
    folder: Path, report: Mapping[str, Sequence[str]], title: str, done: Rows | None = None
) -> Report:
    """Make the tables (CSV, LaTeX, HTML, Markdown) and figures (PNG, PDF, SVG) of an experiment.

    Everything is made before the first file is written, and each file is replaced at once: a
    report that fails leaves the earlier one as it was.

    Parameters
    ----------
    folder
        The experiment's folder, which holds its store.
    report
        ``tables`` and ``figures``, each a list of names; both optional.
    title
        The captions, to which the findings of :func:`~perceptron_lab.reporting.cautions.cautions`
        are added.
    done
        The run that has just ended there, whose rows need not be read again.

    Raises
    ------
    ConfigError
        If a name is unknown.
    DataError
        If there is no store, or it is damaged, empty, incomplete or contradicts itself, or a trace
        is missing that is needed.
    StoreError
        If a file cannot be written.
    """
    check_report(report)
    evidence = Evidence.of_rows(done.rows, folder) if done else Evidence.of_folder(folder)
    found = cautions(folder, evidence, done)
    title = f"{title} ({'; '.join(found)})" if found else title
    contents: dict[Path, bytes] = {}
    for name in report.get("tables", ()):
        made = table(name, evidence)
        texts = {
            "csv": made.csv(),
            "tex": made.latex(title),
            "html": made.html(title),
            "md": made.markdown(title),
        }
        contents |= {folder / f"{name}.{kind}": text.encode() for kind, text in texts.items()}
    for name in report.get("figures", ()):
        from perceptron_lab.reporting.printing.drawing import render  # it takes half a second

        files = render(registry.load("figure", name), evidence, title)
        contents |= {folder / f"{name}.{kind}": content for kind, content in files.items()}
    for path, content in contents.items():
        try:
            replace_file(path, content)
        except OSError as error:
            raise StoreError(
                f"{path} cannot be written ({error.strerror}); mend that, and `plab report` makes "
                "the tables and figures: the runs are stored"
            ) from error
    return Report(evidence, tuple(found), tuple(contents))


def _refuse_unknown(kind: str, given: Iterable[str], known: Iterable[str]) -> None:
    for name in given:
        if name not in known:
            raise ConfigError(
                f"report: unknown {kind} {name!r}{did_you_mean(name, known)}; "
                f"known: {', '.join(known)}"
            )
