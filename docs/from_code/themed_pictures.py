"""Pictures in two colourings, one for light pages and one for dark ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

_INKS = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
_DARK = dict.fromkeys((*_INKS, "legend.labelcolor", "axes.titlecolor"), "#d5d8dd")
_BOTH = {"svg.hashsalt": "perceptron_lab", "savefig.transparent": True, "font.size": 9}


def save_both(draw: Callable[[], Figure], folder: Path, name: str) -> None:
    """Write NAME.svg and NAME-dark.svg, which the pages show one at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    for ending, colours in (("", {}), ("-dark", _DARK)):
        with mpl.rc_context(_BOTH | colours):
            figure = draw()
            figure.savefig(folder / f"{name}{ending}.svg", metadata={"Date": None})


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
