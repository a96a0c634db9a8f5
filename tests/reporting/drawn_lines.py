"""What a drawn line holds, as plain numbers."""

from __future__ import annotations

import numpy as np
from matplotlib.lines import Line2D


def across(line: Line2D) -> list[float]:
    """Return the horizontal coordinates."""
    return [float(x) for x in np.asarray(line.get_xdata(), dtype=float)]


def heights(line: Line2D) -> list[float]:
    """Return the vertical coordinates."""
    return [float(y) for y in np.asarray(line.get_ydata(), dtype=float)]
