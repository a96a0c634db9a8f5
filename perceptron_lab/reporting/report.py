"""A report: the tables and figures of one experiment, made from its stored runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from perceptron_lab.errors import ConfigError, StoreError, did_you_mean
from perceptron_lab.experiments.running.runner import Rows
from perceptron_lab.experiments.storage.durable_files import replace_file
from perceptron_lab.reporting.cautions import captioned, cautions
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.figures import FIGURES
from perceptron_lab.reporting.tables import TABLES


def check_report(report: Mapping[str, Sequence[str]]) -> None:
    """Refuse unknown tables and figures, before an experiment spends hours on its runs.

    Parameters
    ----------
    report
        ``tables`` and ``figures``, each a list of names; both optional.

    Raises
    ------
    ConfigError
        If a key or a name is unknown; the message suggests the closest one.
    """
    _refuse_unknown("entry of the report", report, ("tables", "figures"))
    _refuse_unknown("table", report.get("tables", ()), TABLES)
    _refuse_unknown("figure", report.get("figures", ()), FIGURES)


def table_frame(name: str, evidence: Evidence) -> pd.DataFrame:
    """Return a table by its name, with full precision.

    Parameters
    ----------
    name
        A name of :data:`~perceptron_lab.reporting.tables.TABLES`, such as ``table_6_1``.
    evidence
        The runs.

    Raises
    ------
    ConfigError
        If the name is unknown.
    DataError
        If the runs are not what the table is made of, or contradict one another.
    """
    _refuse_unknown("table", [name], TABLES)
    return TABLES[name](evidence).frame


@dataclass(frozen=True)
class Report:
    """A report that was written.

    Parameters
    ----------
    evidence
        The runs that it was made from.
    cautions
        What :func:`~perceptron_lab.reporting.cautions.cautions` found.
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
    """Make the tables (CSV, LaTeX) and figures (PNG, PDF) of an experiment in its folder.

    Everything is made before the first file is written, and each file is replaced at once: a
    report that fails leaves the earlier one as it was.

    Parameters
    ----------
    folder
        The experiment's folder, which holds its store.
    report
        ``tables`` and ``figures``, each a list of names; both optional.
    title
        The captions, to which is added what :func:`~perceptron_lab.reporting.cautions.cautions`
        finds.
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
    title = captioned(title, found)
    contents: dict[Path, bytes] = {}
    for name in report.get("tables", ()):
        table = TABLES[name](evidence)
        contents[folder / f"{name}.csv"] = _csv(table.frame)
        contents[folder / f"{name}.tex"] = table.latex(title).encode()
    for name in report.get("figures", ()):
        from perceptron_lab.reporting.printing.drawing import render  # it takes half a second

        for kind, content in render(FIGURES[name], evidence, title).items():
            contents[folder / f"{name}.{kind}"] = content
    for path, content in contents.items():
        _write(path, content)
    return Report(evidence, tuple(found), tuple(contents))


def _write(path: Path, content: bytes) -> None:
    try:
        replace_file(path, content)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror}); mend that, and `plab report` makes the "
            "tables and figures: the runs are stored"
        ) from error


def _refuse_unknown(what: str, given: Iterable[str], known: Iterable[str]) -> None:
    for name in given:
        if name not in known:
            raise ConfigError(
                f"report: unknown {what} {name!r}{did_you_mean(name, known)}; "
                f"known: {', '.join(known)}"
            )


def _csv(table: pd.DataFrame) -> bytes:
    """Truth values are spelt as in ``runs.csv``."""
    spelt = {
        name: table[name].map({True: "true", False: "false"})
        for name in table.columns
        if pd.api.types.is_bool_dtype(table[name])
    }
    return table.assign(**spelt).to_csv(index=False, lineterminator="\n").encode()
