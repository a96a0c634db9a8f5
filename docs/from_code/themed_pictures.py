"""Pictures in two colourings, one for light pages and one for dark ones."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

_INK = "#010203"  # of the text and the axes of the drawing; no curve has it
_INKS = {"": "#000000", "-dark": "#d5d8dd"}
_INKED = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
_STYLE = {"svg.hashsalt": "perceptron_lab", "savefig.transparent": True, "font.size": 9}
_STYLE |= dict.fromkeys(_INKED, _INK)


def save_both(draw: Callable[[], Figure], folder: Path, name: str) -> None:
    """Write NAME.svg and NAME-dark.svg, which the pages show one at a time, of one drawing."""
    folder.mkdir(parents=True, exist_ok=True)
    drawing = StringIO()
    with mpl.rc_context(_STYLE):
        draw().savefig(drawing, format="svg", metadata={"Date": None})
    for ending, ink in _INKS.items():
        text = drawing.getvalue().replace(_INK, ink)
        (folder / f"{name}{ending}.svg").write_text(text, encoding="utf-8")


def image(path: str, alternative: str, *, caption: str = "") -> str:
    """Return the reStructuredText of both pictures; their path is given without its ending."""
    kind = "figure" if caption else "image"
    texts = []
    for ending, shown in (("", "only-light"), ("-dark", "only-dark")):
        lines = [f".. {kind}:: {path}{ending}.svg", f"   :alt: {alternative}"]
        lines += [f"   :{'figclass' if caption else 'class'}: {shown}"]
        lines += ["", f"   {caption}"] if caption else []
        texts.append("\n".join(lines))
    return "\n\n".join(texts)
