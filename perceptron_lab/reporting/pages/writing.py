"""Pages of experiments, and the page of all of them: made, kept where nothing changed, written."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup

from perceptron_lab.core.atomic_files import replace_file
from perceptron_lab.core.errors import StoreError, counted
from perceptron_lab.core.version import __version__
from perceptron_lab.core.visible_text import visible
from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.provenance.code_digest import PACKAGE
from perceptron_lab.experiments.running.runner import RESULTS
from perceptron_lab.experiments.storage import schema
from perceptron_lab.reporting.pages.cells import cells_table
from perceptron_lab.reporting.pages.content import Content, content_of
from perceptron_lab.reporting.pages.reading import PageData, read_experiment
from perceptron_lab.reporting.pages.tables import (
    Head,
    PageTable,
    environments_table,
    ratio_table,
)
from perceptron_lab.reporting.ratios import ratios
from perceptron_lab.reporting.report import Target, experiments_asked, in_order, sizes_of
from perceptron_lab.reporting.summary import answered

NAME: Final = "index.html"
"""Of every page."""
# The page of all experiments takes its parts from written pages, between these marks:
# a page that is unchanged need not be made again
_CONTENT: Final = re.compile("<!--content-->(.*)<!--/content-->", re.DOTALL)
_TABLE: Final = re.compile("<!--(table|medians)-->(.*?)<!--/\\1-->", re.DOTALL)
_LONGEST: Final = {"table": 18_000, "medians": 8_000}
"""Characters of the tables of a kind on the page of all experiments."""
_FACTS: Final = re.compile('<script type="application/json" id="facts">(.*?)</script>', re.DOTALL)
_STAMP: Final = re.compile('<meta name="made-of" content="([0-9a-f]*)">')


@dataclass(frozen=True)
class Page:
    """A page that was written, or found as it would be written.

    Parameters
    ----------
    path
        Its place.
    failed
        Tables and figures that could not be made of the runs, and why.
    unchanged
        Whether it was there already, made of the same store by the same code.
    """

    path: Path
    failed: tuple[str, ...] = ()
    unchanged: bool = False


@dataclass(frozen=True)
class _PageText:
    """The page of an experiment, as text."""

    folder: Path
    text: str
    unchanged: bool

    @property
    def facts(self) -> dict[str, Any]:
        return dict(json.loads(_matched_text(_FACTS, self.text)))

    @property
    def content(self) -> str:
        return _matched_text(_CONTENT, self.text)


def pages(target: Target | None = None, *, output: str | Path = RESULTS) -> list[Path]:
    """Write pages of results; ``plab report --html`` in Python.

    Each experiment has a separate page, ``index.html`` in its folder. Where all experiments of a
    folder are asked for, there is a page of all of them as well, in that folder. Pages are whole:
    style, script and figures are in them. A page that is there already is made again only if the
    store, the files next to it or the package have changed.

    Parameters
    ----------
    target, output
        As for :func:`~perceptron_lab.reporting.report.report`.

    Returns
    -------
    list of Path
        The pages.

    Raises
    ------
    ConfigError, DataError, StoreError
        As of :func:`~perceptron_lab.reporting.report.report`; tables and figures that could not be
        made are named on the page.

    Examples
    --------
    >>> from perceptron_lab import run
    >>> [path.as_posix() for path in pages(run("quickstart").folder)]
    ['results/quickstart/index.html']
    """
    return [page.path for page in written([] if target is None else [target], Path(output))]


def written(targets: Sequence[Target], output: Path, processes: int = 1) -> Iterator[Page]:
    """Yield pages as they are written, the page of all experiments last.

    Parameters
    ----------
    targets, output
        As for :func:`pages`.
    processes
        How many make pages at a time. More than one import the main module again, which has to
        allow for it.
    """
    requested = experiments_asked(targets, output)
    roots = {folder.parent for folder, _ in requested}
    complete = [
        root for root in sorted(roots) if _all_asked(root, [folder for folder, _ in requested])
    ]
    jobs = [
        (folder, config, folder.parent in complete or (folder.parent / NAME).is_file())
        for folder, config in requested
    ]
    pages = []
    for page in in_order(_made_page, jobs, processes, sizes_of(requested)):
        pages.append(page)
        path = page.folder / NAME
        if not page.unchanged:
            _write(path, page.text)
        yield Page(path, tuple(page.facts["failed"]), page.unchanged)
    # Last, since it is made of the pages below
    for root in complete:
        pages_below = [page for page in pages if page.folder.parent == root]
        _write(root / NAME, _everything(pages_below))
        yield Page(root / NAME)


def _all_asked(root: Path, folders: Sequence[Path]) -> bool:
    """Return whether these are all results in a folder, and several."""
    there = schema.folders_below(root)
    # A page of all experiments with only some of them would hide the others
    return len(there) > 1 and set(folders).issuperset(there)


def _made_page(folder: Path, config: ExperimentConfig, up: bool) -> _PageText:
    """Return the page of an experiment, from its file if that is up to date."""
    stamp, path = stamp_of(folder, config, up), folder / NAME
    if path.is_file():
        # A damaged page is made again, and no reason to fail
        text = path.read_text("utf-8", errors="replace")
        match = _STAMP.search(text)
        if match is not None and match[1] == stamp:
            return _PageText(folder, text, unchanged=True)
    return _PageText(folder, _page(read_experiment(folder, config), stamp, up), unchanged=False)


def stamp_of(folder: Path, config: ExperimentConfig, up: bool) -> str:
    """Return a digest of all that the page of an experiment is made of."""
    digest = hashlib.sha256(_package_digest())
    digest.update(f"{folder.name} {up} {config.model_dump_json()}".encode())
    # Names are enough: a page says of a certificate whether its file is there
    certificates = sorted(path.name for path in folder.glob("certificates/*.npz"))
    digest.update("\n".join(certificates).encode())
    # Rows may be in the write-ahead log of SQLite only, as long as a run is going
    for name in (schema.NAME, f"{schema.NAME}-wal", schema.PACKED, "runs.csv"):
        path = folder / name
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()[:32]


@cache
def _package_digest() -> bytes:
    """Return a digest of the package, from whose code pages and their notes come."""
    digest = hashlib.sha256(__version__.encode())
    # Templates, styles and the papers' own tables are on the pages too
    kinds = (".py", ".jinja", ".css", ".js", ".csv")
    for path in sorted(path for path in PACKAGE.rglob("*") if path.suffix in kinds):
        digest.update(path.read_bytes())
    return digest.digest()


def _page(experiment: PageData, stamp: str, up: bool) -> str:
    """Return the page of an experiment as text."""
    cost_ratios = ratios(experiment.evidence.frame)
    content = content_of(experiment, cost_ratios)
    return (
        _templates()
        .get_template("experiment.html.jinja")
        .render(
            stamp=stamp,
            title=experiment.title,
            up=up,
            content=content,
            ratios=ratio_table("Ratios of costs, algorithm / compared with", cost_ratios),
            cells=cells_table(experiment.cells),
            environments=environments_table(experiment.environments),
            facts=_facts(experiment, content),
        )
    )


def _facts(experiment: PageData, content: Content) -> dict[str, Any]:
    """Return the facts of an experiment for its line on the page of all experiments."""
    runs = experiment.evidence.frame
    return {
        "name": experiment.name,
        "title": experiment.title,
        "problems": runs["problem"].nunique(),
        "algorithms": runs["label"].nunique(),
        "seeds": runs["seed"].nunique(),
        "cells": len(runs),
        "answered": int(answered(runs).sum()),
        "proved": int(runs["proved"].sum()),
        "seconds": round(float(runs["seconds"].sum()), 3),
        "proof seconds": round(float(runs["proof_seconds"].sum()), 3),
        "tables": [part.name for part in content.tables],
        "figures": [part.name for part in content.figures],
        "failed": list(content.failed),
    }


def _everything(pages: Sequence[_PageText]) -> str:
    """Return the page of all experiments as text."""
    facts = [page.facts for page in pages]
    return (
        _templates()
        .get_template("everything.html.jinja")
        .render(
            title="Results of perceptron_lab",
            facts=facts,
            overview=_overview(facts),
            contents=[_shortened(page.content, page.folder) for page in pages],
        )
    )


def _shortened(content: str, folder: Path) -> str:
    """Return the contents of the overview page; long tables are only mentioned."""
    link = f"{escape(folder.name)}/{NAME}"

    def shown(match: re.Match[str]) -> str:
        kind, table = match.groups()
        if len(table) <= _LONGEST[kind]:
            return match[0]
        lines = counted(table.count("<tr") - 1, "line")
        return f'<p>This table has {lines}: see <a href="{link}">{link}</a>.</p>'

    return _TABLE.sub(shown, content)


_NUMBERS: Final = (
    "problems",
    "algorithms",
    "seeds",
    "cells",
    "answered",
    "proved",
    "seconds",
    "proof seconds",
)


def _overview(facts: Sequence[dict[str, Any]]) -> PageTable:
    heads = [
        *map(Head, ("experiment", "title")),
        *(Head(name, number=True) for name in _NUMBERS),
        Head("tables and figures"),
    ]
    lines = [
        [
            Markup('<a href="#{0}">{0}</a>').format(facts["name"]),
            facts["title"],
            *(f"{facts[name]:.6g}" for name in _NUMBERS),
            ", ".join(dict.fromkeys([*facts["tables"], *facts["figures"]])),
        ]
        for facts in facts
    ]
    return PageTable("All experiments", heads, lines, kind="overview")


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader(__name__.rpartition(".")[0]),
        autoescape=select_autoescape(["html.jinja"]),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["counted"] = counted
    environment.globals["version"] = __version__
    return environment


def _matched_text(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    assert match is not None
    return match[1]


def _write(path: Path, text: str) -> None:
    try:
        replace_file(path, visible(text).encode())
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror}); make it writable, then run "
            "`plab report --html` again; the results are stored"
        ) from error
