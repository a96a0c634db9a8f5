"""The table of docs/guarantees.md: what each algorithm states of its number of updates.

`python -m from_code.guarantees` in the folder docs writes it into the page; a test holds it up to
date.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from from_code.algorithm_families import by_family
from from_code.formulas import latex, typeset
from from_code.markdown_formulas import MARK
from perceptron_lab.core import registry

PAGE = Path(__file__).parents[1] / "guarantees.md"
BEGIN = "<!-- The tables below are written by docs/from_code/guarantees.py -->"
END = "<!-- End of the tables -->"


def tables() -> str:
    """Return a table per family; wrapped solvers, which state nothing, are only listed."""
    *ours, (wrapped, solvers) = by_family().items()
    listed = ", ".join(f"`{name}`" for name in solvers)
    note = registry.load("algorithm", solvers[0]).guarantee.note
    none = _table(wrapped, [f"| {listed} | no bound | {note} |"])
    return "\n".join(_table(family, map(_line, names)) for family, names in ours) + f"\n{none}"


def page() -> str:
    """Return the page with its tables as they are now."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return f"{before}{BEGIN}\n\n{tables()}\n{END}{rest.partition(END)[2]}"


def _table(family: str, lines: Iterable[str]) -> str:
    return "\n".join([f"| {family} | updates at most | source |", "|---|---|---|", *lines]) + "\n"


def _line(name: str) -> str:
    guarantee = registry.load("algorithm", name).guarantee
    formula = MARK.replace("{}", latex(guarantee.formula)) if guarantee.formula else "no bound"
    paper = f" of `{guarantee.paper}`" if guarantee.paper else ""
    theorem = typeset(guarantee.theorem, MARK)
    parts = (f"{theorem}{paper}", typeset(guarantee.note, MARK))
    cells = (f"`{name}`", formula, "; ".join(part for part in parts if part))
    bars = r"\vert "
    return f"| {' | '.join(cell.replace('|', bars) for cell in cells)} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
