"""The answer to "are the classes of this file separated, and which coefficients diverge?"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from perceptron_lab.datasets.formats.columns import Columns, Contents
from perceptron_lab.datasets.formats.file_contents import read_contents, told
from perceptron_lab.doubles import Doubles
from perceptron_lab.errors import InputError
from perceptron_lab.inputs import refuse_not_finite
from perceptron_lab.verdicts.separation import separation_of
from perceptron_lab.verdicts.verdict import SeparationVerdict


@dataclass(frozen=True)
class VerdictAnswer:
    """A file and the verdict on its classes.

    Parameters
    ----------
    file
        The file.
    found
        The verdict.
    notes
        Sentences on what was left out of the file.
    """

    file: Path
    found: SeparationVerdict
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([f"{self.file}: {self.found}", *(f"  {note}" for note in self.notes)])

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as JSON values, after the name of the file."""
        return {"file": self.file.name} | self.found.as_json() | {"notes": list(self.notes)}


def verdict_answer(
    file: Path,
    columns: Columns | None = None,
    *,
    seconds: float | None = None,
    asked: Callable[[], object] | None = None,
) -> VerdictAnswer:
    """Decide whether the two classes of a file are separated; ``plab solve --verdict`` in Python.

    Parameters
    ----------
    file, columns
        As for :func:`~perceptron_lab.datasets.formats.problem_files.read_problem`; numbers of a
        text are the decimals printed, with however many digits.
    seconds
        After about so many the verdict is ``undecided``; None for no limit.
    asked
        Asked now and then whether to end.
    """
    with told(file):
        contents = read_contents(file, columns, exact=True)
        if contents.classes is None:
            raise InputError("a verdict is on two classes; say which column holds labels: --labels")
        given = _exact(contents)
        found = separation_of(
            given,
            contents.classes,
            names=contents.features,
            numbers=contents.decimals,
            max_seconds=seconds,
            asked=asked,
        )
    return VerdictAnswer(file, found, tuple(contents.notes))


def _exact(contents: Contents) -> Doubles:
    """Return the rows as a dense matrix of doubles, which are exact, or have decimals beside."""
    given = contents.in_memory()
    values, whole = _dense(given.values), _dense(given.whole)
    if given.roundings and whole is None and contents.decimals is None:
        raise InputError(
            "it holds numbers that no double is equal to; give them as text (.csv), which is read "
            "as decimals"
        )
    refuse_not_finite(values)
    return Doubles(values, given.roundings, whole, given.multiple)


def _dense(matrix: Any) -> Any:
    sparse: Any = matrix
    return sparse.toarray() if sp.issparse(matrix) else matrix
