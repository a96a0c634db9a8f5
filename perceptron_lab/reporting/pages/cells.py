"""The cells of an experiment as tables: each cell, and medians over the seeds."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from perceptron_lab.core.outward_rounding import bracket_text, text_above, text_below
from perceptron_lab.experiments.configuration.rows import COLUMNS, ColumnKind
from perceptron_lab.experiments.provenance.code_digest import shown_digest
from perceptron_lab.reporting.pages.reading import PageCell, without_paths
from perceptron_lab.reporting.pages.tables import Head, PageTable
from perceptron_lab.reporting.printing.typesetting import plain
from perceptron_lab.reporting.printing.typesetting import seconds as seconds_text
from perceptron_lab.reporting.summary import grouped

Show = Callable[[Any], str]

_COSTS = ("updates", "queries", "iterations", "products", "seconds", "proof_seconds", "bound")
_BOUNDS: Mapping[str, Show] = {
    "margin_lower": lambda value: text_below(value, 3),
    "margin_upper": lambda value: text_above(value, 3),
    "optimum_lower": lambda value: text_below(value, 8),
    "optimum_upper": lambda value: text_above(value, 8),
    "optimum_width": lambda value: text_above(value, 3),
}
_FIRST = ("goal_reached", *_BOUNDS, *_COSTS)
"""The columns after the names and the status, in this order; further ones follow."""
_FURTHER = ("constraints", "dimension")
_VARYING = ("measure.", "oracle.", "problem.", "algorithm.")
_KEPT = ("margin_lower", "margin_upper", "optimum_lower", "optimum_upper")
_SHOWN = (*_KEPT, "updates", "queries", "seconds", "proof_seconds", "bound")
"""The columns that are shown from the beginning, where a script lets the reader choose."""
_MOST_MEASURES = 4


def cells_table(cells: Sequence[PageCell]) -> PageTable:
    """Return the cells as a table, one line each; its last column opens what was run."""
    names = list(_columns(cells))
    measures = [name for name in names if name.startswith("measure.")][:_MOST_MEASURES]
    visible_names = (*_SHOWN, *measures)
    heads = [
        *(Head("problem"), Head("algorithm"), Head("seed", number=True), Head("status")),
        *(Head(_head(name), _numeric(cells, name), shown=name in visible_names) for name in names),
        *(Head("history"), Head("certificate and parameters")),
    ]
    lines = [
        [
            *(str(cell.row[name]) for name in ("problem", "label", "seed")),
            cell.status_text,
            *(value_text(name, cell.row.get(name)) for name in names),
            cell.history or "",
            {name: text for name, text in _details(cell) if text},
        ]
        for cell in cells
    ]
    return PageTable("Cells", heads, lines, 2, "cells")


_MEDIANS = ("updates", "queries", "seconds", "proof_seconds")


def medians_table(cells: Sequence[PageCell]) -> PageTable:
    """Return one line per problem and algorithm: statuses, medians, and the history of one seed."""
    groups = grouped(cells, lambda cell: (str(cell.row["problem"]), str(cell.row["label"])))
    heads = [
        *map(Head, ("problem", "algorithm", "statuses")),
        *(Head(_head(name), number=True) for name in _MEDIANS),
        Head("history"),
    ]
    lines = [
        [
            *group,
            _status_counts(cells_of_group),
            *(_median(name, [cell.row.get(name) for cell in cells_of_group]) for name in _MEDIANS),
            # One seed for all: its line is a hint; every line is in the table of cells
            next((cell.history.unnamed for cell in cells_of_group if cell.history), ""),
        ]
        for group, cells_of_group in groups.items()
    ]
    return PageTable("Medians over the seeds", heads, lines, 2, "medians")


def _status_counts(cells: Sequence[PageCell]) -> str:
    counter = Counter(cell.status_text for cell in cells)
    if len(counter) == 1:
        return next(iter(counter))
    return ", ".join(f"{number} {name}" for name, number in counter.items())


def _median(name: str, values: Sequence[Any]) -> str:
    numbers = [float(value) for value in values if value is not None]
    if not numbers:
        return ""
    middle = median(numbers)
    # A median of an odd number of counts is a count, and shown as one
    return value_text(
        name, int(middle) if middle.is_integer() and not name.endswith("seconds") else middle
    )


def _columns(cells: Sequence[PageCell]) -> Iterator[str]:
    """Yield the columns of numbers that some cell has; parameters only where they differ."""
    rows = [cell.row for cell in cells]
    names = list(dict.fromkeys(name for row in rows for name in row))
    further = [name for name in names if name.startswith(_VARYING)]
    for name in (*_FIRST, *_FURTHER, *further):
        values = [_key(row.get(name)) for row in rows]
        distinct = {value for value in values if value not in ("null", '""')}
        # Parameters that all cells share are in the configuration already
        if distinct and (len(set(values)) > 1 or not name.startswith(("problem.", "algorithm."))):
            yield name


def _key(value: object) -> str:
    return json.dumps(value, default=str)


def _head(name: str) -> str:
    text = "solving seconds" if name == "seconds" else name
    return text.removeprefix("measure.").replace("_", " ")


def _numeric(cells: Sequence[PageCell], name: str) -> bool:
    values = [cell.row.get(name) for cell in cells]
    stated = [value for value in values if value is not None and value != ""]
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in stated)


def value_text(name: str, value: Any) -> str:
    """Return a value of runs.csv as text, proved bounds rounded outwards; empty without one."""
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return ""
    # Before numbers: a bool is an int
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return str(without_paths(value))
    if name in _BOUNDS:
        return _BOUNDS[name](value)
    if name in COLUMNS and COLUMNS[name].kind is ColumnKind.CLOCK:
        return plain(seconds_text(value))
    # Counts are shown exactly
    return str(value) if isinstance(value, int) else f"{value:.4g}"


def _details(cell: PageCell) -> Iterator[tuple[str, str]]:
    row, stored, settings = cell.row, cell.stored, cell.planned.settings
    yield "message", without_paths(str(row.get("message") or ""))
    yield "proved", _proved(cell)
    yield "guarantee", str(stored.bound or "")
    yield "certificate", _certificate(cell)
    yield "history", cell.history.words if cell.history else ""
    algorithm = " with ".join(filter(None, [row.get("algorithm"), row.get("oracle")]))
    yield "algorithm", str(algorithm)
    yield "parameters", parameters_text(settings.get("parameters", {}))
    yield "dataset", f"{settings.get('dataset', '')} {_problem(row)}".strip()
    yield "data, sha256", stored.sha256[:16]
    yield "goal", str(row.get("goal") or "")
    yield "environment", stored.environment
    yield "code version", shown_digest(stored.core)
    yield "run", _when(cell)


def _proved(cell: PageCell) -> str:
    row = cell.row
    lower, upper = row.get("margin_lower"), row.get("margin_upper")
    if lower is None and upper is None:
        return ""
    return f"margin in {bracket_text(lower, upper)}"


def _certificate(cell: PageCell) -> str:
    if cell.stored.certificate is None:
        return ""
    # The file may have been left behind when results were copied; the digest still names it
    file = f"certificates/{cell.planned.cell}.npz" if cell.filed else "not in this folder"
    return f"{file}, sha256 {cell.stored.certificate[:16]}"


def parameters_text(parameters: Mapping[str, object]) -> str:
    """Return the parameters that have a value: ``preset: thesis, nu: 1.0``."""
    stated = {name: value for name, value in without_paths(parameters).items() if value is not None}
    texts = (
        f"{name}: {value if isinstance(value, str) else json.dumps(value)}"
        for name, value in stated.items()
    )
    return ", ".join(texts)


def _problem(row: Mapping[str, object]) -> str:
    prefix = "problem."
    settings = {
        name.removeprefix(prefix): value for name, value in row.items() if name.startswith(prefix)
    }
    text = parameters_text(settings)
    return f"({text})" if text else ""


def _when(cell: PageCell) -> str:
    stored = cell.stored
    attempts = f", attempt {stored.attempts}" if stored.attempts > 1 else ""
    peak = f", peak memory {stored.peak_memory / 2**20:.0f} MiB" if stored.peak_memory else ""
    began = stored.started[:19].replace("T", " ")
    return f"{began} UTC{attempts}{peak}" if began else ""
