"""Colours, markers and lines of labels, the same in every figure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict

import numpy as np
import pandas as pd

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.summary import answered

Line = Literal["-", "--", ":", "-."]

Style = dict[str, Any]
"""Settings of lines and markers, by matplotlib's names."""

# Okabe and Ito's palette, distinct for every kind of colour vision; without its yellow, which
# is too pale for small markers on white; two rows of darker colours follow, whose lines are dashed
# and dotted.
_COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"),
    *("#332288", "#882255", "#999933", "#8C510A", "#7F7F7F", "#44AA99", "#66A61E"),
    *("#117733", "#B2182B", "#6699CC", "#AA4499", "#A6761D", "#404040", "#661100"),
)

_IN_A_ROW = 7

# Index of the colour of each algorithm. Those that occur in the same figures differ.
_OF_ALGORITHMS: dict[str, int] = {
    **{"mirror-prox": 0, "minimum-norm-point": 0, "low-rank": 0, "ellipsoid-separation": 0},
    **{"online-kernel-perceptron": 0, "smoothed-perceptron": 1, "perceptron-with-margin": 1},
    **{"soft-ellipsoid": 1, "dsdp5": 1, "normalized-perceptron": 2, "margin-bisection": 2},
    **{"clarabel": 2, "clarabel-direct": 2, "polynomial-svm": 2, "von-neumann": 3, "linear-svc": 3},
    **{"csdp": 3, "linear-scorer": 3, "iterated-smoothed-von-neumann": 4, "highs": 4},
    **{"conic-rescaled-perceptron": 4, "adaptive-mirror-prox": 5, "scs": 5, "scs-direct": 5},
    **{"auto": 6, "smoothed-von-neumann": 7, "interior-point": 7, "perceptron": 8},
    **{"online-perceptron": 8, "whitened": 8, "winnow": 9, "nnls": 9, "relaxed-perceptron": 9},
    **{"rescaled-perceptron": 10, "ellipsoid": 12, "second-order-perceptron": 13, "svc": 13},
    **{"sgd": 14, "projection-rescaling": 15, "deterministic-rescaled-perceptron": 16},
    **{"derandomised-rescaled-perceptron": 19},
    **{"sklearn-perceptron": 16, "correlation-rescaling": 17, "primal-dual": 17},
    **{"space-dilation": 18, "ecos": 18, "cyclic-perceptron": 20},
}

MOST_COLOURED = 6
"""The most series of a panel in colour; further ones are grey."""

GREY = "#A8A8A8"

_MARKERS = ("o", "s", "D", "^", "v", "P", "h", "<")

_LINES: tuple[Line, ...] = ("-", "--", ":", "-.")


class Look(TypedDict):
    """Colour, marker and line of one label, in every panel and in the legend."""

    color: str
    marker: str
    linestyle: Line


def distinct_looks(labels: Sequence[str]) -> dict[str, Look]:
    """Return label -> look; 21 labels differ in colour, 84 in colour or line, and 168 at all."""
    return {
        label: {
            "color": _COLOURS[i % len(_COLOURS)],
            "marker": _MARKERS[i % len(_MARKERS)],
            "linestyle": _LINES[i // _IN_A_ROW % len(_LINES)],
        }
        for i, label in enumerate(labels)
    }


def looks_of(
    evidence: Evidence,
    labels: Iterable[str] | None = None,
    algorithms: Mapping[str, str] | None = None,
) -> dict[str, Look]:
    """Return label -> look of the labels of an experiment, by default of all.

    An algorithm has the same colour in all figures; where several labels are all of one algorithm,
    each has its own. Of more than six labels those are in colour that answered most instances, and
    of equally many those with the least median time; the others are grey, and follow.
    ``algorithms`` are the names by label, by default those of the rows.
    """
    frame = evidence.frame
    listed = list(frame["label"].unique() if labels is None else labels)
    named = algorithms or evidence.algorithms()
    if len(listed) > 1 and len({named.get(label, label) for label in listed}) == 1:
        return distinct_looks(listed)
    leading = sorted(listed, key=lambda label: _rank(frame[frame["label"] == label]))
    return algorithm_looks(listed, algorithms or evidence.algorithms(), leading[:MOST_COLOURED])


def _rank(runs: pd.DataFrame) -> tuple[int, float]:
    """Return a key that is least for the label with most answers, the quickest of equals."""
    answers = answered(runs)
    seconds = runs["seconds"].where(answers).median()
    return -int(answers.sum()), float(np.nan_to_num(seconds, nan=np.inf))


def algorithm_looks(
    labels: Sequence[str], algorithms: Mapping[str, str], coloured: Collection[str]
) -> dict[str, Look]:
    """Return label -> look, in the colours of the algorithms; grey labels are last.

    Labels of one algorithm differ in marker and line.

    Parameters
    ----------
    labels
        In their order.
    algorithms
        Label -> the name of its algorithm.
    coloured
        The labels that are not grey.
    """
    names = [algorithms.get(label, label) for label in labels]
    taken_indices = {_OF_ALGORITHMS[name] for name in names if name in _OF_ALGORITHMS}
    free = [index for index in range(len(_COLOURS)) if index not in taken_indices]
    unknown = [name for name in dict.fromkeys(names) if name not in _OF_ALGORITHMS]
    colours = {name: _COLOURS[free[i % len(free)]] for i, name in enumerate(unknown)}
    colours |= {name: _COLOURS[index] for name, index in _OF_ALGORITHMS.items()}
    styles: dict[str, Look] = {}
    for i, (label, name) in enumerate(zip(labels, names, strict=True)):
        colour = colours[name] if label in coloured else GREY
        before = sum(look["color"] == colour for look in styles.values())
        styles[label] = {
            "color": colour,
            "marker": _MARKERS[(before if colour == GREY else i) % len(_MARKERS)],
            "linestyle": _LINES[before % len(_LINES)],
        }
    return dict(sorted(styles.items(), key=lambda pair: pair[1]["color"] == GREY))


def nested(labels: Iterable[str]) -> dict[str, float]:
    """Return label -> a factor of its lines' width and its markers' size, in decreasing order.

    What is drawn later is thinner and smaller, so that the first of two equal curves is seen below
    the second.
    """
    listed = list(labels)
    steps = max(1, len(listed) - 1)
    return {label: 1.7 - 0.9 * number / steps for number, label in enumerate(listed)}


_DASHES: tuple[Line, ...] = ("-", "--", "-.", ":")


def curve_looks(names: Sequence[str]) -> dict[str, Style]:
    """Return name -> colour, dashes and width; four in a row differ in dashes, then in width."""
    return {
        name: {
            "color": look["color"],
            "linestyle": _DASHES[number % len(_DASHES)],
            "linewidth": 1.1 + 0.9 * (number // len(_DASHES)),
        }
        for number, (name, look) in enumerate(distinct_looks(names).items())
    }
