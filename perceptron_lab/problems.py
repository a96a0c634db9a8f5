"""Anything a user may pass as a problem, as a conic system."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.datasets.formats.problem_files import read_system
from perceptron_lab.errors import InputError
from perceptron_lab.operators.row_source import RowSource
from perceptron_lab.system import ConicSystem

Rows: TypeAlias = npt.ArrayLike | sp.sparray | sp.spmatrix | RowSource
# A system, a file, rows, or examples with their labels
Problem: TypeAlias = ConicSystem | str | Path | Rows | tuple[Rows, npt.ArrayLike]


def as_system(problem: Problem) -> ConicSystem:
    """Return the conic system of a problem.

    Parameters
    ----------
    problem
        A :class:`ConicSystem`; the path of a file (:func:`.read_system` says of which kinds); rows,
        shape ``(m, dimension)``, or a source of rows (the homogeneous system rows @ y > 0); or
        ``(X, y)``, examples and labels of two classes (an affine separator (w, b)).

    Raises
    ------
    InputError
        If it is none of these, or its numbers do not make a system.
    DataError
        If the file cannot be read.
    """
    if isinstance(problem, ConicSystem):
        return problem
    if isinstance(problem, str | Path):
        return read_system(Path(problem))
    if isinstance(problem, tuple):
        if len(problem) != 2:
            raise InputError(f"a tuple of length {len(problem)}; give (X, y), examples and labels")
        return ConicSystem.from_labelled(*problem)
    return ConicSystem.from_rows(problem)
