"""The page of all numbered items of the papers, from their table, the registry and the claims.

`python -m from_code.paper_contents` in the folder docs writes it; a test holds it up to date.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from from_code.written import write_text
from perceptron_lab.reporting.theory.contents import OPEN, Item, items

PAGE = Path(__file__).parents[1] / "papers" / "contents.md"
OPENING = """# The numbered items of the papers

Every numbered algorithm, theorem, table, figure and open problem, with its location in the
package (a registered name or a module), its test, and its sample: a folder of `results/sample`, or
a table of `plab theory`. What is **open** the package does not have. The last column has the claims
at the item that fail when they are computed exactly (`plab theory claims`). `plab theory contents`
writes the same table as CSV and LaTeX.
"""
HEADS = ("item", "content", "location", "test", "sample", "claims that fail")


def page() -> str:
    """Return the page: a table per paper."""
    text = OPENING
    for paper, of_paper in groupby(items(), lambda item: item.paper):
        rows = [_cells(item) for item in of_paper]
        text += f"\n## {paper}\n\n" + "".join(map(_row, (HEADS, ("---",) * len(HEADS), *rows)))
    return text


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _cells(item: Item) -> tuple[str, ...]:
    location = "**open**" if item.location == OPEN else f"`{item.location}` in `{item.module}`"
    refuted = "; ".join(claim.claimed.replace("|", "\\|") for claim in item.refuted) or "none"
    return item.item, item.content, location, f"`{item.test}`", f"`{item.sample}`", refuted


if __name__ == "__main__":
    write_text(PAGE, page())
