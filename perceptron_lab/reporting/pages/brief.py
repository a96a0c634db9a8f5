"""What both pages say of an experiment: words, tables, figures, ratios, medians, configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from statistics import median
from typing import Any

import yaml

from perceptron_lab.core import registry
from perceptron_lab.core.errors import PlabError
from perceptron_lab.experiments.configuration.catalogue import gallery
from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.configuration.loader import load_experiment
from perceptron_lab.reporting.pages.cells import value_text
from perceptron_lab.reporting.pages.courses import line_of
from perceptron_lab.reporting.pages.figures import described, drawn
from perceptron_lab.reporting.pages.markup import Head, report_table, table_markup
from perceptron_lab.reporting.pages.places import placeless, without_places
from perceptron_lab.reporting.pages.reading import Cell, Experiment
from perceptron_lab.reporting.pages.words import interval_text, sentences
from perceptron_lab.reporting.ratios import (
    COSTS,
    GuaranteeRatio,
    Ratio,
    guarantee_ratios,
    ratios,
)
from perceptron_lab.reporting.report import DEFAULT_TABLE, figure_asked, table
from perceptron_lab.reporting.summary import ending
from perceptron_lab.solving.failures import own_fault

METHOD = (
    "Geometric means of ratios, paired by problem and seed, and in brackets their 95 % confidence "
    "intervals: t intervals of the mean of the logarithms. On one problem the seeds are the "
    "sample; over all problems each problem counts with its mean over the seeds. Pairs count in "
    "which both ended with an answer: one that only the faster of two answered is missing, which "
    "flatters the slower. A ratio alone has one pair, and no interval; that of B to A is the "
    "reciprocal of that of A to B, and so are the ends of its interval. Seconds are those of "
    "runs on a machine that may have done other things."
)
GUARANTEES = (
    "Updates over the algorithm's guarantee for the facts of the problem: the geometric mean over "
    "the problems with a 95 % t interval of the logarithms, and the largest of all cells. At most "
    "1 where the guarantee is of the worst case."
)


@dataclass(frozen=True)
class Part:
    """A table or figure: its name, its markup, and a sentence of description."""

    name: str
    markup: str
    said: str


@dataclass(frozen=True)
class Brief:
    """The parts that both pages show of an experiment; markup but for names and sentences."""

    name: str
    title: str
    sentences: tuple[str, ...]
    amiss: tuple[str, ...]
    failed: tuple[str, ...]
    tables: tuple[Part, ...]
    figures: tuple[Part, ...]
    ratios: str
    guarantees: str
    medians: str
    configuration: str
    commands: tuple[str, ...]


def brief_of(experiment: Experiment, found: Sequence[Ratio]) -> Brief:
    """Return these parts; a table or figure that cannot be made is named in ``failed``."""
    failed: list[str] = []
    tables = tuple(_tables(experiment, failed))
    figures = tuple(_figures(experiment, failed))
    first = experiment.cells[0].row["label"]
    against = [one for one in found if not one.problem and one.against == first]
    return Brief(
        name=experiment.name,
        title=experiment.title,
        sentences=tuple(sentences(experiment, found)),
        amiss=tuple(map(without_places, experiment.amiss)),
        failed=tuple(map(without_places, failed)),
        tables=tables,
        figures=figures,
        ratios=ratio_table("Ratios over all problems", against),
        guarantees=_guarantee_table(guarantee_ratios(experiment.evidence.frame)),
        medians=medians_table(experiment.cells),
        configuration=configuration_text(experiment.config),
        commands=tuple(_commands(experiment)),
    )


def ratios_of(experiment: Experiment) -> list[Ratio]:
    """Return the ratios between the labels of an experiment."""
    return ratios(experiment.evidence.frame)


def _tables(experiment: Experiment, failed: list[str]) -> Iterator[Part]:
    for name in experiment.config.report.tables or (DEFAULT_TABLE,):
        said, _ = described(name, registry.load("table", name))
        try:
            made = table(name, experiment.evidence)
            yield Part(name, report_table(made, f"{name}: {experiment.title}"), said)
        except PlabError as error:
            failed.append(f"table {name}: {str(error).removeprefix(f'{name}: ')}")
        except Exception as error:
            failed.append(f"table {name}: {_own_fault('table', name, error)}")


def _figures(experiment: Experiment, failed: list[str]) -> Iterator[Part]:
    for entry in experiment.config.report.model_dump()["figures"]:
        name, make = figure_asked(entry)
        said, whole = described(entry, make)
        try:
            key = f"{experiment.name}/{name}"
            yield Part(name, drawn(make, experiment.evidence, key, f"{name}. {whole}"), said)
        except PlabError as error:
            failed.append(f"figure {name}: {str(error).removeprefix(f'{name}: ')}")
        except Exception as error:
            failed.append(f"figure {name}: {_own_fault('figure', name, error)}")


def _own_fault(kind: str, name: str, error: Exception) -> str:
    """Return how a registered table or figure failed; errors of the package's own are raised."""
    if not (said := own_fault(kind, name, error)):
        raise error
    return said


