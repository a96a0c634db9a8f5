"""Files of figures, with the same bytes each time.

matplotlib writes them. Ours are undated files in one layout, which savefig would make for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from typing import Literal

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator, ScalarFormatter
from PIL import Image

from perceptron_lab.core.visible_text import visible
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.drawing import STYLE

_DPI = 300.0
_SCREEN_DPI = 108.0
_COLOURS = 64
_PRINT: dict[str, Callable[[Figure], Callable[..., None]]] = {
    "png": lambda figure: FigureCanvasAgg(figure).print_png,
    "pdf": lambda figure: FigureCanvasPdf(figure).print_pdf,
    "svg": lambda figure: FigureCanvasSVG(figure).print_svg,
}

_SIDES: tuple[Literal["left", "center", "right"], ...] = ("left", "center", "right")


def render(
    figure: Callable[[Evidence], Figure], evidence: Evidence, title: str
) -> dict[str, bytes]:
    """Return a figure of an experiment as :func:`saved` does: the same for the same runs."""
    return saved(partial(figure, evidence), title)


def saved(figure: Callable[[], Figure], title: str) -> dict[str, bytes]:
    """Return a figure in the package's style as the bytes of a file of each kind, undated.

    The title is recorded in the metadata, not drawn: captions belong to the document. The files are
    ``png`` (300 dots per inch), ``pdf`` and ``svg``, in one layout.
    """
    title = visible(title)
    undated: dict[str, dict[str, str | None]] = {
        "png": {"Title": title, "Software": None},
        "pdf": {"Title": title, "Creator": None, "Producer": None, "CreationDate": None},
        "svg": {"Title": title, "Creator": None, "Date": None},
    }
    files = {}
    with style.context(STYLE):  # also fonts are chosen when the figure is saved
        drawn = figure()
        _lay_out(drawn)
        for kind, metadata in undated.items():
            content = _printed(drawn, kind, metadata)
            # Texts are paths there, and are in comments next to them
            files[kind] = visible(content.decode()).encode() if kind == "svg" else content
            if kind == "png":
                _hold_names(drawn)
    return files


def screen_png(figure: Callable[[], Figure]) -> tuple[bytes, tuple[int, int]]:
    """Return a figure in the package's style as a small PNG for a page, and its size in pixels.

    Its colours are the :data:`_COLOURS` that it has most of.
    """
    with style.context(STYLE):
        drawn = figure()
        _lay_out(drawn)
        content = _printed(drawn, "png", {"Software": None}, _SCREEN_DPI)
    picture = Image.open(BytesIO(content)).convert("RGB")
    buffer = BytesIO()
    # Without dithering, whose noise compresses badly
    picture.quantize(_COLOURS, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    return buffer.getvalue(), picture.size


def _lay_out(figure: Figure) -> None:
    """Lay a figure out for all files: savefig would do so, and draw all twice, for each."""
    # The layout measures texts in pixels: one resolution gives all files the same places
    figure.set_dpi(_DPI)
    layout = figure.get_layout_engine()
    _hold_titles(figure)
    if layout is not None:
        with _without_blank_ticks(figure):
            layout.execute(figure)
        figure.set_layout_engine("none")


def _printed(
    figure: Figure, kind: str, metadata: dict[str, str | None], dpi: float = _DPI
) -> bytes:
    buffer = BytesIO()
    figure.set_dpi(dpi)
    _PRINT[kind](figure)(buffer, metadata=metadata)
    return buffer.getvalue()


@contextmanager
def _without_blank_ticks(figure: Figure) -> Iterator[None]:
    """Leave out minor ticks without a label, which take most of the time and no room."""
    axes = [axis for panel in figure.axes for axis in (panel.xaxis, panel.yaxis)]
    blank = [
        (axis, axis.get_minor_locator())
        for axis in axes
        if isinstance(axis.get_minor_formatter(), NullFormatter)
    ]
    for axis, _ in blank:
        axis.set_minor_locator(NullLocator())
    try:
        yield
    finally:
        # Panels that share an axis share its locator, which is to be that of the first one again.
        for axis, locator in reversed(blank):
            axis.set_minor_locator(locator)


def _hold_names(figure: Figure) -> None:
    """Keep the names of axes and the titles of panels where they were drawn.

    Otherwise each further drawing would measure all ticks several times to find these places again.
    """
    for panel in figure.axes:
        there = panel.transAxes.inverted()
        for axis in (panel.xaxis, panel.yaxis):
            label = axis.label
            position = there.transform(label.get_transform().transform(label.get_position()))
            axis.set_label_coords(*position)
        _hold_title(panel)


def _hold_titles(figure: Figure) -> None:
    """Keep the titles of panels where they are, if nothing above a panel can move them.

    That is ticks at the top, or a factor of the scale at the left, such as 1e6. Otherwise each
    panel's ticks would be measured again and again to find that there is neither.
    """
    for panel in figure.axes:
        across, up = panel.xaxis, panel.yaxis
        below = across.get_ticks_position() == across.get_label_position() == "bottom"
        if below and not isinstance(up.get_major_formatter(), ScalarFormatter):
            _hold_title(panel)


def _hold_title(panel: Axes) -> None:
    """Keep the titles of a panel where they are."""
    empty = [side for side in _SIDES if not panel.get_title(side)]
    if empty:  # the height of one title, if it is given, keeps all as they are
        panel.set_title("", loc=empty[0], y=1.0)
