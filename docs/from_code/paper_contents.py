"""The page of all numbered items of the papers, from their table and the registry."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from from_code.docstrings import escaped
from from_code.written import write_text
from perceptron_lab.reporting.theory.contents import OPEN, Item, items

TITLE = "The numbered items of the papers"
OPENING = (
    "Every numbered algorithm, theorem, table, figure and open problem, with its place in the "
    "package (a registered name and its module), its test, and its sample: a folder of "
    "``results/sample``, or a table of ``plab theory``. What is **open** the package does not have."
)
HEADS = ("item", "content", "place", "test", "sample", "refuted claims")


def write(path: Path) -> None:
    """Write the page."""
    write_text(path, page())


def page() -> str:
    """Return the page: a table per paper."""
    text = f"{TITLE}\n{'=' * len(TITLE)}\n\n{OPENING}\n\n"
    for paper, own in groupby(items(), lambda item: item.paper):
        text += f"{paper}\n{'-' * len(paper)}\n\n.. list-table::\n   :header-rows: 1\n\n"
        text += _row(HEADS) + "".join(_row(_cells(item)) for item in own) + "\n"
    return text


def _row(cells: tuple[str, ...]) -> str:
    return "   * - " + "\n     - ".join(cells) + "\n"


def _cells(item: Item) -> tuple[str, ...]:
    place = "**open**" if item.location == OPEN else f"``{item.location}`` (``{item.module}``)"
    refuted = "; ".join(escaped(claim.claimed) for claim in item.refuted) or "none"
    return (
        item.item,
        escaped(item.content),
        place,
        escaped(item.test),
        escaped(item.sample),
        refuted,
    )
