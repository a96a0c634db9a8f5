"""Observations of dask collections: equal ones are merged in each part, then in a tree.

The conditions of one row are those of all rows equal to it, in examples and label. So a verdict on
the distinct rows is one on all, and memory is needed for the distinct rows only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np

from perceptron_lab.cones.operators.dask_rows import known_chunks, partitions
from perceptron_lab.cones.operators.row_parts import by_dask, is_dask
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import AnyArray, IntArray

MOST_NUMBERS: Final = 50_000_000
"""Largest number of entries of the distinct rows."""
MOST_ROWS: Final = 2**24
"""Number of rows up to which every row is named; of more, the first of each set of equal ones."""


@dataclass(frozen=True)
class MergedObservations:
    """The distinct rows of some parts, in the order of their first occurrences.

    Parameters
    ----------
    table
        A frame of pandas: the examples, and the labels as its last column.
    first
        The number of the first of the rows equal to each, ascending.
    copies
        The distinct row that each row is, shape ``(count,)``; empty above :data:`MOST_ROWS`.
    count
        Number of rows.
    """

    table: Any
    first: IntArray
    copies: AnyArray
    count: int

    @property
    def examples(self) -> Any:
        """The examples, a frame."""
        return self.table.iloc[:, :-1]

    @property
    def labels(self) -> Any:
        """The labels, a series."""
        return self.table.iloc[:, -1]

    @property
    def first_of_each(self) -> IntArray:
        """The first of the rows equal to each row; empty above :data:`MOST_ROWS`."""
        return self.first[self.copies]

    def joined(self, later: MergedObservations) -> MergedObservations:
        """Return the distinct rows of both, where the rows of ``later`` follow."""
        import pandas as pd

        count, distinct = self.count + later.count, len(self.first)
        copies = np.concatenate([self.copies, later.copies + np.int32(distinct)])
        return MergedObservations(
            pd.concat([self.table, later.table], ignore_index=True),
            np.concatenate([self.first, self.count + later.first]),
            copies if count <= MOST_ROWS else copies[:0],
            count,
        ).distinct()

    def distinct(self) -> MergedObservations:
        """Return the same with equal rows merged; an InputError refuses too many distinct ones."""
        columns = list(self.table.columns)
        groups = self.table.groupby(columns, sort=False, dropna=False, observed=True).ngroup()
        _, first, positions = np.unique(groups, return_index=True, return_inverse=True)
        order = np.argsort(first)
        ranks = np.empty(len(order), np.int32)
        ranks[order] = np.arange(len(order))
        rows = first[order]
        if len(rows) * len(columns) > MOST_NUMBERS:
            raise InputError(
                f"the data hold {len(rows)} distinct rows or more, of {len(columns)} numbers with "
                f"the label, and memory is for {MOST_NUMBERS} numbers; round or bin the columns, "
                "or solve(X, y): FEASIBLE proves complete separation, INFEASIBLE excludes it"
            )
        copies = ranks[positions][self.copies]
        return replace(self, table=self.table.iloc[rows], first=self.first[rows], copies=copies)


def merged_collections(X: Any, y: Any, *, of_numbers: bool) -> MergedObservations:
    """Return the distinct observations of collections of dask.

    Parameters
    ----------
    X, y
        An array of two dimensions and one of one, or a frame and a series, with equal partitions.
    of_numbers
        Whether y counts by its sign alone.

    Raises
    ------
    InputError
        If the collections do not belong together, or have too many distinct rows.
    """
    if not (is_dask(X) and is_dask(y)) or hasattr(X, "columns") != hasattr(y, "index"):
        kinds = f"X is a {type(X).__name__} and y a {type(y).__name__}"
        raise InputError(f"{kinds}; give two arrays of dask, or a frame and a series of dask")
    if hasattr(X, "columns"):
        _refuse_series(y)
        blocks = [partitions(data) for data in (X, y)]
    else:
        X = known_chunks(X).rechunk({1: -1})
        y = known_chunks(y).ravel()
        if X.shape[0] == y.shape[0]:
            y = y.rechunk((X.chunks[0],))
        blocks = [np.ravel(data.to_delayed()).tolist() for data in (X, y)]
    if len(blocks[0]) != len(blocks[1]):
        raise InputError(
            f"X has {len(blocks[0])} parts and y {len(blocks[1])}; give both with the same rows in "
            "each part"
        )
    task = partial(_merged_part, of_numbers=of_numbers)
    pairs = list(zip(*blocks, strict=True))
    merged: MergedObservations = by_dask(task, MergedObservations.joined, pairs)
    return merged


def _refuse_series(y: Any) -> None:
    """Refuse labels that are no series, and categories that differ from part to part."""
    if y.ndim != 1:
        raise InputError(f"y has the columns {list(y.columns)}; give one of them, frame['y']")
    if hasattr(y._meta, "cat") and not y.cat.known:
        raise InputError("the categories of y are not known to dask; give y.cat.as_known()")


def _merged_part(examples: Any, labels: Any, *, of_numbers: bool) -> MergedObservations:
    """Return the distinct rows of a part."""
    import pandas as pd

    indexes = [data.index for data in (examples, labels) if hasattr(data, "index")]
    if len(examples) != len(labels) or (indexes and not indexes[0].equals(indexes[1])):
        raise InputError(
            f"a part has {len(examples)} rows of X and {len(labels)} labels, and their indexes "
            "must be equal; give one label each, in the order of the rows"
        )
    table = pd.DataFrame(examples).reset_index(drop=True)
    response = pd.Series(labels).reset_index(drop=True)
    if of_numbers and response.dtype.kind in "biuf":
        response = response.where(~(response > 0), 1)
    table = table.set_axis(range(table.shape[1]), axis=1).assign(y=response)
    every = np.arange(len(table))
    return MergedObservations(table, every, every.astype(np.int32), len(table)).distinct()
