"""Two classes of scikit-learn's data sets, and shells of a normal distribution, each by name."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

Examples = npt.NDArray[np.float64]


class Case(NamedTuple):
    """A name, and what loads the rows and which of them are positive."""

    name: str
    load: Callable[[], tuple[Examples, npt.NDArray[np.bool_]]]


def pairs(loader: Callable[..., tuple[Examples, npt.NDArray[np.int64]]]) -> list[Case]:
    """Return each pair of classes, both label orders, raw and standardised."""
    name = loader.__name__.removeprefix("load_")
    rows, labels = loader(return_X_y=True)

    def pair(inner: int, outer: int, standardised: bool) -> Case:
        def load() -> tuple[Examples, npt.NDArray[np.bool_]]:
            selected = (labels == inner) | (labels == outer)
            part = rows[selected]
            scaled = StandardScaler().fit_transform(part) if standardised else part
            return scaled, labels[selected] == inner

        how = "standardised" if standardised else "raw"
        return Case(f"{name} {inner} in {outer} {how}", load)

    orders = itertools.permutations(np.unique(labels).tolist(), 2)
    return [pair(*order, how) for order in orders for how in (False, True)]


MAKERS: dict[str, Callable[[int], tuple[Examples, npt.NDArray[np.int64]]]] = {
    "circles": lambda size: datasets.make_circles(size, random_state=0),
    "noisy circles": lambda size: datasets.make_circles(
        size, noise=0.05, factor=0.5, random_state=0
    ),
    "classification": lambda size: datasets.make_classification(size, random_state=0),
}


def generated(size: int) -> list[Case]:
    """Return circles, noisy circles and clusters of so many rows, in both label orders."""

    def dataset_of(name: str, inner: int) -> Case:
        def load() -> tuple[Examples, npt.NDArray[np.bool_]]:
            rows, labels = MAKERS[name](size)
            return rows, labels == inner

        return Case(f"{name} {size} {inner} in {1 - inner}", load)

    return [dataset_of(name, inner) for name in MAKERS for inner in (1, 0)]


def measured() -> list[Case]:
    """Return the pairs of classes of iris, wine, breast cancer and digits."""
    loaders = datasets.load_iris, datasets.load_wine, datasets.load_breast_cancer
    return [case for loader in (*loaders, datasets.load_digits) for case in pairs(loader)]


def exclusive_or(seed: int) -> tuple[Examples, Examples]:
    """Four clouds, of which opposite ones have the same label."""
    rng = np.random.default_rng(seed)
    corner = rng.choice([-1.0, 1.0], size=(120, 2))
    return corner + 0.2 * rng.standard_normal((120, 2)), corner.prod(axis=1)
