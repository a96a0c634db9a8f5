"""Pictures of figures that are not pyplot's: those that this package returns."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

NAME = "figure"
"""The variable of an example that holds such a figure; each block of code may set it anew."""
_SHOWN = "returned figure"


def returned_figure(block: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Return the markup of what a block assigns to ``figure``; empty without a new one."""
    found = variables["example_globals"].get(NAME)
    managed = hasattr(found, "number")  # pyplot's, which matplotlib's scraper shows
    if not isinstance(found, Figure) or managed or found is variables.get(_SHOWN):
        return ""
    variables[_SHOWN] = found
    path = next(variables["image_path_iterator"])
    found.savefig(path, dpi=120)
    return str(figure_rst([path], settings["src_dir"]))
