"""The common parts of the page of one experiment and the overview of all experiments."""

from __future__ import annotations

import inspect
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd
import yaml

from perceptron_lab.core import registry
from perceptron_lab.core.errors import counted
from perceptron_lab.core.results import Status
from perceptron_lab.experiments.configuration.catalogue import gallery
from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.configuration.loader import load_experiment
from perceptron_lab.reporting.pages.best import best_sentence
from perceptron_lab.reporting.pages.cells import medians_table
from perceptron_lab.reporting.pages.reading import PageData, without_paths
from perceptron_lab.reporting.pages.tables import (
    PageTable,
    guarantee_table,
    interval_text,
    ratio_table,
    report_table,
)
from perceptron_lab.reporting.printing.typesetting import plain, seconds
from perceptron_lab.reporting.ratios import Ratio, guarantee_ratios
from perceptron_lab.reporting.report import DEFAULT_TABLE, Entry, Failures, figure_asked, table
from perceptron_lab.reporting.summary import CLAIMS, answered, status_text


@dataclass(frozen=True)
class TablePart:
    """A table with its name and a sentence of description."""

    name: str
    description: str
    table: PageTable


@dataclass(frozen=True)
class Picture:
    """A figure with its name and a sentence of description.

    ``alternative`` says all that the figure shows; ``data`` is a PNG in base 64, of a size in
    pixels.
    """

    name: str
    description: str
    alternative: str
    data: str
    size: tuple[int, int]


@dataclass(frozen=True)
class Content:
    """The parts that both pages show of an experiment."""

    name: str
    sentences: Sequence[str]
    warnings: Sequence[str]
    failed: Sequence[str]
    tables: Sequence[TablePart]
    figures: Sequence[Picture]
    ratios: PageTable | None
    guarantees: PageTable | None
    medians: PageTable
    configuration: str
    commands: Sequence[str]


def content_of(experiment: PageData, ratios: Sequence[Ratio]) -> Content:
    """Return these parts; a table or figure that cannot be made is named in ``failed``."""
    failures = Failures()
    tables, figures = list(_tables(experiment, failures)), list(_figures(experiment, failures))
    # Last, so that a bug in one table does not keep the others from being named
    failures.raise_bug()
    # The first label of an experiment is the one that it is about
    first = experiment.cells[0].row["label"]
    # All pairs of labels are in a table of the page of the experiment
    against = [ratio for ratio in ratios if not ratio.problem and ratio.against == first]
    return Content(
        name=experiment.name,
        sentences=list(sentences(experiment, ratios)),
        warnings=without_paths(experiment.warnings),
        failed=without_paths(failures.sentences),
        tables=tables,
        figures=figures,
        ratios=ratio_table("Ratios of costs over all problems, algorithm / compared with", against),
        guarantees=guarantee_table(guarantee_ratios(experiment.evidence.frame)),
        medians=medians_table(experiment.cells),
        configuration=configuration_text(experiment.config),
        commands=list(_commands(experiment)),
    )


def _tables(experiment: PageData, failures: Failures) -> Iterator[TablePart]:
    for name in experiment.config.report.tables or (DEFAULT_TABLE,):
        title, _ = described(name, registry.load("table", name))
        with failures.of("table", name):
            built = table(name, experiment.evidence)
            yield TablePart(name, title, report_table(built, f"{name}: {experiment.title}"))


def _figures(experiment: PageData, failures: Failures) -> Iterator[Picture]:
    for entry in experiment.config.report.model_dump()["figures"]:
        from perceptron_lab.reporting.printing.figure_files import screen_png  # half a second

        name, make = figure_asked(entry)
        title, description = described(entry, make)
        with failures.of("figure", name):
            content, size = screen_png(partial(make, experiment.evidence))
            yield Picture(name, title, f"{name}. {description}", b64encode(content).decode(), size)


def described(entry: Entry, make: Callable[..., object]) -> tuple[str, str]:
    """Return a figure's or table's first sentence, and its whole description as plain text.

    That is its docstring, without the markup of the documentation.
    """
    if not isinstance(entry, str):
        curves = entry["curves"]
        sentence = f"Medians of {curves['y']} over {curves['x']}, one line per {curves['by']}."
        return sentence, f"{sentence} Bars reach from quartile to quartile."
    paragraphs = (inspect.getdoc(make) or entry).split("\n\n")
    plain = [
        " ".join(_bare(paragraph).split())
        for paragraph in paragraphs
        # Indented paragraphs are sections and code, which a description for readers does not need
        if not paragraph.startswith(" ")
    ]
    return plain[0], " ".join(plain)


