"""Draw the packages and which of them import which, from the source.

python -m scripts.draw_packages FILE.svg
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from matplotlib.figure import Figure

from scripts.import_graph import ROOT, imported_files

_COLOUR = "#0072B2"


def packages() -> dict[str, set[str]]:
    """Return package -> the packages that its modules import."""
    graph: dict[str, set[str]] = {}
    for module, targets in imported_files().items():
        parts = module.split(".")
        if len(parts) > 1 and not parts[1].startswith("__"):
            below = {target.split(".")[1] for target in targets}
            graph.setdefault(parts[1], set()).update(below - {parts[1]})
    return graph


def direct(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the graph without imports that follow from others: what is imported through them."""
    reached: dict[str, set[str]] = {}

    def reach(name: str) -> set[str]:
        if name not in reached:
            reached[name] = graph[name].union(*map(reach, graph[name]))
        return reached[name]

    return {
        name: {
            target
            for target in targets
            if not any(target in reach(other) for other in targets - {target})
        }
        for name, targets in graph.items()
    }


def levels(graph: Mapping[str, set[str]]) -> dict[str, int]:
    """Return the height of each package: one more than the highest that it imports."""
    heights: dict[str, int] = {}
    while len(heights) < len(graph):
        for name, targets in graph.items():
            if targets <= heights.keys():
                heights[name] = 1 + max((heights[target] for target in targets), default=-1)
    return heights


def draw() -> Figure:
    """Return the picture: a line leads down to each package that is imported directly."""
    graph = packages()
    heights = levels(graph)
    rows = [[name for name in graph if heights[name] == level] for level in range(len(graph))]
    indices = {
        name: ((at + 0.5) / len(row) * 2.0, float(level))
        for level, row in enumerate(filter(None, rows))
        for at, name in enumerate(row)
    }
    figure = Figure(figsize=(4.2, 6.2), layout="constrained")
    axes = figure.add_subplot()
    for name, targets in direct(graph).items():
        for target in targets:
            ends = zip(indices[name], indices[target], strict=True)
            axes.plot(*ends, color=_COLOUR, linewidth=1.0, alpha=0.6, zorder=1)
    for name, (across, up) in indices.items():
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": _COLOUR}
        axes.text(across, up, name, ha="center", va="center", bbox=box, color="black", zorder=2)
    axes.set(xlim=(0.0, 2.0), ylim=(-0.5, max(heights.values()) + 0.5))
    axes.set_axis_off()
    return figure


if __name__ == "__main__":
    draw().savefig(sys.argv[1], metadata={"Date": None})
    sys.stdout.write(f"{ROOT}: {sys.argv[1]}\n")
