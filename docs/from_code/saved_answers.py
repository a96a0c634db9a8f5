"""The tables of docs/notes/saved-answers.md: the fields of saved answers, and what verifies them.

`python docs/from_code/saved_answers.py` writes them into the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from perceptron_lab.core.saved_answers.fields import Field
from perceptron_lab.core.saved_answers.kinds import (
    VERDICT,
    VERDICT_1,
    cell_fields,
    result_fields,
    row_fields,
)

PAGE = Path(__file__).parents[1] / "notes" / "saved-answers.md"
BEGIN = "<!-- The tables below are written by docs/from_code/saved_answers.py -->"
_KINDS = ("cone", "linear", "optimum", "learner")
_SAVED = {kind: result_fields(kind, sourced=True) for kind in _KINDS}
_CELLS = {kind: cell_fields(kind) for kind in _KINDS}
_ROWS = {kind: row_fields(kind) for kind in _KINDS}
TITLES: Mapping[str, Sequence[Field]] = {
    "Saved by `plab solve --save`: strict systems": _SAVED["cone"],
    "Saved by `plab solve --save`: linear conditions": _SAVED["linear"],
    "Saved by `plab solve --optimum --save`": _SAVED["optimum"],
    "Saved by `plab solve --verdict --save`": VERDICT,
    "Saved by `plab solve --verdict --save`, format 1": VERDICT_1,
    "Files of `certificates/`: strict systems": _CELLS["cone"],
    "Files of `certificates/`: linear conditions": _CELLS["linear"],
    "Files of `certificates/`: optima": _CELLS["optimum"],
    "Files of `certificates/`: learners (ellipsoids, online learners, verdicts)": _CELLS["learner"],
    "Columns of runs.csv: strict systems": _ROWS["cone"],
    "Columns of runs.csv: optima": _ROWS["optimum"],
}


def tables() -> str:
    """Return all tables, each with its title."""
    return "\n".join(f"\n## {title}\n\n{_table(fields)}" for title, fields in TITLES.items())


def _table(fields: Sequence[Field]) -> str:
    """Return the fields with values and verification; neighbours that agree share a line."""
    groups: list[tuple[list[str], str, str]] = []
    for field in fields:
        how = "**not verified**" if field.check is None else field.check.value
        values = field.values.description
        if groups and groups[-1][1:] == (values, how):
            groups[-1][0].append(field.path)
        else:
            groups.append(([field.path], values, how))
    lines = [
        f"| {', '.join(f'`{path}`' for path in paths)} | {values} | {how} |"
        for paths, values, how in groups
    ]
    return "\n".join(["| field | values | verification |", "|---|---|---|", *lines]) + "\n"


def page() -> str:
    """Return the page with its tables as they are now."""
    text = PAGE.read_text(encoding="utf-8")
    return text.partition(BEGIN)[0] + BEGIN + "\n" + tables()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
