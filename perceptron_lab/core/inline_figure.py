"""Figures that notebooks show where they are returned."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure


class InlineFigure(Figure):
    """A figure apart from matplotlib's global state, which notebooks show all the same."""

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png", dpi=150)
        return buffer.getvalue()
