"""Notebooks with the content of the first pages of the tutorial.

`python docs/from_code/notebooks.py` writes them to docs/notebooks.
"""

from __future__ import annotations

import json
import re
from typing import Any

from from_code.tutorial import CHECKER, DOCS, FENCE

PAGES = ("margins", "certificates", "cones")
INLINE = "%matplotlib inline"  # figures that a cell returns are shown
FOLDER = DOCS / "notebooks"
_TARGET = re.compile(r"\]\((\.\./)?([\w/-]+\.md)")


def notebook(name: str) -> str:
    """Return the JSON of the notebook of a page; outputs are left to the reader."""
    cells: list[dict[str, Any]] = []
    _add(cells, "code", INLINE)
    position = 0
    text = (DOCS / "tutorial" / f"{name}.md").read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        _add(cells, "markdown", _prose(text[position : match.start()]))
        position = match.end()
        language, code = match.groups()
        if language == "python":
            _add(cells, "code", code)
        elif not language:
            _add(cells, "code", "".join(f"!{_located(line)}\n" for line in code.splitlines()))
    _add(cells, "markdown", _prose(text[position:]))
    for number, cell in enumerate(cells):
        cell["id"] = f"{name}-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    contents = {"cells": cells, "metadata": {"kernelspec": kernel}}
    return json.dumps(contents | {"nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def _prose(text: str) -> str:
    """Return Markdown that notebooks show: cells cannot be collapsed together with their text."""
    text = re.sub(r"</?details>\n?", "", text)
    text = re.sub(r"<summary>(\w+)</summary>", r"### \1", text)
    # Links are relative to docs/tutorial
    return _TARGET.sub(lambda m: f"](../{'' if m[1] else 'tutorial/'}{m[2]}", text).strip()


def _located(line: str) -> str:
    """Return a command with the checker where it is in this repository."""
    return line.replace(CHECKER.name, f"../../checker/{CHECKER.name}")


def _add(cells: list[dict[str, Any]], kind: str, source: str) -> None:
    """Append a cell unless it is empty."""
    if source.strip():
        cell = {"cell_type": kind, "metadata": {}, "source": source.strip().splitlines(True)}
        cells.append(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in PAGES:
        (FOLDER / f"{name}.ipynb").write_text(notebook(name), encoding="utf-8")
