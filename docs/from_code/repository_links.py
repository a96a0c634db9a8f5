"""Links of Markdown pages to folders and pages of the repository that a site does not have."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

_LINK = re.compile(r"(?<!!)\[(?P<text>[^][]+)\]\((?P<target>[^)#:\s]+)\)")


def without_folders(app: Any, document: str, content: list[str]) -> None:
    """Show links to what the site lacks as their text, with the path where that does not say it."""
    path = Path(app.env.doc2path(document))
    if path.suffix == ".md":
        content[0] = _LINK.sub(lambda found: _shown(found, path, Path(app.srcdir)), content[0])


def _shown(found: re.Match[str], path: Path, sources: Path) -> str:
    # Not resolved: folders of the repository may be links to others.
    target = Path(os.path.normpath(path.parent / found["target"]))
    root = sources.parent
    outside = target.suffix == ".md" and not target.is_relative_to(sources)
    if not (target.is_dir() or outside) or not target.is_relative_to(root):
        return found[0]
    name = target.relative_to(root).as_posix()
    return f"`{name}`" if name in found["text"] else f"{found['text']} (`{name}`)"
