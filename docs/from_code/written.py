"""Files that are written when their content is new, so that Sphinx reads no others again."""

from __future__ import annotations

from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Write a text unless the file has it already."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def keep_only(folder: Path, names: set[str]) -> None:
    """Remove the pages of a folder that are not among the names: of what is no longer there."""
    for path in folder.glob("*.rst"):
        if path.name not in names:
            path.unlink()
