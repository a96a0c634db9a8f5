"""The answer to "are the classes of this file separated, and which coefficients diverge?"."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from perceptron_lab.cli.file_answers import FileAnswer, replaced
from perceptron_lab.datasets.formats.columns import Columns
from perceptron_lab.datasets.formats.file_contents import with_path
from perceptron_lab.datasets.formats.text_files import STANDARD_INPUT
from perceptron_lab.datasets.parts import sha256_of_data
from perceptron_lab.experiments.provenance.environment import portable
from perceptron_lab.experiments.verification.separation_verdicts import labelled_file
from perceptron_lab.problems.separation.remedy_record import Remedies
from perceptron_lab.problems.separation.separation import verdict_for
from perceptron_lab.problems.separation.verdict import SeparationVerdict


@dataclass(frozen=True)
class VerdictAnswer(FileAnswer):
    """A file and the verdict on its classes.

    Parameters
    ----------
    columns
        What was asked of the columns of the file.
    found
        The verdict.
    notes
        Sentences on what was left out of the file.
    reading
        How a text was read, in a sentence; empty for other files.
    remedies
        What can be done about separation; None where it was not asked.
    """

    columns: Columns
    found: SeparationVerdict
    notes: tuple[str, ...]
    reading: str = ""
    remedies: Remedies | None = None

    def text(self, *, verbose: bool = False) -> str:
        """Return the verdict for a reader; if verbose, with the method of its proof."""
        method = f"\n  method: {self.found.method}" if verbose else ""
        read = self.reading_line(self.reading, self.notes)
        remedies = f"\n{self.remedies}" if self.remedies is not None else ""
        return f"{read}{self.file}: {self.found}{method}{remedies}"

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as JSON values, after the name of the file."""
        added: dict[str, Any] = {"notes": list(self.notes), "reading": self.reading}
        added["remedies"] = None if self.remedies is None else self.remedies.as_json()
        return {"file": self.file.name} | self.found.as_json() | added

    def save(self, path: Path) -> None:
        """Save the verdict with the sha256 of its data, for ``plab verify``.

        An earlier file is whole until the new one is. Standard input is no file that could be read
        again: a verdict on it is saved without a source.
        """
        source = None
        if self.file != STANDARD_INPUT:
            source = {
                "file": self.file.name,
                "sha256": sha256_of_data(self.file),
                "columns": {name: value for name, value in asdict(self.columns).items() if value},
                "base": portable(self.file.parent, path.parent),
            }
        with replaced(path) as partial:
            self.found.save(partial, source=source)


def verdict_answer(
    file: Path,
    columns: Columns | None = None,
    model: Mapping[str, str] | None = None,
    *,
    affine: bool = True,
    with_remedies: bool = False,
    seconds: float | None = None,
    stop: Callable[[], object] | None = None,
) -> VerdictAnswer:
    """Decide whether estimates of a model of a file exist, as ``plab solve --verdict`` does.

    Parameters
    ----------
    file, columns
        As for :func:`~perceptron_lab.datasets.collections.problem_files.read_problem`; numbers of a
        text are the decimals printed, with however many digits.
    model
        ``family``, ``link`` and ``ties``, as far as they are not the default ones of
        :func:`~perceptron_lab.problems.separation.separation.separation`; the variables of a model
        are columns of the file.
    affine
        Whether the model has an intercept.
    with_remedies
        Whether the answer states what can be done about separation.
    seconds
        After about so many the verdict is ``undecided``; None for no limit.
    stop
        Asked now and then whether to end.
    """
    columns = columns or Columns()
    with with_path(file):
        examples, contents = labelled_file(file, columns, model, affine=affine)
        verdict = replace(
            verdict_for(examples, max_seconds=seconds, stop=stop), lines=contents.lines
        )
    decided = with_remedies and verdict.proved
    remedies = verdict.remedies(max_seconds=seconds) if decided else None
    return VerdictAnswer(file, columns, verdict, tuple(contents.notes), contents.reading, remedies)
