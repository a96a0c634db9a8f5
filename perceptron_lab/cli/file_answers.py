"""The interface of answers to a question about one file: text, JSON, and saved files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perceptron_lab.core.atomic_files import replacing
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Status

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class FileAnswer(ABC):
    """An answer.

    Parameters
    ----------
    file
        The file that was asked about.
    """

    file: Path

    def __str__(self) -> str:
        return self.text()

    @abstractmethod
    def text(self, *, verbose: bool = False) -> str:
        """Return the answer for a reader; if verbose, with the methods behind it."""

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """Return the answer as JSON values."""

    @property
    def status(self) -> Status | None:
        """The status of a run, at the beginning of the second line of the text."""
        return None

    @property
    def left_out(self) -> tuple[str, ...]:
        """Notes on how a file was read, for which JSON has no key."""
        return ()

    def save(self, path: Path) -> None:
        """Save the answer for ``plab verify``; some answers cannot be saved."""
        raise DataError(f"{self.file}: an answer of this kind is not saved; use --json")

    def plot(self) -> Figure:
        """Return a figure of the answer; some answers cannot be plotted."""
        raise DataError(f"{self.file}: an answer of this kind has no figure; use --json")

    def draw(self, path: Path) -> None:
        """Save the figure of the answer in the format of the file extension."""
        figure = self.plot()
        with replaced(path) as partial:
            # The temporary name ends with .partial, of which matplotlib knows no format
            figure.savefig(partial, format=path.suffix.removeprefix("."), dpi=200)

    def reading_line(self, reading: str, notes: Sequence[str]) -> str:
        """Return a line on how the file was read, printed before the answer; empty if as usual.

        Parameters
        ----------
        reading
            The sentence of a text; empty for files whose numbers are stored as such.
        notes
            Sentences on what was left out.
        """
        text = "; ".join(filter(None, [reading, *notes]))
        if reading:
            return f"{self.file}: read as {text}\n"
        return f"{self.file}: {text}\n" if text else ""


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Yield a temporary path; on success the file replaces the earlier one atomically."""
    try:
        with replacing(path) as partial:
            yield partial
    except OSError as error:
        text = f"{path}: cannot be written ({error.strerror}); choose another path"
        raise DataError(text) from None
