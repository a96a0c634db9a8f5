"""Data files on this machine, found or downloaded, and always verified before use.

A file is looked for in the cache, then in the mirror, then at its public homes, where it may be
part of an archive; then all registered files of the archive go to the cache. Environment:

PLAB_DATA_MIRROR
    A folder or http(s) address with the layout ``<collection>/<file>``. A file in a mirror folder
    is used where it stands.
PLAB_DATA_DIR
    The cache; by default ``data`` in a clone of this project, else the user's cache folder.
PLAB_OFFLINE
    1 forbids all downloads.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import pooch

from perceptron_lab.core.atomic_files import (
    remove_partial_files,
    replace_file,
    replacing,
    sync_folder,
)
from perceptron_lab.core.errors import ConfigError, DataError, MissingDataError
from perceptron_lab.datasets.download.registered_files import (
    COLLECTIONS,
    Collection,
    DataFile,
    collection,
)
from perceptron_lab.datasets.download.transfer import (
    LARGEST_FILE,
    ArchiveError,
    CappedWriter,
    TransferError,
    host_of,
    read_members,
    transfer,
)
from perceptron_lab.datasets.regular_files import (
    confined_folder,
    read_regular,
    sha256_of,
    unreadable,
)

# Further attempts after a failure
RETRIES = 1
# Seconds before each
PAUSE = 1.0
# Seconds for which an unreachable host is not tried for further files
PATIENCE = 60.0
# Host -> end of that period on the monotonic clock
_unreachable: dict[str, float] = {}


class FileState(StrEnum):
    """The state of a registered file, or of arrays computed from files, on this machine."""

    PRESENT = "present"
    MISSING = "missing"
    WRONG_HASH = "wrong hash"
    ALTERED = "not what the files give"


class Registered(NamedTuple):
    """A registered file on this machine: its path, and its verified bytes."""

    path: Path
    content: bytes


def fetch(collection_name: str, name: str) -> Path:
    """Return the path of a registered file, downloading it if it is not on this machine.

    It had the registered sha256 when it was read; see :func:`read_registered` for its bytes. A
    damaged file in the cache is fetched again; a download reaches the cache only once it is
    complete and verified.
    """
    return read_registered(collection_name, name).path


def read_registered(collection_name: str, name: str) -> Registered:
    """Return a registered file as :func:`fetch` does, with the bytes whose sha256 was verified.

    The file is read once: whatever happens to it later, the bytes are the registered ones.
    """
    source = collection(collection_name)
    file = source.file(name)
    cache = cache_folder() / source.name
    for folder in (cache, confined_folder(cache)):
        # Left by killed downloads: they would accumulate.
        remove_partial_files(folder)
        cached = folder / file.file
        if (content := _read(cached)) is not None and _is_registered(content, file):
            return Registered(cached, content)
    mirror = _mirror()
    if isinstance(mirror, Path):
        mirrored = mirror / source.name / file.file
        content = _read(mirrored)
        if content is not None and _is_registered(content, file):
            return Registered(mirrored, content)
        if content is not None:
            raise DataError(
                f"{mirrored} is not the registered file: its sha256 is {_sha256(content)}, "
                f"expected {file.sha256}; replace it, or unset PLAB_DATA_MIRROR"
            )
    # The mirror first: it is near, and the public homes are spared.
    homes = [f"{mirror}/{source.name}/{file.file}"] if isinstance(mirror, str) else []
    # Read back and hashed again: what is used is what lies in the cache.
    content = _read(_download([*homes, *file.urls, *source.archives], file, cached, source))
    if content is None or not _is_registered(content, file):
        raise DataError(f"{cached} was changed after its download; try again")
    return Registered(cached, content)


def verify(collection_name: str) -> list[tuple[str, FileState]]:
    """Return the state of each file of a collection, in the cache or in a mirror folder."""
    source = collection(collection_name)
    mirror = _mirror()
    roots = [cache_folder(), *([mirror] if isinstance(mirror, Path) else [])]
    result = []
    for name, file in source.files.items():
        states = {_state(root / source.name / file.file, file) for root in roots}
        gravest = next(state for state in (FileState.WRONG_HASH, *FileState) if state in states)
        result.append((name, gravest))
    return result


def fetch_data(collection_name: str | None = None, names: Sequence[str] = ()) -> dict[str, Path]:
    """Make data files available on this machine, verified by their sha256; ``plab data fetch``.

    Parameters
    ----------
    collection_name
        A collection; None for every one.
    names
        Files of it; by default all. Files that are there already are not fetched again.

    Returns
    -------
    dict
        ``collection/name`` -> where the file is.

    Raises
    ------
    ConfigError
        If a name is unknown; nothing was fetched then.
    DataError
        If a file cannot be had.

    Examples
    --------
    >>> fetch_data("sdplib", ["mcp100"])  # doctest: +SKIP
    {'sdplib/mcp100.dat-s': PosixPath('.../sdplib/mcp100.dat-s')}
    """
    return dict(fetching(collection_name, names))


def fetching(
    collection_name: str | None = None, names: Sequence[str] = ()
) -> Iterator[tuple[str, Path]]:
    """Yield ``collection/name`` and where the file is, one after the other as they come.

    Parameters and errors are those of :func:`fetch_data`.
    """
    missing = [
        (source, name)
        for source in chosen_collections(collection_name)
        for name in names or collection(source).files
    ]
    for source, name in missing:
        collection(source).file(name)  # all names are checked before the first download
    for source, name in missing:
        yield f"{source}/{name}", fetch(source, name)


def chosen_collections(collection_name: str | None) -> list[str]:
    """Return the collections that a name denotes; None denotes all."""
    return list(COLLECTIONS) if collection_name is None else [collection(collection_name).name]


def cache_folder() -> Path:
    """Return the cache folder of downloads, which need not exist yet."""
    if directory := os.environ.get("PLAB_DATA_DIR"):
        return _folder("PLAB_DATA_DIR", directory)
    current = Path.cwd()
    files = (folder / "pyproject.toml" for folder in (current, *current.parents))
    if file := next(filter(Path.is_file, files), None):
        # A file that cannot be read belongs to another project, and is no error here.
        with suppress(OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            project = tomllib.loads(file.read_text("utf-8")).get("project")
            if isinstance(project, dict) and project.get("name") == "perceptron-lab":
                return file.parent / "data"
    return Path(pooch.os_cache("perceptron-lab"))


def _mirror() -> Path | str | None:
    """Return the mirror: a folder, an address without its last slash, or None."""
    mirror = os.environ.get("PLAB_DATA_MIRROR")
    if not mirror:
        return None
    if mirror.startswith(("http://", "https://")):
        try:
            host_of(mirror)
        except ValueError as error:
            raise ConfigError(
                f"PLAB_DATA_MIRROR cannot be used ({error}); give http(s)://host/folder"
            ) from None
        return mirror.rstrip("/")
    folder = _folder("PLAB_DATA_MIRROR", mirror)
    if not folder.is_dir():
        raise ConfigError(
            f"PLAB_DATA_MIRROR={mirror!r} is neither a folder nor an http(s) address; "
            "set it to a folder that holds <collection>/<file>, or unset it"
        )
    return folder


def _folder(variable: str, value: str) -> Path:
    try:
        return Path(value).expanduser().absolute()
    except RuntimeError as error:  # ~nobody
        raise ConfigError(f"{variable}={value!r}: {error}; give the folder's path") from None


def _read(path: Path) -> bytes | None:
    """Return the bytes of a file, or None if it does not exist."""
    try:
        return read_regular(path, LARGEST_FILE)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise unreadable(path, error) from error


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _is_registered(content: bytes, file: DataFile) -> bool:
    return _sha256(content) == file.sha256


def _state(path: Path, file: DataFile) -> FileState:
    content = _read(path)
    if content is None:
        return FileState.MISSING
    return FileState.PRESENT if _is_registered(content, file) else FileState.WRONG_HASH


def _download(urls: list[str], file: DataFile, target: Path, source: Collection) -> Path:
    """Download a registered file from the first of its homes that provides it."""
    offline = os.environ.get("PLAB_OFFLINE", "")
    if offline not in ("", "0", "1"):
        raise ConfigError(f"PLAB_OFFLINE={offline!r}; allowed: 1 (no downloads) or 0")
    if offline == "1":
        raise _unavailable(source, file, target, "PLAB_OFFLINE=1 forbids downloads")
    failures = []
    for url in urls:
        host = host_of(url)
        # Without this memory, each of 87 files would wait for the same time-out.
        if time.monotonic() < _unreachable.get(host, 0.0):
            failures.append(f"{host}: no connection")
            continue
        try:
            if url in source.archives:
                return _from_archive(url, file, target, source)
            return _from_home(url, file, target)
        except (TransferError, ArchiveError) as error:
            failures.append(f"{host}: {error}")
            if isinstance(error, TransferError) and error.unreachable:
                _unreachable[host] = time.monotonic() + PATIENCE
        except OSError as error:
            raise DataError(
                f"{target} cannot be written ({error.strerror}); set PLAB_DATA_DIR to a folder "
                "that you may write to"
            ) from error
    raise _unavailable(source, file, target, "; ".join(failures))


def _from_home(url: str, file: DataFile, target: Path) -> Path:
    """Download one file, with further attempts if its home fails."""
    target.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(RETRIES):
        with suppress(TransferError, ArchiveError):
            return _transferred(url, file, target)
        time.sleep(PAUSE)
    return _transferred(url, file, target)


def _transferred(url: str, file: DataFile, target: Path) -> Path:
    """Download one file to a temporary path, verify it, and only then move it into place."""
    with replacing(target) as partial:
        with partial.open("wb") as aside:
            transfer(url, CappedWriter(aside, LARGEST_FILE))
            aside.flush()
            os.fsync(aside.fileno())
        if sha256_of(partial) != file.sha256:
            raise TransferError("sent another file (wrong sha256)")
    sync_folder(target.parent)
    return target


def _from_archive(url: str, file: DataFile, target: Path, source: Collection) -> Path:
    """Download an archive, verify its registered files and move them into place."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=target.parent) as archive:
        transfer(url, CappedWriter(archive))
        archive.seek(0)
        sha256_of = {sha256_of.file: sha256_of.sha256 for sha256_of in source.files.values()}
        try:
            for name, content in read_members(archive, f"{source.name}.tar.gz", sha256_of):
                if _sha256(content) == sha256_of[name]:
                    replace_file(target.parent / name, content)
        except ArchiveError:
            if _state(target, file) is not FileState.PRESENT:
                raise  # otherwise the transfer may end after the requested file
    if _state(target, file) is not FileState.PRESENT:
        raise ArchiveError(f"sent an archive without the registered {file.file}")
    return target


def _unavailable(source: Collection, file: DataFile, target: Path, why: str) -> MissingDataError:
    folder, current = target.parent, Path.cwd()
    printed = folder.relative_to(current) if folder.is_relative_to(current) else folder
    return MissingDataError(
        f"{source.name}/{file.file} is not in {printed} and could not be had ({why}). Set "
        f"PLAB_DATA_MIRROR to a folder that holds {source.name}/{file.file}, or connect to the "
        f"network and run `plab data fetch {source.name}`"
    )
