"""Checks between the entries of a configuration: repetitions, labels, goals, columns of curves."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from perceptron_lab.core import registry
from perceptron_lab.core.errors import did_you_mean
from perceptron_lab.core.goals import Goal, Width
from perceptron_lab.experiments.configuration.config import (
    CurvesEntry,
    ExperimentConfig,
    ProblemEntry,
)
from perceptron_lab.experiments.configuration.faults import Crumbs, Fault, dotted
from perceptron_lab.experiments.configuration.rows import COLUMNS, ORACLE, PREFIXES, ColumnKind
from perceptron_lab.experiments.configuration.variants import AlgorithmVariant, Instance

_LATER = (ORACLE, PREFIXES[-1])


def unknown_columns(
    config: ExperimentConfig, variants: Iterable[AlgorithmVariant], instances: Iterable[Instance]
) -> Iterator[Fault]:
    """Yield a fault for each column of curves that the rows will not have.

    Measures are known once problems are loaded, and the ways of oracles once they have answered:
    they are taken as they are.
    """
    curves_entries = [
        (index, entry.curves)
        for index, entry in enumerate(config.report.figures)
        if isinstance(entry, CurvesEntry)
    ]
    parameters = [
        *(
            f"problem.{name}"
            for instance in instances
            for name in instance.identity["dataset_parameters"]
        ),
        *(f"algorithm.{name}" for variant in variants for name in variant.algorithm.parameters),
    ]
    columns = list(dict.fromkeys([*COLUMNS, *parameters]))
    for number, curves in curves_entries:
        for axis in ("x", "y", "by"):
            column, crumbs = getattr(curves, axis), ("report", "figures", number, "curves", axis)
            if column not in columns and not column.startswith(_LATER):
                listed = f"{', '.join(columns)}, measure.NAME, {ORACLE}NAME"
                text = f"received the text {column!r}; allowed: a column of runs.csv: {listed}"
                yield Fault(crumbs, text + did_you_mean(column, columns))
            # The other axes may hold text: `by` names the curves
            elif axis == "y" and column in COLUMNS and COLUMNS[column].kind is ColumnKind.TEXT:
                text = f"the column {column} holds text; allowed: one of numbers, such as seconds"
                yield Fault(crumbs, text)


def unknown_algorithms(
    entries: Sequence[tuple[Crumbs, ProblemEntry]], variants: Sequence[AlgorithmVariant]
) -> Iterator[Fault]:
    """Report labels of ``problems.algorithms`` that no algorithm has."""
    labels = list(
        dict.fromkeys(label for variant in variants for label in (variant.family, variant.label))
    )
    for crumbs, entry in entries:
        for index, label in enumerate(entry.algorithms or ()):
            if label not in labels:
                remedy = did_you_mean(label, labels)
                text = f"no algorithm is labelled {label!r}{remedy}; labels: {', '.join(labels)}"
                yield Fault((*crumbs, "algorithms", index), text)


def goal_of_none(
    goal: Goal, entries: Sequence[tuple[Crumbs, Sequence[AlgorithmVariant]]]
) -> Iterator[Fault]:
    """Report a goal that no algorithm works towards; where some do, others are skipped."""
    kinds = {variant.algorithm.kind for _, several in entries for variant in several}
    if isinstance(goal, Width) and "optimiser" not in kinds:
        text = f"{goal} is a goal of optimisers, and none is listed; give decide, or take one of "
        yield Fault(("goal",), f"{text}them: {', '.join(registry.names('optimiser'))}")


def repeated_algorithms(
    entries: Sequence[tuple[Crumbs, Sequence[AlgorithmVariant]]],
) -> Iterator[Fault]:
    """Report variants that are the same, and labels that stand for different ones."""
    first_of: dict[str, Crumbs] = {}
    labels: dict[str, Crumbs] = {}
    for crumbs, variants in entries:
        for variant in variants:
            settings = json.dumps(variant.identity, sort_keys=True)
            if settings in first_of:
                remedy = "delete one of the two, or change its parameters"
                yield Fault(
                    crumbs, f"{variant.label!r} repeats {dotted(first_of[settings])}; {remedy}"
                )
            elif variant.label in labels:
                other = dotted(labels[variant.label])
                remedy = "give each its own `label:`"
                text = f"{other} is labelled {variant.label!r} too, with other settings; {remedy}"
                yield Fault(crumbs, text)
            # The first place stays, so that every later repetition refers to the same line
            first_of.setdefault(settings, crumbs)
            labels.setdefault(variant.label, crumbs)


def repeated_instances(
    entries: Sequence[tuple[Crumbs, Sequence[Instance]]], fixed_seeds: bool = False
) -> Iterator[Fault]:
    """Report instances that occur twice, and names that stand for different ones.

    Entries with their own, different seeds may share an instance: each has its limits and
    algorithms. With ``fixed_seeds`` (an algorithm has its own seeds, the same for all problems)
    they may not, since cells could be the same.
    """
    instances_by_title: dict[str, list[tuple[Crumbs, Instance]]] = {}
    for crumbs, instance in (
        (crumbs, instance) for crumbs, instances in entries for instance in instances
    ):
        # By title, since rows and tables tell problems apart by nothing else
        for other, earlier in instances_by_title.setdefault(instance.title, []):
            if instance.identity != earlier.identity:
                yield Fault(
                    crumbs,
                    f"{dotted(other)} has an instance {instance.title!r} too, with other "
                    "settings; put the two into different experiments",
                )
            elif fixed_seeds or not _disjoint(instance.seeds, earlier.seeds):
                remedy = "delete one, or give each its own seeds:"
                text = f"the instance {instance.title!r} repeats {dotted(other)}; {remedy}"
                yield Fault(crumbs, text)
        instances_by_title[instance.title].append((crumbs, instance))


def _disjoint(seeds: Sequence[int] | None, other_seeds: Sequence[int] | None) -> bool:
    """Return whether both are given and have no seed in common."""
    return seeds is not None and other_seeds is not None and set(seeds).isdisjoint(other_seeds)
