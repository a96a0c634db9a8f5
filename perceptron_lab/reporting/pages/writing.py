"""Pages of experiments, and the page of all of them: made, kept where nothing changed, written."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, select_autoescape

from perceptron_lab import __version__
from perceptron_lab.core.atomic_files import replace_file
from perceptron_lab.core.errors import StoreError, counted
from perceptron_lab.core.visible_text import visible
from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.provenance.code_digest import PACKAGE
from perceptron_lab.experiments.running.runner import RESULTS
from perceptron_lab.experiments.storage import schema
from perceptron_lab.reporting.pages.brief import (
    GUARANTEES,
    METHOD,
    Brief,
    brief_of,
    ratio_table,
    ratios_of,
)
from perceptron_lab.reporting.pages.cells import cells_table
from perceptron_lab.reporting.pages.environments import environments_table
from perceptron_lab.reporting.pages.markup import Head, table_markup
from perceptron_lab.reporting.pages.reading import Experiment, read_experiment
from perceptron_lab.reporting.processes import in_order
from perceptron_lab.reporting.ratios import answered
from perceptron_lab.reporting.report import Target, experiments_asked, sizes_of

NAME: Final = "index.html"
"""Of every page."""
COURSES: Final = (
    "A course is the margin of the point along the updates of the run, as computed, or where no "
    "point is known the bound of the margin by the weights; both axes are logarithmic, and a thin "
    "line is at margin 0."
)
_LEFT: Final = (
    ",".join(f".l{place} tr>:nth-child({place})" for place in range(1, 61)) + "{text-align:left}"
)
"""Columns of text, which tables name by classes, begin at the left."""
_BRIEF: Final = re.compile("<!--brief-->(.*)<!--/brief-->", re.DOTALL)
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
    kept
        Whether it was there already, made of the same store by the same code.
    """

    path: Path
    failed: tuple[str, ...] = ()
    kept: bool = False


@dataclass(frozen=True)
class _Made:
    """The page of an experiment, as text."""

    folder: Path
    text: str
    kept: bool

    @property
    def facts(self) -> dict[str, Any]:
        return dict(json.loads(_found(_FACTS, self.text)))

    @property
    def brief(self) -> str:
        return _found(_BRIEF, self.text)


