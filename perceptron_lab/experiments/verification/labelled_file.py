"""The labelled rows of a file, exactly, as verdicts on two classes are decided and verified on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from perceptron_lab.core.errors import InputError
from perceptron_lab.datasets.formats.columns import Columns, Contents
from perceptron_lab.datasets.formats.file_contents import read_contents
from perceptron_lab.numerics.doubles import Doubles
from perceptron_lab.numerics.input_checks import refuse_not_finite
from perceptron_lab.numerics.sparse_arrays import dense
from perceptron_lab.problems.separation.labelled import Labelled, labelled_of


def labelled_file(
    file: Path, columns: Columns, *, leave_out: bool = True
) -> tuple[Labelled, Contents]:
    """Return the labelled rows of a file, exactly, and its contents.

    ``leave_out`` is as for :func:`~perceptron_lab.problems.separation.labelled.labelled_of`.
    """
    contents = read_contents(file, columns, exact=True)
    if contents.classes is None:
        raise InputError("a verdict is on two classes; say which column holds labels: --labels")
    names, numbers = contents.features, contents.decimals
    given = labelled_of(
        _exact(contents),
        contents.classes,
        names,
        numbers,
        positive=contents.positive,
        leave_out=leave_out,
    )
    return replace(given, reference_levels=contents.reference_levels), contents


def _exact(contents: Contents) -> Doubles:
    """Return the rows as a dense matrix of doubles, which are exact, or have decimals beside."""
    given = contents.in_memory()
    values, whole = dense(given.values), dense(given.whole)
    if given.roundings and whole is None and contents.decimals is None:
        raise InputError(
            "it holds numbers that no double is equal to; give them as text (.csv), which is read "
            "as decimals"
        )
    refuse_not_finite(values)
    return Doubles(values, given.roundings, whole, given.multiple)
