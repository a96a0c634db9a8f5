"""The figures of a report as elements of a page."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from perceptron_lab.reporting.pages.small_svg import small_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from perceptron_lab.reporting.evidence import Evidence


def drawn(
    make: Callable[[Evidence], Figure], evidence: Evidence, key: str, alternative: str
) -> str:
    """Return a figure as SVG for a page; ``key`` names it among the figures of all pages."""
    from perceptron_lab.reporting.printing.figure_files import (
        svg_with_texts,  # it takes half a second
    )

    return small_svg(svg_with_texts(partial(make, evidence)), key, alternative)


def described(entry: str | Mapping[str, Any], make: Callable[..., Any]) -> tuple[str, str]:
    """Return a figure's or table's first sentence, and its whole description as plain text.

    That is its docstring, without the markup of the documentation.
    """
    if not isinstance(entry, str):
        curves = entry["curves"]
        said = f"Medians of {curves['y']} over {curves['x']}, one line per {curves['by']}."
        return said, f"{said} Bars reach from quartile to quartile."
    paragraphs = (inspect.getdoc(make) or entry).split("\n\n")
    plain = [" ".join(_bare(one).split()) for one in paragraphs if not one.startswith(" ")]
    return plain[0], " ".join(plain)


def _bare(text: str) -> str:
    """Return reStructuredText without roles and marks."""
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"\1", text)
    return text.replace("``", "")
