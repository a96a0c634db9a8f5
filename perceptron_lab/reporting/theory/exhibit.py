"""Exhibits: a table, and mostly a figure, of a piece of theory; and their files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from perceptron_lab.core import registry
from perceptron_lab.core.atomic_files import replace_file
from perceptron_lab.core.errors import StoreError
from perceptron_lab.reporting.printing.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Exhibit:
    """A table with its caption, and the function that draws its figure, if it has one.

    The table has the exhibit's registered name.

    Examples
    --------
    >>> volumes = exhibit("ball_volumes")
    >>> volumes.title
    'Volumes of balls and of the steps of the ellipsoid method'
    >>> volumes.table.frame.shape[0] > 1
    True
    """

    title: str
    table: Table
    draw: Callable[[], Figure] | None = None

    def files(self) -> dict[str, bytes]:
        """Return the content of each file by its name; the same bytes each time."""
        name = self.table.name
        texts = self.table.texts(self.title)
        files = {f"{name}.{kind}": text.encode() for kind, text in texts.items()}
        if self.draw is not None:
            from perceptron_lab.reporting.printing.figure_files import (
                saved,  # it takes half a second
            )

            drawn = saved(self.draw, self.title)
            files |= {f"{name}.{kind}": content for kind, content in drawn.items()}
        return files


class WrittenExhibit(NamedTuple):
    """An exhibit and its files."""

    exhibit: Exhibit
    files: tuple[Path, ...]


def exhibit(name: str) -> Exhibit:
    """Return an exhibit of theory.

    Parameters
    ----------
    name
        A name of ``plab list theory``.

    Returns
    -------
    Exhibit
        Its table, and the function that draws its figure.

    Raises
    ------
    ConfigError
        If there is no exhibit of this name; the message suggests the closest name.

    Examples
    --------
    >>> exhibit("ball_volumes").table.name
    'ball_volumes'
    """
    built: Exhibit = registry.load("theory", name)()
    return built


def written(names: Sequence[str], output: Path) -> Iterator[WrittenExhibit]:
    """Make exhibits and write their files, each replaced at once.

    Parameters
    ----------
    names
        Of `plab list theory`; none for all.
    output
        The folder, made if need be.

    Raises
    ------
    ConfigError
        If a name is unknown, before anything is written.
    DataError
        If an exhibit needs results that are not there.
    StoreError
        If a file cannot be written.
    """
    for name in names:
        # Before the first exhibit is made, as some take long
        registry.target("theory", name)
    for name in names or registry.names("theory"):
        built = exhibit(name)
        paths = []
        for file, content in built.files().items():
            path = output / file
            try:
                output.mkdir(parents=True, exist_ok=True)
                replace_file(path, content)
            except OSError as error:
                raise StoreError(f"{path} cannot be written ({error.strerror})") from error
            paths.append(path)
        yield WrittenExhibit(built, tuple(paths))
