"""The user's own file that an answer is about: found by its name, compared before it is parsed.

An answer may come from anybody, and names a file to read. Nothing of a file is told, neither its
hash nor a line that cannot be parsed, unless it is the one that the answer is of.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from perceptron_lab.core.errors import NOT_RECORDED, ConfigError, DataError, MissingDataError
from perceptron_lab.datasets.collections.files import stem_of
from perceptron_lab.datasets.formats.columns import Columns
from perceptron_lab.datasets.regular_files import sha256_of

MEND = "if the data have moved, name the folder that they are in: --base DIR"


@dataclass(frozen=True)
class OwnData:
    """The data that a user names for an answer that records none.

    Parameters
    ----------
    file
        Of the data.
    columns
        What is asked of its columns.
    """

    file: Path
    columns: Columns

    def of_verdict(self) -> dict[str, Any]:
        """Return what a saved verdict records of its data."""
        asked = {name: value for name, value in asdict(self.columns).items() if value}
        where = {"file": self.file.name, "base": str(self.file.absolute().parent)}
        return where | {"sha256": sha256_of(self.file), "columns": asked}

    def of_result(self, margin: str | None) -> dict[str, Any]:
        """Return what a saved result records of its data, and of its margin, if it states one."""
        asked = {name: value for name, value in asdict(self.columns).items() if value}
        asked |= {} if margin in (None, "unit") else {"margin": margin}
        return {
            "sha256": sha256_of(self.file),
            "problem": {
                "dataset": "files",
                "parameters": {"files": [self.file.name], **asked},
                "instance": stem_of(self.file.name),
                "seed": 0,
            },
            "algorithm": {"name": "auto", "parameters": {}, "oracle": []},
            "base": str(self.file.absolute().parent),
        }


def own_data(target: Path, file: Path | None, labels: str | None) -> OwnData | None:
    """Return the data that are named for an answer in a file; None if there are none.

    Raises
    ------
    ConfigError
        If the target is a folder, whose certificates record their data, or labels are of no file.
    """
    if file is None:
        if labels is not None:
            raise ConfigError("--labels without --data; it names a column of that file")
        return None
    if target.is_dir():
        raise ConfigError(f"--data with the folder {target}; its certificates record their data")
    return OwnData(file, Columns(labels=labels))


def require_unrecorded(path: Path, own: OwnData | None, *, recorded: bool) -> None:
    """Refuse an answer without data, and data for an answer that records its own."""
    if recorded and own is not None:
        raise ConfigError(f"--data with {path}, which records its data; {MEND}")
    if not recorded and own is None:
        raise MissingDataError(NOT_RECORDED)


class ChangedDataError(DataError):
    """The data are not those that an answer is about."""


class UnknownDataError(DataError):
    """The dataset of an answer is not registered here."""


def file_in(folder: Path, name: str, *, named: bool) -> Path:
    """Return a file of a folder, without opening it.

    Parameters
    ----------
    folder
        Of the data.
    name
        The file's, as an answer states it.
    named
        Whether the user has named the folder: then links that lead out of it are followed.

    Raises
    ------
    DataError
        If the name is none of a file in this folder, or a link that leads out of it.
    """
    if not name or name != Path(name).name or name == ".." or "\0" in name:
        raise DataError(f"{name[:80]!r} is no name of a file in the folder of the data; {MEND}")
    path = folder / name
    if not named and not path.resolve().is_relative_to(folder.resolve()):
        raise DataError(f"{name[:80]!r} is a link to a file in another folder; {MEND}")
    return path


def check_own_file(path: Path, sha256: str) -> None:
    """Raise a ``ChangedDataError`` unless a file has this sha256; an absent one is for its reader.

    A ``DataError`` refuses what is no regular file: reading it might never end.
    """
    if not path.is_file():
        if path.exists():
            raise DataError(f"{path.name[:80]!r} is no regular file; {MEND}")
        return
    if sha256_of(path) != sha256:
        raise ChangedDataError(f"the file has another sha256, the claims are of {sha256[:16]}...")