def _bare(text: str) -> str:
    """Return reStructuredText without roles and marks."""
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"\1", text)
    return text.replace("``", "")


def configuration_text(config: ExperimentConfig) -> str:
    """Return the configuration as YAML, without values that are defaults, and without paths."""
    tree = without_paths(config.model_dump(mode="json", exclude_defaults=True))
    text: str = yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, width=100)
    return text


def _commands(experiment: PageData) -> Iterator[str]:
    """Yield the command lines that make the results again, and check them."""
    name = experiment.config.experiment
    # A configuration of one's own has to be given as a file
    yield f"plab run {name if _is_shipped(experiment.config) else f'{name}.yaml'}"
    # Without certificates there is nothing to verify
    if any(cell.filed for cell in experiment.cells):
        yield f"plab verify results/{experiment.name}"
    yield f"plab report --html results/{experiment.name}"


def _is_shipped(config: ExperimentConfig) -> bool:
    path = gallery().get(config.experiment)
    # A changed copy keeps its name: only an equal configuration may be run by that name
    return path is not None and load_experiment(path, without_plugins=True).config == config


_FEW = 4
"""Labels up to this number have a sentence each."""


def sentences(experiment: PageData, ratios: Sequence[Ratio]) -> Iterator[str]:
    """Yield who was best, what was run, how it ended, what it cost, and all comparisons."""
    runs = experiment.evidence.frame
    yield best_sentence(runs, _machines(experiment))
    yield _size(experiment, runs)
    yield f"{_proofs(runs)} {_status_counts(runs)}"
    yield from _by_label(runs)
    total, proofs = runs["seconds"].sum(), runs["proof_seconds"].sum()
    verifying = f", proving {plain(seconds(proofs))} seconds" if proofs else ""
    yield f"Solving took {plain(seconds(total))} seconds in total{verifying}."
    yield from _compared(ratios)
    certified = sum(cell.filed for cell in experiment.cells)
    if certified:
        yield f"The certificates of {counted(certified, 'cell')} are in the folder of this page."


def _machines(experiment: PageData) -> int:
    """Return how many processors the rows come from, as far as their environments say."""
    names = {cell.stored.environment for cell in experiment.cells}
    environments = [experiment.environments.get(name, {}) for name in names]
    return len({(environment.get("cpu"), environment.get("cores")) for environment in environments})


def _size(experiment: PageData, runs: pd.DataFrame) -> str:
    problems, labels, seeds = (runs[name].nunique() for name in ("problem", "label", "seed"))
    missing = experiment.planned - len(runs)
    parts = [counted(problems, "problem"), counted(labels, "algorithm"), counted(seeds, "seed")]
    tail = f"; {missing} more are planned and have not been run" if missing else ""
    return f"{counted(len(runs), 'cell')} of {', '.join(parts[:-1])} and {parts[-1]}{tail}."


def _proofs(runs: pd.DataFrame) -> str:
    proved = int((runs["status"].isin(CLAIMS) & runs["proved"]).sum())
    fitted = int((runs["status"] == Status.FITTED).sum())
    sentence = f"{proved} of {len(runs)} ended with a proved answer"
    return sentence + (
        f", {fitted} with a fitted model, for which nothing is proved." if fitted else "."
    )


def _status_counts(runs: pd.DataFrame) -> str:
    counter = Counter(map(status_text, runs["status"], runs["proved"])).most_common()
    return f"Statuses: {', '.join(f'{name} {number}' for name, number in counter)}."


def _by_label(runs: pd.DataFrame) -> Iterator[str]:
    """Yield the labels that did not always end with an answer, unless none did."""
    groups = answered(runs).groupby(runs["label"], sort=False)
    short = [
        f"{label} {int(verified.sum())} of {len(verified)}"
        for label, verified in groups
        if not bool(verified.all())
    ]
    if short:
        yield f"Answered cells of the algorithms that did not answer all: {', '.join(short)}."
    elif runs["label"].nunique() > 1:
        yield "Every algorithm answered every cell."


def _compared(ratios: Sequence[Ratio]) -> Iterator[str]:
    # Sentences for a few pairs only: more would not be read, and the tables have them all
    over_all = [ratio for ratio in ratios if not ratio.problem and ratio.pairs]
    for total in over_all[:_FEW]:
        parts = [
            f"{interval_text(total.by_cost[cost])} times the {cost}"
            for cost in ("queries", "seconds")
            if cost in total.by_cost
        ]
        if parts:
            yield (
                f"On the {_problems(total.pairs)} that both answered, {total.label} needed "
                f"{' and '.join(parts)} of {total.against}."
            )


def _problems(count: int) -> str:
    return "problem" if count == 1 else counted(count, "problem")