def ratio_table(caption: str, found: Sequence[Ratio]) -> str:
    """Return ratios as a table; empty without any."""
    costs = [cost for cost in COSTS if any(cost in one.by_cost for one in found)]
    if not costs:
        return ""
    on_problems = any(one.problem for one in found)
    heads = [
        Head("cost of"),
        Head("over that of"),
        *([Head("problem")] if on_problems else []),
        Head("pairs that count", number=True),
        *(Head(cost, number=True) for cost in costs),
    ]
    lines = (
        [
            escape(one.label),
            escape(one.against),
            *([escape(one.problem or "all")] if on_problems else []),
            f"{one.pairs} of {one.possible}",
            *(interval_text(one.by_cost.get(cost)) for cost in costs),
        ]
        for one in found
    )
    return table_markup(caption, heads, lines, 2)


def _guarantee_table(found: Sequence[GuaranteeRatio]) -> str:
    if not found:
        return ""
    names = ("algorithm", "problems", "cells", "updates / guarantee", "largest")
    heads = [Head(name, number=place > 0) for place, name in enumerate(names)]
    lines = (
        [
            escape(one.label),
            str(one.problems),
            str(one.cells),
            interval_text(one.interval),
            f"{one.largest:.3g}",
        ]
        for one in found
    )
    return table_markup("Updates against the guarantee", heads, lines)


_MEDIANS = ("updates", "queries", "seconds")


def medians_table(cells: Sequence[Cell]) -> str:
    """Return one line per problem and algorithm: endings, medians, and the course of one seed."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((str(cell.row["problem"]), str(cell.row["label"])), []).append(cell)
    heads = [
        *(Head(name) for name in ("problem", "algorithm", "endings")),
        *(Head(name, number=True) for name in _MEDIANS),
        Head("course"),
    ]
    lines = (
        [
            *map(escape, group),
            _endings(own),
            *(_median(name, [cell.row.get(name) for cell in own]) for name in _MEDIANS),
            next((line_of(cell.course, named=False) for cell in own if cell.course), ""),
        ]
        for group, own in groups.items()
    )
    return table_markup("Medians over the seeds", heads, lines, 2, "medians")


def _endings(cells: Sequence[Cell]) -> str:
    found: dict[str, int] = {}
    for cell in cells:
        name = ending(cell.row["status"], bool(cell.row["proved"]))
        found[name] = found.get(name, 0) + 1
    if len(found) == 1:
        return escape(next(iter(found)))
    return escape(", ".join(f"{number} {name}" for name, number in found.items()))


def _median(name: str, values: Sequence[Any]) -> str:
    known = [float(value) for value in values if value is not None]
    if not known:
        return ""
    middle = median(known)
    return value_text(name, int(middle) if middle.is_integer() and name != "seconds" else middle)


def configuration_text(config: ExperimentConfig) -> str:
    """Return the configuration as YAML, without values that are defaults, and without places."""
    tree = placeless(config.model_dump(mode="json", exclude_defaults=True))
    text: str = yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, width=100)
    return text


def _commands(experiment: Experiment) -> Iterator[str]:
    """Yield the command lines that make the results again, and check them."""
    name = experiment.config.experiment
    yield f"plab run {name if _is_shipped(experiment.config) else f'{name}.yaml'}"
    if any(cell.filed for cell in experiment.cells):
        yield f"plab verify results/{experiment.name}"
    yield f"plab report --html results/{experiment.name}"


def _is_shipped(config: ExperimentConfig) -> bool:
    path = gallery().get(config.experiment)
    return path is not None and load_experiment(path, without_plugins=True).config == config
