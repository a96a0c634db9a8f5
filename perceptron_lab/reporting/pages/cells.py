"""The cells of an experiment as a table: numbers, courses, certificates, and what was run."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from perceptron_lab.core.outward_rounding import bracket_text, text_above, text_below
from perceptron_lab.experiments.configuration.rows import COLUMNS, ColumnKind
from perceptron_lab.experiments.provenance.code_digest import shown_digest
from perceptron_lab.reporting.pages.courses import line_of
from perceptron_lab.reporting.pages.markup import Head, table_markup
from perceptron_lab.reporting.pages.places import placeless, without_places
from perceptron_lab.reporting.pages.reading import Cell
from perceptron_lab.reporting.printing.typesetting import plain
from perceptron_lab.reporting.printing.typesetting import seconds as seconds_text
from perceptron_lab.reporting.summary import ending

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
"""The columns after the names and the ending, in this order; further ones follow."""
_FURTHER = ("constraints", "dimension")
_VARYING = ("measure.", "oracle.", "problem.", "algorithm.")
_KEPT = ("margin_lower", "margin_upper", "optimum_lower", "optimum_upper")
_SHOWN = (*_KEPT, "updates", "queries", "seconds", "bound")
"""The columns that are shown from the beginning, where a script lets the reader choose."""
_MOST_MEASURES = 4


def cells_table(cells: Sequence[Cell]) -> str:
    """Return the cells as a table, one line each; its last column opens what was run."""
    names = list(_columns(cells))
    measures = [name for name in names if name.startswith("measure.")][:_MOST_MEASURES]
    heads = [
        Head("problem"),
        Head("algorithm"),
        Head("seed", number=True),
        Head("ending"),
        *(Head(_head(name), _numeric(cells, name), kept=name in (*_SHOWN, *measures))
          for name in names),
        Head("course"),
        Head("certificate and parameters"),
    ]  # fmt: skip
    return table_markup("Cells", heads, (_line(cell, names) for cell in cells), 2, "cells")


def _columns(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield the columns of numbers that some cell has; parameters only where they differ."""
    rows = [cell.row for cell in cells]
    known = list(dict.fromkeys(name for row in rows for name in row))
    further = [name for name in known if name.startswith(_VARYING)]
    for name in (*_FIRST, *_FURTHER, *further):
        values = [_key(row.get(name)) for row in rows]
        given = {value for value in values if value not in ("null", '""')}
        if given and (len(set(values)) > 1 or not name.startswith(("problem.", "algorithm."))):
            yield name


def _key(value: Any) -> str:
    return json.dumps(value, default=str)


def _head(name: str) -> str:
    return name.removeprefix("measure.").replace("_", " ")


def _numeric(cells: Sequence[Cell], name: str) -> bool:
    found = [cell.row.get(name) for cell in cells]
    given = [one for one in found if one is not None and one != ""]
    return all(isinstance(one, int | float) and not isinstance(one, bool) for one in given)


def _line(cell: Cell, names: Sequence[str]) -> list[str]:
    row = cell.row
    return [
        escape(str(row["problem"])),
        escape(str(row["label"])),
        str(row["seed"]),
        escape(ending(row["status"], bool(row["proved"]))),
        *(value_text(name, row.get(name)) for name in names),
        line_of(cell.course) if cell.course else "",
        f"<details><summary>show</summary><dl>{_details(cell)}</dl></details>",
    ]


def value_text(name: str, value: Any) -> str:
    """Return a value of runs.csv as markup, proved bounds rounded outwards; empty without one."""
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return escape(without_places(value))
    if name in _BOUNDS:
        return _BOUNDS[name](value)
    if name in COLUMNS and COLUMNS[name].kind is ColumnKind.CLOCK:
        return escape(plain(seconds_text(value)))
    return str(value) if isinstance(value, int) else f"{value:.4g}"


def _details(cell: Cell) -> str:
    """Return names and values of a cell's details; what there is none of is left out."""
    known = {name: text for name, text in _named(cell) if text}
    return "".join(f"<dt>{escape(name)}<dd>{escape(text)}" for name, text in known.items())


def _named(cell: Cell) -> Iterator[tuple[str, str]]:
    row, stored, settings = cell.row, cell.stored, cell.planned.settings
    yield "message", without_places(str(row.get("message") or ""))
    yield "proved", _proved(cell)
    yield "guarantee", str(stored.bound or "")
    yield "certificate", _certificate(cell)
    yield "course", cell.course.words if cell.course else ""
    algorithm = " with ".join(filter(None, [row.get("algorithm"), row.get("oracle")]))
    yield "algorithm", str(algorithm)
    yield "parameters", parameters_text(settings.get("parameters", {}))
    yield "dataset", f"{settings.get('dataset', '')} {_problem(row)}".strip()
    yield "data, sha256", stored.sha256[:16]
    yield "goal", str(row.get("goal") or "")
    yield "environment", stored.environment
    yield "numeric code", shown_digest(stored.core)
    yield "run", _when(cell)


def _proved(cell: Cell) -> str:
    row = cell.row
    lower, upper = row.get("margin_lower"), row.get("margin_upper")
    if lower is None and upper is None:
        return ""
    return f"margin in {bracket_text(lower, upper)}"


def _certificate(cell: Cell) -> str:
    if cell.stored.certificate is None:
        return ""
    place = f"certificates/{cell.planned.cell}.npz" if cell.filed else "not kept here"
    return f"{place}, sha256 {cell.stored.certificate[:16]}"


def parameters_text(parameters: Mapping[str, Any]) -> str:
    """Return the parameters that have a value: ``preset: thesis, nu: 1.0``."""
    given = {name: value for name, value in placeless(parameters).items() if value is not None}
    shown = (
        f"{name}: {value if isinstance(value, str) else json.dumps(value)}"
        for name, value in given.items()
    )
    return ", ".join(shown)


def _problem(row: Mapping[str, Any]) -> str:
    prefix = "problem."
    own = {
        name.removeprefix(prefix): value for name, value in row.items() if name.startswith(prefix)
    }
    text = parameters_text(own)
    return f"({text})" if text else ""


def _when(cell: Cell) -> str:
    stored = cell.stored
    attempts = f", attempt {stored.attempts}" if stored.attempts > 1 else ""
    peak = f", at most {stored.peak_memory / 2**20:.0f} MiB" if stored.peak_memory else ""
    began = stored.started[:19].replace("T", " ")
    return f"{began} UTC{attempts}{peak}" if began else ""
