"""Formulas of the notes, which are written in the notation of docstrings, as LaTeX for MyST."""

from __future__ import annotations

import re
from textwrap import dedent
from typing import Any

from from_code.formulas import block, typeset

_PAGES = (
    "concepts",
    "glossary",
    "proofs",
    "notes/",
    "papers/rescaling",
    "papers/mirror-prox",
    "papers/margins",
)
_CODE = re.compile(
    r"(^ *```.*?^ *```|\$\$.*?\$\$|^ *[|#][^\n]*$|!\[[^]]*\]|`[^`\n]+`|\]\([^)]*\)|\$[^$\n]+\$)",
    re.DOTALL | re.MULTILINE,
)
_INLINE = re.compile(r"(`[^`\n]+`|\]\([^)]*\)|\$[^$\n]+\$)")
_INDENTED = re.compile(r"(?<=\n\n)((?: {4}\S[^\n]*\n)+)(?=\n|\Z)")
MARK = "${}$"


def typeset_notes(app: Any, document: str, content: list[str]) -> None:
    """Translate the formulas of pages that have some."""
    if document.startswith(_PAGES) and app.env.doc2path(document).suffix == ".md":
        content[0] = translated(content[0])


def translated(text: str) -> str:
    r"""Return a page with its formulas between dollar signs.

    Examples
    --------
    >>> print(translated("At most 1 / rho^2 updates of `x / y`."))
    At most $\\frac{1}{\\rho^{2}}$ updates of `x / y`.
    """
    parts = _CODE.split(_INDENTED.sub(_display, text))
    parts[::2] = ["\n\n".join(map(_paragraph, part.split("\n\n"))) for part in parts[::2]]
    return "".join(_row(part) if part.startswith("|") else part for part in parts)


def _row(line: str) -> str:
    """Return a line of a table with the formulas of each cell between dollar signs."""
    cells = [_INLINE.split(cell) for cell in re.split(r"(?<!\\)\|", line)]
    for cell in cells:
        cell[::2] = [_cell(part) for part in cell[::2]]
    return "|".join("".join(cell) for cell in cells)


def _cell(text: str) -> str:
    shown = typeset(text, MARK)
    return text if shown == text else shown.replace("|", r"\vert ")


def _display(match: re.Match[str]) -> str:
    formula = block(dedent(match[0]))
    return f"$$\n{formula}\n$$\n" if formula else match[0]


def _paragraph(text: str) -> str:
    return text if text.startswith("    ") else typeset(text, MARK)
