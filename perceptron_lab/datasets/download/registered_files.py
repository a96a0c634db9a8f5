"""The registry of data files: their homes, and the sha256 that identifies each."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files as package_files

from perceptron_lab.core.errors import ConfigError, did_you_mean


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
def _registered(name: str) -> Collection:
    """Return a collection of ``collections.toml``, with its files by stem."""
    folder = package_files(__package__)
    stated = tomllib.loads((folder / "collections.toml").read_text("utf-8"))[name]
    end, homes = stated.pop("end"), stated.pop("homes")
    lines = (folder / f"{name}.sha256").read_text("ascii").splitlines()
    files = {
        file.removesuffix(end): DataFile(
            file, sha256, tuple(home.format(file=file, sha256=sha256) for home in homes)
        )
        for sha256, file in map(str.split, lines)
    }
    return Collection(name, files=files, archives=tuple(stated.pop("archives")), **stated)


# Each is read when it is asked for: SDPLIB 1.2, the 87 of its 92 files whose sha256 is known, the
# 22 files of Reuters-21578, Distribution 1.0, which are published as archives, programs of netlib
COLLECTIONS: dict[str, Callable[[], Collection]] = {
    name: partial(_registered, name) for name in ("sdplib", "reuters21578", "linear_programs")
}


def collection(name: str) -> Collection:
    """Return a registered collection."""
    if name not in COLLECTIONS:
        raise ConfigError(
            f"unknown collection {name!r}{did_you_mean(name, COLLECTIONS)}; known: "
            f"{', '.join(COLLECTIONS)}"
        )
    return COLLECTIONS[name]()
