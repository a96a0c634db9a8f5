"""The registry of data files: where each may be had, and the sha256 that identifies it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as package_files

from perceptron_lab.core.errors import ConfigError, did_you_mean

_SDPLIB_COMMIT = "fa11b45c1d8c896a6abad2648d5dad46d8ecefaa"
_SDPLIB_HOMES = (
    f"https://raw.githubusercontent.com/vsdp/SDPLIB/{_SDPLIB_COMMIT}/data/{{file}}",
    f"https://github.com/vsdp/SDPLIB/raw/{_SDPLIB_COMMIT}/data/{{file}}",
    "https://archive.softwareheritage.org/api/1/content/sha256:{sha256}/raw/",
)
_REUTERS_ARCHIVES = (
    "https://kdd.ics.uci.edu/databases/reuters21578/reuters21578.tar.gz",
    "http://www.daviddlewis.com/resources/testcollections/reuters21578/reuters21578.tar.gz",
    "https://archive.ics.uci.edu/static/public/137/reuters+21578+text+categorization+collection.zip",
)


@dataclass(frozen=True)
class DataFile:
    """One file of a collection: its name, sha256, and homes in the order they are tried."""

    file: str
    sha256: str
    urls: tuple[str, ...]


@dataclass(frozen=True)
class Collection:
    """A set of data files that belong together.

    Parameters
    ----------
    name, home
        Its name, also that of its folder in a cache or a mirror, and its own page.
    licence, citation
        The terms of publication, and the reference to cite.
    files
        Instance name -> file.
    archives
        Homes of all files at once, asked after the files' own: each a ``NAME.tar.gz`` of this
        collection's name, or a .zip that holds one.
    """

    name: str
    title: str
    home: str
    licence: str
    citation: str
    files: Mapping[str, DataFile]
    archives: tuple[str, ...] = ()

    def file(self, name: str) -> DataFile:
        """Return the file of an instance."""
        if name not in self.files:
            raise ConfigError(
                f"{self.name} has no {name!r}{did_you_mean(name, self.files)}; `plab data verify "
                f"{self.name}` lists its {len(self.files)} names"
            )
        return self.files[name]


@cache
def sdplib() -> Collection:
    """Return SDPLIB 1.2: the 87 of its 92 files whose sha256 is known."""
    return Collection(
        name="sdplib",
        title="SDPLIB 1.2, a library of semidefinite programming test problems",
        home="http://euler.nmt.edu/~brian/sdplib/sdplib.html",
        licence="published for research without a licence of its own; cite it",
        citation=(
            "B. Borchers, SDPLIB 1.2, a library of semidefinite programming test problems, "
            "Optimization Methods and Software 11(1):683-690, 1999"
        ),
        files=_files("sdplib.sha256", ".dat-s", _SDPLIB_HOMES),
    )


@cache
def reuters21578() -> Collection:
    """Return the 22 files of Reuters-21578, Distribution 1.0; they are published as archives."""
    return Collection(
        name="reuters21578",
        title="Reuters-21578 text categorization test collection, Distribution 1.0",
        home="http://www.daviddlewis.com/resources/testcollections/reuters21578/",
        licence="free for research purposes only; cite it",
        citation=(
            "D. D. Lewis, Reuters-21578 text categorization test collection, Distribution 1.0, "
            "AT&T Labs - Research, 1997"
        ),
        files=_files("reuters21578.sha256", ".sgm"),
        archives=_REUTERS_ARCHIVES,
    )


def _files(listing: str, end: str, homes: tuple[str, ...] = ()) -> dict[str, DataFile]:
    """Return the files of a listing in this package, by their names without their end."""
    lines = (package_files(__package__) / listing).read_text("ascii").splitlines()
    return {
        file.removesuffix(end): DataFile(
            file, sha256, tuple(home.format(file=file, sha256=sha256) for home in homes)
        )
        for sha256, file in map(str.split, lines)
    }


# Each is read when it is asked for
COLLECTIONS: dict[str, Callable[[], Collection]] = {
    "sdplib": sdplib,
    "reuters21578": reuters21578,
}


def collection(name: str) -> Collection:
    """Return a registered collection."""
    if name not in COLLECTIONS:
        raise ConfigError(
            f"unknown collection {name!r}{did_you_mean(name, COLLECTIONS)}; known: "
            f"{', '.join(COLLECTIONS)}"
        )
    return COLLECTIONS[name]()
