"""Docstrings as reStructuredText: formulas in plain text are typeset, and nothing else is markup.

The docstrings of this project are plain text that reads well in a terminal: formulas stand in
indented paragraphs or in sentences, and ``*``, ``|`` and ``_`` are mathematics.
"""

from __future__ import annotations

import re
from textwrap import dedent, indent

from from_code.formulas import block as formula_of
from from_code.formulas import typeset

_UNDERLINED = re.compile(r"^(?P<name>[A-Z][A-Za-z ]+)\n-{3,}[ \t]*$", re.MULTILINE)
_MARKUP = re.compile(r"(``.+?``|:[\w:]+:`[^`]+`|`[^`\n]+`|https?://\S+)", re.DOTALL)


def sections(docstring: str) -> dict[str, str]:
    """Return the text of each section by its heading; that before the first one under ``""``."""
    parts = _UNDERLINED.split(docstring)
    return {"": parts[0].strip("\n")} | {
        name: text.strip("\n") for name, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def as_restructured_text(docstring: str) -> str:
    """Return a whole docstring as reStructuredText for napoleon, its sections in their order."""
    found = sections(docstring)
    texts = [running_text(found.pop(""))]
    for name, text in found.items():
        shown = text if name == "Examples" else entries(text)
        texts.append(f"{name}\n{'-' * len(name)}\n{shown}")
    return "\n\n".join(texts) + "\n"


def running_text(text: str) -> str:
    """Return paragraphs as reStructuredText; indented ones become formulas or plain text."""
    shown = []
    for block in re.split(r"\n(?:[ \t]*\n)+", text.strip("\n")):
        if block.startswith("  ") and dedent(block) != block:
            formula = formula_of(block)
            directive = ".. math::" if formula else ".. code-block:: text"
            shown.append(f"{directive}\n\n{indent(formula or dedent(block), '    ')}")
        else:
            shown.append(block if re.match(r"=+ +=+", block) else prose(block))
    return "\n\n".join(shown)


def prose(text: str) -> str:
    """Return a paragraph with its formulas typeset and nothing else as markup."""
    parts = _MARKUP.split(text)
    parts[::2] = [typeset(part) for part in parts[::2]]
    return escaped("".join(parts))


def entries(text: str) -> str:
    """Return a section such as Parameters, whose lines without indentation are names."""
    return "\n".join(
        prose(line) if line.startswith(" ") else escaped(line) for line in text.split("\n")
    )


def escaped(text: str) -> str:
    """Return a text in which no star, bar or final underscore is markup; code and keys stay."""
    parts = _MARKUP.split(text)
    for index in range(0, len(parts), 2):
        part = re.sub(r"([*|\\])", r"\\\1", parts[index])
        part = re.sub(r"_(?!\w)", r"\\_", part)
        after, before = index > 0, index + 1 < len(parts)
        part = f"\\ {part}" if after and re.match(r"[\w^(]", part) else part
        parts[index] = f"{part}\\ " if before and re.search(r"[\w^]$", part) else part
    return "".join(parts)


def summary_and_rest(text: str) -> tuple[str, str]:
    """Return the first paragraph of a text in one line, and the others."""
    first, _, rest = text.strip().partition("\n\n")
    return " ".join(first.split()), rest.strip("\n")
