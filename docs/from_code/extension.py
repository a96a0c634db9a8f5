"""The Sphinx extension: makes the pages, and reads docstrings as this project writes them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from from_code import (
    algorithm_pages,
    component_pages,
    markdown_formulas,
    mathml,
    reference,
    repository_links,
    start_pictures,
    tutorial,
)
from from_code.docstrings import as_restructured_text
from from_code.paper_keys import paper_key
from from_code.themed_pictures import save_both
from from_code.written import keep_only
from scripts import draw_packages

GENERATED = "generated"
"""The folder of what is made, below the folder of the sources."""


def setup(app: Any) -> dict[str, Any]:
    """Make the pages before the sources are read, and translate docstrings to markup."""
    app.add_role("key", paper_key)
    app.add_config_value("pictured_algorithms", "", "")  # by -D: names, the only ones drawn
    # Before the gallery, whose examples register an algorithm of their own.
    app.connect("builder-inited", _make, priority=100)
    app.connect("source-read", repository_links.without_folders)
    app.connect("source-read", markdown_formulas.typeset_notes)
    mathml.setup(app)
    app.connect("autodoc-process-docstring", _translate, priority=400)  # before napoleon
    app.connect("autodoc-skip-member", _skip)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _make(app: Any) -> None:
    """Write every generated file."""
    folder = Path(app.srcdir) / GENERATED
    algorithm_pages.write(folder / "algorithms", pictured=app.config.pictured_algorithms.split())
    component_pages.write(folder)
    keep_only(folder, {f"{kind}.rst" for kind in component_pages.KINDS})
    reference.write(folder / "reference")
    start_pictures.write(folder / "pictures")
    tutorial.write_figures(folder / "tutorial")
    save_both(draw_packages.draw, folder / "pictures", "packages")


def _translate(
    app: Any, what: str, name: str, subject: object, options: object, lines: list[str]
) -> None:
    """Translate a docstring in place."""
    lines[:] = as_restructured_text("\n".join(lines)).splitlines()


def _skip(
    app: Any, what: str, name: str, subject: object, skip: bool, options: object
) -> bool | None:
    """Leave out what scikit-learn adds to every estimator for the routing of metadata."""
    return True if re.fullmatch("set_.*_request|get_metadata_routing", name) else None