def pages(target: Target | None = None, *, output: str | Path = RESULTS) -> list[Path]:
    """Write pages of results; ``plab report --html`` in Python.

    Each experiment has a page of its own, ``index.html`` in its folder. Where all experiments of a
    folder are asked for, there is a page of all of them as well, in that folder. Pages are whole:
    style, script and figures are in them. A page that is there already is made again only if the
    store, the files beside it or the package have changed.

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
    asked = experiments_asked(targets, output)
    roots = {folder.parent for folder, _ in asked}
    whole = [root for root in sorted(roots) if _all_asked(root, [folder for folder, _ in asked])]
    jobs = [
        (folder, config, folder.parent in whole or (folder.parent / NAME).is_file())
        for folder, config in asked
    ]
    made = []
    for one in in_order(_made_page, jobs, processes, sizes_of(asked)):
        made.append(one)
        path = one.folder / NAME
        if not one.kept:
            _write(path, one.text)
        yield Page(path, tuple(one.facts["failed"]), one.kept)
    for root in whole:
        own = [one for one in made if one.folder.parent == root]
        _write(root / NAME, _everything(own))
        yield Page(root / NAME)


def _all_asked(root: Path, folders: Sequence[Path]) -> bool:
    """Return whether these are all results in a folder, and several."""
    there = {path.parent for path in root.glob(f"*/{schema.NAME}")}
    return len(there) > 1 and there <= set(folders)


def _made_page(folder: Path, config: ExperimentConfig, up: bool) -> _Made:
    """Return the page of an experiment: the one that is there, if it would be made as it is."""
    stamp, path = stamp_of(folder, config, up), folder / NAME
    if path.is_file():
        text = path.read_text("utf-8", errors="replace")
        found = _STAMP.search(text)
        if found is not None and found[1] == stamp:
            return _Made(folder, text, kept=True)
    return _Made(folder, _page(read_experiment(folder, config), stamp, up), kept=False)


def stamp_of(folder: Path, config: ExperimentConfig, up: bool) -> str:
    """Return a digest of all that the page of an experiment is made of."""
    digest = hashlib.sha256(_package_digest())
    digest.update(f"{folder.name} {up} {config.model_dump_json()}".encode())
    kept = sorted(path.name for path in folder.glob("certificates/*.npz"))
    digest.update("\n".join(kept).encode())
    for name in (schema.NAME, f"{schema.NAME}-wal", "runs.csv"):
        path = folder / name
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()[:32]


@cache
def _package_digest() -> bytes:
    """Return a digest of the package, from whose code pages and their notes come."""
    digest = hashlib.sha256(__version__.encode())
    kinds = (".py", ".jinja", ".css", ".js", ".csv")
    for path in sorted(one for one in PACKAGE.rglob("*") if one.suffix in kinds):
        digest.update(path.read_bytes())
    return digest.digest()


def _page(experiment: Experiment, stamp: str, up: bool) -> str:
    """Return the page of an experiment as text."""
    found = ratios_of(experiment)
    brief = brief_of(experiment, found)
    template = _templates().get_template("experiment.html.jinja")
    return template.render(
        _common(stamp),
        title=experiment.title,
        name=experiment.name,
        up=up,
        brief=_brief_text(brief),
        ratios=ratio_table("Ratios of costs", found),
        cells=cells_table(experiment.cells),
        environments=environments_table(experiment.environments),
        facts=_embedded(_facts(experiment, brief)),
    )


def _brief_text(brief: Brief) -> str:
    return _templates().get_template("brief.html.jinja").render(_common(""), b=brief)


def _facts(experiment: Experiment, brief: Brief) -> dict[str, Any]:
    """Return what the page of all experiments says of one in a line."""
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
        "tables": [part.name for part in brief.tables],
        "figures": [part.name for part in brief.figures],
        "failed": list(brief.failed),
    }


def _embedded(facts: dict[str, Any]) -> str:
    """Return JSON that cannot end the element that it stands in."""
    return json.dumps(facts).replace("<", "\\u003c")


def _everything(made: Sequence[_Made]) -> str:
    """Return the page of all experiments as text."""
    facts = [one.facts for one in made]
    cells, proved = (sum(int(one[name]) for one in facts) for name in ("cells", "proved"))
    lead = (
        f"{counted(len(made), 'experiment')} of perceptron-type algorithms for feasibility, "
        f"{cells} cells, {proved} of them with a proved answer. Every number is from the stores of "
        "the runs beside this page."
    )
    template = _templates().get_template("everything.html.jinja")
    return template.render(
        _common(""),
        title="Results of perceptron_lab",
        up=False,
        lead=lead,
        overview=_overview(facts),
        experiments=[
            {
                "name": fact["name"],
                "title": fact["title"],
                "brief": _shortened(one.brief, one.folder),
            }
            for fact, one in zip(facts, made, strict=True)
        ],
    )


def _shortened(brief: str, folder: Path) -> str:
    """Return what the page of all experiments shows: long tables are told of."""
    place = f"{escape(folder.name)}/{NAME}"

    def shown(found: re.Match[str]) -> str:
        kind, table = found.groups()
        if len(table) <= _LONGEST[kind]:
            return found[0]
        lines = counted(table.count("<tr") - 1, "line")
        return f'<p>{lines}, on the experiment\'s own page: <a href="{place}">{place}</a>.</p>'

    return _TABLE.sub(shown, brief)


_NUMBERS: Final = ("problems", "algorithms", "seeds", "cells", "answered", "proved", "seconds")


def _overview(facts: Sequence[dict[str, Any]]) -> str:
    heads = [
        Head("experiment"),
        Head("title"),
        *(Head(name, number=True) for name in _NUMBERS),
        Head("tables and figures"),
    ]
    lines = (
        [
            f'<a href="#{escape(one["name"])}">{escape(one["name"])}</a>',
            escape(one["title"]),
            *(f"{one[name]:.6g}" for name in _NUMBERS),
            escape(", ".join(dict.fromkeys([*one["tables"], *one["figures"]]))),
        ]
        for one in facts
    )
    return table_markup("All experiments", heads, lines, kind="overview")


@cache
def _templates() -> Environment:
    package = __name__.rpartition(".")[0]
    return Environment(
        loader=PackageLoader(package),
        autoescape=select_autoescape(["html.jinja"]),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _common(stamp: str) -> dict[str, str]:
    """Return what every template is given."""
    return {
        "css": _own("page.css") + _LEFT,
        "js": _own("page.js"),
        "stamp": stamp,
        "version": __version__,
        "method": METHOD,
        "guarantee_method": GUARANTEES,
        "course_method": COURSES,
    }


@cache
def _own(name: str) -> str:
    return (files(__package__) / name).read_text("utf-8")


def _found(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    assert match is not None
    return match[1]


def _write(path: Path, text: str) -> None:
    try:
        replace_file(path, visible(text).encode())
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror}); mend that, and `plab report --html` "
            "makes the pages: the runs are stored"
        ) from error
